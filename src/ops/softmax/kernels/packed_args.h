/* packed_args.h: what packed.cl and channels.cl take by value, the same text for C and OpenCL C. */
#ifndef RMCP_SOFTMAX_KERNELS_PACKED_ARGS_H
#define RMCP_SOFTMAX_KERNELS_PACKED_ARGS_H

#include "kernels/args.h"

#define RMCP_SOFTMAX_CHUNKS 4 /* of 16 bytes, of a work-item, in registers, of each tensor */

struct rmcp_softmax_packed {
    unsigned lines, length;
    unsigned lanes; /* work-items of a line: a power of two, at most a workgroup */
    unsigned wide;  /* 1: lines are whole chunks of 16 bytes                     */
    unsigned log;
    float alpha, beta;
};

/* Lines across the memory: element i of a line is `inner` elements behind element i - 1. A column
 * is the same element of one line, or of two lines side by side in 16-bit types. */
#define RMCP_SOFTMAX_COLUMN_BYTES 4
#define RMCP_SOFTMAX_KEEP_FORWARD 32 /* columns of a work-item in registers, of each tensor */
#define RMCP_SOFTMAX_KEEP_BACKWARD 16

struct rmcp_softmax_channels {
    struct rmcp_divider columns; /* of one image */
    unsigned first, count;       /* columns of the launch */
    unsigned length, lanes;      /* lanes: work-items of a column, a power of two */
    unsigned step;               /* bytes from one element of a line to the next */
    unsigned log;
    float alpha, beta;
};

#endif
