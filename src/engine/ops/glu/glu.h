/* glu.h: gated linear units as an operation: x is cut in two halves along a dimension, and y is the
 * first times the sigmoid of the second. */
#ifndef RMCP_OPS_GLU_H
#define RMCP_OPS_GLU_H

#include "engine/core/form.h"
#include "engine/ops/glu/kernels/args.h"

enum { RMCP_GLU_X, RMCP_GLU_Y, RMCP_GLU_DY, RMCP_GLU_DX, RMCP_GLU_SLOTS };

extern const struct rmcp_form_rules rmcp_glu_rules;
extern const struct rmcp_operation rmcp_operation_glu;
extern const struct rmcp_algo *const rmcp_algos_glu[];

bool rmcp_glu_backward(const struct rmcp_form *form);

/* The dimension that is cut. */
uint32_t rmcp_glu_dim(const struct rmcp_form *form);

#endif
