/* common.h: division by a constant of the launch, and what forward does to a sum. */
#ifndef RMCP_COMMON_H
#define RMCP_COMMON_H

#include "engine/kernels/target.h"

#include "engine/kernels/args.h"
#include "engine/kernels/target.h"

INLINE uint divide(uint n, struct rmcp_divider d)
{
    return ((uint)((ulong)n * d.multiplier >> 32) + n) >> d.shift;
}

INLINE uint smaller(uint a, uint b)
{
    return a < b ? a : b;
}

/* NaN fails every comparison and so stays NaN. */
INLINE float activate(const struct rmcp_epilogue *e, float v)
{
    if (e->kind == 1) return v < 0 ? 0 : v;
    if (e->kind == 2) return v < 0 ? v * e->slope : v;
    if (e->kind == 3) return v < e->low ? e->low : v > e->high ? e->high : v;
    return v;
}

#endif
