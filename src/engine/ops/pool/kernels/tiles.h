/* tiles.h: pooling whose windows and strides are known when it is compiled: WINDOW and STRIDE, in
 * two dimensions. A work-item has a tile of results; what is neighbours in memory is loaded and
 * stored together: along the width, or (LAST) LANES channels. Elements stay as they lie in memory
 * until they are needed. */
#ifndef RMCP_POOL_TILES_H
#define RMCP_POOL_TILES_H

#include "engine/ops/pool/kernels/pool.h"

#include "engine/kernels/pairs.h"
#include "engine/kernels/raw.h"

#define IN_WORD (4 / (int)sizeof(element))
#if LAST
#define LANES RMCP_POOL_CHANNELS((int)sizeof(element))
#else
#define LANES 1
#endif
#define WORDS(n) (((n) + IN_WORD - 1) / IN_WORD)

#if TYPE == 0
typedef uint bits;
#define MINUS 0xff800000u /* -Inf */
#elif TYPE == 1
typedef ushort bits;
#define MINUS 0xfc00fc00u
#else
typedef ushort bits;
#define MINUS 0xff80ff80u
#endif

INLINE float value_at(const uint *word, uint i)
{
#if TYPE == 0
    return as_float(word[i]);
#else
    float v = value_of_raw((raw)(i % 2 ? word[i / 2] >> 16 : word[i / 2]));
#if TYPE == 1 && defined(BARE) && defined(__NVPTX__)
    __asm__("" : "+f"(v)); /* else it is compared in 16 bits, which takes longer */
#endif
    return v;
#endif
}

INLINE uint bits_at(__global const char *base, uint at)
{
    return *(__global const bits *)(base + at * (uint)sizeof(bits));
}

/* Bytes at which n neighbours must lie to be loaded together. */
#define UNIT(n) (smaller(n, 4) * (uint)sizeof(bits))

/* n neighbours, 2 (f32), 4 or 8, that lie so. */
INLINE void load_whole(uint *word, __global const char *p, const uint n)
{
    UNROLL for (uint i = 0; i < n; i += 4)
    {
#if TYPE == 0
        if (n == 2) {
            const uint2 w = *(__global const uint2 *)p;
            word[0] = w.x, word[1] = w.y;
            continue;
        }
        const uint4 w = *(__global const uint4 *)(p + 4 * i);
        word[i] = w.x, word[i + 1] = w.y, word[i + 2] = w.z, word[i + 3] = w.w;
#else
        const uint2 w = *(__global const uint2 *)(p + 2 * i);
        word[i / 2] = w.x, word[i / 2 + 1] = w.y;
#endif
    }
}

/* The same of any alignment, of which `left` exist; the others are `other`. */
INLINE void load_some(uint *word, __global const char *base, uint at, uint left, uint other,
                      const uint n)
{
    if (left >= n && ((uint)(ulong)base + at * (uint)sizeof(bits)) % UNIT(n) == 0) {
        load_whole(word, base + at * (uint)sizeof(bits), n);
        return;
    }
    UNROLL for (uint i = 0; i < WORDS(n); i++) word[i] = other;
    if (left == 0) return;
    uint one[8];
    UNROLL for (uint i = 0; i < n; i++) one[i] = bits_at(base, at + smaller(i, left - 1));
    UNROLL for (uint i = 0; i < n; i++) one[i] = i < left ? one[i] : (bits)other;
    UNROLL for (uint i = 0; i < WORDS(n); i++) word[i] =
        IN_WORD == 1 ? one[i] : one[i * IN_WORD] | one[i * IN_WORD + IN_WORD - 1] << 16;
}

#if LAST
/* LANES channels, or `other` where they do not exist; EVEN: they lie at a multiple of 16 bytes. */
INLINE void load_channels(uint *word, __global const char *base, uint at, bool exist, uint other,
                          const bool even)
{
    UNROLL for (uint i = 0; i < 4; i++) word[i] = other;
    if (!exist) return;
    __global const char *p = base + at * (uint)sizeof(bits);
    if (even) {
        const uint4 w = *(__global const uint4 *)p;
        word[0] = w.x, word[1] = w.y, word[2] = w.z, word[3] = w.w;
        return;
    }
    UNROLL for (uint i = 0; i < 4; i++) word[i] =
        IN_WORD == 1 ? bits_at(p, i)
                     : bits_at(p, i * IN_WORD) | bits_at(p, i * IN_WORD + IN_WORD - 1) << 16;
}

/* Whether all of a tensor's chunks lie at multiples of `unit` bytes. */
INLINE bool are_even(__global const char *base, uint at, const uint *step, const uint bytes,
                     const uint unit)
{
    return ((uint)(ulong)base | (at | step[0] | step[1] | step[2]) * bytes) % unit == 0;
}
#endif

/* Whether n neighbours in each of a tile's rows, of which `left` exist, may be stored together. */
INLINE bool is_even(const struct rmcp_pool_args *p, __global const char *base, uint at, uint apart,
                    uint left, const uint n)
{
    return left >= n && p->beta == 0 &&
           ((uint)(ulong)base | at * (uint)sizeof(bits) | apart * (uint)sizeof(bits)) % UNIT(n) ==
               0;
}

/* alpha * v + beta * what was there, to n neighbours, 4 or 8, of which `left` exist, at least one.
 * EVEN: is_even(). EXACT: v are elements, alpha is 1 and beta 0. */
INLINE void put_some(const struct rmcp_pool_args *p, __global char *base, uint at, uint left,
                     float *v, const uint n, const bool even, const bool exact)
{
    if (!exact) {
        UNROLL for (uint k = 0; k < n; k++) v[k] *= p->alpha;
    }
    if (!even && !exact && p->beta != 0) {
        UNROLL for (uint k = 0; k < n; k++) v[k] += p->beta * load(base, at + smaller(k, left - 1));
    }
    const bool whole = even || is_even(p, base, at, 0, left, n);
#if TYPE == 0 || DRIVER_HALF
    if (whole) {
        UNROLL for (uint k = 0; k < n; k += 4)
            store4(base, at + k, (float4)(v[k], v[k + 1], v[k + 2], v[k + 3]));
        return;
    }
    UNROLL for (uint k = 0; k < n; k++) if (k < left) store(base, at + k, v[k]);
#else
    uint w[4];
    __global char *to = base + at * (uint)sizeof(element);
    if (TYPE == 2 && exact) {
        UNROLL for (uint k = 0; k < n / 2; k++) w[k] =
            as_uint(v[2 * k]) >> 16 | as_uint(v[2 * k + 1]);
    } else {
        pairs_of(w, v, n / 2);
    }
    if (whole && n == 8 && (uint)(ulong)to % 16 == 0) {
        *(__global uint4 *)to = (uint4)(w[0], w[1], w[2], w[3]);
    } else if (whole) {
        *(__global uint2 *)to = (uint2)(w[0], w[1]);
        if (n == 8) *(__global uint2 *)(to + 8) = (uint2)(w[2], w[3]);
    } else {
        UNROLL for (uint k = 0; k < n; k++) if (k < left) * (__global ushort *)(to + 2 * k) =
            (ushort)(w[k / 2] >> 16 * (k % 2));
    }
#endif
}

/* 1 by how many elements of a window are no padding in one dimension. */
INLINE float part_of(uint o, uint pad, uint in)
{
    const struct range r = range_of(o, STRIDE, pad, WINDOW, in);
    const int n = r.end - r.first;
    return n > 2 ? 1 / 3.0f : n == 2 ? 0.5f : 1.0f;
}

#endif
