/* back_gates.cl: what follows from the gradient through Wh, which a matrix product has left in `product`
 * [direction][sequence][hidden]: one unit of one sequence a work-item. */
#include "engine/ops/rnn/kernels/backward.h"

__kernel WORKGROUP(256) void rnn_back_gates(INPUT(product), BACKWARD_MEMORY,
                                            struct rmcp_rnn_step_args s)
{
    const struct backward b = BACKWARD_OF_MEMORY;
    const uint i = GROUP_ID_X * 256 + LOCAL_ID, d = GROUP_ID_Y;
    const uint line = i / s.hidden, j = i - line * s.hidden, n = s.first + line;
    const struct rmcp_rnn_move move = move_of(&s, d);
    if (n >= move.batch) return;
    const bool none = move.still || n >= move.ends;
    backward_unit(&s, &b, d, n, j, none ? 0 : CONST_FLOATS(product)[state_at(&s, d, n, j)]);
}
