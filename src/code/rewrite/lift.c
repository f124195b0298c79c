/* lift.c: a code object's text becomes a list of items with labels. */
#include <stdlib.h>
#include <string.h>

#include "code/rewrite/program.h"

uint32_t rewrite_new_item(struct rewrite *r, enum rewrite_kind kind, const uint32_t *words,
                          unsigned n_words)
{
    if (r->n_items >= NONE - 1 || r->n_pool + n_words >= NONE - 1) return NONE;
    if (!rewrite_grow(&r->items, &r->items_room, r->n_items, sizeof *r->items)) return NONE;
    uint32_t first = (uint32_t)r->n_pool;
    for (unsigned i = 0; i < n_words; i++) {
        if (!rewrite_grow(&r->pool, &r->pool_room, r->n_pool, sizeof *r->pool)) return NONE;
        r->pool[r->n_pool++] = words[i];
    }
    r->items[r->n_items] = (struct item){ .prev = NONE,
                                          .next = NONE,
                                          .old = NONE,
                                          .words = first,
                                          .n_words = n_words,
                                          .target = NONE,
                                          .label = NONE,
                                          .kind = (uint8_t)kind };
    return (uint32_t)r->n_items++;
}

void rewrite_link_before(struct rewrite *r, uint32_t before, uint32_t item)
{
    struct item *at = &r->items[before], *it = &r->items[item];
    it->prev = at->prev;
    it->next = before;
    it->at = at->at; /* near enough until the next layout */
    if (at->prev == NONE)
        r->first_item = item;
    else
        r->items[at->prev].next = item;
    at->prev = item;
}

/* The label of an instruction, made when it is first asked for; NONE: no memory. */
static uint32_t label_of(struct rewrite *r, uint32_t item)
{
    if (r->items[item].label != NONE) return r->items[item].label;
    uint32_t label = rewrite_new_item(r, REWRITE_LABEL, NULL, 0);
    if (label == NONE) return NONE;
    rewrite_link_before(r, item, label);
    r->items[item].label = label;
    return label;
}

static bool link_functions(struct rewrite *r, uint32_t end_of_text)
{
    for (size_t i = 0; i < r->n_functions; i++) {
        struct function *f = &r->functions[i];
        uint32_t first = f->first < end_of_text ? f->first : end_of_text;
        uint32_t behind = f->last < end_of_text ? f->last : end_of_text;
        /* An end lies before the label of what follows, and before its padding. */
        f->face.end = rewrite_new_item(r, REWRITE_LABEL, NULL, 0);
        if (f->face.end == NONE) return false;
        uint32_t label = r->items[behind].label;
        rewrite_link_before(r, label == NONE ? behind : label, f->face.end);
        f->face.entry = label_of(r, first);
        if (f->face.entry == NONE) return false;
        r->items[f->face.entry].flags |= ENDS;
        r->items[f->face.end].flags |= ENDS;
        if (f->face.is_kernel) r->items[f->face.entry].align = 8;
    }
    return true;
}

static bool link_all(struct rewrite *r)
{
    uint32_t n = (uint32_t)r->n_items;
    for (uint32_t i = 0; i < n; i++) {
        r->items[i].prev = i ? i - 1 : NONE;
        r->items[i].next = i + 1;
    }
    r->first_item = 0;
    /* One label ends the list, so that everything has something behind it. */
    uint32_t last = rewrite_new_item(r, REWRITE_LABEL, NULL, 0);
    if (last == NONE) return false;
    r->items[last].prev = n ? n - 1 : NONE;
    if (!link_functions(r, last)) return false;
    for (uint32_t i = 0; i < n; i++) {
        uint32_t target = r->items[i].target;
        /* What no path reaches may be data, and stays as it is. */
        bool kept =
            r->items[i].flags & BRANCHES && target != NONE && r->items[i].flags & IS_REACHED;
        r->items[i].target = kept ? label_of(r, target) : NONE;
        if (kept && r->items[i].target == NONE) return false;
        if (!kept) r->items[i].flags &= (uint8_t)~BRANCHES;
    }
    for (size_t i = 0; i < r->n_sums; i++) {
        struct sum *sum = &r->sums[i];
        if (sum->target == NONE) continue;
        sum->target = label_of(r, sum->target);
        if (sum->target == NONE) return false;
    }
    return true;
}

rmcp_status rewrite_lift(const struct codeobj *object, struct rewrite **out)
{
    *out = NULL;
    int chip = isa_chip_of_mach(object->target.mach);
    if (chip < 0)
        return rmcp_fail(RMCP_E_UNSUPPORTED,
                         "code for %s cannot be rewritten, only for gfx10.1 "
                         "and gfx10.3",
                         object->target.text);
    if (object->is_relocatable || object->version < 3)
        return rmcp_fail(RMCP_E_UNSUPPORTED, object->is_relocatable
                                                 ? "a relocatable code object: link it first"
                                                 : "a code object of version 2");
    struct rewrite *r = calloc(1, sizeof *r);
    if (!r) return rmcp_fail_memory("rewrite", sizeof *r);
    r->object = object;
    r->chip = (unsigned)chip;
    rmcp_status status = rewrite_sweep(r);
    if (!status) status = rewrite_resolve(r);
    if (!status && !link_all(r)) status = rmcp_fail_memory("labels", r->n_items);
    if (!status) {
        r->faces = malloc((r->n_functions + 1) * sizeof *r->faces);
        if (!r->faces) status = rmcp_fail_memory("functions", r->n_functions);
    }
    if (status) {
        rewrite_destroy(r);
        return status;
    }
    for (size_t i = 0; i < r->n_functions; i++) r->faces[i] = r->functions[i].face;
    *out = r;
    return RMCP_OK;
}

void rewrite_destroy(struct rewrite *r)
{
    if (!r) return;
    free(r->pool);
    free(r->items);
    free(r->item_of);
    free(r->functions);
    free(r->faces);
    free(r->calls);
    free(r->sums);
    free(r->out);
    free(r->item_at);
    for (size_t i = 0; i < r->n_reasons; i++) free(r->reasons[i]);
    free(r->reasons);
    free(r);
}

const struct rewrite_function *rewrite_functions(const struct rewrite *r, size_t *n)
{
    *n = r->n_functions;
    return r->faces;
}
