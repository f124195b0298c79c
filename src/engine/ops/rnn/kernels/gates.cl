/* gates.cl: what follows from Wh h, which a matrix product has left in `product`
 * [direction][sequence][gate][hidden]: one unit of one sequence a work-item. */
#include "engine/ops/rnn/kernels/forward.h"

__kernel WORKGROUP(256) void rnn_gates(INPUT(product), FORWARD_MEMORY, struct rmcp_rnn_step_args s)
{
    const struct forward f = FORWARD_OF_MEMORY;
    const uint i = GROUP_ID_X * 256 + LOCAL_ID, d = GROUP_ID_Y;
    const uint n = i / s.hidden, j = i - n * s.hidden;
    const struct rmcp_rnn_move move = move_of(&s, d);
    if (n >= move.batch) return;
    /* Sequences that start from 0 have no product. */
    const bool none = move.still || (n >= move.starts && !s.hx);
    __global const float *p =
        CONST_FLOATS(product) + ((ulong)d * s.batch + n) * s.gates * s.hidden + j;
    const struct forward_given given = forward_load(&s, &f, s.gates, d, n, j);
    float sum[4];
    UNROLL for (uint g = 0; g < 4; g++)
    {
        const float v = none ? 0 : p[(g < s.gates ? g : 0) * s.hidden];
        sum[g] = g < s.gates ? v : 0;
    }
    forward_unit(&s, &f, s.gates, &given, d, n, j, sum);
}
