/* last.h: whether a request is the one that was asked about last: a plan asks for refusal,
 * workspace, cost and launches in turn, and each time the way that a problem is computed is the
 * same. */
#ifndef RMCP_CONV_GPU_LAST_H
#define RMCP_CONV_GPU_LAST_H

#include "engine/ops/conv/conv.h"

#include <string.h>

/* One for each thread and question, zero in the beginning. */
struct rmcp_last {
    bool asked;
    struct rmcp_convolution problem;
    struct rmcp_caps caps;
};

/* False for another request, which is then the last one. */
static inline bool rmcp_last_is(struct rmcp_last *last, const struct rmcp_request *request)
{
    if (last->asked && !memcmp(&last->problem, request->problem, sizeof last->problem) &&
        !memcmp(&last->caps, request->caps, sizeof last->caps))
        return true;
    memcpy(&last->problem, request->problem, sizeof last->problem);
    memcpy(&last->caps, request->caps, sizeof last->caps);
    last->asked = true;
    return false;
}

#endif
