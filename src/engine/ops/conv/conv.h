/* conv.h: a checked convolution in one canonical form, for its algorithms and its reference. */
#ifndef RMCP_CONV_CONV_H
#define RMCP_CONV_CONV_H

#include "engine/core/judge.h"

/* Distances in elements between neighbours of a tensor. `outer` is n (k for weights), `inner` the
 * channel. */
struct rmcp_strides {
    int64_t outer, inner, space[RMCP_MAX_DIMS];
};

/* Always three spatial dimensions d, h, w: missing leading ones have size 1 and no padding. All
 * products fit in 63 bits; every coordinate of a padded input does too. */
struct rmcp_convolution {
    rmcp_conv problem; /* as given, defaults filled in */
    rmcp_conv_pass pass;
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
rmcp_status rmcp_conv_init(struct rmcp_convolution *conv, const rmcp_conv *problem, int pass);

extern const struct rmcp_operation rmcp_operation_conv;
extern const struct rmcp_algo *const rmcp_algos_conv[]; /* ends with NULL */

/* An algorithm's own part of a way, as RMCP_WAY_DETAILS has it; relaid keeps another algorithm's
 * in its own, so there is less room. */
enum { RMCP_CONV_WAY_BYTES = 512 };
#define RMCP_CONV_WAY(way, type)                                                                   \
    ((void)sizeof(char[sizeof(type) <= RMCP_CONV_WAY_BYTES ? 1 : -1]), RMCP_WAY_DETAILS(way, type))
#define RMCP_CONV_WAY_CONST(way, type)                                                             \
    ((void)sizeof(char[sizeof(type) <= RMCP_CONV_WAY_BYTES ? 1 : -1]),                             \
     RMCP_WAY_DETAILS_CONST(way, type))

static inline const struct rmcp_convolution *rmcp_conv_of(const struct rmcp_request *request)
{
    return request->problem;
}

/* Its slots, and the one that a pass writes. */
enum { RMCP_CONV_X, RMCP_CONV_W, RMCP_CONV_Y, RMCP_CONV_BIAS, RMCP_CONV_SLOTS };
unsigned rmcp_conv_output_slot(const struct rmcp_convolution *conv);

/* Elements of x, w, y or bias (0 without bias). */
int64_t rmcp_conv_elements(const struct rmcp_convolution *conv, unsigned slot);

/* Longest sum behind one output element of the pass. */
double rmcp_conv_reduction(const struct rmcp_convolution *conv);

/* Whether this execution adds a bias: only forward does. */
bool rmcp_conv_has_bias(const struct rmcp_convolution *conv);

/* The activation that forward applies to a sum; other passes apply none. */
rmcp_activation rmcp_conv_activation(const struct rmcp_convolution *conv);

/* That activation applied to a value; NaN stays NaN. */
double rmcp_conv_activate(const struct rmcp_convolution *conv, double value);

/* The bound of a sum: how far `value` may be off whose products add up to `magnitude`. */
double rmcp_conv_bound(const struct rmcp_convolution *conv, double value, double magnitude);

/* Judge one algorithm (NULL: the planner's choice) on one problem: engine/core/judge.h. */
rmcp_status rmcp_conv_judge(rmcp_device *device, const rmcp_conv *problem, rmcp_conv_pass pass,
                            const char *algorithm, enum rmcp_data data, uint64_t seed,
                            double effort, struct rmcp_judgement *judgement);

/* A random problem and pass; small enough that the reference takes milliseconds. */
void rmcp_conv_draw(uint64_t seed, rmcp_conv *problem, rmcp_conv_pass *pass);

#endif
