/* softmax.h: sums of exponentials that are relative to their largest. */
#ifndef RMCP_SOFTMAX_SOFTMAX_H
#define RMCP_SOFTMAX_SOFTMAX_H

#include "engine/kernels/lines.h"

#include "engine/kernels/functions.h"
#include "engine/ops/softmax/kernels/args.h"

/* e^x for x <= 0, at least 2^-126; NaN stays NaN. As exp_of, without what other x need: there is
 * one for each element, and arithmetic takes as long as memory. */
INLINE float shrink(float x)
{
    const float bounded = x < -87.3f ? -87.3f : x;
    const float shifted = bounded * 0x1.715476p+0f + 12582912.0f, k = shifted - 12582912.0f;
    float r = k * -0x1.62e400p-1f + bounded;
    r = k * -0x1.7f7d1cp-20f + r;
    float p = 0x1.6d4942p-10f * r + 0x1.121072p-7f;
    p = p * r + 0x1.5554e4p-5f;
    p = p * r + 0x1.5554d8p-3f;
    p = p * r + 0.5f;
    p = (p * r * r + r) + 1.0f;
    return p * as_float((as_uint(shifted) + 127) << 23); /* k is in the lowest bits */
}

/* The sum of e^(x - top) over some x, of which `top` is the largest; of none: top is -Inf, sum 0.
 */
struct heap {
    float top, sum;
};

/* What terms are relative to: where there is nothing but -Inf they add next to nothing, and are NaN
 * in the end. */
INLINE float base_of(float top)
{
    return top == -INFINITY ? 0.0f : top;
}

INLINE struct heap heap_merge(struct heap a, struct heap b)
{
    struct heap c;
    c.top = a.top > b.top ? a.top : b.top;
    c.sum = (a.top == c.top ? a.sum : a.sum * shrink(a.top - c.top)) +
            (b.top == c.top ? b.sum : b.sum * shrink(b.top - c.top));
    return c;
}

#endif
