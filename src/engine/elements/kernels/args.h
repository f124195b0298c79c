/* args.h: what the kernels of this family take by value besides their tensors, the same text for C
 * and OpenCL C. */
#ifndef RMCP_ELEMENTS_KERNELS_ARGS_H
#define RMCP_ELEMENTS_KERNELS_ARGS_H

#include "engine/kernels/fold_args.h"

#define RMCP_PACKED_CHUNKS 2 /* of 16 bytes, of a work-item, where tensors are packed */

struct rmcp_pass_math {
    unsigned backward;
};

struct rmcp_prelu_math {
    unsigned nothing; /* kernels have one struct of their own */
};

struct rmcp_softmargin_math {
    unsigned backward;
    float scale; /* of gradients: of a mean, one in so many */
};

/* In the order of act.inc, as words of case strings are. */
enum {
    RMCP_ACT_PASSTHRU,
#define F(mode, ...) RMCP_ACT_##mode,
#include "engine/elements/act.inc"
#undef F
};

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

/* Where the mask of a dropout comes from: in the order of the words of case strings. */
#define RMCP_DROPOUT_DRAWN 0 /* the generator                              */
#define RMCP_DROPOUT_SAVED 1 /* the same, and it is written to the reserve */
#define RMCP_DROPOUT_GIVEN 2 /* the reserve                                */

struct rmcp_dropout_math {
    rmcp_long index; /* of the launch's first element, counted densely           */
    unsigned mask;
    unsigned threshold; /* a number below it drops the element                    */
    unsigned all;       /* 1: every element is dropped                            */
    unsigned before;    /* 1: of the numbers one count ago                        */
    float scale;
    unsigned nothing; /* what the compiler would leave open */
};

/* Kinds of Adam, in the order of the words of case strings. */
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

/* The rows of functions.inc. Their shapes: the tensors are y, a, b, c, each of the operation's type
 * or of bytes. */
#define RMCP_READS_B 1
#define RMCP_READS_C 2
#define RMCP_BYTES_Y 4     /* y holds 0 and 1                          */
#define RMCP_BYTES_C 8     /* c holds conditions: 0, or anything else  */
#define RMCP_ALPHA 16      /* there is the number alpha, 1 unless given */
#define RMCP_ALPHA_BETA 32 /* and beta, 0 unless given             */

#define RMCP_UNARY 0
#define RMCP_BINARY RMCP_READS_B
#define RMCP_TERNARY (RMCP_READS_B | RMCP_READS_C)
#define RMCP_COMPARE (RMCP_BINARY | RMCP_BYTES_Y)
#define RMCP_CHOICE (RMCP_TERNARY | RMCP_BYTES_C)

struct rmcp_function_math {
    float alpha, beta;
};

#endif
