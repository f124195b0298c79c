/* evaluate.h: the reference of reductions. */
#ifndef RMCP_OPS_REDUCE_EVALUATE_H
#define RMCP_OPS_REDUCE_EVALUATE_H

#include "engine/core/form.h"

rmcp_status rmcp_reduce_evaluate(const struct rmcp_form *form,
                                 const struct rmcp_form_values *values);

#endif
