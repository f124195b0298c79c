/* rows_sums.cl: sums of gradients of a part of each channel, to the workspace. */
#include "engine/kernels/target.h"
#include "engine/ops/batchnorm/kernels/rows.h"

__kernel WORKGROUP(THREADS) void batchnorm_rows_sums(INPUT(x), INPUT(dy), INPUT(scale), INPUT(bias),
                                                     INPUT(means), INPUT(inverses), OUTPUT(parts),
                                                     struct rmcp_norm_rows a, uint splits)
{
    __local float sum[THREADS], product[THREADS];
    const struct post p = post_of(&a);
    __global const char *const data = ADDRESS(x), *const errors = ADDRESS(dy);
    const struct normal normal = { INPUTS(means)[p.param], INPUTS(inverses)[p.param] };
    const struct slope s =
        slope_of(&a.figures, normal, INPUTS(scale)[p.param], bias_of(&a, &p, INPUTS(bias)), 0, 0);
    const bool fours = a.fours && is_aligned(data) && is_aligned(errors);
    const struct sums mine = fours ? gather_gradients(&a, &p, &s, data, errors, 4)
                                   : gather_gradients(&a, &p, &s, data, errors, 1);
    const struct sums all = add_all(mine, p.thread, p.lane, p.lanes, 1, sum, product);
    if (!p.exists || p.lane) return;
    PARAMETERS(parts)[part_of(&a, &p, 0, splits)] = all.sum;
    PARAMETERS(parts)[part_of(&a, &p, 1, splits)] = all.product;
}
