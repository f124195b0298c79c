/* bytes.h: chunks of tensors whose elements are a byte each, of numbers from 0 on: conditions and
 * what a comparison says. As take, values and give of engine/kernels/stream.h. */
#ifndef RMCP_ELEMENTS_BYTES_H
#define RMCP_ELEMENTS_BYTES_H

#include "engine/kernels/stream.h"

INLINE void take_bytes(struct flow *f, const struct spot *p, uint t, const struct rmcp_stream *s,
                       __global const char *base)
{
    __global const uchar *from = (__global const uchar *)base + p->at[t];
    const uint step = s->step[t];
    f->way = SINGLY;
    if (p->whole && step == 1 && (uint)(ulong)from % LANES == 0) {
        f->way = AT_ONCE;
#if LANES == 4
        f->lanes.word[0] = *(__global const uint *)from;
#else
        const uint2 both = *(__global const uint2 *)from;
        f->lanes.word[0] = both.x, f->lanes.word[1] = both.y;
#endif
        return;
    }
    UNROLL for (int i = 0; i < LANES; i++)
    {
        f->lanes.word[i] = 0;
        if (i >= p->begin && i < p->end)
            f->lanes.word[i] = ((__global const uchar *)base)[p->at[t] + (uint)i * step];
    }
}

INLINE void byte_values(float *v, const struct flow *f)
{
    UNROLL for (uint i = 0; i < LANES; i++) v[i] =
        (float)(f->way == AT_ONCE ? f->lanes.word[i / 4] >> i % 4 * 8 & 0xff : f->lanes.word[i]);
}

INLINE void give_bytes(const float *v, const struct spot *p, uint t, const struct rmcp_stream *s,
                       __global char *base)
{
    __global uchar *to = (__global uchar *)base + p->at[t];
    const uint step = s->step[t];
    if (p->whole && step == 1 && (uint)(ulong)to % LANES == 0) {
        uint word[2] = { 0, 0 };
        UNROLL for (uint i = 0; i < LANES; i++) word[i / 4] |= (uint)v[i] << i % 4 * 8;
#if LANES == 4
        *(__global uint *)to = word[0];
#else
        *(__global uint2 *)to = (uint2)(word[0], word[1]);
#endif
        return;
    }
    UNROLL for (int i = 0; i < LANES; i++) if (i >= p->begin && i < p->end)(
        (__global uchar *)base)[p->at[t] + (uint)i * step] = (uchar)v[i];
}

#endif
