/* sum.cl: sums over some dimensions, in a fixed order and in blocks, so that errors stay small.
 *
 * A term is found at a turn of the loops that are summed; chunks of LANES terms along the fastest of
 * them are fetched together. A work-item adds up every lanes-th chunk of its part in blocks of BLOCK,
 * a tree in local memory adds up the work-items of an output. Where neighbours of a are along the
 * sum, so are work-items; else each of them has an output of its own. */
#include "ops/tensor/kernels/lanes.h"

#define THREADS 256
#define BLOCK 64

#define CHUNKS 4 /* that are loaded at a time */

/* LANES terms of a row: from `first` on, which may be before it; none beyond its end. */
struct spot {
    __global const char *row;
    int first;
    bool whole;
};

INLINE float sum_of_lanes(const float *v)
{
    const float sum = (v[0] + v[1]) + (v[2] + v[3]);
#if LANES == 8
    return sum + ((v[4] + v[5]) + (v[6] + v[7]));
#else
    return sum;
#endif
}

__kernel WORKGROUP(THREADS) void tensor_sum(TENSOR(a), RESULT(c), RESULT(parts),
                                            struct rmcp_tensor_sum s)
{
    __local float sums[THREADS];
    const uint thread = LOCAL_ID;
    const uint lane = s.along ? thread & (s.lanes - 1) : thread / s.outs;
    const uint out = s.along ? thread / s.lanes : thread & (s.outs - 1);
    const uint output = GROUP_ID_X * s.outs + out;
    uint a = 0, unused = 0, c = 0, rest = output;
    UNROLL for (uint i = 0; i < 6; i++)
        if (i >= s.n_summed && i < s.n_loops) rest = take_turn(s.loop[i], rest, &a, &unused, &c);

    const uint begin = GROUP_ID_Y * s.share;
    const uint end = smaller(begin + s.share, s.count);
    const uint a_bytes = bytes_of(s.math.a_type);
    const uint step = s.loop[0].a, length = s.loop[0].size.divisor;
    float total = 0, block = 0;
    uint in_block = 0;
    for (uint next = output < s.outputs ? begin + lane : end; next < end; next += CHUNKS * s.lanes) {
        struct spot spot[CHUNKS];
        struct lanes x[CHUNKS];
        uint way[CHUNKS];
        UNROLL for (uint i = 0; i < CHUNKS; i++) {
            const uint chunk = next + i * s.lanes;
            uint row = divide(chunk, s.chunks), place = a;
            spot[i].first = (int)((chunk - row * s.chunks.divisor) * LANES);
            UNROLL for (uint k = 1; k < 6; k++)
                if (k < s.n_summed) row = take_turn(s.loop[k], row, &place, &unused, &unused);
            spot[i].row = ADDRESS(a) + place * a_bytes;
            if (s.align) spot[i].first -= (int)((uint)(ulong)spot[i].row / a_bytes % LANES);
            if (chunk >= end) spot[i].first = (int)length;
            spot[i].whole = spot[i].first >= 0 && (uint)spot[i].first + LANES <= length;
            if (spot[i].whole) spot[i].row += (uint)spot[i].first * step * a_bytes;
            way[i] = way_of(spot[i].row, s.math.a_type, step);
            if (spot[i].whole) load_lanes(&x[i], spot[i].row, s.math.a_type, way[i]);
        }
        float sum[CHUNKS];
        UNROLL for (uint i = 0; i < CHUNKS; i++) {
            float v[LANES];
            if (spot[i].whole) {
                value_lanes(v, &x[i], spot[i].row, s.math.a_type, step, way[i]);
            } else {
                UNROLL for (int k = 0; k < LANES; k++) {
                    const int at = spot[i].first + k;
                    v[k] = 0;
                    if (at >= 0 && at < (int)length)
                        v[k] = fetch(spot[i].row + (uint)at * step * a_bytes, s.math.a_type);
                }
            }
            sum[i] = sum_of_lanes(v);
        }
        block += (sum[0] + sum[1]) + (sum[2] + sum[3]);
        if (++in_block == BLOCK) {
            total += block;
            block = 0;
            in_block = 0;
        }
    }
    sums[thread] = total + block;
    const uint apart = s.along ? 1 : s.outs;
    for (uint half_lanes = s.lanes / 2; half_lanes > 0; half_lanes /= 2) {
        BARRIER();
        if (lane < half_lanes) sums[thread] += sums[thread + half_lanes * apart];
    }
    if (lane > 0 || output >= s.outputs) return;
    const float sum = sums[thread];
    if (!s.last) {
        ((__global float *)ADDRESS(parts))[(s.part + GROUP_ID_Y) * s.outputs + output] = sum;
        return;
    }
    __global char *pc = ADDRESS(c) + c * (uint)sizeof(element);
    const float z = s.math.update ? fetch(pc, TYPE) : 0;
    from_float((__global element *)pc, compute(&s.math, sum, 0, z));
}
