/* sum.cl: sums over some dimensions, in a fixed order and in blocks, so that errors stay small.
 *
 * A term is found at a turn of the loops that are summed; chunks of LANES terms along the fastest of
 * them are fetched together. A work-item adds up every lanes-th chunk of its part in blocks of BLOCK,
 * a tree in local memory adds up the work-items of an output. Where neighbours of a are along the
 * sum, so are work-items; else each of them has an output of its own. */
#include "ops/tensor/kernels/lanes.h"

#define THREADS 256
#define BLOCK 64

/* LANES terms of a row, those that are in it: from `first` to below `length`. */
INLINE float sum_of_chunk(__global const char *row, uint type, uint step, int first, uint length)
{
    const uint apart = step * bytes_of(type);
    float v[LANES];
    if (first >= 0 && (uint)first + LANES <= length) {
        fetch_lanes(v, row + (uint)first * apart, type, step);
    } else {
        UNROLL for (int i = 0; i < LANES; i++)
            v[i] = first + i >= 0 && first + i < (int)length
                       ? fetch(row + (uint)(first + i) * apart, type)
                       : 0;
    }
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
    float total = 0, block = 0;
    uint in_block = 0;
    if (output < s.outputs)
        for (uint chunk = begin + lane; chunk < end; chunk += s.lanes) {
            uint row = divide(chunk, s.chunks), place = a;
            int first = (int)((chunk - row * s.chunks.divisor) * LANES);
            UNROLL for (uint i = 1; i < 6; i++)
                if (i < s.n_summed) row = take_turn(s.loop[i], row, &place, &unused, &unused);
            __global const char *p = ADDRESS(a) + place * a_bytes;
            if (s.align) first -= (int)((uint)(ulong)p / a_bytes % LANES);
            block += sum_of_chunk(p, s.math.a_type, s.loop[0].a, first, s.loop[0].size.divisor);
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
