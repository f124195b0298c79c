/* args.h: what the kernel of reductions takes by value, the same text for C and OpenCL C. */
#ifndef RMCP_REDUCE_KERNELS_ARGS_H
#define RMCP_REDUCE_KERNELS_ARGS_H

#include "engine/kernels/line_args.h"

/* How two values become one. The least is the largest of negated values. */
#define RMCP_REDUCE_SUM 0
#define RMCP_REDUCE_PRODUCT 1
#define RMCP_REDUCE_LARGEST 2

/* What becomes of a value before. */
#define RMCP_REDUCE_AS_IT_IS 0
#define RMCP_REDUCE_NEGATED 1
#define RMCP_REDUCE_ABSOLUTE 2
#define RMCP_REDUCE_SQUARED 3
#define RMCP_REDUCE_NOT_ZERO 4 /* zeros do not count */

/* As in softmax: everything, or first what each part contributes, then the results. */
#define RMCP_REDUCE_ALL 0
#define RMCP_REDUCE_PARTS 1
#define RMCP_REDUCE_APPLY 2

struct rmcp_reduce_args {
    struct rmcp_lines
        lines; /* a: the input; b: number of the element in its line; c: results; d: indices */
    unsigned merge, before;
    unsigned ignore;          /* 1: NaN does not count                    */
    unsigned values, indices; /* which results are wanted        */
    unsigned root;            /* 1: the square root at the end    */
    unsigned stage, parts;
    float scale, alpha, beta; /* result = alpha * scale * reduced + beta * before */
};

#endif
