/* rope.h: rotary position embeddings as an operation. x is rows of one length; neighbours 2 i and 2
 * i + 1 of each row are a pair that is turned by the angle whose cosine and sine are given, the
 * same ones for every row. */
#ifndef RMCP_OPS_ROPE_H
#define RMCP_OPS_ROPE_H

#include "engine/core/form.h"
#include "engine/ops/rope/kernels/args.h"

enum {
    RMCP_ROPE_X,
    RMCP_ROPE_Y,
    RMCP_ROPE_DY,
    RMCP_ROPE_DX,
    RMCP_ROPE_COS,
    RMCP_ROPE_SIN,
    RMCP_ROPE_SLOTS
};

extern const struct rmcp_form_rules rmcp_rope_rules;
extern const struct rmcp_operation rmcp_operation_rope;
extern const struct rmcp_algo *const rmcp_algos_rope[];

bool rmcp_rope_backward(const struct rmcp_form *form);

#endif
