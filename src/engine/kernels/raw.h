/* raw.h: elements as they lie in memory, and their values. Loading and converting are apart: where
 * a load is conditional, whatever is done to it in the same branch waits for it before the next
 * load begins. So neighbours of 16 bits stay in their words, too. */
#ifndef RMCP_KERNEL_RAW_H
#define RMCP_KERNEL_RAW_H

#if TYPE == 0
typedef float raw;
typedef float4 raw4;
#else
typedef ushort raw;
typedef uint2 raw4;
#endif

INLINE raw load_raw(__global const char *base, uint index)
{
    return *(__global const raw *)(base + index * (uint)sizeof(raw));
}

/* Four neighbours that are aligned. */
INLINE raw4 load_raw4(__global const char *base, uint index)
{
    return *(__global const raw4 *)(base + index * (uint)sizeof(raw));
}

INLINE raw4 raw4_of(raw a, raw b, raw c, raw d)
{
#if TYPE == 0
    return (raw4)(a, b, c, d);
#else
    return (raw4)(a | (uint)b << 16, c | (uint)d << 16);
#endif
}

/* The same of any alignment. */
INLINE raw4 load_raw_four(__global const char *base, uint index, bool aligned)
{
    if (aligned) return load_raw4(base, index);
    return raw4_of(load_raw(base, index), load_raw(base, index + 1), load_raw(base, index + 2),
                   load_raw(base, index + 3));
}

INLINE float value_of_raw(raw r)
{
#if TYPE == 0
    return r;
#elif TYPE == 2
    return as_float((uint)r << 16);
#elif defined(BARE)
    return (float)__builtin_astype(r, _Float16);
#else
    return vload_half(0, (const half *)&r);
#endif
}

INLINE void values_of_raw4(float *v, raw4 r)
{
#if TYPE == 0
    v[0] = r.x, v[1] = r.y, v[2] = r.z, v[3] = r.w;
#else
    v[0] = value_of_raw((raw)r.x), v[1] = value_of_raw((raw)(r.x >> 16));
    v[2] = value_of_raw((raw)r.y), v[3] = value_of_raw((raw)(r.y >> 16));
#endif
}

#endif
