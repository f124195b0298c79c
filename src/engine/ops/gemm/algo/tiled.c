/* tiled: matrix products on a GPU, each sum by one workgroup. */
#include "engine/ops/gemm/gemm.h"
#include "engine/ops/gemm/gpu.h"

static const char *refuse(const struct rmcp_request *request)
{
    return rmcp_matmul_family_refuse(&rmcp_gemm_of(request)->product, RMCP_MATMUL_TILED);
}

static struct rmcp_matmul_way choose(const struct rmcp_request *request)
{
    return rmcp_matmul_choose(&rmcp_gemm_of(request)->product, request->caps, RMCP_MATMUL_TILED);
}

static double cost(const struct rmcp_request *request)
{
    return choose(request).seconds;
}

static rmcp_status emit(const struct rmcp_request *request, const struct rmcp_way *asked,
                        struct rmcp_launch_list *list)
{
    (void)asked;
    const struct rmcp_matmul_way way = choose(request);
    return rmcp_matmul_emit_way(&rmcp_gemm_of(request)->product, &way, request->caps, 0, list);
}

extern const struct rmcp_algo rmcp_algo_gemm_tiled;
const struct rmcp_algo rmcp_algo_gemm_tiled = {
    .name = "tiled",
    .version = 2,
    .kind = RMCP_LAUNCH_KERNEL,
    .refuse = refuse,
    .cost = cost,
    .emit = emit,
};
