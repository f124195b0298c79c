/* softmargin.h: the soft margin loss as an operation: log(1 + e^(-x t)) of each element, their sum
 * or their mean; and the gradient of x. */
#ifndef RMCP_OPS_SOFTMARGIN_H
#define RMCP_OPS_SOFTMARGIN_H

#include "engine/core/form.h"
#include "engine/ops/softmargin/kernels/args.h"

enum {
    RMCP_SOFTMARGIN_X,
    RMCP_SOFTMARGIN_T, /* targets: -1 or 1 */
    RMCP_SOFTMARGIN_Y,
    RMCP_SOFTMARGIN_DY,
    RMCP_SOFTMARGIN_DX,
    RMCP_SOFTMARGIN_SLOTS
};

enum { RMCP_SOFTMARGIN_NONE, RMCP_SOFTMARGIN_SUM, RMCP_SOFTMARGIN_MEAN }; /* reductions */

extern const struct rmcp_form_rules rmcp_softmargin_rules;
extern const struct rmcp_operation rmcp_operation_softmargin;
extern const struct rmcp_algo *const rmcp_algos_softmargin[];

bool rmcp_softmargin_backward(const struct rmcp_form *form);
unsigned rmcp_softmargin_reduction(const struct rmcp_form *form);

/* One in so many for a mean, else 1. */
double rmcp_softmargin_scale(const struct rmcp_form *form);

#endif
