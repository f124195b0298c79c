/* softmax.h: sums of exponentials that are relative to their largest. */
#ifndef RMCP_SOFTMAX_SOFTMAX_H
#define RMCP_SOFTMAX_SOFTMAX_H

#include "ops/reduce/kernels/lines.h"

#include "kernels/functions.h"
#include "ops/softmax/kernels/args.h"

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
