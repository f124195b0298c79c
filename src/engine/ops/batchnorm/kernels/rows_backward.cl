/* rows_backward.cl: all gradients in one: each workgroup has whole channels. */
#include "engine/kernels/target.h"
#include "engine/ops/batchnorm/kernels/rows.h"

__kernel WORKGROUP(THREADS) void batchnorm_rows_backward(INPUT(x), INPUT(dy), OUTPUT(dx),
                                                         INPUT(scale), INPUT(bias),
                                                         INPUT(saved_mean), INPUT(saved_inverse),
                                                         OUTPUT(dscale), OUTPUT(dbias),
                                                         struct rmcp_norm_rows a)
{
    __local float n[THREADS], shift[THREADS], rest[THREADS], m2[THREADS];
    const struct post p = post_of(&a);
    __global const char *const data = ADDRESS(x), *const errors = ADDRESS(dy);
    __global char *const out = ADDRESS(dx);
    const bool fours = a.fours && is_aligned(data) && is_aligned(errors) && is_aligned(out);
    struct normal normal;
    if (a.figures.saves) {
        normal.mean = INPUTS(saved_mean)[p.param];
        normal.inverse = INPUTS(saved_inverse)[p.param];
    } else {
        const struct moments mine = fours ? gather(&a, &p, data, 4) : gather(&a, &p, data, 1);
        normal = normal_of(&a.figures,
                           merge_all(mine, p.thread, p.lane, p.lanes, 1, n, shift, rest, m2));
    }
    const float scales = INPUTS(scale)[p.param], added = bias_of(&a, &p, INPUTS(bias));
    struct slope s = slope_of(&a.figures, normal, scales, added, 0, 0);
    const struct sums mine = fours ? gather_gradients(&a, &p, &s, data, errors, 4)
                                   : gather_gradients(&a, &p, &s, data, errors, 1);
    const struct sums all = add_all(mine, p.thread, p.lane, p.lanes, 1, n, shift);
    if (p.exists && !p.lane) {
        PARAMETERS(dbias)[p.param] = all.sum;
        PARAMETERS(dscale)[p.param] = all.product * normal.inverse;
    }
    s = slope_of(&a.figures, normal, scales, added, all.sum, all.product);
    if (fours)
        apply_gradients(&a, &p, &s, data, errors, out, 4);
    else
        apply_gradients(&a, &p, &s, data, errors, out, 1);
}
