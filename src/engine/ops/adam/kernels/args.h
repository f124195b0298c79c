/* args.h: what the kernels of Adam take by value, the same text for C and for OpenCL C. */
#ifndef RMCP_ADAM_KERNELS_ARGS_H
#define RMCP_ADAM_KERNELS_ARGS_H

#include "engine/kernels/stream_args.h"

/* In the order of the words of case strings. */
#define RMCP_ADAM_ADAM 0
#define RMCP_ADAM_ADAMW 1
#define RMCP_ADAM_TRANSFORMERS 2 /* AdamW as the package of this name has it            */
#define RMCP_ADAM_UNCORRECTED 3  /* the same without correction of the moments' bias    */

struct rmcp_adam_math {
    unsigned kind, amsgrad, maximize;
    unsigned counted, scaled, guarded, copied; /* which of step, scale, inf and copy are there */
    unsigned grad_type, state_type; /* rmcp_type                                             */
    float lr, beta1, beta2, rest1, rest2; /* rest: 1 - beta */
    float eps, decay;
    float log1, log2; /* of the betas, from which the corrections are made when steps are counted */
    float step_size;  /* lr with its corrections, unless steps are counted; as given when it is  */
    unsigned given;   /* 1: step_size holds whatever the step   */
    float root; /* 1 / sqrt(correction of the second moment), unless steps are counted         */
};

#endif
