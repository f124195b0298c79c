/* values.c: the values of values.h: each is made once, so that equal ones have the same number. */
#include "code/rewrite/values.h"

#include <stdlib.h>
#include <string.h>

enum { FIRST_HASH = 1024, LONGEST_LIST = 64 };

bool values_init(struct values *v, struct rewrite *r)
{
    memset(v, 0, sizeof *v);
    v->r = r;
    v->hash_size = FIRST_HASH;
    v->hash = malloc(v->hash_size * sizeof *v->hash);
    return v->hash;
}

void values_deinit(struct values *v)
{
    free(v->list);
    free(v->hash);
    free(v->nodes);
    free(v->lanes);
    free(v->states);
    free(v->leaders);
    free(v->state_of);
    free(v->sites);
    free(v->queue);
    free(v->queued);
    free(v->callees);
}

static bool at_least(void *list, size_t *room, size_t n, size_t size)
{
    while (*room < n)
        if (!rewrite_grow(list, room, *room, size)) return false;
    return true;
}

bool values_start(struct values *v, struct function *f)
{
    size_t n = f->last - f->first;
    v->f = f;
    v->n = v->n_nodes = v->n_lanes = v->n_states = v->n_queue = v->n_callees = 0;
    v->is_last = v->lanes_moved = v->no_memory = false;
    memset(v->hash, 0xff, v->hash_size * sizeof *v->hash);
    if (!at_least(&v->state_of, &v->state_of_room, n, sizeof *v->state_of) ||
        !at_least(&v->sites, &v->sites_room, n, 1))
        return false;
    if (n) memset(v->state_of, 0xff, n * sizeof *v->state_of);
    if (n) memset(v->sites, 0, n);
    return value_of(v, (struct value){ .kind = V_NONE }) == VALUE_NONE &&
           value_of(v, (struct value){ .kind = V_ANY }) == VALUE_ANY &&
           value_of(v, (struct value){ .kind = V_LOST }) == VALUE_LOST;
}

/* ---- one number for one value ---- */

static bool same(const struct value *a, const struct value *b)
{
    return a->number == b->number && a->rest == b->rest && a->site == b->site &&
           a->offset == b->offset && a->kind == b->kind && a->is_high == b->is_high &&
           a->is_literal == b->is_literal && a->sign == b->sign;
}

static size_t slot_of(const struct values *v, const struct value *x)
{
    uint64_t h = UINT64_C(0x9e3779b97f4a7c15);
    const uint32_t parts[] = { x->number, x->rest, x->site, x->offset,
                               (uint32_t)x->kind << 16 | (uint32_t)x->is_high << 8 |
                                   (uint8_t)x->sign };
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        h = (h ^ parts[i]) * UINT64_C(0xff51afd7ed558ccd);
        h ^= h >> 32;
    }
    size_t at = (size_t)h & (v->hash_size - 1);
    while (v->hash[at] != NONE && !same(&v->list[v->hash[at]], x))
        at = (at + 1) & (v->hash_size - 1);
    return at;
}

static bool widen(struct values *v)
{
    uint32_t *old = v->hash;
    size_t size = 2 * v->hash_size;
    v->hash = malloc(size * sizeof *v->hash);
    if (!v->hash) {
        v->hash = old;
        return false;
    }
    free(old);
    v->hash_size = size;
    memset(v->hash, 0xff, size * sizeof *v->hash);
    for (size_t i = 0; i < v->n; i++) v->hash[slot_of(v, &v->list[i])] = (uint32_t)i;
    return true;
}

/* Without memory everything is VALUE_ANY, and the caller is told by no_memory. */
uint32_t value_of(struct values *v, struct value value)
{
    size_t at = slot_of(v, &value);
    if (v->hash[at] != NONE) return v->hash[at];
    if ((2 * v->n >= v->hash_size && !widen(v)) ||
        !rewrite_grow(&v->list, &v->room, v->n, sizeof *v->list)) {
        v->no_memory = true;
        return VALUE_ANY;
    }
    at = slot_of(v, &value);
    v->list[v->n] = value;
    v->hash[at] = (uint32_t)v->n;
    return (uint32_t)v->n++;
}

uint32_t value_constant(struct values *v, uint32_t number, uint32_t site, bool is_literal)
{
    return value_of(
        v,
        (struct value){
            .kind = V_CONST, .number = number, .site = site, .sign = 1, .is_literal = is_literal });
}

/* ---- joins ---- */

/* A list with one more element, by rising numbers. `kind` V_PC: elements are nodes of one half. */
static uint32_t with(struct values *v, uint32_t list, uint8_t kind, bool is_high, uint32_t number)
{
    uint32_t before[LONGEST_LIST];
    const uint32_t whole = list;
    size_t n = 0;
    while (list != VALUE_NONE && v->list[list].number < number) {
        if (n == LONGEST_LIST) return VALUE_ANY;
        before[n++] = v->list[list].number;
        list = v->list[list].rest;
    }
    if (list != VALUE_NONE && v->list[list].number == number) return whole;
    list = value_of(
        v, (struct value){ .kind = kind, .is_high = is_high, .number = number, .rest = list });
    while (n-- && !v->no_memory)
        list = value_of(
            v,
            (struct value){ .kind = kind, .is_high = is_high, .number = before[n], .rest = list });
    return list;
}

static size_t length(const struct values *v, uint32_t list)
{
    size_t n = 0;
    for (; list != VALUE_NONE; list = v->list[list].rest) n++;
    return n;
}

/* Both lists, of the same kind, as one; VALUE_ANY when it had more than `most` elements. */
static uint32_t merge(struct values *v, uint32_t a, uint32_t b, size_t most)
{
    uint32_t numbers[LONGEST_LIST];
    const struct value x = v->list[a];
    const uint32_t first = a, second = b;
    size_t n = 0, n_new = 0, n_old = 0; /* of all; of those, in b alone and in a alone */
    while (a != VALUE_NONE || b != VALUE_NONE) {
        const bool has_a = a != VALUE_NONE, has_b = b != VALUE_NONE;
        const uint32_t of_a = has_a ? v->list[a].number : 0, of_b = has_b ? v->list[b].number : 0;
        const bool take_a = has_a && (!has_b || of_a <= of_b),
                   take_b = has_b && (!has_a || of_b <= of_a);
        if (n == most) return VALUE_ANY;
        numbers[n++] = take_a ? of_a : of_b;
        n_new += !take_a;
        n_old += !take_b;
        if (take_a) a = v->list[a].rest;
        if (take_b) b = v->list[b].rest;
    }
    if (!n_new) return first;
    if (!n_old) return second;
    uint32_t list = VALUE_NONE;
    while (n-- && !v->no_memory)
        list = value_of(
            v, (struct value){
                   .kind = x.kind, .is_high = x.is_high, .number = numbers[n], .rest = list });
    return list;
}

/* Add the parts of a value to a mixture. */
static uint32_t mix(struct values *v, uint32_t mixture, uint32_t value)
{
    struct value x = v->list[value];
    switch (x.kind) {
    case V_CONST:
        if (x.site == NONE) return mixture;
        return with(v, mixture, V_MIX, false, value);
    case V_CARRY: return with(v, mixture, V_MIX, false, value);
    case V_PC:
        for (;;) {
            mixture = with(v, mixture, V_MIX, false, value_of_node(v, x.number, x.is_high));
            if (x.rest == VALUE_NONE || mixture == VALUE_ANY) return mixture;
            x = v->list[x.rest];
        }
    case V_MIX:
        if (mixture == VALUE_NONE) return value;
        for (;;) {
            mixture = with(v, mixture, V_MIX, false, x.number);
            if (x.rest == VALUE_NONE || mixture == VALUE_ANY) return mixture;
            x = v->list[x.rest];
        }
    default: return mixture;
    }
}

uint32_t value_join(struct values *v, uint32_t a, uint32_t b)
{
    if (a == b || b == VALUE_NONE) return a;
    if (a == VALUE_NONE) return b;
    if (a == VALUE_LOST || b == VALUE_LOST) {
        value_read(v, a);
        value_read(v, b);
        return VALUE_LOST;
    }
    struct value x = v->list[a], y = v->list[b];
    if (x.kind == V_PC && y.kind == V_PC && x.is_high == y.is_high &&
        length(v, a) + length(v, b) <= LONGEST_LIST)
        return merge(v, a, b, LONGEST_LIST);
    const bool are_mixtures = x.kind == V_MIX && y.kind == V_MIX;
    uint32_t mixture = are_mixtures ? merge(v, a, b, LONGEST_LIST / 2) : mix(v, VALUE_NONE, a);
    if (!are_mixtures && mixture != VALUE_ANY) mixture = mix(v, mixture, b);
    if (mixture == VALUE_NONE) return VALUE_ANY;
    if (mixture == VALUE_ANY || length(v, mixture) > LONGEST_LIST / 2) {
        value_read(v, a); /* too many parts to follow: as if all were read here */
        value_read(v, b);
        return VALUE_LOST;
    }
    return mixture;
}

static void read_parts(struct values *v, uint32_t value, bool also_whole)
{
    for (;;) {
        struct value x = v->list[value];
        struct node *node = x.kind == V_PC || x.kind == V_CARRY ? &v->nodes[x.number] : NULL;
        bool is_whole = node && node->base != NONE && node->is_complete;
        if (x.kind == V_CONST && x.site != NONE) v->sites[x.site - v->f->first] |= SITE_READ;
        if (x.kind == V_CARRY) node->carry_is_read = true;
        if (x.kind == V_PC && (also_whole || !is_whole)) node->is_read[x.is_high] = true;
        if (x.kind == V_MIX) read_parts(v, x.number, also_whole);
        if ((x.kind != V_PC && x.kind != V_MIX) || x.rest == VALUE_NONE) return;
        value = x.rest;
    }
}

void value_read(struct values *v, uint32_t value)
{
    read_parts(v, value, true);
}

void value_pass(struct values *v, uint32_t value)
{
    read_parts(v, value, false);
}

/* ---- nodes ---- */

static uint32_t add_node(struct values *v, struct node node)
{
    struct value key = { .kind = V_NODE,
                         .number = node.anchor,
                         .rest = node.item,
                         .site = node.base,
                         .offset = node.constant,
                         .node = (uint32_t)v->n_nodes };
    uint32_t value = value_of(v, key);
    if (v->no_memory) return NONE;
    if (v->list[value].node != v->n_nodes) return v->list[value].node;
    if (!rewrite_grow(&v->nodes, &v->nodes_room, v->n_nodes, sizeof *v->nodes)) {
        v->no_memory = true;
        return NONE;
    }
    v->nodes[v->n_nodes] = node;
    return (uint32_t)v->n_nodes++;
}

uint32_t node_of_pc(struct values *v, uint32_t anchor)
{
    return add_node(v, (struct node){ .anchor = anchor,
                                      .base = NONE,
                                      .item = NONE,
                                      .constant = NONE,
                                      .high_item = NONE,
                                      .high_constant = NONE,
                                      .is_complete = true });
}

uint32_t node_of_sum(struct values *v, uint32_t base, uint32_t item, uint32_t constant,
                     bool subtracts)
{
    return add_node(v, (struct node){ .anchor = v->nodes[base].anchor,
                                      .base = base,
                                      .item = item,
                                      .constant = constant,
                                      .high_item = NONE,
                                      .high_constant = NONE,
                                      .subtracts = subtracts });
}

uint32_t value_of_node(struct values *v, uint32_t node, bool is_high)
{
    if (node == NONE) return VALUE_ANY;
    return value_of(v, (struct value){ .kind = V_PC, .number = node, .is_high = is_high });
}

uint64_t node_address(const struct values *v, uint32_t node)
{
    const struct item *anchor = &v->r->items[v->nodes[node].anchor];
    return v->r->address + anchor->old + 4 * (uint64_t)anchor->n_words + v->nodes[node].sum;
}

uint32_t item_at_address(const struct rewrite *r, uint64_t address)
{
    uint64_t offset = address - r->address;
    if (address < r->address || offset >= r->size || offset % 4) return NONE;
    return r->item_of[offset / 4];
}

uint32_t function_at(const struct rewrite *r, uint32_t item)
{
    size_t low = 0, high = r->n_functions;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (r->functions[middle].first < item)
            low = middle + 1;
        else
            high = middle;
    }
    while (low < r->n_functions && r->functions[low].first == item &&
           r->functions[low].last == item)
        low++; /* functions without any code */
    return low < r->n_functions && r->functions[low].first == item ? (uint32_t)low : NONE;
}
