/* fused: each step is one launch, Wh h and the gates together: for few sequences. */
#include "engine/ops/rnn/gpu/walk.h"

static rmcp_status consider(const struct rmcp_request *request, struct rmcp_way *way)
{
    return rmcp_rnn_consider(request, true, way);
}

static rmcp_status emit(const struct rmcp_request *request, const struct rmcp_way *way,
                        struct rmcp_launch_list *list)
{
    return rmcp_rnn_emit(request, true, way, list);
}

const struct rmcp_algo rmcp_algo_rnn_fused = {
    .name = "fused",
    .version = 1,
    .kind = RMCP_LAUNCH_KERNEL,
    .consider = consider,
    .emit = emit,
};
