/* rows.cl: of each step of each sequence, the largest logit and the inverse of the sum of their
 * exponentials; and the gradient as it is where no label is. */
#include "engine/ops/ctc/kernels/number.h"

#define THREADS 256

INLINE float whole(float mine, const bool largest, uint lane, uint lanes, __local float *room)
{
    room[LOCAL_ID] = mine;
    BARRIER();
    for (uint half_way = lanes / 2; half_way > 0; half_way /= 2) {
        if (lane < half_way) {
            const float other = room[LOCAL_ID + half_way], own = room[LOCAL_ID];
            room[LOCAL_ID] = !largest ? own + other : other > own ? other : own;
        }
        BARRIER();
    }
    const float all = room[LOCAL_ID - lane];
    BARRIER();
    return all;
}

__kernel WORKGROUP(THREADS) void ctc_rows(INPUT(x), INPUT(lengths), OUTPUT(sums), OUTPUT(dx),
                                          struct rmcp_ctc_args a)
{
    __local float room[THREADS];
    const uint lanes = 1u << a.lane_bits, lane = LOCAL_ID & (lanes - 1);
    const uint mine = GROUP_ID_X * (THREADS >> a.lane_bits) + (LOCAL_ID >> a.lane_bits);
    const bool exists = mine < a.count;
    const uint row = a.first + (exists ? mine : 0);
    const uint t = row / a.batch, n = row - t * a.batch;
    const bool inside = t < steps_of(&a, (__global const int *)ADDRESS(lengths), n);
    __global const char *const in = ADDRESS(x);
    float most = 0, inverse = 0;
    if (a.softmax) {
        float own = -as_float(0x7f800000u);
        for (uint c = lane; c < a.classes; c += lanes) {
            const float v = x_at(&a, in, t, n, c);
            own = v > own ? v : own;
        }
        most = whole(own, true, lane, lanes, room);
        float sum = 0;
        for (uint c = lane; c < a.classes; c += lanes)
            sum += plain(exponential(x_at(&a, in, t, n, c) - most));
        inverse = 1.0f / whole(sum, false, lane, lanes, room);
    }
    if (!exists) return;
    for (uint c = lane; c < a.classes; c += lanes)
        put_dx(&a, ADDRESS(dx), t, n, c,
               inside && a.softmax
                   ? plain(probability(&a, x_at(&a, in, t, n, c), most, inverse))
                   : 0);
    if (lane == 0) {
        __global float *const to = (__global float *)ADDRESS(sums) + 2 * (ulong)row;
        to[0] = most;
        to[1] = inverse;
    }
}
