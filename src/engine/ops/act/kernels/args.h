/* args.h: what the kernel of activations takes by value, the same text for C and for OpenCL C. */
#ifndef RMCP_ACT_KERNELS_ARGS_H
#define RMCP_ACT_KERNELS_ARGS_H

#include "engine/kernels/stream_args.h"

/* In the order of the words of case strings. */
#define RMCP_ACT_PASSTHRU 0
#define RMCP_ACT_LOGISTIC 1
#define RMCP_ACT_TANH 2
#define RMCP_ACT_RELU 3
#define RMCP_ACT_SOFTRELU 4
#define RMCP_ACT_ABS 5
#define RMCP_ACT_POWER 6
#define RMCP_ACT_CLIPPED 7
#define RMCP_ACT_LEAKY 8
#define RMCP_ACT_ELU 9
#define RMCP_ACT_CLAMP 10

/* Which tensors are read. */
#define RMCP_ACT_READS_X 1
#define RMCP_ACT_READS_Y 2
#define RMCP_ACT_READS_DY 4
#define RMCP_ACT_READS_OLD 8

struct rmcp_act_math {
    unsigned mode, backward, reads;
    float alpha, beta, gamma; /* of the mode                                         */
    float least;              /* what counts as 0 in a power's base or a tanh's beta */
    float scale, update;      /* scale * result + update * what was there before      */
};

#define RMCP_ACT_CHUNKS 2 /* of 16 bytes, of a work-item, where tensors are packed */

#endif
