/* winograd: 3x3 filters with stride 1 through F(2x2, 3x3): 2.25 times fewer multiplications, at the
 * price of NaN and Inf, which spread within a tile of 2 x 2 outputs. */
#include "engine/ops/conv/gpu/winograd.h"

static const char *refuse(const struct rmcp_request *request)
{
    return rmcp_winograd_refuse(request, false);
}

static double cost(const struct rmcp_request *request)
{
    return rmcp_winograd_choose(request, false).seconds;
}

static rmcp_status workspace(const struct rmcp_request *request, uint64_t *bytes)
{
    const struct rmcp_winograd_way way = rmcp_winograd_choose(request, false);
    *bytes = rmcp_winograd_workspace(request->problem, &way);
    return RMCP_OK;
}

static rmcp_status emit(const struct rmcp_request *request, const struct rmcp_way *asked,
                        struct rmcp_launch_list *list)
{
    (void)asked;
    const struct rmcp_winograd_way way = rmcp_winograd_choose(request, false);
    return rmcp_winograd_emit(request, &way, list);
}

const struct rmcp_algo rmcp_algo_conv_winograd = {
    .name = "winograd",
    .version = 2,
    .kind = RMCP_LAUNCH_KERNEL,
    .error_factor = 4,
    .refuse = refuse,
    .cost = cost,
    .workspace = workspace,
    .emit = emit,
};
