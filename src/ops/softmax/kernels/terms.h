/* terms.h: what softmax's kernels for dense tensors share. */
#ifndef RMCP_SOFTMAX_TERMS_H
#define RMCP_SOFTMAX_TERMS_H

#ifndef THREADS
#define THREADS 256
#endif

#include "kernels/meet.h"
#include "kernels/quick.h"

/* A word of -Inf. */
#if TYPE == 0
#define NOTHING 0xff800000u
#elif TYPE == 1
#define NOTHING 0xfc00fc00u
#else
#define NOTHING 0xff80ff80u
#endif

/* What terms are relative to: where there is nothing but -Inf they add nothing, and are NaN in the
 * end. */
INLINE float base_of(float top)
{
    return top == -INFINITY ? 0.0f : top;
}

#endif
