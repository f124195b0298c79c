/* packed_args.h: what packed.cl and channels.cl take by value, the same text for C and OpenCL C. */
#ifndef RMCP_SOFTMAX_KERNELS_PACKED_ARGS_H
#define RMCP_SOFTMAX_KERNELS_PACKED_ARGS_H

#include "engine/kernels/args.h"

#define RMCP_SOFTMAX_CHUNKS 4 /* of 16 bytes, of a work-item, in registers, of each tensor */

struct rmcp_softmax_packed {
    unsigned lines, length;
    unsigned lanes; /* work-items of a line: a power of two, at most a workgroup */
    unsigned wide;  /* 1: lines are whole chunks of 16 bytes                     */
    unsigned log;
    float alpha, beta;
};

/* Lines across the memory: element i of a line is `inner` elements behind element i - 1. A column
 * is the same element of as many lines side by side as are read at once: one, or in 16 bits four.
 * These take the bytes of an element. */
#define RMCP_SOFTMAX_COLUMN_BYTES(bytes) ((bytes) == 2 ? 8 : 4)
/* Columns of a work-item in registers, of each tensor. */
#define RMCP_SOFTMAX_KEEP_FORWARD(bytes) ((bytes) == 2 ? 16 : 32)
#define RMCP_SOFTMAX_KEEP_BACKWARD(bytes) ((bytes) == 2 ? 8 : 16)
#define RMCP_SOFTMAX_KEEP_MANY 32 /* forward, of long lines */

struct rmcp_softmax_channels {
    struct rmcp_divider columns; /* of one image */
    unsigned first, count;       /* columns of the launch */
    unsigned length, inner;      /* elements of a line, and from one of them to the next */
    unsigned lanes_log;          /* 2^lanes_log work-items have a column */
    unsigned side_log; /* 2^side_log columns belong to neighbours, in half a warp perhaps */
    unsigned log;
    float alpha, beta;
};

#endif
