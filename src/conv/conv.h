/* conv.h: a checked problem in one canonical form, for algorithms, reference and planner. */
#ifndef RMCP_CONV_CONV_H
#define RMCP_CONV_CONV_H

#include "base/error.h"

#include <stdbool.h>

/* Distances in elements between neighbours of a tensor. `outer` is n (k for weights), `inner` the
 * channel. */
struct rmcp_strides {
    int64_t outer, inner, space[RMCP_MAX_DIMS];
};

/* Always three spatial dimensions d, h, w: missing leading ones have size 1 and no padding. All
 * products fit in 63 bits; every coordinate of a padded input does too. */
struct rmcp_conv {
    rmcp_problem problem; /* as given, defaults filled in */
    rmcp_pass pass;
    rmcp_type type;
    rmcp_layout layout;
    int64_t n, c, k, groups;
    int64_t group_c, group_k; /* channels of one group */
    int64_t input[RMCP_MAX_DIMS], filter[RMCP_MAX_DIMS], output[RMCP_MAX_DIMS];
    int64_t pad_begin[RMCP_MAX_DIMS], pad_end[RMCP_MAX_DIMS];
    int64_t stride[RMCP_MAX_DIMS], dilation[RMCP_MAX_DIMS];
    int64_t x_elements, w_elements, y_elements;
    struct rmcp_strides x, w, y;
    double flops;
};

/* Check a caller's problem and bring it into canonical form. Each thing that can be wrong has its
 * own message with the value. */
rmcp_status rmcp_conv_init(struct rmcp_conv *conv, const rmcp_problem *problem, int pass);

size_t rmcp_type_bytes(rmcp_type type);

/* The tensor that a pass writes. */
enum rmcp_slot {
    RMCP_SLOT_X,
    RMCP_SLOT_W,
    RMCP_SLOT_Y,
    RMCP_SLOT_BIAS,
    RMCP_SLOT_WORKSPACE,
    RMCP_N_SLOTS
};
enum rmcp_slot rmcp_conv_output_slot(const struct rmcp_conv *conv);

/* Elements of x, w, y or bias (0 without bias). */
int64_t rmcp_conv_elements(const struct rmcp_conv *conv, enum rmcp_slot slot);

/* Longest sum behind one output element of the pass. */
double rmcp_conv_reduction(const struct rmcp_conv *conv);

/* Whether this execution adds a bias: only forward does. */
bool rmcp_conv_has_bias(const struct rmcp_conv *conv);

/* The activation that forward applies to a sum; other passes apply none. */
rmcp_activation rmcp_conv_activation(const struct rmcp_conv *conv);

/* That activation applied to a value; NaN stays NaN. */
double rmcp_conv_activate(const struct rmcp_conv *conv, double value);

#endif
