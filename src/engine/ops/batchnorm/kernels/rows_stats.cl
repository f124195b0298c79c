/* rows_stats.cl: moments of a part of each channel, to the workspace. */
#include "engine/kernels/target.h"
#include "engine/ops/batchnorm/kernels/rows.h"

__kernel WORKGROUP(THREADS) void batchnorm_rows_stats(INPUT(x), OUTPUT(parts),
                                                      struct rmcp_norm_rows a, uint splits)
{
    __local float n[THREADS], shift[THREADS], rest[THREADS], m2[THREADS];
    const struct post p = post_of(&a);
    __global const char *const data = ADDRESS(x);
    const bool fours = a.fours && is_aligned(data);
    const struct moments mine = fours ? gather(&a, &p, data, 4) : gather(&a, &p, data, 1);
    const struct moments all = merge_all(mine, p.thread, p.lane, p.lanes, 1, n, shift, rest, m2);
    if (!p.exists || p.lane) return;
    __global float *const out = PARAMETERS(parts);
    out[part_of(&a, &p, 0, splits)] = all.n;
    out[part_of(&a, &p, 1, splits)] = all.shift;
    out[part_of(&a, &p, 2, splits)] = all.rest;
    out[part_of(&a, &p, 3, splits)] = all.m2;
}
