/* rows_dx.cl: the gradient of x, given the sums. */
#include "engine/kernels/target.h"
#include "engine/ops/batchnorm/kernels/rows.h"

__kernel WORKGROUP(THREADS) void batchnorm_rows_dx(INPUT(x), INPUT(dy), OUTPUT(dx), INPUT(scale),
                                                   INPUT(bias), INPUT(means), INPUT(inverses),
                                                   INPUT(sums), INPUT(products),
                                                   struct rmcp_norm_rows a)
{
    const struct post p = post_of(&a);
    __global const char *const data = ADDRESS(x), *const errors = ADDRESS(dy);
    __global char *const out = ADDRESS(dx);
    const struct normal normal = { INPUTS(means)[p.param], INPUTS(inverses)[p.param] };
    const struct slope s =
        slope_of(&a.figures, normal, INPUTS(scale)[p.param], bias_of(&a, &p, INPUTS(bias)),
                 INPUTS(sums)[p.param], INPUTS(products)[p.param]);
    if (a.fours && is_aligned(data) && is_aligned(errors) && is_aligned(out))
        apply_gradients(&a, &p, &s, data, errors, out, 4);
    else
        apply_gradients(&a, &p, &s, data, errors, out, 1);
}
