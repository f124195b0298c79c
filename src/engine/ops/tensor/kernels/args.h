/* args.h: the structs that kernels of tensor operations take by value, the same text for C and for
 * OpenCL C. All offsets of one launch fit in 32 bits, in bytes. */
#ifndef RMCP_TENSOR_KERNELS_ARGS_H
#define RMCP_TENSOR_KERNELS_ARGS_H

#include "engine/kernels/args.h"

/* One loop: how often it turns, and the elements between two turns in a, b and c. */
struct rmcp_tensor_turn {
    struct rmcp_divider size;
    unsigned a, b, c;
};

/* What becomes of one element. Types are rmcp_type. */
struct rmcp_tensor_math {
    unsigned kind; /* an rmcp_tensor_kind, or RMCP_TENSOR_MOVE */
    unsigned a_type, b_type;
    unsigned update; /* 1: beta * c is added */
    float alpha, alpha_b, beta;
};

/* Instead of a kind: bits are copied, nothing is computed. */
#define RMCP_TENSOR_MOVE 8

/* rows.cl: chunks of neighbours along the fastest loop; a work-item takes some of them. */
#define RMCP_TENSOR_ROWS_CHUNKS 2
struct rmcp_tensor_rows {
    struct rmcp_tensor_turn outer[4]; /* fastest first; those that are not there turn once       */
    unsigned n_outer;
    struct rmcp_divider chunks; /* of a row                                                */
    unsigned count;             /* of all rows                                             */
    unsigned length;            /* elements of a row                                       */
    unsigned a, b, c;           /* elements between its neighbours                         */
    unsigned align; /* 1: chunks begin where c is aligned, the first one before the row          */
    struct rmcp_tensor_math math;
};

/* tiles.cl: a's neighbours are along x, c's along y. */
struct rmcp_tensor_tiles {
    struct rmcp_tensor_turn outer[3];
    unsigned n_outer;
    struct rmcp_divider x_tiles, y_tiles;
    struct rmcp_tensor_turn x, y;
    struct rmcp_tensor_math math;
};

/* sum.cl: sums over some loops, one for each turn of the others. */
struct rmcp_tensor_sum {
    struct rmcp_tensor_turn loop[6]; /* first those that are summed, at least one, fastest first;
                                        then the others, fastest first */
    unsigned n_summed, n_loops;
    struct rmcp_divider chunks; /* of one turn of the fastest loop that is summed                */
    unsigned count;             /* chunks behind one output                                      */
    unsigned share;             /* of these for each part, of which there are grid[1]            */
    unsigned outputs;
    unsigned lanes, outs; /* work-items that share an output, outputs of a workgroup           */
    unsigned along;       /* 1: neighbouring work-items share an output; 0: have one each      */
    unsigned align;       /* 1: chunks begin where a is aligned                                */
    unsigned last;        /* 1: sums go to c; 0: to the workspace, in f32                      */
    unsigned part;        /* of this launch the first                                          */
    struct rmcp_tensor_math math;
};

#endif
