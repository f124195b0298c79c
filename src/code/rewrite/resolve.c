/* resolve.c: which instructions are reached, what every sum on the program counter points at, and
 * which functions are refused. */
#include <stdlib.h>

#include "code/rewrite/values.h"

/* ---- functions that never touch the program counter ---- */

static bool visit(struct rewrite *r, struct function *f, uint32_t item, uint32_t **stack, size_t *n,
                  size_t *room)
{
    if (item < f->first || item >= f->last || r->items[item].flags & IS_REACHED) return true;
    if (!rewrite_grow(stack, room, *n, sizeof **stack)) return false;
    r->items[item].flags |= IS_REACHED;
    (*stack)[(*n)++] = item;
    return true;
}

/* A branch out of the function: to another one's entry, or refused. */
static bool judge_branch(struct rewrite *r, struct function *f, const struct item *item)
{
    uint64_t at = r->address + item->old;
    if (item->target == NONE) {
        rewrite_refuse(f, "a branch to where no instruction starts", at);
        return true;
    }
    if (item->target >= f->first && item->target < f->last) return true;
    uint32_t function = function_at(r, item->target);
    if (function == NONE) {
        rewrite_refuse(f, "a branch into the middle of another function", at);
        return true;
    }
    if (!rewrite_grow(&r->calls, &r->calls_room, r->n_calls, sizeof *r->calls)) return false;
    r->calls[r->n_calls++] = function;
    return true;
}

static bool reach(struct rewrite *r, struct function *f, uint32_t **stack, size_t *room)
{
    size_t n = 0;
    f->calls = (uint32_t)r->n_calls;
    if (f->first == f->last) return true;
    if (!visit(r, f, f->first, stack, &n, room)) return false;
    while (n) {
        uint32_t i = (*stack)[--n];
        const struct item *item = &r->items[i];
        if (item->kind == REWRITE_DATA)
            rewrite_refuse(f, "a word that is no instruction of the chip", r->address + item->old);
        if (item->flags & BRANCHES) {
            if (!judge_branch(r, f, item)) return false;
            if (item->target != NONE && !visit(r, f, item->target, stack, &n, room)) return false;
        }
        if (item->flags & ENDS) continue;
        if (i + 1 == f->last)
            rewrite_refuse(f, "runs past its end", r->address + item->old);
        else if (!visit(r, f, i + 1, stack, &n, room))
            return false;
    }
    f->n_calls = (uint32_t)(r->n_calls - f->calls);
    return true;
}

/* ---- sums ---- */

/* Whether an address lies in something of the object that is loaded, or right behind it. */
static bool is_data(const struct rewrite *r, uint64_t address)
{
    const struct codeobj *o = r->object;
    for (size_t i = 0; i < o->n_sections; i++) {
        const struct codeobj_section *s = &o->sections[i];
        if (s->flags & SECTION_IS_LOADED && !(s->flags & SECTION_EXECUTES) &&
            address >= s->address && address - s->address <= s->size)
            return true;
    }
    return false;
}

/* Why a sum cannot be moved, or NULL; `*sum` is what it became. */
static const char *judge_node(struct values *v, uint32_t index, struct sum *sum)
{
    struct rewrite *r = v->r;
    const struct node *node = &v->nodes[index];
    bool is_read = node->is_read[0] || node->is_read[1];
    bool is_call = r->items[node->anchor].flags & CALLS;
    if (node->carry_is_read) return "the carry of a pc-relative sum is used";
    if (node->is_torn) return "a pc-relative sum with two different upper halves";
    if (node->base == NONE)
        return is_read && !is_call ? "the program counter is used for something else" : NULL;
    if (!node->is_complete) return is_read ? "half of a pc-relative sum is used by itself" : NULL;
    const struct value *low = &v->list[node->constant], *high = &v->list[node->high_constant];
    uint64_t address = node_address(v, index);
    uint32_t item = item_at_address(r, address);
    bool in_text = address >= r->address && address - r->address < r->size;
    bool is_target = in_text ? item != NONE : is_data(r, address);
    if (!is_target && (is_read || node->jumps)) return "a pc-relative sum that points at nothing";
    if (in_text && is_target && is_read && r->items[item].kind != REWRITE_DATA &&
        function_at(r, item) == NONE)
        return "the address of the middle of a function is used as data";
    if (low->site == NONE || high->site != node->high_item)
        return "a pc-relative sum whose constants are not in instructions of their own";
    if (v->sites[low->site - v->f->first] & SITE_READ)
        return "the constant of a pc-relative sum is used for something else as well";
    *sum = (struct sum){ .anchor = node->anchor,
                         .base = NONE,
                         .low = low->site,
                         .high = node->high_item,
                         .offset = low->offset,
                         .sign = low->sign,
                         .subtracts = node->subtracts,
                         .keeps_sign = v->sites[low->site - v->f->first] & SITE_SIGN,
                         .is_fixed = !is_target,
                         .target = in_text && is_target ? item : NONE,
                         .address = is_target ? address : node->sum };
    return NULL;
}

/* An inline constant cannot hold every distance: make a literal of it. */
static bool widen(struct rewrite *r, uint32_t index)
{
    struct item *item = &r->items[index];
    uint32_t word = r->pool[item->words];
    if (item->n_words != 1) return true;
    unsigned first = word & 255;
    bool second = first < 128;
    uint32_t code = second ? word >> 8 & 255 : first;
    uint32_t value = code <= 192 ? code - 128 : 192 - code;
    if (code < 128 || code > 208) return false;
    for (unsigned i = 0; i < 2; i++) {
        if (!rewrite_grow(&r->pool, &r->pool_room, r->n_pool, sizeof *r->pool)) return false;
        r->pool[r->n_pool++] = i ? value : word | (second ? 255u << 8 : 255u);
    }
    item->words = (uint32_t)(r->n_pool - 2);
    item->n_words = 2;
    return true;
}

static rmcp_status keep_sums(struct values *v)
{
    struct rewrite *r = v->r;
    uint32_t *sum_of = malloc((v->n_nodes + 1) * sizeof *sum_of);
    if (!sum_of) return rmcp_fail_memory("sums", v->n_nodes * sizeof *sum_of);
    rmcp_status status = RMCP_OK;
    for (size_t i = 0; i < v->n_nodes && !status; i++) {
        const struct node *node = &v->nodes[i];
        struct sum sum = { .anchor = NONE };
        sum_of[i] = NONE;
        if (!node->is_live) continue;
        const char *why = judge_node(v, (uint32_t)i, &sum);
        if (why) rewrite_refuse(v->f, why, r->address + r->items[node->anchor].old);
        if (why || sum.anchor == NONE) continue;
        sum.base = sum_of[node->base];
        if (sum.base == NONE && v->nodes[node->base].base != NONE) {
            rewrite_refuse(v->f, "a pc-relative sum on one that is not understood",
                           r->address + r->items[node->anchor].old);
            continue;
        }
        if (!widen(r, sum.low) ||
            !rewrite_grow(&r->sums, &r->sums_room, r->n_sums, sizeof *r->sums)) {
            status = rmcp_fail_memory("sums", r->n_sums * sizeof sum);
            break;
        }
        r->items[sum.anchor].flags |= HOLDS_SUM;
        r->items[sum.low].flags |= HOLDS_SUM;
        r->items[sum.high].flags |= HOLDS_SUM;
        r->items[node->item].flags |= HOLDS_SUM;
        sum_of[i] = (uint32_t)r->n_sums;
        r->sums[r->n_sums++] = sum;
    }
    free(sum_of);
    return status;
}

static rmcp_status resolve_pc(struct values *v, struct function *f)
{
    struct rewrite *r = v->r;
    f->calls = (uint32_t)r->n_calls;
    if (f->first == f->last) return RMCP_OK;
    if (!values_start(v, f) || !follow_function(v))
        return rmcp_fail_memory("paths of a function", (f->last - f->first) * sizeof(uint32_t));
    for (size_t i = 0; i < v->n_callees; i++) {
        if (!rewrite_grow(&r->calls, &r->calls_room, r->n_calls, sizeof *r->calls))
            return rmcp_fail_memory("calls", r->n_calls);
        r->calls[r->n_calls++] = v->callees[i];
    }
    f->n_calls = (uint32_t)(r->n_calls - f->calls);
    f->is_resolved = true;
    if (f->leaf == LEAF_NO) f->leaf = LEAF_UNKNOWN; /* more is known of it now */
    return keep_sums(v);
}

/* Who calls what is refused is refused as well, for the same reason; who calls someone unknown
 * calls him, too. */
static bool spread(struct rewrite *r)
{
    bool moved = false;
    for (size_t i = r->n_functions; i-- > 0;) {
        struct function *f = &r->functions[i];
        for (uint32_t c = 0; c < f->n_calls; c++) {
            const struct rewrite_function *callee = &r->functions[r->calls[f->calls + c]].face;
            if (callee->refused && !f->face.refused) {
                rewrite_refuse(f, callee->refused, callee->refused_at);
                moved = true;
            }
            if (callee->calls_unknown && !f->face.calls_unknown)
                moved = f->face.calls_unknown = true;
        }
    }
    return moved;
}

void rewrite_spread(struct rewrite *r)
{
    while (spread(r)) {
    }
    for (size_t i = 0; r->faces && i < r->n_functions; i++) r->faces[i] = r->functions[i].face;
}

rmcp_status rewrite_resolve(struct rewrite *r)
{
    struct values v;
    if (!values_init(&v, r)) return rmcp_fail_memory("values", 0);
    uint32_t *stack = NULL;
    size_t room = 0;
    rmcp_status status = RMCP_OK;
    for (size_t i = 0; i < r->n_functions && !status; i++) {
        struct function *f = &r->functions[i];
        if (f->first == f->last && f->face.is_kernel)
            rewrite_refuse(f, "has no code", f->face.symbol->address);
        if (f->has_pc)
            status = resolve_pc(&v, f);
        else if (!reach(r, f, &stack, &room))
            status = rmcp_fail_memory("paths of a function", room);
    }
    free(stack);
    values_deinit(&v);
    if (!status) rewrite_spread(r);
    return status;
}

void rewrite_refuse_function(struct rewrite *r, size_t function, const char *reason)
{
    if (function >= r->n_functions) return;
    rewrite_refuse(&r->functions[function], reason, r->functions[function].face.symbol->address);
    while (spread(r)) {
    }
    for (size_t i = 0; i < r->n_functions; i++) {
        r->faces[i].refused = r->functions[i].face.refused;
        r->faces[i].refused_at = r->functions[i].face.refused_at;
    }
    r->is_laid_out = false;
}
