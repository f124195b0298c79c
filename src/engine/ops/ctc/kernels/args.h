/* args.h: what the kernels of connectionist temporal classification take by value, the same text
 * for C and for OpenCL C. */
#ifndef RMCP_OPS_CTC_KERNELS_ARGS_H
#define RMCP_OPS_CTC_KERNELS_ARGS_H

#include "engine/kernels/args.h"

/* States of a label that a workgroup holds: twice that in local memory. */
#define RMCP_CTC_MOST_STATES 2048

struct rmcp_ctc_args {
    rmcp_long x_stride[3], dx_stride[3]; /* of steps, batch, classes                   */
    rmcp_long targets_stride[2], lengths_stride[2];
    rmcp_long loss_stride;
    unsigned steps, batch, classes, labels;
    unsigned blank;
    unsigned softmax;      /* 1: x are logits                                             */
    unsigned lane_bits;    /* rows: 1 << lane_bits work-items for each                    */
    unsigned reverse;      /* walk: from the end of the sequences                         */
    unsigned first, count; /* of this launch: rows, or steps                              */
};

#endif
