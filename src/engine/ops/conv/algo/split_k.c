/* split_k: the implicit matrix product with each reduction shared by several workgroups: for
 * problems with few outputs and long sums, such as most weight gradients. The parts are added up in
 * a fixed order, so the same inputs give the same bits. */
#include "engine/ops/conv/conv.h"
#include "engine/ops/conv/gpu/gemm.h"
#include "engine/ops/conv/gpu/shape.h"

static const char *refuse(const struct rmcp_request *request)
{
    const struct rmcp_convolution *conv = request->problem;
    const char *reason = rmcp_gemm_refuse(conv);
    if (reason) return reason;
    if (rmcp_gemm_reduction(conv, RMCP_FORM_PHASES) < 32)
        return "the reduction is too short to split";
    const struct rmcp_gemm_way way = rmcp_gemm_choose(request, RMCP_FORM_PHASES, true);
    if (rmcp_gemm_workspace(conv, &way) > request->caps->max_buffer_bytes)
        return "the workspace would exceed the device's largest buffer";
    return NULL;
}

static double cost(const struct rmcp_request *request)
{
    return rmcp_gemm_choose(request, RMCP_FORM_PHASES, true).seconds;
}

static rmcp_status workspace(const struct rmcp_request *request, uint64_t *bytes)
{
    const struct rmcp_gemm_way way = rmcp_gemm_choose(request, RMCP_FORM_PHASES, true);
    *bytes = rmcp_gemm_workspace(request->problem, &way);
    return RMCP_OK;
}

static rmcp_status emit(const struct rmcp_request *request, const struct rmcp_way *asked,
                        struct rmcp_launch_list *list)
{
    (void)asked;
    const struct rmcp_gemm_way way = rmcp_gemm_choose(request, RMCP_FORM_PHASES, true);
    return rmcp_gemm_emit(request, &way, list);
}

const struct rmcp_algo rmcp_algo_conv_split_k = {
    .name = "split_k",
    .version = 3,
    .kind = RMCP_LAUNCH_KERNEL,
    .refuse = refuse,
    .cost = cost,
    .workspace = workspace,
    .emit = emit,
};
