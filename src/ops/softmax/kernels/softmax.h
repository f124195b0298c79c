/* softmax.h: exponential and logarithm, written out, so that every device computes the same; sums
 * of exponentials that are relative to their largest. */
#ifndef RMCP_SOFTMAX_SOFTMAX_H
#define RMCP_SOFTMAX_SOFTMAX_H

#include "ops/reduce/kernels/lines.h"
#include "ops/softmax/kernels/args.h"

/* e^x: 2^k e^r with |r| <= ln(2) / 2. Below 2^-125 it is 0; NaN stays NaN. */
INLINE float exp_of(float x)
{
    const float bounded = x > 89.0f ? 89.0f : x;
    const float k = (bounded * 0x1.715476p+0f + 12582912.0f) - 12582912.0f;
    float r = k * -0x1.62e400p-1f + bounded;
    r = k * -0x1.7f7d1cp-20f + r;
    float p = 0x1.6d4942p-10f * r + 0x1.121072p-7f;
    p = p * r + 0x1.5554e4p-5f;
    p = p * r + 0x1.5554d8p-3f;
    p = p * r + 0.5f;
    p = (p * r * r + r) + 1.0f;
    /* one less in 2^k, so that the largest does not overflow */
    const float e = p * as_float((uint)((int)k + 126) << 23) * 2.0f;
    return x < -86.0f ? 0.0f : x != x ? x : e;
}

/* ln(x) for x >= 1: 2^e m with m between sqrt(1/2) and sqrt(2), and 2 atanh((m - 1) / (m + 1)). NaN
 * stays NaN. */
INLINE float log_of(float x)
{
    const int bits = (int)as_uint(x), e = (bits - 0x3f3504f3) >> 23;
    const float f = as_float((uint)(bits - (e << 23))) - 1.0f, s = f / (2.0f + f), z = s * s;
    float p = z * (1 / 9.0f) + 1 / 7.0f;
    p = p * z + 1 / 5.0f;
    p = p * z + 1 / 3.0f;
    const float n = (float)e;
    const float log = n * 0x1.62e400p-1f + (n * 0x1.7f7d1cp-20f + (p * z * (2 * s) + 2 * s));
    return x - x == 0 ? log : x;
}

/* The sum of e^(x - top) over some x, of which `top` is the largest; of none: top is -Inf, sum 0.
 */
struct heap {
    float top, sum;
};

/* -Inf adds nothing, even where there is nothing else: then the line is NaN in the end. */
INLINE float term_of(float x, float top)
{
    return x == -INFINITY ? 0.0f : exp_of(x - top);
}

INLINE struct heap heap_merge(struct heap a, struct heap b)
{
    struct heap c;
    c.top = a.top > b.top ? a.top : b.top;
    c.sum = (a.top == c.top ? a.sum : a.sum * exp_of(a.top - c.top)) +
            (b.top == c.top ? b.sum : b.sum * exp_of(b.top - c.top));
    return c;
}

#endif
