/* tiles.h: pooling whose windows and strides are known when it is compiled: WINDOW and STRIDE, in two dimensions. A work-item
 * has a tile of results; what is neighbours in memory is loaded and stored together: along the width, or
 * (LAST) LANES channels. */
#ifndef RMCP_POOL_TILES_H
#define RMCP_POOL_TILES_H

#include "ops/pool/kernels/pool.h"

#include "kernels/raw.h"

#define THREADS 256
#if LAST
#define LANES RMCP_POOL_CHANNELS
#else
#define LANES 1
#endif

#define WIDTH RMCP_POOL_WIDTH((int)sizeof(element)) /* columns that are 16 bytes */

INLINE bool is_aligned(__global const char *base, uint at)
{
    return ((uint)(ulong)base + at * (uint)sizeof(element)) % (4 * (uint)sizeof(element)) == 0;
}

/* The elements of LANES channels. */
#if LAST
typedef raw4 channels;
#else
typedef raw channels;
#endif

INLINE channels get_channels(__global const char *base, uint at)
{
#if LAST
    return load_raw_four(base, at, is_aligned(base, at));
#else
    return load_raw(base, at);
#endif
}

INLINE void values_of(float *v, channels r)
{
#if LAST
    values_of_raw4(v, r);
#else
    v[0] = value_of_raw(r);
#endif
}

/* alpha * v + beta * what was there, to four neighbours. */
INLINE void put_four(const struct rmcp_pool_args *p, __global char *base, uint at, const float *v)
{
    float w[4];
    UNROLL for (uint k = 0; k < 4; k++) {
        w[k] = v[k] * p->alpha;
        if (p->beta != 0) w[k] += p->beta * load(base, at + k);
    }
    store4(base, at, (float4)(w[0], w[1], w[2], w[3]));
}

/* The same to WIDTH neighbours, all 16 bytes at once where they are aligned. */
INLINE void put_wide(const struct rmcp_pool_args *p, __global char *base, uint at, const float *v)
{
#if TYPE != 0 && !DRIVER_HALF
    if (((uint)(ulong)base + at * 2) % 16 == 0) {
        typedef element element8 __attribute__((ext_vector_type(8)));
        element8 w;
        UNROLL for (uint k = 0; k < 8; k++)
            w[k] = encode(p->beta != 0 ? v[k] * p->alpha + p->beta * load(base, at + k) : v[k] * p->alpha);
        *(__global element8 *)(base + at * 2) = w;
        return;
    }
#endif
    UNROLL for (uint k = 0; k < WIDTH; k += 4) put_four(p, base, at + k, v + k);
}

#endif
