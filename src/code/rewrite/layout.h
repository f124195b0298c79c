/* layout.h: the parts of a layout; not for other folders. */
#ifndef RMCP_REWRITE_LAYOUT_H
#define RMCP_REWRITE_LAYOUT_H

#include "code/rewrite/program.h"

struct island {
    uint32_t target, label; /* where it leads, and its own label */
    uint32_t at;            /* its place in this round, at least */
};

struct layout {
    struct rewrite *r;
    const struct rewrite_options *options;
    int64_t reach;
    size_t bytes;
    uint32_t *branches; /* items with an offset of 16 bits, in order */
    size_t n_branches, branches_room;
    uint32_t *gaps; /* items behind which nothing falls through, in order */
    size_t n_gaps, gaps_room;
    struct island *islands; /* of this round */
    size_t n_islands, islands_room;
};

/* islands.c: lead a branch that does not reach to another branch on the way to its target. */
rmcp_status layout_add_island(struct layout *l, uint32_t branch);
void layout_forget_islands(struct layout *l);

/* sums.c: write the constants of all pc-relative sums, and prove them. */
rmcp_status layout_fill_sums(struct layout *l);

#endif
