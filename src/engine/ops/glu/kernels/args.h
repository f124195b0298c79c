/* args.h: what the kernel of gated linear units takes by value, the same text for C and for OpenCL
 * C. */
#ifndef RMCP_GLU_KERNELS_ARGS_H
#define RMCP_GLU_KERNELS_ARGS_H

#include "engine/kernels/stream_args.h"

struct rmcp_glu_math {
    unsigned backward;
};

#endif
