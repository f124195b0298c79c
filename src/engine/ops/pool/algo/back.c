/* back: pooling backward with the windows that networks have, a tile of dx a work-item. */
#include "engine/ops/pool/gpu.h"

static const char *refuse(const struct rmcp_request *request)
{
    struct rmcp_pool_known known;
    if (!rmcp_pool_of(request->problem).backward) return "backward only";
    return rmcp_pool_known(request, &known);
}

static rmcp_status emit(const struct rmcp_request *request, const struct rmcp_way *way,
                        struct rmcp_launch_list *list)
{
    (void)way;
    return rmcp_pool_known_emit(request, "pool_back", list);
}

const struct rmcp_algo rmcp_algo_pool_back = {
    .name = "back",
    .version = 5,
    .kind = RMCP_LAUNCH_KERNEL,
    .refuse = refuse,
    .cost = rmcp_pool_known_cost,
    .emit = emit,
};
