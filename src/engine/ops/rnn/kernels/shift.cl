/* shift.cl: for each row of a run of steps the hidden state that it follows, [row][direction][hidden]:
 * another row of the layer's output, hx, or 0. */
#include "engine/ops/rnn/kernels/cell.h"

__kernel WORKGROUP(256) void rnn_shift(INPUT(out), INPUT(hx), OUTPUT(before),
                                       struct rmcp_rnn_shift s)
{
    const uint i = GROUP_ID_X * 256 + LOCAL_ID, d = GROUP_ID_Y;
    const uint line = i / s.hidden, j = i - line * s.hidden;
    if (line >= s.rows) return;
    const uint n = line % s.batch;
    const rmcp_long row = s.first + line;
    rmcp_long from = -1;
    if (d == 0) {
        if (line >= s.batch) from = row - s.batch;
        else if (s.before > 0) from = row - s.before;
    } else if (line + s.batch < s.rows || n < s.after) {
        from = row + s.batch;
    }
    __global const float *source =
        from >= 0 ? CONST_FLOATS(out) + (from * s.directions + d) * s.hidden + j
                  : CONST_FLOATS(hx) + ((ulong)d * s.states + n) * s.hidden + j;
    FLOATS(before)[(row * s.directions + d) * s.hidden + j] = from >= 0 || s.hx ? *source : 0;
}
