/* tiled: matrix products on a GPU, each sum by one workgroup. */
#include "engine/matmul/ways.h"
#include "engine/ops/gemm/gemm.h"

static rmcp_status consider(const struct rmcp_request *request, struct rmcp_way *way)
{
    const struct rmcp_matmul *product = &rmcp_gemm_of(request)->product;
    struct rmcp_matmul_way *mine = RMCP_WAY_DETAILS(way, struct rmcp_matmul_way);
    const char *why = rmcp_matmul_family_refuse(product, RMCP_MATMUL_TILED);
    if (why) return rmcp_refuse(way, why);
    *mine = rmcp_matmul_choose(product, request->caps, RMCP_MATMUL_TILED);
    way->seconds = mine->seconds;
    return RMCP_OK;
}

static rmcp_status emit(const struct rmcp_request *request, const struct rmcp_way *way,
                        struct rmcp_launch_list *list)
{
    return rmcp_matmul_emit_way(&rmcp_gemm_of(request)->product,
                                RMCP_WAY_DETAILS_CONST(way, struct rmcp_matmul_way), request->caps,
                                0, list);
}

extern const struct rmcp_algo rmcp_algo_gemm_tiled;
const struct rmcp_algo rmcp_algo_gemm_tiled = {
    .name = "tiled",
    .version = 2,
    .kind = RMCP_LAUNCH_KERNEL,
    .consider = consider,
    .emit = emit,
};
