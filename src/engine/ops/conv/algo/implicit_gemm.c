/* implicit_gemm: a pass as a tiled matrix product whose gathered factor is never built. */
#include "engine/ops/conv/conv.h"
#include "engine/ops/conv/gpu/gemm.h"
#include "engine/ops/conv/gpu/shape.h"

static rmcp_status consider(const struct rmcp_request *request, struct rmcp_way *way)
{
    const struct rmcp_convolution *conv = request->problem;
    const char *reason = rmcp_gemm_refuse(conv);
    if (reason) return rmcp_refuse(way, reason);
    struct rmcp_gemm_products products;
    rmcp_gemm_products_of(conv, RMCP_FORM_PHASES, &products);
    struct rmcp_gemm_way *gemm = RMCP_CONV_WAY(way, struct rmcp_gemm_way);
    *gemm = rmcp_gemm_choose(request, &products, false);
    way->seconds = gemm->seconds;
    return RMCP_OK;
}

static rmcp_status emit(const struct rmcp_request *request, const struct rmcp_way *way,
                        struct rmcp_launch_list *list)
{
    return rmcp_gemm_emit(request, RMCP_CONV_WAY_CONST(way, struct rmcp_gemm_way), list);
}

const struct rmcp_algo rmcp_algo_conv_implicit_gemm = {
    .name = "implicit_gemm",
    .version = 3,
    .kind = RMCP_LAUNCH_KERNEL,
    .consider = consider,
    .emit = emit,
};
