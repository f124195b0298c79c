/* gather: pooling backward, every element of dx from the windows that it is in. */
#include "engine/ops/pool/gpu.h"

static rmcp_status consider(const struct rmcp_request *request, struct rmcp_way *way)
{
    if (!rmcp_pool_of(request->problem).backward) return rmcp_refuse(way, "backward only");
    return rmcp_pool_consider(request, way,
                              (struct rmcp_pool_way){
                                  .rows = 1,
                                  .columns = RMCP_POOL_LANES,
                                  .channels = 1,
                                  .seconds = rmcp_pool_seconds(request, 8),
                              });
}

static rmcp_status emit(const struct rmcp_request *request, const struct rmcp_way *way,
                        struct rmcp_launch_list *list)
{
    return rmcp_pool_emit(request, way, "pool_gather", NULL, list);
}

const struct rmcp_algo rmcp_algo_pool_gather = {
    .name = "gather",
    .version = 1,
    .kind = RMCP_LAUNCH_KERNEL,
    .consider = consider,
    .emit = emit,
};
