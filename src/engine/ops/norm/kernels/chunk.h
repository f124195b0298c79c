/* chunk.h: what kernels share that keep chunks of 16 bytes as they lie in memory. */
#ifndef RMCP_OPS_NORM_KERNELS_CHUNK_H
#define RMCP_OPS_NORM_KERNELS_CHUNK_H

#include "engine/kernels/lanes.h"
#include "engine/kernels/moments.h" /* THREADS, for meet.h */

#include "engine/kernels/meet.h"
#include "engine/ops/norm/kernels/args.h"

INLINE void load_chunk(uint *word, __global const char *base, uint at, bool aligned)
{
    if (aligned) {
        load_words(word, base + at * (uint)sizeof(element));
        return;
    }
    /* So many loads that no compiler takes the branch away. */
    __global const uchar *p = (__global const uchar *)base + at * (uint)sizeof(element);
    UNROLL for (uint k = 0; k < WORDS; k++) word[k] =
        p[4 * k] | (uint)p[4 * k + 1] << 8 | (uint)p[4 * k + 2] << 16 | (uint)p[4 * k + 3] << 24;
}

INLINE bool is_even(__global const char *base)
{
    return (uint)(ulong)base % 16 == 0;
}

INLINE float total(const float v[4])
{
    return (v[0] + v[1]) + (v[2] + v[3]);
}

#endif
