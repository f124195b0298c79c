/* rows.h: what a workgroup that has a row of its own does with it: sums, largest values,
 * exponentials. */
#ifndef RMCP_OPS_ATTENTION_KERNELS_ROWS_H
#define RMCP_OPS_ATTENTION_KERNELS_ROWS_H

#include "engine/kernels/exponential.h"
#include "engine/ops/attention/kernels/args.h"

#define THREADS 256

/* e^x; 0 where f32 has next to nothing, Inf above its end. */
INLINE float exponential_of(float x)
{
    return x < -87.0f ? 0 : x > 88.0f ? as_float(0x7f800000u) : exponential(x);
}

/* The sum, or the largest with NaN above all, of one number of each work-item. */
INLINE float whole(float mine, const bool largest, __local float *room)
{
    room[LOCAL_ID] = mine;
    BARRIER();
    for (uint step = THREADS / 2; step > 0; step /= 2) {
        if (LOCAL_ID < step) {
            const float other = room[LOCAL_ID + step], own = room[LOCAL_ID];
            room[LOCAL_ID] = !largest ? own + other : other > own || other != other ? other : own;
        }
        BARRIER();
    }
    const float all = room[0];
    BARRIER();
    return all;
}

INLINE float magnitude(float x)
{
    return x < 0 ? -x : x;
}

INLINE float larger(float a, float b)
{
    return b > a || b != b ? b : a;
}

#endif
