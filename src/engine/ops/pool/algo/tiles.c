/* tiles: pooling forward with the windows that networks have, a tile of outputs a work-item. */
#include "engine/ops/pool/gpu.h"

static const char *refuse(const struct rmcp_request *request)
{
    struct rmcp_pool_known known;
    const struct rmcp_pool pool = rmcp_pool_of(request->problem);
    if (pool.backward) return "forward only";
    if (pool.largest && (pool.alpha != 1 || pool.beta != 0)) return "maxima with alpha or beta";
    return rmcp_pool_known(request, &known);
}

static rmcp_status emit(const struct rmcp_request *request, const struct rmcp_way *way,
                        struct rmcp_launch_list *list)
{
    (void)way;
    return rmcp_pool_known_emit(request, "pool_tiles", list);
}

const struct rmcp_algo rmcp_algo_pool_tiles = {
    .name = "tiles",
    .version = 5,
    .kind = RMCP_LAUNCH_KERNEL,
    .refuse = refuse,
    .cost = rmcp_pool_known_cost,
    .emit = emit,
};
