/* args.h: what the kernels of local response normalisation take by value, the same text for C and
 * for OpenCL C. All offsets of one launch fit in 32 bits, in bytes. */
#ifndef RMCP_LRN_KERNELS_ARGS_H
#define RMCP_LRN_KERNELS_ARGS_H

#include "kernels/args.h"

/* Elements between neighbours along one dimension, in each tensor. */
struct rmcp_lrn_steps {
    unsigned x, y, scale, dy, dx;
};

/* One loop over work: how often it turns, its steps, and what a turn adds to the two coordinates of
 * the window. */
struct rmcp_lrn_turn {
    struct rmcp_divider size;
    struct rmcp_lrn_steps steps;
    unsigned row, column;
};

struct rmcp_lrn_args {
    struct rmcp_lrn_turn turn[5]; /* fastest first                                       */
    unsigned n_turns;
    unsigned count;                    /* of all turns                                        */
    struct rmcp_lrn_steps row, column; /* of the window: channels or the height; the width     */
    unsigned rows, columns;            /* of the tensor                                       */
    unsigned n, before;                /* of the window, in rows and columns                   */
    unsigned within;                   /* 1: it has columns                                   */
    unsigned saved;                    /* 1: forward writes the scale                         */
    float share;                       /* alpha / area; backward: 2 alpha beta / area         */
    float beta, k;
};

#define RMCP_LRN_STRIP 8 /* rows of a work-item */

#endif
