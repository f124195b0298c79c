/* cell.h: what the kernels of recurrent networks share: kinds of cells, and where states and planes
 * have their elements. */
#ifndef RMCP_RNN_CELL_H
#define RMCP_RNN_CELL_H

#include "engine/kernels/target.h"

#include "engine/kernels/exponential.h"
#include "engine/ops/rnn/kernels/args.h"

#define RELU 0
#define TANH 1
#define LSTM 2
#define GRU 3

/* Chosen field by field: an index would put the arguments into private memory. */
INLINE struct rmcp_rnn_move move_of(const struct rmcp_rnn_step_args *s, uint d)
{
    const struct rmcp_rnn_move move = {
        d ? s->move[1].first : s->move[0].first,   d ? s->move[1].before : s->move[0].before,
        d ? s->move[1].after : s->move[0].after,   d ? s->move[1].batch : s->move[0].batch,
        d ? s->move[1].starts : s->move[0].starts, d ? s->move[1].ends : s->move[0].ends,
        d ? s->move[1].still : s->move[0].still
    };
    return move;
}

/* Element of a state: [direction][sequence][hidden]. */
INLINE ulong state_at(const struct rmcp_rnn_step_args *s, uint d, uint n, uint j)
{
    return ((ulong)d * s->batch + n) * s->hidden + j;
}

/* Element of a plane: [row][direction][hidden]. */
INLINE ulong place_at(const struct rmcp_rnn_step_args *s, ulong row, uint d, uint j)
{
    return (row * s->directions + d) * s->hidden + j;
}

#endif
