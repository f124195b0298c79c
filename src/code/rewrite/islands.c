/* islands.c: branches that do not reach are led over islands: other branches, which lie where
 * nothing falls through. That takes no register and touches neither SCC nor EXEC, as a long jump by
 * s_setpc would. */
#include "code/rewrite/layout.h"

void layout_forget_islands(struct layout *l)
{
    l->n_islands = 0;
}

static uint32_t new_branch(struct rewrite *r, uint32_t target)
{
    const uint32_t word = WORD_S_BRANCH;
    uint32_t item = rewrite_new_item(r, REWRITE_INSTRUCTION, &word, 1);
    if (item == NONE) return NONE;
    r->items[item].flags = BRANCHES | ENDS | IS_REACHED;
    r->items[item].target = target;
    return item;
}

/* The last gap that lies at or before a place; NONE: there is none. */
static uint32_t gap_before(const struct layout *l, int64_t at)
{
    size_t low = 0, high = l->n_gaps;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if ((int64_t)l->r->items[l->gaps[middle]].at <= at)
            low = middle + 1;
        else
            high = middle;
    }
    return low ? (uint32_t)(low - 1) : NONE;
}

/* Where nothing ends within reach, straight code is led around the island. Finds the item before
 * which that may stand: not inside a clause. */
static uint32_t straight_place(const struct layout *l, uint32_t branch, bool forward, int64_t most)
{
    const struct rewrite *r = l->r;
    int64_t from = r->items[branch].at;
    uint32_t best = NONE;
    for (uint32_t i = branch; i != NONE; i = forward ? r->items[i].next : r->items[i].prev) {
        const struct item *item = &r->items[i];
        int64_t distance = forward ? (int64_t)item->at - from : from - (int64_t)item->at;
        if (distance > most) break;
        bool fits = item->kind == REWRITE_INSTRUCTION && item->flags & IS_REACHED &&
                    !(item->flags & CLAUSED);
        if (i != branch && fits) best = i;
    }
    return best;
}

static uint32_t label_before(struct rewrite *r, uint32_t item)
{
    uint32_t label = rewrite_new_item(r, REWRITE_LABEL, NULL, 0);
    if (label != NONE) rewrite_link_before(r, item, label);
    return label;
}

/* A branch around what is put before `item`; the new last item before it has nothing falling in. */
static bool open_gap(struct rewrite *r, uint32_t item)
{
    uint32_t first = item; /* labels of the item stay with it: who branches there needs no detour */
    while (r->items[first].prev != NONE && r->items[r->items[first].prev].kind == REWRITE_LABEL)
        first = r->items[first].prev;
    uint32_t label = label_before(r, first);
    if (label == NONE) return false;
    uint32_t around = new_branch(r, label);
    if (around == NONE) return false;
    rewrite_link_before(r, label, around);
    return true;
}

/* The item before which an island can stand into `*out`. */
static rmcp_status find_place(struct layout *l, uint32_t branch, bool forward, uint32_t *out)
{
    struct rewrite *r = l->r;
    /* What is inserted in this round moves things on: keep an eighth of the reach for that. */
    int64_t most = 4 * (l->reach - l->reach / 8);
    int64_t from = r->items[branch].at, wanted = forward ? from + most : from - most;
    uint32_t gap = gap_before(l, wanted - (forward ? 8 : 0));
    if (!forward) { /* the first gap that is not too far */
        gap = gap == NONE ? 0 : gap + 1;
        if (gap >= l->n_gaps) gap = NONE;
    }
    if (gap != NONE) {
        int64_t at = r->items[l->gaps[gap]].at;
        bool between = forward ? at > from + most / 2 : at < from - most / 2;
        if (between) {
            *out = r->items[l->gaps[gap]].next;
            return RMCP_OK;
        }
    }
    uint32_t item = straight_place(l, branch, forward, most);
    if (item == NONE)
        return rmcp_fail(RMCP_E_UNSUPPORTED, "a branch over %lld bytes, and no place on the way",
                         (long long)r->items[r->items[branch].target].at - (long long)from);
    if (!open_gap(r, item)) return rmcp_fail_memory("item", sizeof(struct item));
    *out = item;
    while (r->items[r->items[*out].prev].kind == REWRITE_LABEL) *out = r->items[*out].prev;
    return RMCP_OK;
}

rmcp_status layout_add_island(struct layout *l, uint32_t branch)
{
    struct rewrite *r = l->r;
    uint32_t target = r->items[branch].target;
    int64_t from = r->items[branch].at;
    bool forward = r->items[target].at > r->items[branch].at;
    int64_t most = 4 * (l->reach - l->reach / 8);
    for (size_t i = l->n_islands; i-- > 0 && l->n_islands - i < 64;) {
        const struct island *island = &l->islands[i];
        int64_t distance = forward ? (int64_t)island->at - from : from - (int64_t)island->at;
        if (island->target != target || distance <= most / 4 || distance > most) continue;
        r->items[branch].target = island->label;
        return RMCP_OK;
    }
    uint32_t before = NONE;
    rmcp_status status = find_place(l, branch, forward, &before);
    if (status) return status;
    uint32_t at = r->items[before].at;
    uint32_t item = new_branch(r, target);
    if (item == NONE) return rmcp_fail_memory("item", sizeof(struct item));
    rewrite_link_before(r, before, item);
    uint32_t label = label_before(r, item);
    if (label == NONE ||
        !rewrite_grow(&l->islands, &l->islands_room, l->n_islands, sizeof *l->islands))
        return rmcp_fail_memory("islands", sizeof(struct island));
    r->items[branch].target = label;
    l->islands[l->n_islands++] = (struct island){ target, label, at };
    r->n_islands++;
    return RMCP_OK;
}
