/* sum.cl: sums over some dimensions, in a fixed order and in blocks, so that errors stay small.
 *
 * A term is found at a turn of the loops that are summed; chunks of LANES terms along the fastest of
 * them are fetched together. A work-item adds up every lanes-th chunk of its part in blocks of BLOCK,
 * a tree in local memory adds up the work-items of an output. Where neighbours of a are along the
 * sum, so are work-items; else each of them has an output of its own. */
#include "engine/ops/tensor/kernels/math.h"

#define THREADS 256
#define BLOCK 64

#define CHUNKS 4 /* that are loaded at a time */

/* LANES terms of a row: from `first` on, which may be before it; none beyond its end. */
struct spot {
    int first;
    uint way;
    bool whole;
};

/* 0 … most */
INLINE int clip(int at, int most)
{
    return at < 0 ? 0 : at < most ? at : most;
}

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
        UNROLL for (uint i = 0; i < CHUNKS; i++) {
            const uint chunk = next + i * s.lanes, there = smaller(chunk, end - 1);
            uint row = divide(there, s.chunks), place = a;
            int first = (int)((there - row * s.chunks.divisor) * LANES);
            UNROLL for (uint k = 1; k < 6; k++)
                if (k < s.n_summed) row = take_turn(s.loop[k], row, &place, &unused, &unused);
            __global const char *p = ADDRESS(a) + place * a_bytes;
            if (s.align) first -= (int)((uint)(ulong)p / a_bytes % LANES);
            if (chunk >= end) first = (int)length;
            spot[i].first = first;
            spot[i].whole = first >= 0 && (uint)first + LANES <= length;
            spot[i].way = SINGLY;
            if (spot[i].whole) {
                p += (uint)first * step * a_bytes;
                spot[i].way = way_of(p, s.math.a_type, step);
                load_lanes(&x[i], p, s.math.a_type, step, spot[i].way);
            } else { /* what is beyond the row's ends does not count: some element of it instead */
                UNROLL for (int k = 0; k < LANES; k++) {
                    const int at = clip(first + k, (int)length - 1);
                    __global const char *q = p + (uint)at * step * a_bytes;
                    x[i].word[k] = s.math.a_type == 0 ? *(__global const uint *)q
                                                      : *(__global const ushort *)q;
                }
            }
        }
        float sum[CHUNKS];
        UNROLL for (uint i = 0; i < CHUNKS; i++) {
            float v[LANES];
            value_lanes(v, &x[i], s.math.a_type, spot[i].way);
            if (!spot[i].whole) {
                UNROLL for (int k = 0; k < LANES; k++)
                    if (spot[i].first + k < 0 || spot[i].first + k >= (int)length) v[k] = 0;
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
