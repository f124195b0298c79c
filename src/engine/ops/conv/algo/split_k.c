/* split_k: the implicit matrix product with each reduction shared by several workgroups: for
 * problems with few outputs and long sums, such as most weight gradients. The parts are added up in
 * a fixed order, so the same inputs give the same bits. */
#include "engine/ops/conv/conv.h"
#include "engine/ops/conv/gpu/gemm.h"
#include "engine/ops/conv/gpu/shape.h"

static rmcp_status consider(const struct rmcp_request *request, struct rmcp_way *way)
{
    enum { SHORTEST = 32 };
    const struct rmcp_convolution *conv = request->problem;
    const char *reason = rmcp_gemm_refuse(conv);
    if (reason) return rmcp_refuse(way, reason);
    struct rmcp_gemm_products products;
    rmcp_gemm_products_of(conv, RMCP_FORM_PHASES, &products);
    if (products.longest < SHORTEST) return rmcp_refuse(way, "the reduction is too short to split");
    struct rmcp_gemm_way *gemm = RMCP_CONV_WAY(way, struct rmcp_gemm_way);
    *gemm = rmcp_gemm_choose(request, &products, true);
    const uint64_t bytes = rmcp_gemm_workspace(conv, gemm);
    if (bytes > request->caps->max_buffer_bytes)
        return rmcp_refuse(way, "the workspace would exceed the device's largest buffer");
    way->seconds = gemm->seconds;
    way->workspace_bytes = bytes;
    return RMCP_OK;
}

static rmcp_status emit(const struct rmcp_request *request, const struct rmcp_way *way,
                        struct rmcp_launch_list *list)
{
    return rmcp_gemm_emit(request, RMCP_CONV_WAY_CONST(way, struct rmcp_gemm_way), list);
}

const struct rmcp_algo rmcp_algo_conv_split_k = {
    .name = "split_k",
    .version = 3,
    .kind = RMCP_LAUNCH_KERNEL,
    .consider = consider,
    .emit = emit,
};
