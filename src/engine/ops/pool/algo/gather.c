/* gather: pooling backward, every element of dx from the windows that it is in. */
#include "engine/ops/pool/gpu.h"

static struct rmcp_pool_way way_of(const struct rmcp_request *request)
{
    return (struct rmcp_pool_way){
        .rows = 1,
        .columns = RMCP_POOL_LANES,
        .channels = 1,
        .seconds = rmcp_pool_seconds(request, 8),
    };
}

static const char *refuse(const struct rmcp_request *request)
{
    if (!rmcp_pool_of(request->problem).backward) return "backward only";
    const struct rmcp_pool_way way = way_of(request);
    return rmcp_pool_refuse(request, &way);
}

static double cost(const struct rmcp_request *request)
{
    const struct rmcp_pool_way way = way_of(request);
    return way.seconds + (double)rmcp_pool_launches(request, &way) * request->caps->launch_seconds;
}

static rmcp_status emit(const struct rmcp_request *request, const struct rmcp_way *asked,
                        struct rmcp_launch_list *list)
{
    (void)asked;
    const struct rmcp_pool_way way = way_of(request);
    return rmcp_pool_emit(request, &way, "pool_gather", "", NULL, list);
}

const struct rmcp_algo rmcp_algo_pool_gather = {
    .name = "gather",
    .version = 1,
    .kind = RMCP_LAUNCH_KERNEL,
    .refuse = refuse,
    .cost = cost,
    .emit = emit,
};
