/* args.h: what the kernels of PReLU's gradients take by value, the same text for C and for OpenCL
 * C. */
#ifndef RMCP_PRELU_KERNELS_ARGS_H
#define RMCP_PRELU_KERNELS_ARGS_H

#include "engine/kernels/fold_args.h"

struct rmcp_prelu_math {
    unsigned nothing; /* kernels have one struct of their own */
};

#endif
