/* winograd: 3x3 filters with stride 1 through F(2x2, 3x3): 2.25 times fewer multiplications, at the
 * price of NaN and Inf, which spread within a tile of 2 x 2 outputs. */
#include "engine/ops/conv/gpu/winograd.h"

static rmcp_status consider(const struct rmcp_request *request, struct rmcp_way *way)
{
    return rmcp_winograd_consider(request, false, way);
}

static rmcp_status emit(const struct rmcp_request *request, const struct rmcp_way *way,
                        struct rmcp_launch_list *list)
{
    return rmcp_winograd_emit(request, RMCP_CONV_WAY_CONST(way, struct rmcp_winograd_way), list);
}

const struct rmcp_algo rmcp_algo_conv_winograd = {
    .name = "winograd",
    .version = 2,
    .kind = RMCP_LAUNCH_KERNEL,
    .error_factor = 4,
    .consider = consider,
    .emit = emit,
};
