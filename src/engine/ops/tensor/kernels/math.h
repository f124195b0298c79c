/* math.h: what is computed of the elements of a and b for c, and where a turn of the loops finds
 * them. TYPE is c's type. */
#ifndef RMCP_TENSOR_KERNELS_MATH_H
#define RMCP_TENSOR_KERNELS_MATH_H

#include "engine/kernels/lanes.h"
#include "engine/ops/tensor/kernels/args.h"

/* x becomes c; `n` of them. The kind is the same for all work-items: no choice inside the loops. */
INLINE void compute_lanes(const struct rmcp_tensor_math *m, float *x, const float *y,
                          const float *z, uint n)
{
    const float alpha = m->alpha, alpha_b = m->alpha_b;
    if (m->kind == 0) {
        UNROLL for (uint i = 0; i < n; i++) x[i] = alpha;
    } else if (m->kind == 1) {
        UNROLL for (uint i = 0; i < n; i++) x[i] = alpha * z[i];
    } else if (m->kind == 3) {
        UNROLL for (uint i = 0; i < n; i++) x[i] = alpha * x[i] + alpha_b * y[i];
    } else if (m->kind == 4) {
        UNROLL for (uint i = 0; i < n; i++) x[i] = alpha * x[i] * (alpha_b * y[i]);
    } else if (m->kind == 5) {
        UNROLL for (uint i = 0; i < n; i++) x[i] =
            alpha * x[i] < alpha_b * y[i] ? alpha * x[i] : alpha_b * y[i];
    } else if (m->kind == 6) {
        UNROLL for (uint i = 0; i < n; i++) x[i] =
            alpha * x[i] > alpha_b * y[i] ? alpha * x[i] : alpha_b * y[i];
    } else {
        UNROLL for (uint i = 0; i < n; i++) x[i] *= alpha;
    }
    if (m->update) {
        UNROLL for (uint i = 0; i < n; i++) x[i] = m->beta * z[i] + x[i];
    }
}

INLINE float compute(const struct rmcp_tensor_math *m, float a, float b, float c)
{
    compute_lanes(m, &a, &b, &c, 1);
    return a;
}

INLINE bool reads_a(const struct rmcp_tensor_math *m)
{
    return m->kind >= 2;
}

INLINE bool reads_b(const struct rmcp_tensor_math *m)
{
    return m->kind >= 3 && m->kind <= 6;
}

INLINE bool reads_c(const struct rmcp_tensor_math *m)
{
    return m->kind == 1 || m->update;
}

/* Take the digit of one loop out of an index; returns the rest of the index. */
INLINE uint take_turn(struct rmcp_tensor_turn t, uint index, uint *a, uint *b, uint *c)
{
    const uint rest = divide(index, t.size), digit = index - rest * t.size.divisor;
    *a += digit * t.a;
    *b += digit * t.b;
    *c += digit * t.c;
    return rest;
}

#endif
