/* step.cl: one step of a layer for few sequences: Wh h and what follows from it in one launch. A set of
 * 32 work-items has all GATES lines of one hidden unit and ROWS sequences. */
#include "ops/rnn/kernels/forward.h"

#define LANES 32
#define SETS 8
#define LINES GATES
#include "ops/rnn/kernels/dots.h"

__kernel WORKGROUP(SETS *LANES) void rnn_step(INPUT(w), FORWARD_MEMORY,
                                              struct rmcp_rnn_step_args s)
{
    __local float room[SETS * DOTS_LOCAL];
    const struct forward f = FORWARD_OF_MEMORY;
    const uint set = LOCAL_ID / LANES, lane = LOCAL_ID % LANES, d = GROUP_ID_Z;
    const uint unit = GROUP_ID_X * SETS + set, j = smaller(unit, s.hidden - 1);
    const uint first = GROUP_ID_Y * ROWS;
    const struct rmcp_rnn_move move = move_of(&s, d);
    if (first >= move.batch) return; /* the other direction has more: all of a workgroup */

    __global const float *line[LINES], *vector[ROWS];
    bool still[ROWS]; /* starts from 0 */
    UNROLL for (uint g = 0; g < LINES; g++)
        line[g] = CONST_FLOATS(w) + ((ulong)(d * GATES + g) * s.hidden + j) * s.hidden;
    UNROLL for (uint n = 0; n < ROWS; n++) {
        const uint sequence = smaller(first + n, move.batch - 1);
        const bool starts = sequence >= move.starts;
        still[n] = starts && !s.hx;
        const uint safe = still[n] ? 0 : sequence;
        vector[n] = starts && s.hx
                        ? f.hx + state_at(&s, d, sequence, 0)
                        : f.saved + s.out + place_at(&s, (ulong)move.before + safe, d, 0);
    }
    struct dots dots;
    dots_clear(&dots);
    dots_add(&dots, line, vector, move.still ? 0 : s.hidden, lane);
    UNROLL for (uint n = 0; n < ROWS; n++)
        UNROLL for (uint g = 0; g < LINES; g++)
            if (still[n]) dots.sum[g][n] = 0;
    __local float *mine = room + set * DOTS_LOCAL;
    dots_join(&dots, mine, lane);
    if (unit >= s.hidden || lane >= ROWS || first + lane >= move.batch) return;
    float sum[4];
    UNROLL for (uint g = 0; g < LINES; g++) sum[g] = dots_sum(mine, g, lane);
    forward_unit(&s, &f, d, first + lane, j, sum);
}
