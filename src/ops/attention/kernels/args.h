/* args.h: what the kernels of attention take by value, the same text for C and for OpenCL C. */
#ifndef RMCP_OPS_ATTENTION_KERNELS_ARGS_H
#define RMCP_OPS_ATTENTION_KERNELS_ARGS_H

#include "kernels/args.h"

struct rmcp_att_args {
    unsigned queries, keys;
    unsigned causal, bias, saved;
    unsigned first; /* row of the problem where this launch's scores begin */
};

#endif
