/* act.h: activations of single elements, as an operation: y = f(x) and its gradient. */
#ifndef RMCP_OPS_ACT_H
#define RMCP_OPS_ACT_H

#include "engine/core/form.h"
#include "engine/ops/act/kernels/args.h"

enum { RMCP_ACT_X, RMCP_ACT_Y, RMCP_ACT_DY, RMCP_ACT_DX, RMCP_ACT_SLOTS };

enum { RMCP_ACT_PASS, RMCP_ACT_MODE, RMCP_ACT_TYPE }; /* traits */

enum {
    RMCP_ACT_ALPHA,
    RMCP_ACT_BETA,
    RMCP_ACT_GAMMA,
    RMCP_ACT_SCALE,
    RMCP_ACT_UPDATE
}; /* numbers */

extern const struct rmcp_form_rules rmcp_act_rules;
extern const struct rmcp_operation rmcp_operation_act;
extern const struct rmcp_algo *const rmcp_algos_act[];

/* What is computed, in f32, as the kernel takes it. */
struct rmcp_act_math rmcp_act_math_of(const struct rmcp_form *form);

/* The slot that is written. */
unsigned rmcp_act_result(const struct rmcp_form *form);

/* evaluate.c */
rmcp_status rmcp_act_evaluate(const struct rmcp_form *form, const struct rmcp_form_values *values);

#endif
