/* columns_stats.cl: moments of some rows of each column, to the workspace. */
#include "engine/kernels/target.h"
#include "engine/ops/batchnorm/kernels/columns.h"

__kernel WORKGROUP(THREADS) void batchnorm_columns_stats(INPUT(x), OUTPUT(parts),
                                                         struct rmcp_norm_columns a, uint splits)
{
    __local float n[THREADS], shift[THREADS], rest[THREADS], m2[THREADS];
    __global const char *const data = ADDRESS(x);
    const bool fours = a.fours && is_aligned(data);
    const struct post p = post_of(&a);
    const struct moments4 mine = fours ? gather(&a, &p, data, true) : gather(&a, &p, data, false);
    __global float *const out = PARAMETERS(parts);
    UNROLL
    for (uint j = 0; j < 4; j++) {
        const struct moments all = merge_all(column_of(&mine, j), p.thread, p.level, p.levels,
                                             p.lanes, n, shift, rest, m2);
        if (p.level || j >= p.exist) continue;
        out[part_of(&a, &p, 0, splits, j)] = all.n;
        out[part_of(&a, &p, 1, splits, j)] = all.shift;
        out[part_of(&a, &p, 2, splits, j)] = all.rest;
        out[part_of(&a, &p, 3, splits, j)] = all.m2;
    }
}
