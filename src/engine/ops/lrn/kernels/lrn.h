/* lrn.h: what the kernels of local response normalisation share: places, windows, the power. */
#ifndef RMCP_LRN_LRN_H
#define RMCP_LRN_LRN_H

#include "engine/kernels/target.h"

#include "engine/kernels/common.h"
#include "engine/ops/lrn/kernels/args.h"

#define THREADS 256
#define STRIP RMCP_LRN_STRIP
#define USUAL 5 /* the window that networks have */

/* The scale is f32, but with f16 it is f16. */
INLINE float load_scale(__global const char *base, uint index)
{
#if TYPE == 1
    return load(base, index);
#else
    return *((__global const float *)base + index);
#endif
}

INLINE void store_scale(__global char *base, uint index, float value)
{
#if TYPE == 1
    store(base, index, value);
#else
    *((__global float *)base + index) = value;
#endif
}

struct spot {
    struct rmcp_lrn_steps at; /* elements from the tensors' beginnings */
    uint row, column;
};

INLINE struct spot find_spot(const struct rmcp_lrn_args *p, uint item)
{
    struct spot s = { { 0, 0, 0, 0, 0 }, 0, 0 };
    UNROLL for (uint i = 0; i < 5; i++)
    {
        if (i >= p->n_turns) continue;
        const uint rest = divide(item, p->turn[i].size);
        const uint digit = item - rest * p->turn[i].size.divisor;
        s.at.x += digit * p->turn[i].steps.x;
        s.at.y += digit * p->turn[i].steps.y;
        s.at.scale += digit * p->turn[i].steps.scale;
        s.at.dy += digit * p->turn[i].steps.dy;
        s.at.dx += digit * p->turn[i].steps.dx;
        s.row += digit * p->turn[i].row;
        s.column += digit * p->turn[i].column;
        item = rest;
    }
    return s;
}

/* base^exponent for a base that is a positive normal number: 2^(exponent * log2(base)). */
INLINE float power(float base, float exponent)
{
    if (!(base > 0))
        return base == 0 && exponent > 0    ? 0
               : base == 0 && exponent == 0 ? 1
                                            : as_float(0x7fc00000u);
    /* base = (1 + f) 2^e with 1 + f between sqrt(1/2) and sqrt(2) */
    const uint bits = as_uint(base) - 0x3f3504f3u;
    const float e = (float)((int)bits >> 23);
    const float f = as_float((bits & 0x007fffffu) + 0x3f3504f3u) - 1.0f;
    float q = -0x1.422920p-4f * f + 0x1.07c3b2p-3f;
    q = q * f + -0x1.0cce8cp-3f;
    q = q * f + 0x1.226f8ep-3f;
    q = q * f + -0x1.547ab6p-3f;
    q = q * f + 0x1.99a590p-3f;
    q = q * f + -0x1.000216p-2f;
    q = q * f + 0x1.55554ap-2f;
    const float log1p = q * f * f * f + (f - 0.5f * f * f);
    float t = exponent * (log1p * 0x1.715476p+0f + e);
    t = t < -250.0f ? -250.0f : t > 250.0f ? 250.0f : t;
    /* 2^t = 2^k 2^r with |r| <= 1/2; 2^k in two steps, each within f32's range */
    const float k = (t + 12582912.0f) - 12582912.0f, r = t - k;
    float p = 0x1.446c70p-13f * r + 0x1.5f0896p-10f;
    p = p * r + 0x1.3b29e4p-7f;
    p = p * r + 0x1.c6af6cp-5f;
    p = p * r + 0x1.ebfbe0p-3f;
    p = p * r + 0x1.62e430p-1f;
    p = p * r + 1.0f;
    const int whole = (int)k, part = whole / 2;
    return p * as_float((uint)(part + 127) << 23) * as_float((uint)(whole - part + 127) << 23);
}

#endif
