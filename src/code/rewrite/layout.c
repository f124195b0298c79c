/* layout.c: places for all items, branches that reach, and the words of it all. */
#include "code/rewrite/layout.h"

#include <stdlib.h>
#include <string.h>

enum {
    REACH = 32767,
    MOST_ROUNDS = 200,
    END_WORDS = 64, /* of s_code_end: what the instruction prefetcher may read behind the end */
};

/* ---- places ---- */

static bool is_left_out(const struct layout *l, size_t function)
{
    return l->options->drop_refused && l->r->functions[function].face.refused;
}

/* Give every item its place; functions that are left out get none. */
static rmcp_status place(struct layout *l)
{
    struct rewrite *r = l->r;
    uint64_t at = 0;
    l->n_branches = l->n_gaps = 0;
    for (uint32_t i = r->first_item; i != NONE; i = r->items[i].next) {
        struct item *item = &r->items[i];
        if (item->kind == REWRITE_LABEL && item->align) {
            uint64_t align = UINT64_C(1) << item->align;
            at = (at + align - 1) & ~(align - 1);
        }
        item->at = (uint32_t)at;
        at += 4 * (uint64_t)item->n_words;
        if (at >= UINT32_C(1) << 31)
            return rmcp_fail(RMCP_E_UNSUPPORTED, "the new text is larger than 2 GiB");
        if (item->flags & BRANCHES) {
            if (!rewrite_grow(&l->branches, &l->branches_room, l->n_branches, sizeof *l->branches))
                return rmcp_fail_memory("branches", l->n_branches * sizeof *l->branches);
            l->branches[l->n_branches++] = i;
        }
        if (item->flags & ENDS && item->flags & IS_REACHED) {
            if (!rewrite_grow(&l->gaps, &l->gaps_room, l->n_gaps, sizeof *l->gaps))
                return rmcp_fail_memory("gaps", l->n_gaps * sizeof *l->gaps);
            l->gaps[l->n_gaps++] = i;
        }
    }
    l->bytes = (size_t)at;
    return RMCP_OK;
}

static int64_t offset_of(const struct rewrite *r, uint32_t branch)
{
    const struct item *item = &r->items[branch];
    return ((int64_t)r->items[item->target].at - (int64_t)item->at) / 4 - 1;
}

/* One round of mending; `*changed` says whether anything was inserted. */
static rmcp_status mend(struct layout *l, bool *changed)
{
    struct rewrite *r = l->r;
    const uint32_t nop = WORD_S_NOP;
    int64_t reach = l->reach;
    *changed = false;
    layout_forget_islands(l);
    for (size_t i = 0; i < l->n_branches; i++) {
        uint32_t branch = l->branches[i];
        int64_t offset = offset_of(r, branch);
        if (offset > reach || offset < -reach - 1) {
            rmcp_status status = layout_add_island(l, branch);
            if (status) return status;
            *changed = true;
        } else if (offset == 0x3f && l->options->avoid_3f) {
            uint32_t item = rewrite_new_item(r, REWRITE_INSTRUCTION, &nop, 1);
            if (item == NONE) return rmcp_fail_memory("item", sizeof(struct item));
            r->items[item].flags = IS_REACHED;
            rewrite_link_before(r, r->items[branch].next, item);
            r->n_nops++;
            *changed = true;
        }
    }
    return RMCP_OK;
}

/* ---- words ---- */

static rmcp_status emit(struct layout *l)
{
    struct rewrite *r = l->r;
    size_t n = l->bytes / 4 + END_WORDS;
    if (n > r->out_room) {
        uint32_t *out = realloc(r->out, n * sizeof *out);
        if (!out) return rmcp_fail_memory("new text", n * sizeof *out);
        r->out = out;
        r->out_room = n;
    }
    if (n > r->item_at_room) {
        uint32_t *item_at = realloc(r->item_at, n * sizeof *item_at);
        if (!item_at) return rmcp_fail_memory("new text", n * sizeof *item_at);
        r->item_at = item_at;
        r->item_at_room = n;
    }
    r->n_out = n;
    for (size_t i = 0; i < n; i++) r->out[i] = WORD_S_CODE_END;
    memset(r->item_at, 0xff, n * sizeof *r->item_at);
    for (uint32_t i = r->first_item; i != NONE; i = r->items[i].next) {
        const struct item *item = &r->items[i];
        if (!item->n_words) continue;
        uint32_t *to = r->out + item->at / 4;
        memcpy(to, r->pool + item->words, item->n_words * sizeof *to);
        r->item_at[item->at / 4] = i;
        if (item->flags & BRANCHES)
            *to = (*to & 0xffff0000u) | (uint32_t)(offset_of(r, i) & 0xffff);
    }
    return RMCP_OK;
}

/* What stands in the place of a function that is left out. */
static rmcp_status put_trap(struct rewrite *r, uint32_t before)
{
    static const uint32_t words[] = { UINT32_C(0xbf920002), UINT32_C(0xbf810000) }; /* s_trap 2 */
    for (unsigned i = 0; i < 2; i++) {
        uint32_t item = rewrite_new_item(r, REWRITE_INSTRUCTION, &words[i], 1);
        if (item == NONE) return rmcp_fail_memory("item", sizeof(struct item));
        r->items[item].flags = IS_REACHED;
        rewrite_link_before(r, before, item);
        if (i) r->items[item].flags |= ENDS;
    }
    return RMCP_OK;
}

/* Take the items of functions that are left out off the list, for good. */
static rmcp_status drop_refused(struct layout *l)
{
    struct rewrite *r = l->r;
    rmcp_status status = RMCP_OK;
    for (size_t f = 0; f < r->n_functions && !status; f++) {
        struct function *function = &r->functions[f];
        if (!is_left_out(l, f) || function->is_dropped) continue;
        function->is_dropped = true;
        uint32_t i = function->face.entry;
        while (i != NONE && i != function->face.end) {
            struct item *item = &r->items[i];
            uint32_t next = item->next;
            if (item->kind != REWRITE_LABEL) {
                r->items[item->prev == NONE ? i : item->prev].next = next;
                r->items[next].prev = item->prev;
                if (item->prev == NONE) r->first_item = next;
                item->is_gone = 1;
            }
            i = next;
        }
        if (l->options->trap_refused) {
            status = put_trap(r, function->face.end);
            continue;
        }
        r->items[function->face.entry].align = 0;
        r->items[function->face.entry].is_gone = 1; /* stays in the list, but leads nowhere */
    }
    return status;
}

rmcp_status rewrite_layout(struct rewrite *r, const struct rewrite_options *options,
                           struct rewrite_text *out)
{
    memset(out, 0, sizeof *out);
    if (options->address % 256 || options->address > UINT64_MAX - (UINT64_C(1) << 32))
        return rmcp_fail(RMCP_E_ARG, "new text at 0x%llx, no multiple of 256",
                         (unsigned long long)options->address);
    if (options->reach > REACH || (options->reach && options->reach < 64))
        return rmcp_fail(RMCP_E_ARG, "branches that reach %u words", (unsigned)options->reach);
    for (size_t i = 0; i < r->n_functions && !options->drop_refused; i++)
        if (r->functions[i].face.refused)
            return rmcp_fail(RMCP_E_UNSUPPORTED, "function %.100s: %s",
                             r->functions[i].face.symbol->name, r->functions[i].face.refused);
    struct layout l = { .r = r,
                        .options = options,
                        .reach = options->reach ? (int64_t)options->reach : REACH };
    r->new_address = options->address;
    rmcp_status status = drop_refused(&l);
    bool changed = true;
    for (unsigned round = 0; changed && !status; round++) {
        status = place(&l);
        if (!status) status = mend(&l, &changed);
        if (!status && changed && round == MOST_ROUNDS)
            status = rmcp_fail(RMCP_E_UNSUPPORTED, "no layout found in which all branches reach");
    }
    if (!status) status = emit(&l);
    if (!status) status = layout_fill_sums(&l);
    free(l.branches);
    free(l.gaps);
    free(l.islands);
    if (status) return status;
    r->is_laid_out = true;
    *out = (struct rewrite_text){ r->out, r->n_out, r->n_islands, r->n_nops };
    return RMCP_OK;
}

/* ---- where things are now ---- */

bool rewrite_address(const struct rewrite *r, uint64_t old, uint64_t *out)
{
    uint64_t offset = old - r->address;
    if (!r->is_laid_out || old < r->address || offset >= r->size || offset % 4) return false;
    uint32_t item = r->item_of[offset / 4];
    if (item == NONE) return false;
    uint32_t label = r->items[item].label;
    if (label != NONE) item = label; /* also of an instruction that was deleted */
    if (r->items[item].is_gone) return false;
    *out = r->new_address + r->items[item].at;
    return true;
}

/* The function that ends at an old offset, or NULL. */
static const struct function *ends_at(const struct rewrite *r, uint64_t offset)
{
    size_t low = 0, high = r->n_functions; /* the first one that starts at or behind it */
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (r->functions[middle].address < offset)
            low = middle + 1;
        else
            high = middle;
    }
    if (!low) return NULL;
    const struct function *f = &r->functions[low - 1];
    return f->address + f->face.symbol->size == offset ? f : NULL;
}

bool rewrite_moved(void *rewrite, uint64_t old, bool is_end, uint64_t *out)
{
    const struct rewrite *r = rewrite;
    uint64_t offset = old - r->address;
    if (!r->is_laid_out || old < r->address || offset > r->size) return false;
    const struct function *f = is_end ? ends_at(r, offset) : NULL;
    if (f) {
        *out = r->new_address + r->items[f->face.end].at;
        return true;
    }
    if (offset == r->size) {
        *out = r->new_address + 4 * (uint64_t)r->n_out;
        return true;
    }
    if (!is_end || !offset) return rewrite_address(r, old, out);
    /* Of something else that ends here: behind its last item. */
    uint64_t last = offset - 4;
    while (last && r->item_of[last / 4] == NONE) last -= 4;
    uint32_t item = r->item_of[last / 4];
    if (item == NONE || r->items[item].is_gone) return false;
    *out = r->new_address + r->items[item].at + 4 * (uint64_t)r->items[item].n_words;
    return true;
}

bool rewrite_place(const struct rewrite *r, const struct rewrite_function *function,
                   uint64_t *address, uint64_t *size)
{
    size_t i = (size_t)(function - r->faces);
    if (!r->is_laid_out || i >= r->n_functions) return false;
    uint32_t entry = r->items[function->entry].at, end = r->items[function->end].at;
    *address = r->new_address + entry;
    *size = end > entry ? end - entry : 0;
    return !r->items[function->entry].is_gone;
}

uint32_t rewrite_item_at(const struct rewrite *r, uint64_t offset)
{
    return r->is_laid_out && offset % 4 == 0 && offset / 4 < r->n_out ? r->item_at[offset / 4]
                                                                      : NONE;
}
