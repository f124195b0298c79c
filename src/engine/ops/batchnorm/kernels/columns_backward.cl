/* columns_backward.cl: all gradients in one: each workgroup has whole columns. */
#include "engine/kernels/target.h"
#define DEPTH 2 /* of two tensors each; more take registers, and so workgroups at once */
#include "engine/ops/batchnorm/kernels/columns.h"

__kernel WORKGROUP(THREADS) void batchnorm_columns_backward(INPUT(x), INPUT(dy), OUTPUT(dx),
                                                            INPUT(scale), INPUT(bias),
                                                            INPUT(saved_mean), INPUT(saved_inverse),
                                                            OUTPUT(dscale), OUTPUT(dbias),
                                                            struct rmcp_norm_columns a)
{
    __local float n[THREADS], shift[THREADS], rest[THREADS], m2[THREADS];
    __global const char *const data = ADDRESS(x), *const errors = ADDRESS(dy);
    __global char *const out = ADDRESS(dx);
    const bool fours = a.fours && is_aligned(data) && is_aligned(errors) && is_aligned(out);
    const struct post p = post_of(&a);
    struct moments4 moments;
    if (!a.figures.saves)
        moments = fours ? gather(&a, &p, data, true) : gather(&a, &p, data, false);
    struct normal normal[4];
    struct slope s[4];
    UNROLL
    for (uint j = 0; j < 4; j++) {
        if (a.figures.saves) {
            normal[j].mean = parameter(&p, INPUTS(saved_mean), j);
            normal[j].inverse = parameter(&p, INPUTS(saved_inverse), j);
        } else {
            normal[j] = normal_of(&a.figures, merge_all(column_of(&moments, j), p.thread, p.level,
                                                        p.levels, p.lanes, n, shift, rest, m2));
        }
        s[j] = slope_of(&a.figures, normal[j], parameter(&p, INPUTS(scale), j),
                        bias_of(&a, &p, INPUTS(bias), j), 0, 0);
    }
    const struct sums4 mine = fours ? gather_gradients(&a, &p, s, data, errors, true)
                                    : gather_gradients(&a, &p, s, data, errors, false);
    UNROLL
    for (uint j = 0; j < 4; j++) {
        const struct sums all =
            add_all(sums_of(&mine, j), p.thread, p.level, p.levels, p.lanes, n, shift);
        s[j] = slope_of(&a.figures, normal[j], parameter(&p, INPUTS(scale), j), s[j].bias, all.sum,
                        all.product);
        if (p.level || j >= p.exist) continue;
        PARAMETERS(dbias)[p.first + j] = all.sum;
        PARAMETERS(dscale)[p.first + j] = all.product * normal[j].inverse;
    }
    if (fours)
        apply_gradients(&a, &p, s, data, errors, out, true);
    else
        apply_gradients(&a, &p, s, data, errors, out, false);
}
