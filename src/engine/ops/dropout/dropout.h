/* dropout.h: dropout as an operation: elements are set to 0 at random, or by a mask; the others are
 * scaled. The gradient is the same with the same mask. */
#ifndef RMCP_OPS_DROPOUT_H
#define RMCP_OPS_DROPOUT_H

#include "engine/core/form.h"
#include "engine/ops/dropout/kernels/args.h"

enum {
    RMCP_DROPOUT_X,
    RMCP_DROPOUT_Y,
    RMCP_DROPOUT_DY,
    RMCP_DROPOUT_DX,
    RMCP_DROPOUT_STATE,   /* four words of engine/kernels/philox.h                          */
    RMCP_DROPOUT_RESERVE, /* a byte for each element in the order of its dimensions: 0 drops it */
    RMCP_DROPOUT_SLOTS
};

enum { RMCP_DROPOUT_PASS, RMCP_DROPOUT_MASK, RMCP_DROPOUT_COUNT, RMCP_DROPOUT_TYPE }; /* traits */

extern const struct rmcp_form_rules rmcp_dropout_rules;
extern const struct rmcp_operation rmcp_operation_dropout;
extern const struct rmcp_algo *const rmcp_algos_dropout[];

/* Where the mask of this pass comes from; a gradient reads what forward has saved. */
unsigned rmcp_dropout_mask(const struct rmcp_form *form);

/* Whether the state is counted on. */
bool rmcp_dropout_counts(const struct rmcp_form *form);

struct rmcp_dropout_math rmcp_dropout_math_of(const struct rmcp_form *form);

#endif
