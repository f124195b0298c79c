/* apart: each step is a matrix product and a launch for the gates: for many sequences, and for
 * gradients of weights, which have no steps. */
#include "engine/ops/rnn/gpu/walk.h"

static rmcp_status consider(const struct rmcp_request *request, struct rmcp_way *way)
{
    return rmcp_rnn_consider(request, false, way);
}

static rmcp_status emit(const struct rmcp_request *request, const struct rmcp_way *way,
                        struct rmcp_launch_list *list)
{
    return rmcp_rnn_emit(request, false, way, list);
}

const struct rmcp_algo rmcp_algo_rnn_apart = {
    .name = "apart",
    .version = 1,
    .kind = RMCP_LAUNCH_KERNEL,
    .consider = consider,
    .emit = emit,
};
