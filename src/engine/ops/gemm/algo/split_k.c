/* split_k: the reduction of each sum shared by several workgroups, whose parts are added up after
 * them. */
#include "engine/matmul/ways.h"
#include "engine/ops/gemm/gemm.h"

static rmcp_status consider(const struct rmcp_request *request, struct rmcp_way *way)
{
    const struct rmcp_matmul *product = &rmcp_gemm_of(request)->product;
    struct rmcp_matmul_way *mine = RMCP_WAY_DETAILS(way, struct rmcp_matmul_way);
    const char *why = rmcp_matmul_family_refuse(product, RMCP_MATMUL_SPLIT);
    if (why) return rmcp_refuse(way, why);
    *mine = rmcp_matmul_choose(product, request->caps, RMCP_MATMUL_SPLIT);
    if (!mine->splits) return rmcp_refuse(way, "two parts exceed the device's largest buffer");
    way->seconds = mine->seconds;
    way->workspace_bytes = rmcp_matmul_parts_bytes(product, mine);
    return RMCP_OK;
}

static rmcp_status emit(const struct rmcp_request *request, const struct rmcp_way *way,
                        struct rmcp_launch_list *list)
{
    return rmcp_matmul_emit_way(&rmcp_gemm_of(request)->product,
                                RMCP_WAY_DETAILS_CONST(way, struct rmcp_matmul_way), request->caps,
                                0, list);
}

extern const struct rmcp_algo rmcp_algo_gemm_split_k;
const struct rmcp_algo rmcp_algo_gemm_split_k = {
    .name = "split_k",
    .version = 2,
    .kind = RMCP_LAUNCH_KERNEL,
    .consider = consider,
    .emit = emit,
};
