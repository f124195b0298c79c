/* back: pooling backward with the windows that networks have, a tile of dx a work-item. */
#include "engine/ops/pool/gpu.h"

static rmcp_status consider(const struct rmcp_request *request, struct rmcp_way *way)
{
    if (!rmcp_pool_of(request->problem).backward) return rmcp_refuse(way, "backward only");
    return rmcp_pool_known(request, way);
}

static rmcp_status emit(const struct rmcp_request *request, const struct rmcp_way *way,
                        struct rmcp_launch_list *list)
{
    return rmcp_pool_emit(request, way, "pool_back", NULL, list);
}

const struct rmcp_algo rmcp_algo_pool_back = {
    .name = "back",
    .version = 5,
    .kind = RMCP_LAUNCH_KERNEL,
    .consider = consider,
    .emit = emit,
};
