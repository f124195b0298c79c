/* tiles: pooling forward with the windows that networks have, a tile of outputs a work-item. */
#include "ops/pool/gpu.h"

static const char *refuse(const struct rmcp_request *request)
{
    struct rmcp_pool_known known;
    if (rmcp_pool_of(request->problem).backward) return "forward only";
    return rmcp_pool_known(request, &known);
}

static rmcp_status emit(const struct rmcp_request *request, struct rmcp_launch_list *list)
{
    return rmcp_pool_known_emit(request, "pool_tiles", list);
}

const struct rmcp_algo rmcp_algo_pool_tiles = {
    .name = "tiles",
    .version = 2,
    .kind = RMCP_LAUNCH_KERNEL,
    .refuse = refuse,
    .cost = rmcp_pool_known_cost,
    .emit = emit,
};
