/* fold_args.h: what kernels that sum over streams of elements take by value, the same text for C
 * and OpenCL C. */
#ifndef RMCP_KERNEL_FOLD_ARGS_H
#define RMCP_KERNEL_FOLD_ARGS_H

#include "engine/kernels/stream_args.h"

/* Sums of one launch: grid[0] parts of each of grid[1] outputs. */
struct rmcp_fold {
    unsigned share;              /* chunks of a part                                        */
    unsigned part, parts;        /* the launch's first part, and how many an output has      */
    unsigned step[RMCP_STREAMS]; /* elements between the beginnings of two outputs' elements */
};

/* The end: sums of parts times `scale` go to an output each. */
struct rmcp_fold_end {
    unsigned parts, step; /* elements between two outputs */
    float scale;
};

#endif
