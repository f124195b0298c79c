/* norm.h: normalisations of the parts of one sample: layer, T5 (root mean square) and group
 * normalisation.
 *
 * A tensor is rows that are normalised each for itself: y = (x - mean) * rstd * weight + bias.
 *
 * layer  size is rows x inner; weight and bias have an element for each of inner
 * t5     the same without mean and bias: rstd is 1 / sqrt(mean(x^2) + eps)
 * group  size is n x channels x space; a row is the channels of a group in one sample; weight and
 * bias have an element for each channel. As many groups as channels: instance normalisation
 *
 * The variance is the biased one. mean and rstd have the type of x. */
#ifndef RMCP_OPS_NORM_H
#define RMCP_OPS_NORM_H

#include "engine/core/form.h"

enum {
    RMCP_LN_X,
    RMCP_LN_X2, /* is added to x first */
    RMCP_LN_WEIGHT,
    RMCP_LN_BIAS,
    RMCP_LN_Y,
    RMCP_LN_MEAN, /* a value for each row: written forward, read backward */
    RMCP_LN_RSTD,
    RMCP_LN_DY,
    RMCP_LN_DX,
    RMCP_LN_DWEIGHT,
    RMCP_LN_DBIAS,
    RMCP_LN_SLOTS
};

/* Traits and their words. */
enum {
    RMCP_LN_PASS,
    RMCP_LN_KIND,
    RMCP_LN_WEIGHTS,
    RMCP_LN_INPUT,
    RMCP_LN_STATS,
    RMCP_LN_GRADIENTS,
    RMCP_LN_TYPE
};
enum { RMCP_LN_FORWARD, RMCP_LN_BACKWARD };
enum { RMCP_LN_LAYER, RMCP_LN_T5, RMCP_LN_GROUP };
enum { RMCP_LN_AFFINE, RMCP_LN_BARE };
enum { RMCP_LN_ALL, RMCP_LN_DATA };
enum { RMCP_LN_EPSILON, RMCP_LN_GROUPS }; /* numbers */

/* A problem as rows. Element i of row r is element r * inner + i of the tensor; its weight is
 * number i, or, with groups, r % groups * (channels / groups) + i / space. */
struct rmcp_ln_rows {
    int64_t rows, inner;
    int64_t groups, channels, space; /* 1, 1, 1 without groups */
    int64_t weights;                 /* how many                */
};
struct rmcp_ln_rows rmcp_ln_rows(const struct rmcp_form *form);

static inline int64_t rmcp_ln_weight(const struct rmcp_form *form, const struct rmcp_ln_rows *r,
                                     int64_t row, int64_t i)
{
    return form->word[RMCP_LN_KIND] == RMCP_LN_GROUP
               ? row % r->groups * (r->channels / r->groups) + i / r->space
               : i;
}

/* How `whole` shares the rows: workgroups of each launch, and launches. */
struct rmcp_ln_shares {
    int64_t threads;      /* of a workgroup                */
    int64_t lanes, lines; /* rows of a workgroup at a time */
    int64_t rows;         /* of a launch                   */
    int64_t groups;       /* of a whole launch             */
    int64_t launches;
};

/* algo/whole.c: rows in registers, whose ways have a struct rmcp_ln_shares; `rows` has its dx. */
extern const struct rmcp_algo rmcp_algo_norm_whole;

rmcp_status rmcp_ln_evaluate(const struct rmcp_form *form, const struct rmcp_form_values *values);

#endif
