/* back_step.cl: one step of a layer backwards for few sequences: the gradient through Wh and what follows
 * from it in one launch. A set of 128 work-items has four hidden units and ROWS sequences; `turned` is
 * Wh with its lines and columns exchanged, so that neighbours in memory are terms of one sum. */
#include "engine/ops/rnn/kernels/backward.h"

#define LANES 128
#define SETS 2
#define LINES 4
#include "engine/ops/rnn/kernels/dots.h"

__kernel WORKGROUP(SETS *LANES) void rnn_back_step(INPUT(turned), BACKWARD_MEMORY,
                                                   struct rmcp_rnn_step_args s)
{
    __local float room[SETS * DOTS_LOCAL];
    const struct backward b = BACKWARD_OF_MEMORY;
    const uint set = LOCAL_ID / LANES, lane = LOCAL_ID % LANES, d = GROUP_ID_Z;
    const uint unit = (GROUP_ID_X * SETS + set) * LINES;
    const struct rmcp_rnn_move move = move_of(&s, d);
    const uint first = s.first + GROUP_ID_Y * ROWS;
    if (first >= move.batch) return; /* the other direction has more: all of a workgroup */

    const uint terms = s.gates * s.hidden;
    __global const float *line[LINES], *vector[ROWS];
    UNROLL for (uint l = 0; l < LINES; l++)
        line[l] = CONST_FLOATS(turned) +
                  ((ulong)d * s.hidden + smaller(unit + l, s.hidden - 1)) * terms;
    /* Sequences that end here have nothing behind them: another's place, for a sum that is not used. */
    UNROLL for (uint n = 0; n < ROWS; n++) {
        const uint sequence = smaller(first + n, move.batch - 1);
        const ulong row = (ulong)move.after + (sequence < move.ends ? sequence : 0);
        vector[n] = b.gradients + (row * s.directions + d) * terms;
    }
    struct dots dots;
    dots_clear(&dots);
    const uint together = s.mode == GRU ? 2 * s.hidden : terms;
    dots_add(&dots, line, vector, move.still ? 0 : together, lane);
    if (s.mode == GRU && !move.still) {
        UNROLL for (uint l = 0; l < LINES; l++) line[l] += together;
        UNROLL for (uint n = 0; n < ROWS; n++) {
            const uint sequence = smaller(first + n, move.batch - 1);
            const ulong row = (ulong)move.after + (sequence < move.ends ? sequence : 0);
            vector[n] = b.gradients + s.apart + place_at(&s, row, d, 0);
        }
        dots_add(&dots, line, vector, s.hidden, lane);
    }
    __local float *mine = room + set * DOTS_LOCAL;
    dots_join(&dots, mine, lane);
    const uint l = lane % LINES, n = lane / LINES;
    if (unit + l >= s.hidden || n >= ROWS || first + n >= move.batch) return;
    backward_unit(&s, &b, d, first + n, unit + l, dots_sum(mine, l, n));
}
