/* args.h: what the kernels of the multi margin loss take by value, the same text for C and for
 * OpenCL C. */
#ifndef RMCP_MULTIMARGIN_KERNELS_ARGS_H
#define RMCP_MULTIMARGIN_KERNELS_ARGS_H

#include "engine/kernels/fold_args.h"

#define RMCP_MULTIMARGIN_WIDTH 32 /* work-items that share a row */

struct rmcp_multimargin_math {
    unsigned rows, classes;
    unsigned each;   /* rows one after the other of a workgroup's share                */
    unsigned summed; /* 1: sums of each workgroup's rows go to the workspace           */
    unsigned square; /* 1: p is 2                                                      */
    unsigned x_row, x_class, t_step, w_step, y_step; /* elements between neighbours          */
    float margin, scale; /* scale: one in so many classes                                   */
};

#endif
