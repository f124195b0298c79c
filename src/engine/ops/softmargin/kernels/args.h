/* args.h: what the kernels of the soft margin loss take by value, the same text for C and for
 * OpenCL C. */
#ifndef RMCP_SOFTMARGIN_KERNELS_ARGS_H
#define RMCP_SOFTMARGIN_KERNELS_ARGS_H

#include "engine/kernels/fold_args.h"

struct rmcp_softmargin_math {
    unsigned backward;
    float scale; /* of gradients: of a mean, one in so many */
};

#endif
