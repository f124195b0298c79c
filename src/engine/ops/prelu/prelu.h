/* prelu.h: the gradients of PReLU as an operation: y = x where x is positive, else w x, with one
 * weight or one for each channel. */
#ifndef RMCP_OPS_PRELU_H
#define RMCP_OPS_PRELU_H

#include "engine/core/form.h"
#include "engine/ops/prelu/kernels/args.h"

enum { RMCP_PRELU_X, RMCP_PRELU_W, RMCP_PRELU_DY, RMCP_PRELU_DX, RMCP_PRELU_DW, RMCP_PRELU_SLOTS };

extern const struct rmcp_form_rules rmcp_prelu_rules;
extern const struct rmcp_operation rmcp_operation_prelu;
extern const struct rmcp_algo *const rmcp_algos_prelu[];

/* Weights: 1, or as many as the second dimension is long. */
int64_t rmcp_prelu_weights(const struct rmcp_form *form);

#endif
