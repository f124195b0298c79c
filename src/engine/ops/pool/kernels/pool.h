/* pool.h: what pooling's kernels share: places, indices, results. */
#ifndef RMCP_POOL_POOL_H
#define RMCP_POOL_POOL_H

#include "engine/kernels/target.h"

#include "engine/kernels/common.h"
#include "engine/ops/pool/kernels/args.h"

#define MINUS_INFINITY as_float(0xff800000u)

/* What the largest of no elements is: the lowest finite number. */
#if TYPE == 0
#define LOWEST as_float(0xff7fffffu)
#elif TYPE == 1
#define LOWEST (-65504.0f)
#else
#define LOWEST as_float(0xff7f0000u)
#endif

struct spot {
    uint x, y, index; /* elements from the tensors' beginnings */
    uint d, h, w;
};

INLINE struct spot find_spot(const struct rmcp_pool_args *p, uint item)
{
    struct spot s = { 0, 0, 0, 0, 0, 0 };
    UNROLL for (uint i = 0; i < 5; i++)
    {
        if (i >= p->n_turns) continue;
        const uint rest = divide(item, p->turn[i].size);
        const uint digit = item - rest * p->turn[i].size.divisor;
        s.x += digit * p->turn[i].x;
        s.y += digit * p->turn[i].y;
        s.index += digit * p->turn[i].index;
        s.d += digit * p->turn[i].d;
        s.h += digit * p->turn[i].h;
        s.w += digit * p->turn[i].w;
        item = rest;
    }
    return s;
}

/* Elements of a window in one dimension: from `first` to `end` of its own. */
struct range {
    int begin; /* in the image, may be negative */
    int first, end;
};

INLINE struct range range_of(uint o, uint stride, uint pad, uint window, uint in)
{
    struct range r;
    r.begin = (int)(o * stride) - (int)pad;
    const int room = (int)in - r.begin;
    r.first = r.begin < 0 ? -r.begin : 0;
    r.end = room < (int)window ? room : (int)window;
    if (r.end < r.first) r.end = r.first;
    return r;
}

/* Whether v takes the place of the largest so far: the first one counts, or the last NaN. */
INLINE bool beats(float v, float best)
{
    return v > best || v != v;
}

INLINE void put_index(__global char *base, uint at, uint bytes, uint value)
{
    __global char *p = base + (ulong)at * bytes;
    if (bytes == 1)
        *(__global uchar *)p = (uchar)value;
    else if (bytes == 2)
        *(__global ushort *)p = (ushort)value;
    else if (bytes == 4)
        *(__global uint *)p = value;
    else
        *(__global ulong *)p = value;
}

INLINE uint get_index(__global const char *base, uint at, uint bytes)
{
    __global const char *p = base + (ulong)at * bytes;
    if (bytes == 1) return *(__global const uchar *)p;
    if (bytes == 2) return *(__global const ushort *)p;
    if (bytes == 4) return *(__global const uint *)p;
    const ulong value = *(__global const ulong *)p;
    return value >> 32 ? 0xffffffffu : (uint)value;
}

INLINE void put_result(const struct rmcp_pool_args *p, __global char *y, uint at, float value)
{
    value *= p->alpha;
    if (p->beta != 0) value += p->beta * load(y, at);
    store(y, at, value);
}

/* The mean of a sum; `count` elements are there. */
INLINE float mean(const struct rmcp_pool_args *p, float sum, uint count)
{
    if (p->full || count == p->taps) return sum * p->share;
    return sum / (float)(count ? count : 1);
}

#endif
