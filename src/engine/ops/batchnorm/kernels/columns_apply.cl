/* columns_apply.cl: normalise with given statistics. */
#include "engine/kernels/target.h"
#include "engine/ops/batchnorm/kernels/columns.h"

__kernel WORKGROUP(THREADS) void batchnorm_columns_apply(INPUT(x), OUTPUT(y), INPUT(scale),
                                                         INPUT(bias), INPUT(means),
                                                         INPUT(deviations),
                                                         struct rmcp_norm_columns a)
{
    __global const char *const data = ADDRESS(x);
    __global char *const out = ADDRESS(y);
    const bool fours = a.fours && is_aligned(data) && is_aligned(out);
    const struct post p = post_of(&a);
    struct slope s[4];
    UNROLL
    for (uint j = 0; j < 4; j++) {
        const float given = parameter(&p, INPUTS(deviations), j);
        const struct normal n = {
            parameter(&p, INPUTS(means), j),
            a.figures.variances ? inverse_root(given + a.figures.epsilon) : given,
        };
        s[j] = slope_of(&a.figures, n, parameter(&p, INPUTS(scale), j),
                        bias_of(&a, &p, INPUTS(bias), j), 0, 0);
    }
    if (fours)
        apply(&a, &p, s, data, out, true);
    else
        apply(&a, &p, s, data, out, false);
}
