/* terms.h: what softmax's kernels for dense tensors share. */
#ifndef RMCP_SOFTMAX_TERMS_H
#define RMCP_SOFTMAX_TERMS_H

#ifndef THREADS
#define THREADS 256
#endif

#include "engine/kernels/meet.h"
#include "engine/kernels/quick.h"

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

/* In 16 bits terms can take fewer instructions: a multiplication and addition, for 2^(slope x -
 * shift). `shift` is a whole number near the largest exponent, so that terms are between 0 and
 * 2^(1/2), which shares do not notice. What they are relative to then is not the largest value but
 * shift / slope. Not for values from 65536 on, whose products are not exact enough. */
#if TYPE != 0 && defined(HARDWARE_EXP2)
#define FUSED 1
#define SLOPE 0x1.715476p+0f
#else
#define FUSED 0
#endif

INLINE bool is_near(float top)
{
    return !FUSED || top == -INFINITY || (top > -65536.0f && top < 65536.0f);
}

INLINE float shift_of(float top)
{
#if FUSED
    return (base_of(top) * SLOPE + 12582912.0f) - 12582912.0f;
#else
    return base_of(top);
#endif
}

INLINE float shifted_term(float x, float shift)
{
#if FUSED
    return HARDWARE_EXP2(__builtin_fmaf(x, SLOPE, -shift));
#else
    return exp_term(x - shift);
#endif
}

INLINE float base_of_shift(float shift)
{
#if FUSED
    return shift * 0x1.62e430p-1f;
#else
    return shift;
#endif
}

/* The logarithm of a sum of such terms, relative to that base. */
INLINE float log_of_shifted(float sum, float shift)
{
#if FUSED
    return log_of(sum) - __builtin_fmaf(base_of_shift(shift), SLOPE, -shift) * 0x1.62e430p-1f;
#else
    return log_of(sum);
#endif
}

#endif
