/* implicit_gemm: a pass as a tiled matrix product whose gathered factor is never built. */
#include "engine/ops/conv/conv.h"
#include "engine/ops/conv/gpu/gemm.h"
#include "engine/ops/conv/gpu/shape.h"

static const char *refuse(const struct rmcp_request *request)
{
    return rmcp_gemm_refuse(request->problem);
}

static double cost(const struct rmcp_request *request)
{
    return rmcp_gemm_choose(request, RMCP_FORM_PHASES, false).seconds;
}

static rmcp_status emit(const struct rmcp_request *request, const struct rmcp_way *asked,
                        struct rmcp_launch_list *list)
{
    (void)asked;
    const struct rmcp_gemm_way way = rmcp_gemm_choose(request, RMCP_FORM_PHASES, false);
    return rmcp_gemm_emit(request, &way, list);
}

const struct rmcp_algo rmcp_algo_conv_implicit_gemm = {
    .name = "implicit_gemm",
    .version = 3,
    .kind = RMCP_LAUNCH_KERNEL,
    .refuse = refuse,
    .cost = cost,
    .emit = emit,
};
