/* args.h: what the kernels of softmax take by value, the same text for C and OpenCL C. */
#ifndef RMCP_SOFTMAX_KERNELS_ARGS_H
#define RMCP_SOFTMAX_KERNELS_ARGS_H

#include "engine/kernels/line_args.h"

/* What a launch does: all of it; or, where several workgroups share a line, first what each part
 * contributes, to the workspace, then the results. */
#define RMCP_SOFTMAX_ALL 0
#define RMCP_SOFTMAX_PARTS 1
#define RMCP_SOFTMAX_APPLY 2

struct rmcp_softmax_args {
    struct rmcp_lines lines; /* a: x, or y in the gradient; b: dy; c: y or dx */
    unsigned log;
    unsigned stage, parts;
    float alpha, beta;
};

#endif
