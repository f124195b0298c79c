/* tiles: pooling forward with the windows that networks have, a tile of outputs a work-item. */
#include "engine/ops/pool/gpu.h"

static rmcp_status consider(const struct rmcp_request *request, struct rmcp_way *way)
{
    const struct rmcp_pool pool = rmcp_pool_of(request->problem);
    if (pool.backward) return rmcp_refuse(way, "forward only");
    if (pool.largest && (pool.alpha != 1 || pool.beta != 0))
        return rmcp_refuse(way, "maxima with alpha or beta");
    return rmcp_pool_known(request, way);
}

static rmcp_status emit(const struct rmcp_request *request, const struct rmcp_way *way,
                        struct rmcp_launch_list *list)
{
    return rmcp_pool_emit(request, way, "pool_tiles", NULL, list);
}

const struct rmcp_algo rmcp_algo_pool_tiles = {
    .name = "tiles",
    .version = 5,
    .kind = RMCP_LAUNCH_KERNEL,
    .consider = consider,
    .emit = emit,
};
