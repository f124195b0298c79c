/* lanes.h: elements of any type, one or LANES neighbours at a time.
 *
 * TYPE is the type of the results; LANES elements of it are 16 bytes. Other tensors may have types
 * of their own, which are the same for all work-items: a branch on them costs next to nothing. No
 * pointer is `restrict`: results may replace what they are computed of. */
#ifndef RMCP_KERNEL_LANES_H
#define RMCP_KERNEL_LANES_H

#include "engine/kernels/target.h"

#include "engine/kernels/common.h"
#include "engine/kernels/pairs.h"

#if TYPE == 0
#define LANES 4
typedef uint bits; /* of an element of TYPE */
#else
#define LANES 8
typedef ushort bits;
#endif

#define TENSOR(name) __global const char *name##_buffer, ulong name##_begin
#define RESULT(name) __global char *name##_buffer, ulong name##_begin

#if defined(BARE)
typedef _Float16 half_float;
#endif

INLINE uint bytes_of(uint type)
{
    return type == 0 ? 4 : 2;
}

/* ---- one element ---- */

INLINE float fetch(__global const char *p, uint type)
{
    if (type == 0) return *(__global const float *)p;
    if (type == 2) return as_float((uint) * (__global const ushort *)p << 16);
#if defined(BARE)
    return (float)*(__global const half_float *)p;
#else
    return vload_half(0, (__global const half *)p);
#endif
}

/* The value of an element whose bits were loaded. */
INLINE float value_of(uint raw, uint type)
{
    if (type == 0) return as_float(raw);
    if (type == 2) return as_float(raw << 16);
    const ushort low = (ushort)raw;
#if defined(BARE)
    return (float)__builtin_astype(low, half_float);
#else
    return vload_half(0, (const half *)&low);
#endif
}

/* ---- LANES neighbours ---- */

/* Loading and converting are apart, so that all loads of a work-item are under way before it waits
 * for the first. */
struct lanes {
    uint word[LANES]; /* AT_ONCE: as they lie in memory; SINGLY: one each; FOR_ALL: the first */
};

/* How elements `step` apart are loaded. */
#define SINGLY 0
#define AT_ONCE 1
#define FOR_ALL 2

INLINE uint way_of(__global const char *p, uint type, uint step)
{
    const uint bytes = type == 0 ? 16 : 2 * LANES;
    return step == 0 ? FOR_ALL : step == 1 && (uint)(ulong)p % bytes == 0 ? AT_ONCE : SINGLY;
}

INLINE void load_words(uint *word, __global const char *p)
{
    const uint4 x = *(__global const uint4 *)p;
    word[0] = x.x, word[1] = x.y, word[2] = x.z, word[3] = x.w;
}

INLINE void load_lanes(struct lanes *x, __global const char *p, uint type, uint step, uint way)
{
    if (way == AT_ONCE && type == 0) {
        load_words(x->word, p);
#if LANES == 8
        load_words(x->word + 4, p + 16);
#endif
    } else if (way == AT_ONCE) {
#if LANES == 8
        load_words(x->word, p);
#else
        const uint2 both = *(__global const uint2 *)p;
        x->word[0] = both.x, x->word[1] = both.y;
#endif
    } else if (way == FOR_ALL) {
        x->word[0] = type == 0 ? *(__global const uint *)p : *(__global const ushort *)p;
    } else if (type == 0) {
        UNROLL for (uint i = 0; i < LANES; i++) x->word[i] =
            *(__global const uint *)(p + i * step * 4);
    } else {
        UNROLL for (uint i = 0; i < LANES; i++) x->word[i] =
            *(__global const ushort *)(p + i * step * 2);
    }
}

INLINE void value_lanes(float *v, const struct lanes *x, uint type, uint way)
{
    if (way == FOR_ALL) {
        const float value = value_of(x->word[0], type);
        UNROLL for (uint i = 0; i < LANES; i++) v[i] = value;
    } else if (way == AT_ONCE && type != 0) {
        UNROLL for (uint i = 0; i < LANES; i += 2)
        {
            v[i] = value_of(x->word[i / 2] & 0xffff, type);
            v[i + 1] = value_of(x->word[i / 2] >> 16, type);
        }
    } else {
        UNROLL for (uint i = 0; i < LANES; i++) v[i] = value_of(x->word[i], type);
    }
}

/* LANES neighbours of TYPE as they lie in memory: IN_WORD of them in each of WORDS words. */
#define IN_WORD (4 / (int)sizeof(bits))
#define WORDS (LANES / IN_WORD)

INLINE void forget_words(uint *word)
{
#if TYPE != 0
    UNROLL for (uint k = 0; k < WORDS; k++) FORGET(word[k]);
#endif
}

INLINE void values_of_words(float *v, const uint *word)
{
    UNROLL for (uint k = 0; k < LANES; k++) v[k] = value_of(IN_WORD == 1 ? word[k]
                                                            : k % 2      ? word[k / IN_WORD] >> 16
                                                                    : word[k / IN_WORD] & 0xffff,
                                                            TYPE);
}

/* The words of elements that were loaded one by one. */
INLINE void words_of(uint *word, const uint *one)
{
    UNROLL for (uint k = 0; k < WORDS; k++) word[k] =
        IN_WORD == 1 ? one[k] : one[k * IN_WORD] | one[k * IN_WORD + IN_WORD - 1] << 16;
}

INLINE void put_lanes(__global char *p, const float *v, uint step)
{
    if (step == 1 && (uint)(ulong)p % 16 == 0) {
#if TYPE == 0
        *(__global float4 *)p = (float4)(v[0], v[1], v[2], v[3]);
#elif DRIVER_HALF
        vstore_half8_rte((float8)(v[0], v[1], v[2], v[3], v[4], v[5], v[6], v[7]), 0,
                         (__global half *)p);
#else
        uint w[4];
        pairs_of(w, v, 4);
        *(__global uint4 *)p = (uint4)(w[0], w[1], w[2], w[3]);
#endif
    } else {
        const uint apart = step * (uint)sizeof(element);
        UNROLL for (uint i = 0; i < LANES; i++)
            from_float((__global element *)(p + i * apart), v[i]);
    }
}

/* The same for bits that nothing was done to. */
INLINE void put_bits(__global char *p, const struct lanes *x, uint step, uint way)
{
    const uint apart = step * (uint)sizeof(bits);
    if (way == AT_ONCE && step == 1 && (uint)(ulong)p % 16 == 0) {
        *(__global uint4 *)p = (uint4)(x->word[0], x->word[1], x->word[2], x->word[3]);
        return;
    }
    const bool packed = sizeof(bits) == 2 && way == AT_ONCE;
    UNROLL for (uint i = 0; i < LANES; i++) * (__global bits *)(p + i * apart) =
        (bits)(way == FOR_ALL ? x->word[0]
               : packed       ? x->word[i / 2] >> i % 2 * 16
                              : x->word[i]);
}

#endif
