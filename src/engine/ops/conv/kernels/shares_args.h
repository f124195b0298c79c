/* shares_args.h: what shares.cl takes by value, the same text for C and for OpenCL C. */
#ifndef RMCP_CONV_KERNELS_SHARES_ARGS_H
#define RMCP_CONV_KERNELS_SHARES_ARGS_H

#include "engine/kernels/args.h"

#define RMCP_SHARES_COLUMNS 49 /* of a tile: seven work-items with seven each */

/* out[row, column] = sum over r of a[row, r] * b[r, column], where a column counts (image, d, h,
 * w), or in weight gradients channels, whose distances are those of the third digit. */
struct rmcp_shares {
    unsigned a_row, a_inner, b_inner, out_row; /* elements apart in memory */
    unsigned rows, columns, inner;
    unsigned first_tile; /* of this launch */
    struct rmcp_divider row_tiles;
    unsigned
        strided; /* 0: columns of an image follow each other: the third digit alone counts them */
    struct rmcp_divider size[3];       /* digits w, h, d of a column                */
    unsigned b_digit[4], out_digit[4]; /* elements apart in memory: w, h, d, images */
    struct rmcp_epilogue epilogue;
};

#endif
