/* args.h: what the kernel of kth values takes by value, the same text for C and OpenCL C. */
#ifndef RMCP_KTH_KERNELS_ARGS_H
#define RMCP_KTH_KERNELS_ARGS_H

#include "engine/kernels/line_args.h"

struct rmcp_kth_args {
    struct rmcp_line_turn across[5]; /* from line to line, fastest first; a: x, c: y, d: indices */
    unsigned n_across;
    unsigned count, step; /* elements of a line, and what lies between them       */
    unsigned k;           /* 1: the least                                        */
};

#endif
