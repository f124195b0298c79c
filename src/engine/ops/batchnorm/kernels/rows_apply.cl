/* rows_apply.cl: normalise with given statistics. */
#include "engine/kernels/target.h"
#include "engine/ops/batchnorm/kernels/rows.h"

__kernel WORKGROUP(THREADS) void batchnorm_rows_apply(INPUT(x), OUTPUT(y), INPUT(scale),
                                                      INPUT(bias), INPUT(means), INPUT(deviations),
                                                      struct rmcp_norm_rows a)
{
    const struct post p = post_of(&a);
    __global const char *const data = ADDRESS(x);
    __global char *const out = ADDRESS(y);
    const float given = INPUTS(deviations)[p.param];
    const struct normal n = {
        INPUTS(means)[p.param],
        a.figures.variances ? inverse_root(given + a.figures.epsilon) : given,
    };
    const struct slope s =
        slope_of(&a.figures, n, INPUTS(scale)[p.param], bias_of(&a, &p, INPUTS(bias)), 0, 0);
    if (a.fours && is_aligned(data) && is_aligned(out))
        apply(&a, &p, &s, data, out, 4);
    else
        apply(&a, &p, &s, data, out, 1);
}
