/* finish_sums.cl: merges the sums of gradients of all splits: dbias, dscale, and the product that
 * dx needs. */
#include "engine/kernels/target.h"
#include "engine/ops/batchnorm/kernels/finish.h"

__kernel WORKGROUP(THREADS) void batchnorm_finish_sums(INPUT(parts), INPUT(inverses),
                                                       OUTPUT(dscale), OUTPUT(dbias),
                                                       OUTPUT(products), struct rmcp_norm_finish a)
{
    __local float sum[THREADS], product[THREADS];
    const struct post p = post_of(&a);
    __global const float *const from = INPUTS(parts);
    struct sums s = { 0, 0 };
    for (uint split = p.lane; split < a.splits; split += p.lanes) {
        s.sum += from[part_of(&a, &p, 0, split)];
        s.product += from[part_of(&a, &p, 1, split)];
    }
    s = add_all(s, p.thread, p.lane, p.lanes, 1, sum, product);
    if (!p.exists || p.lane) return;
    PARAMETERS(dbias)[p.param] = s.sum;
    PARAMETERS(dscale)[p.param] = s.product * INPUTS(inverses)[p.param];
    PARAMETERS(products)[p.param] = s.product;
}
