/* winograd_fused: F(2x2, 3x3) as in winograd, whose filters are transformed by the workgroups that
 * use them: for many channels of few pixels, where the transformed filters would be most of what
 * moves. */
#include "engine/ops/conv/gpu/winograd.h"

static rmcp_status consider(const struct rmcp_request *request, struct rmcp_way *way)
{
    return rmcp_winograd_consider(request, true, way);
}

static rmcp_status emit(const struct rmcp_request *request, const struct rmcp_way *way,
                        struct rmcp_launch_list *list)
{
    return rmcp_winograd_emit(request, RMCP_CONV_WAY_CONST(way, struct rmcp_winograd_way), list);
}

const struct rmcp_algo rmcp_algo_conv_winograd_fused = {
    .name = "winograd_fused",
    .version = 1,
    .kind = RMCP_LAUNCH_KERNEL,
    .error_factor = 4,
    .consider = consider,
    .emit = emit,
};
