/* winograd_fused: F(2x2, 3x3) as in winograd, whose filters are transformed by the workgroups that
 * use them: for many channels of few pixels, where the transformed filters would be most of what
 * moves. */
#include "engine/ops/conv/gpu/winograd.h"

static const char *refuse(const struct rmcp_request *request)
{
    return rmcp_winograd_refuse(request, true);
}

static double cost(const struct rmcp_request *request)
{
    return rmcp_winograd_choose(request, true).seconds;
}

static rmcp_status workspace(const struct rmcp_request *request, uint64_t *bytes)
{
    const struct rmcp_winograd_way way = rmcp_winograd_choose(request, true);
    *bytes = rmcp_winograd_workspace(request->problem, &way);
    return RMCP_OK;
}

static rmcp_status emit(const struct rmcp_request *request, const struct rmcp_way *asked,
                        struct rmcp_launch_list *list)
{
    (void)asked;
    const struct rmcp_winograd_way way = rmcp_winograd_choose(request, true);
    return rmcp_winograd_emit(request, &way, list);
}

const struct rmcp_algo rmcp_algo_conv_winograd_fused = {
    .name = "winograd_fused",
    .version = 1,
    .kind = RMCP_LAUNCH_KERNEL,
    .error_factor = 4,
    .refuse = refuse,
    .cost = cost,
    .workspace = workspace,
    .emit = emit,
};
