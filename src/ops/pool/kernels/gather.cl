/* gather.cl: pooling backward: neighbours along the width a work-item, each summing over the
 * windows that it is in. */
#include "ops/pool/kernels/pool.h"

#define THREADS 256
#if TYPE == 0
#define LANES 4 /* 16 bytes of dx */
#else
#define LANES 8
#endif

/* The windows that elements `first` to `last` of one dimension are in. */
struct windows {
    uint first, end;
};

INLINE struct windows windows_of(uint first, uint last, uint pad, uint window,
                                 struct rmcp_divider stride, uint out)
{
    struct windows w;
    const uint a = first + pad;
    w.first = a < window ? 0 : divide(a - window, stride) + 1;
    w.end = smaller(divide(last + pad, stride) + 1, out);
    return w;
}

/* How many elements of a window are no padding. */
INLINE uint length_of(uint o, uint stride, uint pad, uint window, uint in)
{
    const struct range r = range_of(o, stride, pad, window, in);
    return (uint)(r.end - r.first);
}

/* One row of dy: the means. */
INLINE void spread(const struct rmcp_pool_args *p, __global const char *dy, uint at, uint w,
                   struct windows columns, uint count, float *sum)
{
    for (uint o = columns.first; o < columns.end; o++) {
        const int begin = (int)(o * p->stride[2]) - (int)p->pad[2];
        const uint length =
            p->full ? 1 : length_of(o, p->stride[2], p->pad[2], p->window[2], p->in[2]);
        const float part = mean(p, load(dy, at + o * p->y[2]), count * length);
        UNROLL for (uint i = 0; i < LANES; i++) sum[i] +=
            (uint)((int)(w + i) - begin) < p->window[2] ? part : 0;
    }
}

/* The same for the largest: `base` is the index of the window's first element in this row. */
INLINE void pick(const struct rmcp_pool_args *p, __global const char *dy, uint at,
                 __global const char *index, uint index_at, uint w, struct windows columns,
                 uint base, float *sum)
{
    for (uint o = columns.first; o < columns.end; o++) {
        const uint begin = o * p->stride[2] - p->pad[2];
        const uint column = get_index(index, index_at + o * p->index[2], p->index_bytes) - base -
                            (p->image ? begin : 0);
        const float v = load(dy, at + o * p->y[2]);
        const uint lane = column < p->window[2] ? column + begin - w : LANES;
        UNROLL for (uint i = 0; i < LANES; i++) sum[i] += lane == i ? v : 0;
    }
}

__kernel WORKGROUP(THREADS) void pool_gather(INPUT(dy), INPUT(index), OUTPUT(dx),
                                             struct rmcp_pool_args p)
{
    const uint item = GROUP_ID_X * THREADS + LOCAL_ID;
    if (item >= p.count) return;
    const struct spot s = find_spot(&p, item);
    const uint lanes = smaller(LANES, p.in[2] - s.w);
    const struct windows d = windows_of(s.d, s.d, p.pad[0], p.window[0], p.divider[0], p.out[0]);
    const struct windows h = windows_of(s.h, s.h, p.pad[1], p.window[1], p.divider[1], p.out[1]);
    const struct windows w =
        windows_of(s.w, s.w + lanes - 1, p.pad[2], p.window[2], p.divider[2], p.out[2]);
    float sum[LANES];
    UNROLL for (uint i = 0; i < LANES; i++) sum[i] = 0;
    for (uint i = d.first; i < d.end; i++)
        for (uint k = h.first; k < h.end; k++) {
            const uint at = s.y + i * p.y[0] + k * p.y[1];
            if (p.kind == RMCP_POOL_MEAN) {
                const uint count =
                    p.full ? 1
                           : length_of(i, p.stride[0], p.pad[0], p.window[0], p.in[0]) *
                                 length_of(k, p.stride[1], p.pad[1], p.window[1], p.in[1]);
                spread(&p, ADDRESS(dy), at, s.w, w, count, sum);
            } else {
                const uint layer = s.d + p.pad[0] - i * p.stride[0];
                const uint row = s.h + p.pad[1] - k * p.stride[1];
                const uint base = p.image ? (s.d * p.in[1] + s.h) * p.in[2]
                                          : (layer * p.window[1] + row) * p.window[2];
                pick(&p, ADDRESS(dy), at, ADDRESS(index), s.index + i * p.index[0] + k * p.index[1],
                     s.w, w, base, sum);
            }
        }
    UNROLL for (uint i = 0; i < LANES; i++)
    {
        sum[i] *= p.alpha;
        if (p.beta != 0 && i < lanes) sum[i] += p.beta * load(ADDRESS(dx), s.x + i * p.x[2]);
    }
    if (p.x[2] == 1 && lanes == LANES) {
        UNROLL for (uint i = 0; i < LANES; i += 4)
            store4(ADDRESS(dx), s.x + i, (float4)(sum[i], sum[i + 1], sum[i + 2], sum[i + 3]));
    } else {
        UNROLL for (uint i = 0; i < LANES; i++) if (i < lanes)
            store(ADDRESS(dx), s.x + i * p.x[2], sum[i]);
    }
}
