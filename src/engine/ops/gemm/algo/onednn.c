/* onednn: matrix products by oneDNN on the host; types other than f32 through f32 copies. */
#include "engine/onednn/onednn.h"
#include "engine/ops/gemm/gemm.h"
#include "engine/ops/gemm/host.h"

static const char *refuse(const struct rmcp_request *request)
{
    (void)request;
    const char *why = NULL;
    return rmcp_onednn_get(&why) ? NULL : why;
}

static double cost(const struct rmcp_request *request)
{
    return rmcp_matmul_host_seconds(&rmcp_gemm_of(request)->product, request->caps);
}

static rmcp_status workspace(const struct rmcp_request *request, uint64_t *bytes)
{
    *bytes = rmcp_matmul_host_workspace(&rmcp_gemm_of(request)->product);
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
    .refuse = refuse,
    .cost = cost,
    .workspace = workspace,
    .emit = emit,
};
