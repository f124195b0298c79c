/* apart: each step is a matrix product and a launch for the gates: for many sequences, and for
 * gradients of weights, which have no steps. */
#include "engine/ops/rnn/gpu/walk.h"

static const char *refuse(const struct rmcp_request *request)
{
    return rmcp_rnn_refuse(request, false);
}

static double cost(const struct rmcp_request *request)
{
    return rmcp_rnn_cost(request, false);
}

static rmcp_status workspace(const struct rmcp_request *request, uint64_t *bytes)
{
    return rmcp_rnn_workspace(request, false, bytes);
}

static rmcp_status emit(const struct rmcp_request *request, const struct rmcp_way *way,
                        struct rmcp_launch_list *list)
{
    (void)way;
    return rmcp_rnn_emit(request, false, list);
}

const struct rmcp_algo rmcp_algo_rnn_apart = {
    .name = "apart",
    .version = 1,
    .kind = RMCP_LAUNCH_KERNEL,
    .refuse = refuse,
    .cost = cost,
    .workspace = workspace,
    .emit = emit,
};
