/* pointwise_args.h: what pointwise.cl takes by value, the same text for C and for OpenCL C. */
#ifndef RMCP_CONV_KERNELS_POINTWISE_ARGS_H
#define RMCP_CONV_KERNELS_POINTWISE_ARGS_H

#include "engine/kernels/args.h"

#define RMCP_POINTWISE_THREADS 128
#define RMCP_POINTWISE_LEVELS 7 /* log2 of it */
#define RMCP_POINTWISE_ROWS 4   /* outputs of a work-item */
#define RMCP_POINTWISE_AHEAD 8  /* steps of its sums whose loads are under way */

/* out[row, column] = sum over r of a[row, r] * b[r, column], where r counts (outer, inner) and a
 * column counts (image, d, h, w) or, in weight gradients, channels alone. */
struct rmcp_pointwise {
    struct rmcp_divider columns, size[3]; /* all columns; their digits w, h, d */
    unsigned count;                       /* columns times blocks of rows      */
    unsigned rows, outer, inner;
    unsigned a_row, a_outer, a_inner, b_outer, b_inner, out_row; /* elements apart in memory */
    unsigned b_digit[4], out_digit[4]; /* the same of w, h, d, images                     */
    unsigned shift; /* 2^shift work-items, up to all of a workgroup, share a sum */
    unsigned fast;  /* 1: they are neighbours, since their elements of b are     */
    struct rmcp_epilogue epilogue;
};

#endif
