/* matmul_args.h: the structs that the kernels of matrix products take by value, the same text for C
 * and for OpenCL C. */
#ifndef RMCP_KERNEL_MATMUL_ARGS_H
#define RMCP_KERNEL_MATMUL_ARGS_H

#include "engine/kernels/args.h"

/* What becomes of a sum. */
struct rmcp_matmul_math {
    float alpha, beta;
    struct rmcp_epilogue epilogue; /* its bias: 1 for each row, 2 for each column of c */
};

/* matmul.cl: a tile for each workgroup in x, a product of the batch in y, a share of the reduction
 * in z. Lengths below 2^31, pitches as host code allows them; strides in elements. */
struct rmcp_matmul_tile {
    struct rmcp_divider row_tiles;
    unsigned m, n, k;
    unsigned share;      /* length of the reduction that one z takes, a multiple of the slices */
    unsigned first_tile; /* of this launch                                                     */
    unsigned a_pitch, b_pitch, c_pitch;
    unsigned partial; /* 1: c is f32 workspace, [z][y][m][n] without gaps                   */
    rmcp_long a_stride, b_stride, c_stride;
    rmcp_long part; /* elements of one z in it                                            */
    struct rmcp_matmul_math math;
};

/* matmul_thin.cl: one factor has few lines, the other is wide. Four neighbours of the wide one for
 * each work-item, `groups` workgroups side by side; then the next few lines. */
struct rmcp_matmul_thin {
    struct rmcp_divider groups;
    unsigned few, wide, k, share;
    unsigned first_group;       /* of this launch                                          */
    unsigned few_line, few_sum; /* elements between lines and along the sum; one of them is 1 */
    unsigned wide_pitch;
    unsigned turned;           /* 1: c has the few as columns                             */
    unsigned c_pitch, partial; /* partial: [z][y][m][n], as above                         */
    rmcp_long few_stride, wide_stride, c_stride, part;
    struct rmcp_matmul_math math;
};

/* matmul_finish.cl: adds up the parts; with none of them beta * c and the bias alone. */
struct rmcp_matmul_finish {
    struct rmcp_divider n;
    unsigned count, parts; /* elements of c without gaps; parts */
    unsigned c_pitch;
    rmcp_long c_stride, part;
    struct rmcp_matmul_math math;
};

#endif
