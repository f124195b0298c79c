/* softmax.h: softmax as an operation: its words and its tensors. */
#ifndef RMCP_OPS_SOFTMAX_H
#define RMCP_OPS_SOFTMAX_H

#include "engine/core/form.h"

extern const struct rmcp_operation rmcp_operation_softmax;

enum { RMCP_SOFTMAX_X, RMCP_SOFTMAX_Y, RMCP_SOFTMAX_DY, RMCP_SOFTMAX_DX };
enum { RMCP_SOFTMAX_FORWARD, RMCP_SOFTMAX_BACKWARD };
enum { RMCP_SOFTMAX_PASS, RMCP_SOFTMAX_TYPE, RMCP_SOFTMAX_ALGORITHM, RMCP_SOFTMAX_MODE };
enum { RMCP_SOFTMAX_ACCURATE, RMCP_SOFTMAX_FAST, RMCP_SOFTMAX_LOG };
enum { RMCP_SOFTMAX_CHANNEL, RMCP_SOFTMAX_INSTANCE };
enum { RMCP_SOFTMAX_ALPHA, RMCP_SOFTMAX_BETA };

static inline bool rmcp_softmax_log(const struct rmcp_form *form)
{
    return form->word[RMCP_SOFTMAX_ALGORITHM] == RMCP_SOFTMAX_LOG;
}

/* Whether dimension `d` is one that is summed over. */
static inline bool rmcp_softmax_along(const struct rmcp_form *form, unsigned d)
{
    return form->word[RMCP_SOFTMAX_MODE] == RMCP_SOFTMAX_CHANNEL ? d == 1 : d >= 1;
}

/* Dense tensors that all lie alike, as [outer][length][inner]: a line is `length` elements, `inner`
 * apart. False where they are not so. */
struct rmcp_softmax_box {
    int64_t outer, length, inner;
};
bool rmcp_softmax_box_of(const struct rmcp_form *form, struct rmcp_softmax_box *box);

/* Seconds to move the tensors' bytes, some of them `times`, with so many workgroups: few leave
 * compute units idle, each of which takes RMCP_SOFTMAX_UNIT_GROUPS. */
enum { RMCP_SOFTMAX_UNIT_GROUPS = 8 };
double rmcp_softmax_seconds(const struct rmcp_request *request, double times, double groups);

/* Whether alpha times an element may be beyond the largest number where a result is not. */
static inline bool rmcp_softmax_is_steep(const struct rmcp_form *form)
{
    const double alpha = form->number[RMCP_SOFTMAX_ALPHA];
    return !(alpha >= -0x1p32 && alpha <= 0x1p32);
}

#endif
