/* args.h: by-value arguments of recurrent networks' kernels, the same text for C and OpenCL C. All
 * of them work on f32; offsets are in elements. */
#ifndef RMCP_RNN_ARGS_H
#define RMCP_RNN_ARGS_H

#include "engine/kernels/args.h"

/* One direction at one step. Rows are those of a layer's planes. */
struct rmcp_rnn_move {
    rmcp_long first;  /* row of sequence 0 at this step                                      */
    rmcp_long before; /* at the step that this one follows                                   */
    rmcp_long after;  /* at the step that follows this one                                   */
    unsigned batch;   /* sequences                                                           */
    unsigned starts;  /* sequences from this on start here, from hx                          */
    unsigned ends;    /* sequences from this on end here, with hy                            */
    unsigned still;   /* 1: there is nothing to multiply with Wh: all begin with 0, or end   */
};

/* What a kernel of one step needs to know. */
struct rmcp_rnn_step_args {
    unsigned mode, gates, hidden, directions; /* mode: an rmcp_rnn_mode                       */
    unsigned batch;                   /* sequences at step 0: lines of hx for each direction */
    unsigned bias, hx, cx, hy, cy, y; /* 1: there is one; backward: hy and cy are their
                                         gradients                                    */
    unsigned tanh;                    /* 1: forward keeps tanh(c)                     */
    unsigned first;                   /* backward, of initial states: sequence 0 of this launch */
    unsigned initial;                 /* backward: dhx and dcx are made, 1 and 2, nothing else */
    rmcp_long cell, tanh_plane, out;  /* behind the layer's gates                     */
    rmcp_long apart; /* GRU: gradient of Wh h + bh of n, behind those of the gates */
    struct rmcp_rnn_move move[2];
};

/* A run of steps with the same batch, for the states before each row. */
struct rmcp_rnn_shift {
    unsigned hidden, directions, states, hx; /* states: lines of hx for each direction        */
    rmcp_long first, rows;                   /* of the run                                    */
    unsigned batch, before, after; /* of it, and of the steps before and after it; 0: none */
};

struct rmcp_rnn_mask {
    rmcp_long first; /* number of element 0 in the stream of numbers                          */
    unsigned count, threshold;
    float scale;
};

struct rmcp_rnn_sums {
    unsigned rows, columns; /* of gradients of gates                                          */
    unsigned hidden, gates; /* GRU: the last gate's bh has sums of its own                    */
    unsigned apart;         /* 1: GRU                                                         */
    rmcp_long plane;        /* of that, behind those of the gates                             */
};

struct rmcp_rnn_skip {
    unsigned count, hidden, stack; /* count: rows * hidden; stack: directions * gates         */
};

struct rmcp_rnn_turn {
    unsigned rows, columns; /* of each matrix */
};

#endif
