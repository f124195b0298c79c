/* args.h: what the kernels of local response normalisation take by value, the same text for C and
 * for OpenCL C. All offsets of one launch fit in 32 bits, in bytes. */
#ifndef RMCP_LRN_KERNELS_ARGS_H
#define RMCP_LRN_KERNELS_ARGS_H

#include "engine/kernels/args.h"

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

/* Work-items in a line, where they have terms of their neighbours: the first and the last have no
 * results. */
#define RMCP_LRN_LANES 32

/* Tensors that all lie alike, as planes of rows. */
struct rmcp_lrn_chunks {
    rmcp_long plane;                    /* elements from one plane to the next           */
    unsigned step;                      /* from one row to the next                      */
    unsigned rows, strip;               /* of a plane, of a work-item                    */
    unsigned count;                     /* work-items of this launch                     */
    struct rmcp_divider chunks, strips; /* of four elements in a row; of rows in a plane */
    unsigned saved;
    float share, beta, k; /* as in rmcp_lrn_args */
};

#endif
