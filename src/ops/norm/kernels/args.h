/* args.h: what the kernels of layer, T5 and group normalisation take by value, the same text for C
 * and for OpenCL C. */
#ifndef RMCP_OPS_NORM_KERNELS_ARGS_H
#define RMCP_OPS_NORM_KERNELS_ARGS_H

#include "kernels/args.h"

/* Elements that a work-item has in registers, and work-items of a workgroup. */
#define RMCP_LN_BLOCK 16
#define RMCP_LN_THREADS 256
#define RMCP_LN_FINISH 16 /* columns of a workgroup that adds up parts */

struct rmcp_ln_args {
    rmcp_long rows;        /* of the whole problem                                         */
    unsigned inner;        /* elements of a row                                            */
    unsigned lane_bits;    /* 1 << lane_bits work-items for each row                       */
    unsigned fours;        /* 1: four neighbours at once                                   */
    unsigned first, count; /* rows of this launch                                          */
    unsigned t5, add, saved;
    unsigned weights; /* 0: none, 1: one for each element of a row, 2: for each channel */
    unsigned bias;
    unsigned each;              /* channels of a group                                      */
    struct rmcp_divider groups; /* row / groups is the sample                               */
    struct rmcp_divider space;  /* elements of a channel                                    */
    float share, epsilon;       /* share: 1 / inner                                         */
};

/* Sums over rows, for the gradients of weights. */
struct rmcp_ln_sums {
    rmcp_long rows;  /* of the tensor: [rows][inner], or with channels samples         */
    rmcp_long share; /* rows of one split                                              */
    unsigned inner;  /* weights, or channels                                           */
    unsigned first, splits;
    unsigned fours, t5;
    unsigned each, groups;     /* channels of a group, groups of a sample                  */
    struct rmcp_divider space; /* elements of a channel in a sample                        */
};

/* Rows that work-items share evenly. */
#define RMCP_LN_CHUNKS 4 /* of four elements, of a work-item */

struct rmcp_ln_whole {
    unsigned first, count;  /* rows of this launch                                        */
    unsigned inner;         /* elements of a row: 4 * lanes * chunks                      */
    unsigned lanes, chunks; /* work-items of a row, a power of two; what each of them has */
    unsigned groups, split; /* backward: workgroups, and the first one's part of the sums */
    unsigned t5, add, saved, weights, bias;
    unsigned sums; /* backward: 1: also the gradients of weights               */
    float share, epsilon;
};

#endif
