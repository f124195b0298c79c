/* split_k: the reduction of each sum shared by several workgroups, whose parts are added up after
 * them. */
#include "engine/ops/gemm/gemm.h"
#include "engine/ops/gemm/gpu.h"

static struct rmcp_matmul_way choose(const struct rmcp_request *request)
{
    return rmcp_matmul_choose(&rmcp_gemm_of(request)->product, request->caps, RMCP_MATMUL_SPLIT);
}

static const char *refuse(const struct rmcp_request *request)
{
    const char *why = rmcp_matmul_family_refuse(&rmcp_gemm_of(request)->product, RMCP_MATMUL_SPLIT);
    if (why) return why;
    return choose(request).splits ? NULL : "two parts exceed the device's largest buffer";
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

extern const struct rmcp_algo rmcp_algo_gemm_split_k;
const struct rmcp_algo rmcp_algo_gemm_split_k = {
    .name = "split_k",
    .version = 2,
    .kind = RMCP_LAUNCH_KERNEL,
    .refuse = refuse,
    .cost = cost,
    .workspace = workspace,
    .emit = emit,
};
