/* rows.h: rows that are normalised each for itself: where a work-item is in its row, and its
 * elements. */
#ifndef RMCP_OPS_NORM_KERNELS_ROWS_H
#define RMCP_OPS_NORM_KERNELS_ROWS_H

#include "engine/kernels/target.h"

#include "engine/kernels/moments.h"
#include "engine/ops/norm/kernels/args.h"

#define BLOCK (CPU ? 4 : RMCP_LN_BLOCK) /* whose compiler takes long for more */

/* Which row a work-item has, and which of its lanes it is. BLOCK is how many elements it takes at
 * once; those of a block that exist come first. */
struct post {
    uint thread, lane, lanes;
    bool exists;
    uint row;
    ulong begin;
    uint channel; /* the first of the row's */
};

INLINE struct post post_of(const struct rmcp_ln_args *a)
{
    struct post p;
    p.thread = LOCAL_ID;
    p.lanes = 1u << a->lane_bits;
    p.lane = p.thread & (p.lanes - 1);
    const uint mine = GROUP_ID_X * (THREADS >> a->lane_bits) + (p.thread >> a->lane_bits);
    p.exists = mine < a->count;
    p.row = a->first + (p.exists ? mine : 0);
    p.begin = (ulong)p.row * a->inner;
    p.channel = (p.row - divide(p.row, a->groups) * a->groups.divisor) * a->each;
    return p;
}

/* How many elements of the block at `start` a work-item has. */
INLINE uint count_of(const struct rmcp_ln_args *a, const struct post *p, uint start,
                     const uint width)
{
    const uint steps = (a->inner - start) / width, most = BLOCK / width;
    const uint mine = steps > p->lane ? (steps - p->lane + p->lanes - 1) >> a->lane_bits : 0;
    return p->exists ? smaller(mine, most) * width : 0;
}

/* Element s * width of a block's, in its row. */
INLINE uint place_of(const struct post *p, uint start, uint s, const uint width)
{
    return start + (p->lane + s * p->lanes) * width;
}

/* The same, or the row's last ones: they may be read whether it exists or not, without a branch. */
INLINE uint near(const struct rmcp_ln_args *a, const struct post *p, uint start, uint s,
                 const uint width)
{
    return smaller(place_of(p, start, s, width), a->inner - width);
}

INLINE void get(__global const char *base, ulong at, const uint width, float *v)
{
    if (width == 4)
        get4(base, at, v);
    else
        v[0] = get1(base, at);
}

/* What does not exist is 0. */
INLINE void fetch(const struct rmcp_ln_args *a, const struct post *p, __global const char *base,
                  uint start, uint n, const uint width, float *v)
{
    UNROLL
    for (uint s = 0; s < BLOCK / width; s++)
        get(base, p->begin + near(a, p, start, s, width), width, v + s * width);
    UNROLL
    for (uint j = 0; j < BLOCK; j++) v[j] = j < n ? v[j] : 0;
}

INLINE void emplace(const struct post *p, __global char *base, uint start, uint n, const uint width,
                    const float *v)
{
    UNROLL
    for (uint s = 0; s < BLOCK / width; s++) {
        const uint at = place_of(p, start, s, width);
        if (width == 4 && s * 4 < n)
            put4(base, p->begin + at, v + 4 * s);
        else if (width == 1 && s < n)
            put1(base, p->begin + at, v[s]);
    }
}

/* The weights (or biases) of `width` neighbours at `at`. */
INLINE void weights_of(const struct rmcp_ln_args *a, const struct post *p,
                       __global const char *base, uint at, const uint width, float *w)
{
    if (a->weights == 2) {
        const float one = get1(base, p->channel + divide(at, a->space));
        for (uint j = 0; j < width; j++) w[j] = one;
    } else {
        get(base, at, width, w);
    }
}

#endif
