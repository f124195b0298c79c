/* sums.cl: gradients of biases: sums of the gates' gradients over all rows, added to what is there. */
#include "engine/ops/rnn/kernels/cell.h"

#define WIDE 32
#define DEEP 8

__kernel WORKGROUP(WIDE *DEEP) void rnn_sums(INPUT(gradients), OUTPUT(bias), struct rmcp_rnn_sums s)
{
    __local float room[2][DEEP][WIDE];
    const uint wide = LOCAL_ID % WIDE, deep = LOCAL_ID / WIDE;
    const uint column = GROUP_ID_X * WIDE + wide, there = smaller(column, s.columns - 1);
    const uint stack = s.gates * s.hidden, d = there / stack, unit = there - d * stack;
    const bool apart = s.apart && unit >= stack - s.hidden;
    const uint across = s.columns / s.gates; /* of a plane */
    __global const float *p = CONST_FLOATS(gradients) + there;
    __global const float *q = apart ? CONST_FLOATS(gradients) + s.plane + d * s.hidden + unit -
                                          (stack - s.hidden)
                                    : p;
    const uint p_step = s.columns, q_step = apart ? across : s.columns;
    float x = 0, h = 0, x_block = 0, h_block = 0;
    uint count = 0;
    for (uint row = deep; row < s.rows; row += DEEP) {
        x_block += p[(ulong)row * p_step];
        h_block += q[(ulong)row * q_step];
        if (++count % 64 == 0) {
            x += x_block;
            h += h_block;
            x_block = h_block = 0;
        }
    }
    room[0][deep][wide] = x + x_block;
    room[1][deep][wide] = h + h_block;
    BARRIER();
    if (deep > 1 || column >= s.columns) return;
    float total = 0;
    UNROLL for (uint i = 0; i < DEEP; i++) total += room[deep][i][wide];
    FLOATS(bias)[deep * s.columns + column] += total;
}
