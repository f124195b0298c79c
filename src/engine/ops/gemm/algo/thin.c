/* thin: products with few rows or few columns on a GPU, as steps of recurrent networks have them.
 */
#include "engine/ops/gemm/gemm.h"
#include "engine/ops/gemm/gpu.h"

static const char *refuse(const struct rmcp_request *request)
{
    return rmcp_matmul_family_refuse(&rmcp_gemm_of(request)->product, RMCP_MATMUL_THIN);
}

static struct rmcp_matmul_way choose(const struct rmcp_request *request)
{
    return rmcp_matmul_choose(&rmcp_gemm_of(request)->product, request->caps, RMCP_MATMUL_THIN);
}

static double cost(const struct rmcp_request *request)
{
    return choose(request).seconds;
}

static rmcp_status workspace(const struct rmcp_request *request, uint64_t *bytes)
{
    const struct rmcp_matmul_way way = choose(request);
    *bytes = rmcp_matmul_parts_bytes(&rmcp_gemm_of(request)->product, &way);
    return RMCP_OK;
}

static rmcp_status emit(const struct rmcp_request *request, const struct rmcp_way *asked,
                        struct rmcp_launch_list *list)
{
    (void)asked;
    const struct rmcp_matmul_way way = choose(request);
    return rmcp_matmul_emit_way(&rmcp_gemm_of(request)->product, &way, request->caps, 0, list);
}

extern const struct rmcp_algo rmcp_algo_gemm_thin;
const struct rmcp_algo rmcp_algo_gemm_thin = {
    .name = "thin",
    .version = 1,
    .kind = RMCP_LAUNCH_KERNEL,
    .refuse = refuse,
    .cost = cost,
    .workspace = workspace,
    .emit = emit,
};
