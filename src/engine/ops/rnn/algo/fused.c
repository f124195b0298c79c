/* fused: each step is one launch, Wh h and the gates together: for few sequences. */
#include "engine/ops/rnn/gpu/walk.h"

static const char *refuse(const struct rmcp_request *request)
{
    return rmcp_rnn_refuse(request, true);
}

static double cost(const struct rmcp_request *request)
{
    return rmcp_rnn_cost(request, true);
}

static rmcp_status workspace(const struct rmcp_request *request, uint64_t *bytes)
{
    return rmcp_rnn_workspace(request, true, bytes);
}

static rmcp_status emit(const struct rmcp_request *request, const struct rmcp_way *way,
                        struct rmcp_launch_list *list)
{
    (void)way;
    return rmcp_rnn_emit(request, true, list);
}

const struct rmcp_algo rmcp_algo_rnn_fused = {
    .name = "fused",
    .version = 1,
    .kind = RMCP_LAUNCH_KERNEL,
    .refuse = refuse,
    .cost = cost,
    .workspace = workspace,
    .emit = emit,
};
