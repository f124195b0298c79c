/* rows_train.cl: both in one: each workgroup has whole channels. */
#include "engine/kernels/target.h"
#include "engine/ops/batchnorm/kernels/rows.h"

__kernel WORKGROUP(THREADS) void batchnorm_rows_train(INPUT(x), OUTPUT(y), INPUT(scale),
                                                      INPUT(bias), OUTPUT(running_mean),
                                                      OUTPUT(running_variance), OUTPUT(saved_mean),
                                                      OUTPUT(saved_inverse),
                                                      struct rmcp_norm_rows a)
{
    __local float n[THREADS], shift[THREADS], rest[THREADS], m2[THREADS];
    const struct post p = post_of(&a);
    __global const char *const data = ADDRESS(x);
    __global char *const out = ADDRESS(y);
    const bool fours = a.fours && is_aligned(data) && is_aligned(out);
    const struct moments mine = fours ? gather(&a, &p, data, 4) : gather(&a, &p, data, 1);
    const struct moments all = merge_all(mine, p.thread, p.lane, p.lanes, 1, n, shift, rest, m2);
    const struct normal normal = normal_of(&a.figures, all);
    if (p.exists && !p.lane) {
        if (a.figures.saves) {
            PARAMETERS(saved_mean)[p.param] = normal.mean;
            PARAMETERS(saved_inverse)[p.param] = normal.inverse;
        }
        if (a.figures.runs)
            keep_running(&a.figures, all, PARAMETERS(running_mean) + p.param,
                         PARAMETERS(running_variance) + p.param);
    }
    const struct slope s =
        slope_of(&a.figures, normal, INPUTS(scale)[p.param], bias_of(&a, &p, INPUTS(bias)), 0, 0);
    if (fours)
        apply(&a, &p, &s, data, out, 4);
    else
        apply(&a, &p, &s, data, out, 1);
}
