/* adam.h: one step of Adam and its relatives as an operation. Parameters and moments are updated in
 * place. */
#ifndef RMCP_OPS_ADAM_H
#define RMCP_OPS_ADAM_H

#include "engine/core/form.h"
#include "engine/ops/adam/kernels/args.h"

enum {
    RMCP_ADAM_PARAM,
    RMCP_ADAM_GRAD,
    RMCP_ADAM_MEAN,   /* the first moment                                           */
    RMCP_ADAM_SQUARE, /* the second                                                 */
    RMCP_ADAM_MOST,   /* the largest second moment so far, with amsgrad             */
    RMCP_ADAM_COPY,   /* the new parameter in f16                                   */
    RMCP_ADAM_SCALE,  /* a whole number that gradients are divided by               */
    RMCP_ADAM_INF,    /* a byte: not 0, and nothing changes                         */
    RMCP_ADAM_STEP,   /* the number of steps so far, which is counted on            */
    RMCP_ADAM_SLOTS
};

/* traits */
enum {
    RMCP_ADAM_KIND,
    RMCP_ADAM_AMSGRAD,
    RMCP_ADAM_DIRECTION,
    RMCP_ADAM_COUNT,
    RMCP_ADAM_AMP, /* bits: 1 scaled, 2 guarded */
    RMCP_ADAM_COPIES,
    RMCP_ADAM_MIX,
    RMCP_ADAM_TYPE
};

/* numbers */
enum {
    RMCP_ADAM_LR,
    RMCP_ADAM_BETA1,
    RMCP_ADAM_BETA2,
    RMCP_ADAM_EPS,
    RMCP_ADAM_DECAY,
    RMCP_ADAM_NUMBER, /* of the step, the first is 1; not used when steps are counted */
    RMCP_ADAM_SIZE    /* of the step, as given; below 0: from lr                       */
};

extern const struct rmcp_form_rules rmcp_adam_rules;
extern const struct rmcp_operation rmcp_operation_adam;
extern const struct rmcp_algo *const rmcp_algos_adam[];

struct rmcp_adam_math rmcp_adam_math_of(const struct rmcp_form *form);

/* evaluate.c */
rmcp_status rmcp_adam_evaluate(const struct rmcp_form *form, const struct rmcp_form_values *values);

#endif
