/* depthwise_weights_any.cl: weight gradients of any filter, TAPS of its taps at a time. */
#define TAPS 9
#include "engine/ops/conv/kernels/depthwise_sums.h"

__kernel WORKGROUP(THREADS) void depthwise_weights_any(INPUT(errors), INPUT(data), OUTPUT(out),
                                                       INPUT(bias), struct rmcp_depthwise p,
                                                       struct rmcp_depthwise_sums o)
{
    __local float part[TAPS * THREADS / 2];
    const struct task task = task_of(&p, &o);

    /* How far the taps are from the first; those beyond the last repeat it and are not stored. */
    int right[TAPS], down[TAPS], back[TAPS];
    uint offset[TAPS];
    UNROLL
    for (uint i = 0; i < TAPS; i++) {
        uint tap = smaller(task.chunk * TAPS + i, p.taps - 1);
        right[i] = (int)take(&tap, p.window[2].taps) * p.window[2].tap_step;
        down[i] = (int)take(&tap, p.window[1].taps) * p.window[1].tap_step;
        back[i] = (int)tap * p.window[0].tap_step;
        offset[i] = (uint)right[i] * p.window[2].gather + (uint)down[i] * p.window[1].gather +
                    (uint)back[i] * p.window[0].gather;
        FORGET(offset[i]); /* that it is the same in all work-items: scalar registers are few */
    }

    float sum[TAPS] = { 0 };
    for (uint position = task.first; position < task.end; position += task.stride) {
        uint index = position;
        struct spot spot = spot_of_position(&p, &index);
        spot.channel = task.channel;
        spot.image = index;
        const int x = (int)spot.column * p.window[2].step + p.window[2].first;
        const int y = (int)spot.block * p.window[1].step + p.window[1].first;
        const int z = (int)spot.depth * p.window[0].step + p.window[0].first;
        const uint first = gathered(&p, &spot, 0) + (uint)z * p.window[0].gather +
                           (uint)y * p.window[1].gather + (uint)x * p.window[2].gather;
        const float error =
            load(ADDRESS(errors), linear(&p, &spot) + spot.block * p.window[1].position +
                                      spot.column * p.window[2].position);
        float value[TAPS];
        bool inside[TAPS];
        UNROLL
        for (uint i = 0; i < TAPS; i++) {
            const bool along_x = (uint)(x + right[i]) < p.window[2].size;
            const bool along_y = (uint)(y + down[i]) < p.window[1].size;
            const bool along_z = (uint)(z + back[i]) < p.window[0].size;
            inside[i] = along_x & along_y & along_z;
            value[i] = load(ADDRESS(data), inside[i] ? first + offset[i] : 0);
        }
        UNROLL
        for (uint i = 0; i < TAPS; i++) sum[i] = inside[i] ? sum[i] + error * value[i] : sum[i];
    }
    add_levels(sum, p.lanes.divisor, o.length, part);
    store_sums(sum, &p, &o, &task, ADDRESS(out), task.chunk * TAPS);
}
