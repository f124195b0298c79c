/* attention.h: multi-head attention: o = dropout(softmax(scale * q k^T + bias)) v for each head of
 * each sample.
 *
 * q is [n][heads][queries][depth]; k and v have `keys` in place of queries. With `causal` query i
 * sees keys 0 to i. m is the largest score of each query and zinv the inverse of the sum of the
 * exponentials of the scores above it; backward computes the scores anew from them.
 *
 * With `factors` each tensor has numbers on the device, as networks in eight bits need them: inputs
 * are multiplied by theirs as they are read, weights and their gradients by two of them in between,
 * results as they are written; amax are the largest magnitudes before that last one. There is also
 * the share of weights that dropout sets to 0, of the generator that `state` names; element
 * [head][query][key] has the number of its place (engine/kernels/philox.h). */
#ifndef RMCP_OPS_ATTENTION_H
#define RMCP_OPS_ATTENTION_H

#include "engine/core/form.h"
#include "engine/ops/attention/kernels/args.h"

enum {
    RMCP_ATT_Q,
    RMCP_ATT_K,
    RMCP_ATT_V,
    RMCP_ATT_BIAS, /* f32 [n][heads][queries][keys]                             */
    RMCP_ATT_O,
    RMCP_ATT_M,    /* f32 [n][heads][queries]: written forward, read backward   */
    RMCP_ATT_ZINV, /* the same                                                  */
    RMCP_ATT_DO,
    RMCP_ATT_DQ,
    RMCP_ATT_DK,
    RMCP_ATT_DV,
    RMCP_ATT_FACTORS, /* f32 [RMCP_ATT_N_FACTORS], in the order of engine/kernels/args.h */
    RMCP_ATT_STATE, /* four words of engine/kernels/philox.h                                     */
    RMCP_ATT_AMAX,  /* f32: of weights and o; backward of their gradients, dq, dk and dv   */
    RMCP_ATT_SLOTS
};

/* Traits and their words. */
enum {
    RMCP_ATT_PASS,
    RMCP_ATT_MASK,
    RMCP_ATT_BIASED,
    RMCP_ATT_SAVED,
    RMCP_ATT_SCALED,
    RMCP_ATT_TYPE
};
enum { RMCP_ATT_FORWARD, RMCP_ATT_BACKWARD };
enum { RMCP_ATT_SCALE, RMCP_ATT_KEYS }; /* numbers */

struct rmcp_att_sizes {
    int64_t heads; /* of all samples */
    int64_t queries, keys, depth;
};
struct rmcp_att_sizes rmcp_att_sizes(const struct rmcp_form *form);

rmcp_status rmcp_att_evaluate(const struct rmcp_form *form, const struct rmcp_form_values *values);

#endif
