/* lanes.h: elements of any type, one or LANES neighbours at a time, and what is computed of them.
 *
 * TYPE is c's type. LANES elements of it are 16 bytes. a and b have types of their own, which are
 * the same for all work-items: a branch on them costs next to nothing. No pointer is `restrict`: a
 * or b may be c. */
#ifndef RMCP_TENSOR_LANES_H
#define RMCP_TENSOR_LANES_H

#include "kernels/target.h"

#include "kernels/common.h"
#include "ops/tensor/kernels/args.h"

#if TYPE == 0
#define LANES 4
typedef uint bits; /* of an element of c */
#else
#define LANES 8
typedef ushort bits;
#endif

#define TENSOR(name) __global const char *name##_buffer, ulong name##_begin
#define RESULT(name) __global char *name##_buffer, ulong name##_begin

#if defined(BARE)
typedef _Float16 half_float;
typedef half_float half_float4 __attribute__((ext_vector_type(4)));
typedef half_float half_float8 __attribute__((ext_vector_type(8)));
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

INLINE void spread4(float *v, float4 x)
{
    v[0] = x.x, v[1] = x.y, v[2] = x.z, v[3] = x.w;
}

INLINE float4 four_of_bf16(ushort4 x)
{
    return (float4)(as_float((uint)x.x << 16), as_float((uint)x.y << 16), as_float((uint)x.z << 16),
                    as_float((uint)x.w << 16));
}

/* Aligned to 16 bytes, or to 8 when they are 8 together. */
INLINE void fetch_aligned(float *v, __global const char *p, uint type)
{
    if (type == 0) {
        spread4(v, *(__global const float4 *)p);
#if LANES == 8
        spread4(v + 4, *((__global const float4 *)p + 1));
#endif
    } else if (type == 2) {
#if LANES == 8
        const ushort8 x = *(__global const ushort8 *)p;
        spread4(v, four_of_bf16(x.lo));
        spread4(v + 4, four_of_bf16(x.hi));
#else
        spread4(v, four_of_bf16(*(__global const ushort4 *)p));
#endif
    } else {
#if !defined(BARE) && LANES == 8
        const float8 x = vload_half8(0, (__global const half *)p);
        spread4(v, x.lo);
        spread4(v + 4, x.hi);
#elif !defined(BARE)
        spread4(v, vload_half4(0, (__global const half *)p));
#elif LANES == 8
        const half_float8 x = *(__global const half_float8 *)p;
        spread4(v, (float4)((float)x.s0, (float)x.s1, (float)x.s2, (float)x.s3));
        spread4(v + 4, (float4)((float)x.s4, (float)x.s5, (float)x.s6, (float)x.s7));
#else
        const half_float4 x = *(__global const half_float4 *)p;
        spread4(v, (float4)((float)x.x, (float)x.y, (float)x.z, (float)x.w));
#endif
    }
}

INLINE bool is_aligned(__global const char *p, uint type)
{
    return (ulong)p % (type == 0 ? 16 : 2 * LANES) == 0;
}

/* Elements `step` apart, of which 0 is the same one again. */
INLINE void fetch_lanes(float *v, __global const char *p, uint type, uint step)
{
    if (step == 1 && is_aligned(p, type)) {
        fetch_aligned(v, p, type);
    } else if (step == 0) {
        const float x = fetch(p, type);
        UNROLL for (uint i = 0; i < LANES; i++) v[i] = x;
    } else {
        const uint apart = step * bytes_of(type);
        UNROLL for (uint i = 0; i < LANES; i++) v[i] = fetch(p + i * apart, type);
    }
}

INLINE void put_lanes(__global char *p, const float *v, uint step)
{
    if (step == 1 && (ulong)p % 16 == 0) {
#if TYPE == 0
        *(__global float4 *)p = (float4)(v[0], v[1], v[2], v[3]);
#elif DRIVER_HALF
        vstore_half8_rte((float8)(v[0], v[1], v[2], v[3], v[4], v[5], v[6], v[7]), 0,
                         (__global half *)p);
#elif TYPE == 1
        *(__global half_float8 *)p =
            (half_float8)(encode(v[0]), encode(v[1]), encode(v[2]), encode(v[3]), encode(v[4]),
                          encode(v[5]), encode(v[6]), encode(v[7]));
#else
        *(__global ushort8 *)p = (ushort8)(encode(v[0]), encode(v[1]), encode(v[2]), encode(v[3]),
                                           encode(v[4]), encode(v[5]), encode(v[6]), encode(v[7]));
#endif
    } else {
        const uint apart = step * (uint)sizeof(element);
        UNROLL for (uint i = 0; i < LANES; i++)
            from_float((__global element *)(p + i * apart), v[i]);
    }
}

/* The same for bits that nothing is done to. */
INLINE void move_lanes(__global char *to, uint to_step, __global const char *from, uint from_step)
{
    const uint to_apart = to_step * (uint)sizeof(bits), from_apart = from_step * (uint)sizeof(bits);
    if (to_step == 1 && from_step == 1 && (((ulong)to | (ulong)from) & 15) == 0) {
        *(__global uint4 *)to = *(__global const uint4 *)from;
        return;
    }
    bits x[LANES];
    UNROLL for (uint i = 0; i < LANES; i++) x[i] = *(__global const bits *)(from + i * from_apart);
    UNROLL for (uint i = 0; i < LANES; i++) * (__global bits *)(to + i * to_apart) = x[i];
}

/* ---- arithmetic ---- */

INLINE float compute(const struct rmcp_tensor_math *m, float a, float b, float c)
{
    const float x = m->alpha * a, y = m->alpha_b * b;
    float v = m->alpha;
    if (m->kind == 1) v = m->alpha * c;
    if (m->kind == 2 || m->kind == 7) v = x;
    if (m->kind == 3) v = m->alpha * a + m->alpha_b * b;
    if (m->kind == 4) v = x * y;
    if (m->kind == 5) v = x < y ? x : y;
    if (m->kind == 6) v = x > y ? x : y;
    return m->update ? m->beta * c + v : v;
}

INLINE bool reads_a(const struct rmcp_tensor_math *m)
{
    return m->kind >= 2;
}

INLINE bool reads_b(const struct rmcp_tensor_math *m)
{
    return m->kind >= 3 && m->kind <= 6;
}

INLINE bool reads_c(const struct rmcp_tensor_math *m)
{
    return m->kind == 1 || m->update;
}

/* Take the digit of one loop out of an index; returns the rest of the index. */
INLINE uint take_turn(struct rmcp_tensor_turn t, uint index, uint *a, uint *b, uint *c)
{
    const uint rest = divide(index, t.size), digit = index - rest * t.size.divisor;
    *a += digit * t.a;
    *b += digit * t.b;
    *c += digit * t.c;
    return rest;
}

#endif
