/* aligned.h: which accesses of LDS of 8 bytes and more are proven to be aligned.
 *
 * gfx10.1 has a bug with those that are not, in WGP mode. Along every path of a function it is
 * followed what each register is modulo 256, and for vector registers in which lanes: what is
 * written while some lanes are switched off says nothing of these (aligned_state.h). */
#ifndef RMCP_REWRITE_ALIGNED_H
#define RMCP_REWRITE_ALIGNED_H

#include "code/rewrite/rewrite.h"

struct rewrite_wide {
    uint32_t item;
    bool is_flat;   /* FLAT: may be one of LDS */
    bool is_proven; /* aligned to 8 bytes, or to 16 when it moves more than 8; by its offset alone,
                       too, so that an audit finds nothing. Atomics, which every chip wants to be
                       aligned, count as proven. */
};

/* All wide accesses of a function (by its number) that a path leads to, in the order of the code;
 * `*out` is the caller's to free(), NULL when there are none. */
rmcp_status rewrite_find_wide(const struct rewrite *rewrite, size_t function,
                              struct rewrite_wide **out, size_t *n);

#endif
