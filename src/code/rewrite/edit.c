/* edit.c: looking at items and changing them. */
#include "code/rewrite/program.h"

static bool is_item(const struct rewrite *r, uint32_t item)
{
    return item < r->n_items && !r->items[item].is_gone;
}

uint32_t rewrite_next(const struct rewrite *r, uint32_t item)
{
    return is_item(r, item) ? r->items[item].next : NONE;
}

uint32_t rewrite_previous(const struct rewrite *r, uint32_t item)
{
    return is_item(r, item) ? r->items[item].prev : NONE;
}

enum rewrite_kind rewrite_kind(const struct rewrite *r, uint32_t item)
{
    return is_item(r, item) ? (enum rewrite_kind)r->items[item].kind : REWRITE_LABEL;
}

bool rewrite_decode(const struct rewrite *r, const struct rewrite_function *function, uint32_t item,
                    struct isa_inst *out)
{
    if (!is_item(r, item) || r->items[item].kind != REWRITE_INSTRUCTION) return false;
    unsigned chip = r->chip | (function->wave64 ? ISA_WAVE64 : 0);
    return isa_decode(chip, r->pool + r->items[item].words, r->items[item].n_words, out);
}

bool rewrite_is_reached(const struct rewrite *r, uint32_t item)
{
    return is_item(r, item) && r->items[item].flags & IS_REACHED;
}

uint32_t rewrite_target(const struct rewrite *r, uint32_t item)
{
    return is_item(r, item) && r->items[item].flags & BRANCHES ? r->items[item].target : NONE;
}

uint32_t rewrite_clause(const struct rewrite *r, uint32_t item)
{
    if (!is_item(r, item) || !(r->items[item].flags & CLAUSED)) return NONE;
    do item = r->items[item].prev;
    while (item != NONE && !(r->items[item].flags & IS_CLAUSE));
    return item;
}

/* ---- changing ---- */

static void unlink_item(struct rewrite *r, uint32_t item)
{
    struct item *it = &r->items[item];
    if (it->prev == NONE)
        r->first_item = it->next;
    else
        r->items[it->prev].next = it->next;
    if (it->next != NONE) r->items[it->next].prev = it->prev;
    it->is_gone = 1;
}

/* The instructions under an s_clause are then like any other. */
static void free_clause(struct rewrite *r, uint32_t clause)
{
    unsigned left = (r->pool[r->items[clause].words] & 63) + 1;
    for (uint32_t i = r->items[clause].next; left && i != NONE; i = r->items[i].next) {
        if (r->items[i].kind == REWRITE_LABEL) continue;
        r->items[i].flags &= (uint8_t)~CLAUSED;
        if (r->items[i].flags & IS_CLAUSE) break; /* the next are under that one */
        left--;
    }
    r->items[clause].flags &= (uint8_t)~IS_CLAUSE;
}

static void drop_clause(struct rewrite *r, uint32_t clause)
{
    free_clause(r, clause);
    unlink_item(r, clause);
}

/* Before an instruction changes: the clause that it stands under goes; one that it begins ends. */
static void leave_clause(struct rewrite *r, uint32_t item)
{
    uint32_t clause = rewrite_clause(r, item);
    if (clause != NONE) drop_clause(r, clause);
    if (r->items[item].flags & IS_CLAUSE) free_clause(r, item);
}

/* Whether a path leads into the clause past its s_clause. */
static bool has_label(const struct rewrite *r, uint32_t clause, uint32_t item)
{
    for (uint32_t i = r->items[clause].next; i != item; i = r->items[i].next)
        if (r->items[i].kind == REWRITE_LABEL) return true;
    return false;
}

/* The first of the labels before an item; the item itself at a function's entry, which nothing
 * falls into. */
static uint32_t above_labels(const struct rewrite *r, uint32_t item)
{
    uint32_t first = item;
    for (;;) {
        uint32_t above = r->items[first].prev;
        if (above == NONE || r->items[above].kind != REWRITE_LABEL) return first;
        if (r->items[above].flags & ENDS) return item;
        first = above;
    }
}

rmcp_status rewrite_insert(struct rewrite *r, uint32_t before, enum rewrite_where where,
                           const uint32_t *words, unsigned n_words, uint32_t *out)
{
    if (!is_item(r, before) || !n_words || n_words > ISA_MAX_WORDS)
        return rmcp_fail(RMCP_E_ARG, "%u words to be inserted before item %u", n_words,
                         (unsigned)before);
    uint32_t clause = rewrite_clause(r, before);
    if (clause != NONE) {
        if (where == REWRITE_BEFORE_CLAUSE && !has_label(r, clause, before))
            before = clause;
        else
            drop_clause(r, clause);
    }
    if (where == REWRITE_ON_FALL_THROUGH) before = above_labels(r, before);
    uint32_t item = rewrite_new_item(r, REWRITE_INSTRUCTION, words, n_words);
    if (item == NONE) return rmcp_fail_memory("item", sizeof(struct item));
    r->items[item].flags = IS_REACHED;
    rewrite_link_before(r, before, item);
    r->is_laid_out = false;
    if (out) *out = item;
    return RMCP_OK;
}

static rmcp_status check_change(const struct rewrite *r, uint32_t item)
{
    if (!is_item(r, item) || r->items[item].kind != REWRITE_INSTRUCTION)
        return rmcp_fail(RMCP_E_ARG, "item %u is no instruction", (unsigned)item);
    if (r->items[item].flags & (BRANCHES | HOLDS_SUM | JUMPS | CALLS))
        return rmcp_fail(RMCP_E_UNSUPPORTED, "the instruction at 0x%llx holds a reference",
                         (unsigned long long)(r->address + r->items[item].old));
    if (r->items[item].flags & ENDS) /* the layout may put something behind it */
        return rmcp_fail(RMCP_E_UNSUPPORTED, "the instruction at 0x%llx ends its path",
                         (unsigned long long)(r->address + r->items[item].old));
    return RMCP_OK;
}

rmcp_status rewrite_replace(struct rewrite *r, uint32_t item, const uint32_t *words,
                            unsigned n_words)
{
    rmcp_status status = check_change(r, item);
    if (status) return status;
    if (!n_words || n_words > ISA_MAX_WORDS)
        return rmcp_fail(RMCP_E_ARG, "an instruction of %u words", n_words);
    uint32_t spare = rewrite_new_item(r, REWRITE_INSTRUCTION, words, n_words);
    if (spare == NONE) return rmcp_fail_memory("item", sizeof(struct item));
    leave_clause(r, item);
    r->items[item].words = r->items[spare].words;
    r->items[item].n_words = n_words;
    r->items[spare].is_gone = 1;
    r->is_laid_out = false;
    return RMCP_OK;
}

rmcp_status rewrite_delete(struct rewrite *r, uint32_t item)
{
    rmcp_status status = check_change(r, item);
    if (status) return status;
    leave_clause(r, item);
    unlink_item(r, item);
    r->is_laid_out = false;
    return RMCP_OK;
}
