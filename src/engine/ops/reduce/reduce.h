/* reduce.h: reductions as an operation: its words and its tensors. */
#ifndef RMCP_OPS_REDUCE_H
#define RMCP_OPS_REDUCE_H

#include "engine/core/form.h"

extern const struct rmcp_operation rmcp_operation_reduce;

enum { RMCP_REDUCE_A, RMCP_REDUCE_C, RMCP_REDUCE_I };
enum { RMCP_REDUCE_PASS, RMCP_REDUCE_TYPE, RMCP_REDUCE_KIND, RMCP_REDUCE_NAN, RMCP_REDUCE_RESULTS };
enum {
    RMCP_REDUCE_ADD,
    RMCP_REDUCE_MUL,
    RMCP_REDUCE_MIN,
    RMCP_REDUCE_MAX,
    RMCP_REDUCE_AMAX,
    RMCP_REDUCE_AVG,
    RMCP_REDUCE_NORM1,
    RMCP_REDUCE_NORM2,
    RMCP_REDUCE_MUL_NONZERO,
    RMCP_REDUCE_ARGMIN,
    RMCP_REDUCE_ARGMAX,
};
enum { RMCP_REDUCE_ALPHA, RMCP_REDUCE_BETA };

static inline unsigned rmcp_reduce_kind(const struct rmcp_form *form)
{
    return form->word[RMCP_REDUCE_KIND];
}

static inline bool rmcp_reduce_ignores(const struct rmcp_form *form)
{
    return form->word[RMCP_REDUCE_NAN] == 1;
}

/* Whether dimension `d` is one that is reduced. */
static inline bool rmcp_reduce_along(const struct rmcp_form *form, unsigned d)
{
    for (unsigned i = 0; i < form->listed[0]; i++)
        if (form->list[0][i] == (int64_t)d) return true;
    return false;
}

#endif
