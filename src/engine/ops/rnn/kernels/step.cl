/* step.cl: one step of a layer for few sequences: Wh h and what follows from it in one launch. A set of
 * work-items has all GATES lines of one hidden unit and ROWS sequences; with few sequences it is large, so
 * that there are more of them. */
#include "engine/ops/rnn/kernels/forward.h"

#if ROWS == 1
#define LANES 128
#else
#define LANES 64
#endif
#define SETS (256 / LANES)
#define LINES GATES
#include "engine/ops/rnn/kernels/dots.h"

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
    const struct forward_given given =
        forward_load(&s, &f, GATES, d, smaller(first + lane % ROWS, move.batch - 1), j);
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
    forward_unit(&s, &f, GATES, &given, d, first + lane, j, sum);
}
