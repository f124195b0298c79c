/* onednn: matrix products by oneDNN on the host; types other than f32 through f32 copies. */
#include "engine/onednn/onednn.h"
#include "engine/matmul/host.h"
#include "engine/ops/gemm/gemm.h"

static rmcp_status consider(const struct rmcp_request *request, struct rmcp_way *way)
{
    const struct rmcp_matmul *product = &rmcp_gemm_of(request)->product;
    const char *why = NULL;
    if (!rmcp_onednn_get(&why)) return rmcp_refuse(way, why);
    way->seconds = rmcp_matmul_host_seconds(product, request->caps);
    way->workspace_bytes = rmcp_matmul_host_workspace(product);
    return RMCP_OK;
}

static rmcp_status emit(const struct rmcp_request *request, const struct rmcp_way *way,
                        struct rmcp_launch_list *list)
{
    (void)way;
    return rmcp_matmul_host_emit(&rmcp_gemm_of(request)->product, request->caps, 0, list);
}

extern const struct rmcp_algo rmcp_algo_gemm_onednn;
const struct rmcp_algo rmcp_algo_gemm_onednn = {
    .name = "onednn",
    .version = 1,
    .kind = RMCP_LAUNCH_HOST_CALL,
    .consider = consider,
    .emit = emit,
};
