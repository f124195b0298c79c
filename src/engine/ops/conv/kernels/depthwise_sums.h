/* depthwise_sums.h: what the kernels of weight gradients share: which positions a workgroup sums
 * over, and how its work-items' sums become one.
 *
 * A workgroup has `lanes` channels; the work-items of one channel take turns at the positions of a
 * slice. The order of all additions follows from the shape alone: the same bits each time.
 *
 * TAPS: sums of a work-item. */
#ifndef RMCP_DEPTHWISE_SUMS_H
#define RMCP_DEPTHWISE_SUMS_H

#define THREADS 256
#include "engine/ops/conv/kernels/depthwise.h"

struct task {
    uint channel; /* clamped to one that exists                       */
    bool exists;
    uint chunk, slice;
    uint first, end, stride; /* positions of this work-item: every stride-th */
};

INLINE struct task task_of(const struct rmcp_depthwise *p, const struct rmcp_depthwise_sums *o)
{
    uint index = GROUP_ID_X + p->first;
    struct task task;
    task.chunk = take(&index, o->chunks);
    task.slice = take(&index, o->slices);
    uint level = LOCAL_ID;
    const uint channel = index * p->lanes.divisor + take(&level, p->lanes);
    task.exists = channel < p->channels;
    task.channel = smaller(channel, p->channels - 1);
    task.stride = divide(THREADS, p->lanes);
    task.end = smaller((task.slice + 1) * o->length, o->positions);
    task.first = task.slice * o->length + level;
    return task;
}

/* Add up over the work-items of a channel; its first one then has the sums. Those beyond the
 * `length` of a slice have none. */
INLINE void add_levels(float sum[TAPS], uint lanes, uint length,
                       __local float part[TAPS * THREADS / 2])
{
    const uint thread = LOCAL_ID;
    for (uint half_way = THREADS / 2; half_way >= lanes; half_way /= 2) {
        if (half_way >= smaller(length, THREADS) * lanes) continue;
        if (thread >= half_way && thread < 2 * half_way) UNROLL
        for (uint i = 0; i < TAPS; i++) part[i * (THREADS / 2) + thread - half_way] = sum[i];
        BARRIER();
        if (thread < half_way) UNROLL
        for (uint i = 0; i < TAPS; i++) sum[i] += part[i * (THREADS / 2) + thread];
        BARRIER();
    }
}

/* The sums of this channel's taps from `first` on; taps beyond the last do not exist. */
INLINE void store_sums(const float sum[TAPS], const struct rmcp_depthwise *p,
                       const struct rmcp_depthwise_sums *o, const struct task *task,
                       __global char *out, uint first)
{
    if (LOCAL_ID >= p->lanes.divisor || !task->exists) return;
    UNROLL
    for (uint i = 0; i < TAPS; i++) {
        if (first + i >= p->taps) continue;
        const uint at = task->channel * p->taps + first + i;
        if (o->partial)
            ((__global float *)out)[(ulong)task->slice * o->part + at] = sum[i];
        else
            store(out, at, sum[i]);
    }
}

#endif
