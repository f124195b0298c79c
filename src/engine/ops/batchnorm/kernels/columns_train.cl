/* columns_train.cl: statistics and values in one: each workgroup has whole columns. */
#include "engine/kernels/target.h"
#include "engine/ops/batchnorm/kernels/columns.h"

__kernel WORKGROUP(THREADS) void batchnorm_columns_train(INPUT(x), OUTPUT(y), INPUT(scale),
                                                         INPUT(bias), OUTPUT(running_mean),
                                                         OUTPUT(running_variance),
                                                         OUTPUT(saved_mean), OUTPUT(saved_inverse),
                                                         struct rmcp_norm_columns a)
{
    __local float n[THREADS], shift[THREADS], rest[THREADS], m2[THREADS];
    __global const char *const data = ADDRESS(x);
    __global char *const out = ADDRESS(y);
    const bool fours = a.fours && is_aligned(data) && is_aligned(out);
    const struct post p = post_of(&a);
    const struct moments4 mine = fours ? gather(&a, &p, data, true) : gather(&a, &p, data, false);
    struct slope s[4];
    UNROLL
    for (uint j = 0; j < 4; j++) {
        const struct moments all = merge_all(column_of(&mine, j), p.thread, p.level, p.levels,
                                             p.lanes, n, shift, rest, m2);
        const struct normal normal = normal_of(&a.figures, all);
        s[j] = slope_of(&a.figures, normal, parameter(&p, INPUTS(scale), j),
                        bias_of(&a, &p, INPUTS(bias), j), 0, 0);
        const ulong column = p.first + j;
        if (p.level || j >= p.exist) continue;
        if (a.figures.saves) {
            PARAMETERS(saved_mean)[column] = normal.mean;
            PARAMETERS(saved_inverse)[column] = normal.inverse;
        }
        if (a.figures.runs)
            keep_running(&a.figures, all, PARAMETERS(running_mean) + column,
                         PARAMETERS(running_variance) + column);
    }
    if (fours)
        apply(&a, &p, s, data, out, true);
    else
        apply(&a, &p, s, data, out, false);
}
