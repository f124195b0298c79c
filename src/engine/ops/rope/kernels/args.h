/* args.h: what the kernel of rotary embeddings takes by value, the same text for C and for OpenCL
 * C. */
#ifndef RMCP_ROPE_KERNELS_ARGS_H
#define RMCP_ROPE_KERNELS_ARGS_H

#include "engine/kernels/stream_args.h"

struct rmcp_rope_math {
    unsigned backward;
};

#endif
