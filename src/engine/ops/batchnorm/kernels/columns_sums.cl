/* columns_sums.cl: sums of gradients of some rows of each column, to the workspace. */
#include "engine/kernels/target.h"
#define DEPTH 2 /* of two tensors each; more take registers, and so workgroups at once */
#include "engine/ops/batchnorm/kernels/columns.h"

__kernel WORKGROUP(THREADS) void batchnorm_columns_sums(INPUT(x), INPUT(dy), INPUT(scale),
                                                        INPUT(bias), INPUT(means), INPUT(inverses),
                                                        OUTPUT(parts), struct rmcp_norm_columns a,
                                                        uint splits)
{
    __local float sum[THREADS], product[THREADS];
    __global const char *const data = ADDRESS(x), *const errors = ADDRESS(dy);
    const bool fours = a.fours && is_aligned(data) && is_aligned(errors);
    const struct post p = post_of(&a);
    struct slope s[4];
    UNROLL
    for (uint j = 0; j < 4; j++) {
        const struct normal normal = { parameter(&p, INPUTS(means), j),
                                       parameter(&p, INPUTS(inverses), j) };
        s[j] = slope_of(&a.figures, normal, parameter(&p, INPUTS(scale), j),
                        bias_of(&a, &p, INPUTS(bias), j), 0, 0);
    }
    const struct sums4 mine = fours ? gather_gradients(&a, &p, s, data, errors, true)
                                    : gather_gradients(&a, &p, s, data, errors, false);
    UNROLL
    for (uint j = 0; j < 4; j++) {
        const struct sums all =
            add_all(sums_of(&mine, j), p.thread, p.level, p.levels, p.lanes, sum, product);
        if (p.level || j >= p.exist) continue;
        PARAMETERS(parts)[part_of(&a, &p, 0, splits, j)] = all.sum;
        PARAMETERS(parts)[part_of(&a, &p, 1, splits, j)] = all.product;
    }
}
