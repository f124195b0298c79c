/* number.h: numbers with the precision of f32 and exponents that never end. Probabilities of paths
 * are products of thousands of factors; as logarithms they would lose digits with every step, and
 * each sum would take an exponential. */
#ifndef RMCP_OPS_CTC_KERNELS_NUMBER_H
#define RMCP_OPS_CTC_KERNELS_NUMBER_H

#include "engine/kernels/target.h"

#include "engine/kernels/common.h"
#include "engine/ops/ctc/kernels/args.h"

#define NOTHING (-(1 << 30)) /* the exponent of 0, and the least of others */

/* m * 2^e, 1 <= m < 2; 0 has the exponent NOTHING. NaN stays NaN. */
struct number {
    float m;
    int e;
};

INLINE float power_of_2(int e)
{
    return as_float((uint)(e + 127) << 23);
}

/* m * 2^e for any m that is no denormal. */
INLINE struct number number_of(float m, int e)
{
    const uint bits = as_uint(m);
    const int own = e + (int)(bits >> 23) - 127;
    const struct number zero = { m, NOTHING };
    const struct number n = { as_float((bits & 0x007fffffu) | 0x3f800000u),
                              own < NOTHING ? NOTHING : own };
    return m > 0 ? n : zero;
}

/* 2^(e - most) for e <= most; 0 where f32 ends. */
INLINE float scale_of(int e, int most)
{
    const int distance = e - most;
    return distance < -126 ? 0 : power_of_2(distance);
}

INLINE struct number sum_of(struct number a, struct number b, struct number c)
{
    const int ab = a.e > b.e ? a.e : b.e, most = ab > c.e ? ab : c.e;
    const float m =
        a.m * scale_of(a.e, most) + b.m * scale_of(b.e, most) + c.m * scale_of(c.e, most);
    return number_of(m, most);
}

INLINE struct number product_of(struct number a, struct number b)
{
    return number_of(a.m * b.m, a.e + b.e);
}

INLINE float plain(struct number a)
{
    if (a.e < -126) return a.m * 0;
    return a.e > 127 ? a.m * as_float(0x7f800000u) : a.m * power_of_2(a.e);
}

/* e^x: 2^k e^r with |r| <= ln(2) / 2. 0 below -10^6. */
INLINE struct number exponential(float x)
{
    const float b = x > 1e6f ? 1e6f : x;
    const float k = (b * 0x1.715476p+0f + 12582912.0f) - 12582912.0f;
    float r = k * -0x1.62e400p-1f + b;
    r = k * -0x1.7f7d1cp-20f + r;
    float p = 0x1.6d4942p-10f * r + 0x1.121072p-7f;
    p = p * r + 0x1.5554e4p-5f;
    p = p * r + 0x1.5554d8p-3f;
    p = p * r + 0.5f;
    p = (p * r * r + r) + 1.0f;
    const struct number zero = { 0, NOTHING };
    return x < -1e6f ? zero : number_of(p, (int)k);
}

/* The natural logarithm; of 0 -Inf. */
INLINE float logarithm(struct number a)
{
    if (a.m == 0) return -as_float(0x7f800000u);
    const bool high = a.m > 1.41421356f;
    const float m = high ? a.m * 0.5f : a.m, e = (float)(high ? a.e + 1 : a.e);
    const float f = m - 1, s = f / (2 + f), z = s * s;
    float p = 0x1.c71c72p-3f * z + 0x1.24924ap-2f;
    p = p * z + 0x1.99999ap-2f;
    p = p * z + 0x1.555556p-1f;
    const float log_m = p * z * s + 2 * s;
    return e * 0x1.62e400p-1f + (e * 0x1.7f7d1cp-20f + log_m);
}

/* The probability of a class: of logits by the largest of their step and the inverse of their sum.
 */
INLINE struct number probability(const struct rmcp_ctc_args *a, float x, float most, float inverse)
{
    const struct number p = exponential(a->softmax ? x - most : x);
    return a->softmax ? number_of(p.m * inverse, p.e) : p;
}

/* ---- sequences ---- */

INLINE uint clamped(int value, uint most)
{
    return value < 0 ? 0 : smaller((uint)value, most);
}

INLINE uint steps_of(const struct rmcp_ctc_args *a, __global const int *lengths, uint n)
{
    return clamped(lengths[n * (ulong)a->lengths_stride[0]], a->steps);
}

INLINE uint labels_of(const struct rmcp_ctc_args *a, __global const int *lengths, uint n)
{
    return clamped(lengths[n * (ulong)a->lengths_stride[0] + (ulong)a->lengths_stride[1]],
                   a->labels);
}

INLINE uint label_of(const struct rmcp_ctc_args *a, __global const int *targets, uint n, uint i)
{
    return clamped(targets[n * (ulong)a->targets_stride[0] + i * (ulong)a->targets_stride[1]],
                   a->classes - 1);
}

INLINE uint class_of(const struct rmcp_ctc_args *a, __global const int *targets, uint n, uint state)
{
    return state % 2 ? label_of(a, targets, n, state / 2) : a->blank;
}

INLINE float x_at(const struct rmcp_ctc_args *a, __global const char *x, uint t, uint n, uint c)
{
    return to_float((__global const element *)x + t * (ulong)a->x_stride[0] +
                    n * (ulong)a->x_stride[1] + c * (ulong)a->x_stride[2]);
}

INLINE void put_dx(const struct rmcp_ctc_args *a, __global char *dx, uint t, uint n, uint c,
                   float v)
{
    from_float((__global element *)dx + t * (ulong)a->dx_stride[0] + n * (ulong)a->dx_stride[1] +
                   c * (ulong)a->dx_stride[2],
               v);
}

/* Where a state of a step is kept. */
INLINE ulong state_at(const struct rmcp_ctc_args *a, uint n, uint t, uint state)
{
    return ((ulong)n * a->steps + t) * (2 * a->labels + 1) + state;
}

/* What is kept of a label: bit 31: the first of its class; the others: the next of its class,
 * counted from 1, 0: none. */
#define FIRST 0x80000000u

#endif
