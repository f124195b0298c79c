/* stream.h: element by element over several tensors: where the chunks of a work-item lie. A chunk
 * is LANES neighbours along the fastest loop (engine/kernels/lanes.h), loaded and stored
 * at once where they can be. TENSORS is how many tensors a kernel has. */
#ifndef RMCP_KERNEL_STREAM_H
#define RMCP_KERNEL_STREAM_H

#include "engine/kernels/stream_args.h"

#define THREADS 256

struct spot {
    uint at[TENSORS]; /* elements from each tensor's begin to the row's; whole: to the chunk's */
    int first;        /* its first element, which may be before the row                           */
    int begin, end; /* those in the row, counted from its first: 0 … LANES when whole           */
    bool whole;
};

/* `written`: the address of the first tensor, `bytes` of one of its elements. */
INLINE struct spot find_spot(const struct rmcp_stream *s, uint chunk, __global const char *written,
                             uint bytes)
{
    struct spot p;
    uint column = chunk;
    UNROLL for (uint t = 0; t < TENSORS; t++) p.at[t] = 0;
    if (s->n_outer) {
        uint row = divide(chunk, s->chunks);
        column -= row * s->chunks.divisor;
        UNROLL for (uint i = 0; i < 4; i++) if (i < s->n_outer)
        {
            const uint rest = divide(row, s->outer[i].size);
            const uint digit = row - rest * s->outer[i].size.divisor;
            UNROLL for (uint t = 0; t < TENSORS; t++) p.at[t] += digit * s->outer[i].step[t];
            row = rest;
        }
    }
    p.first = (int)(column * LANES);
    if (s->align) p.first -= (int)((uint)(ulong)(written + p.at[0] * bytes) / bytes % LANES);
    p.begin = p.first < 0 ? -p.first : 0;
    p.end = p.first + LANES > (int)s->length ? (int)s->length - p.first : LANES;
    if (chunk >= s->count) p.end = p.begin = 0;
    p.whole = p.begin == 0 && p.end == LANES;
    UNROLL for (uint t = 0; t < TENSORS; t++) p.at[t] += (uint)p.first * s->step[t];
    return p;
}

/* One tensor's chunk, of type `type`: all of it when it is whole, else what lies in the row, one by
 * one. Loads and their conversion are apart, so that all loads are under way before the first is
 * waited for. */
struct flow {
    struct lanes lanes;
    uint way;
};

INLINE void take(struct flow *f, const struct spot *p, uint t, const struct rmcp_stream *s,
                 __global const char *base, uint type)
{
    const uint step = s->step[t];
    if (p->whole) {
        __global const char *from = base + p->at[t] * bytes_of(type);
        f->way = way_of(from, type, step);
        load_lanes(&f->lanes, from, type, step, f->way);
        return;
    }
    f->way = SINGLY;
    UNROLL for (int i = 0; i < LANES; i++)
    {
        f->lanes.word[i] = 0;
        if (i >= p->begin && i < p->end) {
            __global const char *from = base + (p->at[t] + (uint)i * step) * bytes_of(type);
            f->lanes.word[i] =
                type == 0 ? *(__global const uint *)from : *(__global const ushort *)from;
        }
    }
}

INLINE void values(float *v, const struct flow *f, uint type)
{
    value_lanes(v, &f->lanes, type, f->way);
}

/* Elements of TYPE. */
INLINE void give(const float *v, const struct spot *p, uint t, const struct rmcp_stream *s,
                 __global char *base)
{
    const uint step = s->step[t];
    if (p->whole) {
        put_lanes(base + p->at[t] * (uint)sizeof(element), v, step);
        return;
    }
    UNROLL for (int i = 0; i < LANES; i++) if (i >= p->begin && i < p->end)
        from_float((__global element *)base + (p->at[t] + (uint)i * step), v[i]);
}

#endif
