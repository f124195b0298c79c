/* terms.h: what softmax's kernels for dense tensors share. */
#ifndef RMCP_SOFTMAX_TERMS_H
#define RMCP_SOFTMAX_TERMS_H

#include "kernels/meet.h"
#include "kernels/quick.h"

#define THREADS 256

/* What terms are relative to: where there is nothing but -Inf they add nothing, and are NaN in the
 * end. */
INLINE float base_of(float top)
{
    return top == -INFINITY ? 0.0f : top;
}

#endif
