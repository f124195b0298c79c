/* moments.h: what kernels that normalise share: moments and sums and their merging, the inverse of
 * a deviation, elements one and four at a time. */
#ifndef RMCP_KERNEL_MOMENTS_H
#define RMCP_KERNEL_MOMENTS_H

#include "engine/kernels/common.h"

#ifndef THREADS
#define THREADS 256
#endif
#define PARAMETERS(name) ((__global float *)ADDRESS(name))
#define INPUTS(name) ((__global const float *)ADDRESS(name))

/* n values, their mean, which is shift + rest, and the sum of the squares of their distances from
 * it. The shift is near the mean, so that the rest has digits below the last of the mean in one
 * float: differences of means of parts are small numbers when the mean is far from zero. */
struct moments {
    float n, shift, rest, m2;
};

/* Chan, Golub, LeVeque: of two sets to their union, with the first one's shift. Either may be
 * empty. */
INLINE struct moments merge(struct moments a, struct moments b)
{
    const float n = a.n + b.n, share = n > 0 ? b.n / n : 0;
    const float delta = (b.shift - a.shift) + (b.rest - a.rest);
    const bool empty = a.n == 0;
    const struct moments both = {
        n,
        empty ? b.shift : a.shift,
        empty ? b.rest : a.rest + delta * share,
        empty ? b.m2 : a.m2 + b.m2 + delta * delta * (a.n * share),
    };
    return both;
}

/* The moments of `lanes` neighbours in a workgroup, a power of two apart, merged in a fixed order
 * by all of them: `place` counts them, `apart` is how far they are from each other. */
INLINE struct moments merge_all(struct moments m, uint thread, uint place, uint lanes, uint apart,
                                __local float *n, __local float *shift, __local float *rest,
                                __local float *m2)
{
    BARRIER();
    n[thread] = m.n, shift[thread] = m.shift, rest[thread] = m.rest, m2[thread] = m.m2;
    BARRIER();
    for (uint half_way = lanes / 2; half_way > 0; half_way /= 2) {
        if (place < half_way) {
            const uint other = thread + half_way * apart;
            const struct moments theirs = { n[other], shift[other], rest[other], m2[other] };
            m = merge(m, theirs);
            n[thread] = m.n, shift[thread] = m.shift, rest[thread] = m.rest, m2[thread] = m.m2;
        }
        BARRIER();
    }
    const uint first = thread - place * apart;
    const struct moments all = { n[first], shift[first], rest[first], m2[first] };
    return all;
}

/* Sums of gradients: of g, and of g * (x - mean). */
struct sums {
    float sum, product;
};

INLINE struct sums add_all(struct sums s, uint thread, uint place, uint lanes, uint apart,
                           __local float *sum, __local float *product)
{
    BARRIER();
    sum[thread] = s.sum, product[thread] = s.product;
    BARRIER();
    for (uint half_way = lanes / 2; half_way > 0; half_way /= 2) {
        if (place < half_way) {
            sum[thread] += sum[thread + half_way * apart];
            product[thread] += product[thread + half_way * apart];
        }
        BARRIER();
    }
    const uint first = thread - place * apart;
    const struct sums all = { sum[first], product[first] };
    return all;
}

/* 1 / sqrt(a), to the last bit or so: one step of Newton's after what the hardware has. */
INLINE float inverse_root(float a)
{
#if defined(BARE) && defined(__AMDGCN__)
    const float r = __builtin_amdgcn_rsqf(a);
#elif defined(BARE) && defined(__NVPTX__)
    const float r = __nvvm_rsqrt_approx_f(a);
#else
    const float r = rsqrt(a);
#endif
    const float better = r + 0.5f * r * (1.0f - (a * r) * r);
    return better == better ? better : r; /* 0 and infinity */
}

/* What a set of values is normalised with: its mean, and the inverse of its deviation. */
struct normal {
    float mean, inverse;
};

/* ---- elements; four neighbours must be aligned ---- */

INLINE bool is_aligned(__global const char *base)
{
    return (ulong)base % sizeof(element4) == 0;
}

INLINE void get4(__global const char *base, ulong index, float *v)
{
    __global const element *p = (__global const element *)base + index;
#if DRIVER_HALF
    const float4 q = vload_half4(0, (__global const half *)p);
    v[0] = q.x, v[1] = q.y, v[2] = q.z, v[3] = q.w;
#else
    const element4 q = *(__global const element4 *)p;
#if TYPE == 2
    v[0] = as_float((uint)q.x << 16), v[1] = as_float((uint)q.y << 16);
    v[2] = as_float((uint)q.z << 16), v[3] = as_float((uint)q.w << 16);
#else
    v[0] = (float)q.x, v[1] = (float)q.y, v[2] = (float)q.z, v[3] = (float)q.w;
#endif
#endif
}

INLINE void put4(__global char *base, ulong index, const float *v)
{
    __global element *p = (__global element *)base + index;
#if DRIVER_HALF
    vstore_half4_rte((float4)(v[0], v[1], v[2], v[3]), 0, (__global half *)p);
#else
    *(__global element4 *)p = (element4)(encode(v[0]), encode(v[1]), encode(v[2]), encode(v[3]));
#endif
}

INLINE float get1(__global const char *base, ulong index)
{
    return to_float((__global const element *)base + index);
}

INLINE void put1(__global char *base, ulong index, float v)
{
    from_float((__global element *)base + index, v);
}

#endif
