/* skip.cl: a first layer without Wx: x goes to every gate, and the gradients of the gates add up. */
#include "engine/ops/rnn/kernels/cell.h"

__kernel WORKGROUP(256) void rnn_spread(INPUT(x), OUTPUT(gates), struct rmcp_rnn_skip s)
{
    const uint i = GROUP_ID_X * 256 + LOCAL_ID;
    if (i >= s.count) return;
    const uint row = i / s.hidden, j = i - row * s.hidden;
    const float value = CONST_FLOATS(x)[i];
    __global float *gate = FLOATS(gates) + (ulong)row * s.stack * s.hidden + j;
    for (uint g = 0; g < s.stack; g++) gate[(ulong)g * s.hidden] = value;
}

__kernel WORKGROUP(256) void rnn_gather(INPUT(gradients), OUTPUT(dx), struct rmcp_rnn_skip s)
{
    const uint i = GROUP_ID_X * 256 + LOCAL_ID;
    if (i >= s.count) return;
    const uint row = i / s.hidden, j = i - row * s.hidden;
    __global const float *gate = CONST_FLOATS(gradients) + (ulong)row * s.stack * s.hidden + j;
    float total = 0;
    for (uint g = 0; g < s.stack; g++) total += gate[(ulong)g * s.hidden];
    FLOATS(dx)[i] = total;
}
