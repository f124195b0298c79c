/* finish_sums.cl: merges the sums of gradients of all splits: dbias, dscale, and the product that dx
 * needs. */
#include "kernels/target.h"
#include "ops/batchnorm/kernels/finish.h"

__kernel WORKGROUP(THREADS) void batchnorm_finish_sums(INPUT(parts), INPUT(inverses), OUTPUT(dscale),
                                                       OUTPUT(dbias), OUTPUT(products),
                                                       struct rmcp_norm_finish a)
{
    __local float sum[THREADS], product[THREADS];
    const struct post p = post_of(&a);
    __global const float *const from = INPUTS(parts);
    float s = 0, t = 0;
    for (uint split = p.lane; split < a.splits; split += p.lanes) {
        s += from[part_of(&a, &p, 0, split)];
        t += from[part_of(&a, &p, 1, split)];
    }
    sum[p.thread] = s, product[p.thread] = t;
    BARRIER();
    for (uint half_way = p.lanes / 2; half_way > 0; half_way /= 2) {
        if (p.lane < half_way) {
            sum[p.thread] += sum[p.thread + half_way];
            product[p.thread] += product[p.thread + half_way];
        }
        BARRIER();
    }
    if (!p.exists || p.lane) return;
    PARAMETERS(dbias)[p.param] = sum[p.thread];
    PARAMETERS(dscale)[p.param] = product[p.thread] * INPUTS(inverses)[p.param];
    PARAMETERS(products)[p.param] = product[p.thread];
}
