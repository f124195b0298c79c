/* columns_dx.cl: the gradient of x, given the sums. */
#include "engine/kernels/target.h"
#define DEPTH 2 /* of two tensors each; more take registers, and so workgroups at once */
#include "engine/ops/batchnorm/kernels/columns.h"

__kernel WORKGROUP(THREADS) void batchnorm_columns_dx(INPUT(x), INPUT(dy), OUTPUT(dx), INPUT(scale),
                                                      INPUT(bias), INPUT(means), INPUT(inverses),
                                                      INPUT(sums), INPUT(products),
                                                      struct rmcp_norm_columns a)
{
    __global const char *const data = ADDRESS(x), *const errors = ADDRESS(dy);
    __global char *const out = ADDRESS(dx);
    const bool fours = a.fours && is_aligned(data) && is_aligned(errors) && is_aligned(out);
    const struct post p = post_of(&a);
    struct slope s[4];
    UNROLL
    for (uint j = 0; j < 4; j++) {
        const struct normal normal = { parameter(&p, INPUTS(means), j),
                                       parameter(&p, INPUTS(inverses), j) };
        s[j] = slope_of(&a.figures, normal, parameter(&p, INPUTS(scale), j),
                        bias_of(&a, &p, INPUTS(bias), j), parameter(&p, INPUTS(sums), j),
                        parameter(&p, INPUTS(products), j));
    }
    if (fours)
        apply_gradients(&a, &p, s, data, errors, out, true);
    else
        apply_gradients(&a, &p, s, data, errors, out, false);
}
