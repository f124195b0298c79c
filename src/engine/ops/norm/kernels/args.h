/* args.h: what the kernels of layer, T5 and group normalisation take by value, the same text for C
 * and for OpenCL C. */
#ifndef RMCP_OPS_NORM_KERNELS_ARGS_H
#define RMCP_OPS_NORM_KERNELS_ARGS_H

#include "engine/kernels/args.h"

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

/* Rows that work-items keep in registers: chunks of 16 bytes of each, in workgroups of 256, or of
 * 512 for long rows: as many as there are registers for, of one tensor or two. */
#define RMCP_LN_MANY 512
#define RMCP_LN_CHUNKS(bytes, many, backward, sums)                                                \
    ((sums) && (bytes) == 2       ? 2                                                              \
     : !(many)                    ? ((backward) ? (bytes) : 4)                                     \
     : (backward) && (bytes) == 2 ? 4                                                              \
                                  : 8)
#define RMCP_LN_LONG(bytes) ((bytes) == 2 ? 1024 : 4096) /* forward: what is no long row */

struct rmcp_ln_whole {
    unsigned first, count;  /* rows of this launch                                        */
    unsigned inner, lanes;  /* elements of a row; its work-items, a power of two          */
    unsigned groups, split; /* backward: workgroups, and the first one's part of the sums */
    unsigned t5, add, saved, weights, bias;
    unsigned each;             /* weights == 2: channels of a group                      */
    struct rmcp_divider parts; /* the same: row / parts is the sample                    */
    struct rmcp_divider space; /* elements of a channel                                  */
    float share, epsilon;
};

/* Groups that a workgroup has, with work-items for each channel, in workgroups of 256, or larger
 * ones for long rows. */
#define RMCP_LN_GROUP_MANY(bytes, backward) ((bytes) == 4 && (backward) ? 1024 : 512)
#define RMCP_LN_GROUP_KEPT 8 /* chunks that a work-item of the small ones has in registers */
#define RMCP_LN_GROUP_KEPT_BACKWARD 4
#define RMCP_LN_GROUP_EACH 128 /* channels of one, at most */

struct rmcp_ln_groups {
    unsigned first;        /* row of this launch                                     */
    unsigned each, chunks; /* channels of a group; chunks of 16 bytes of a channel   */
    unsigned lanes, steps; /* work-items of a channel, a power of two; their chunks  */
    unsigned saved, weights, bias;
    unsigned sums;              /* backward: gradients of weights, too                    */
    struct rmcp_divider groups; /* row / groups is the sample                             */
    float share, epsilon;
};

#endif
