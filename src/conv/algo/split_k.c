/* split_k: the implicit matrix product with each reduction shared by several workgroups: for
 * problems with few outputs and long sums, such as most weight gradients. The parts are added up in
 * a fixed order, so the same inputs give the same bits. */
#include "conv/conv.h"
#include "conv/gpu/gemm.h"
#include "conv/gpu/shape.h"

static const char *refuse(const struct rmcp_request *request)
{
    const struct rmcp_convolution *conv = request->problem;
    const char *reason = rmcp_gemm_refuse(conv);
    if (reason) return reason;
    if (rmcp_gemm_reduction(conv) < 32) return "the reduction is too short to split";
    const struct rmcp_gemm_way way = rmcp_gemm_choose(request, true);
    if (rmcp_gemm_workspace(conv, &way) > request->caps->max_buffer_bytes)
        return "the workspace would exceed the device's largest buffer";
    return NULL;
}

static double cost(const struct rmcp_request *request)
{
    return rmcp_gemm_choose(request, true).seconds;
}

static rmcp_status workspace(const struct rmcp_request *request, uint64_t *bytes)
{
    const struct rmcp_gemm_way way = rmcp_gemm_choose(request, true);
    *bytes = rmcp_gemm_workspace(request->problem, &way);
    return RMCP_OK;
}

/* How many share the parts of an output, as a power of two: each has four parts at least, and there
 * are not many more than the device can hold. */
static unsigned sharers_shift(const struct rmcp_caps *caps, int64_t outputs, int64_t parts)
{
    enum { UNIT_ITEMS = 512, MOST = 5 };
    const int64_t items = (int64_t)caps->compute_units * UNIT_ITEMS;
    unsigned shift = 0;
    while (shift < MOST && parts >> shift >= 8 && outputs << shift < items) shift++;
    return shift;
}

/* Add up the parts, which lie one after the other in the workspace, each like the output. */
static rmcp_status emit_reduction(const struct rmcp_request *request, int64_t parts,
                                  struct rmcp_launch_list *list)
{
    const struct rmcp_convolution *conv = request->problem;
    const unsigned output = rmcp_conv_output_slot(conv);
    const int64_t n = rmcp_conv_elements(conv, output);
    const unsigned shift = sharers_shift(request->caps, n, parts);
    const struct rmcp_reduce r = {
        .count = (unsigned)n,
        .parts = (unsigned)parts,
        .inner = rmcp_divider_of(conv->y.inner),
        .channels = rmcp_divider_of(conv->k),
        .epilogue = rmcp_epilogue_of(conv),
        .shift = shift,
    };
    struct rmcp_kernel_launch *launch = NULL;
    rmcp_status status = rmcp_kernel_append(list, "reduce", conv->type, "", n << shift, &launch);
    if (status) return status;
    rmcp_arg_memory(launch, RMCP_SLOT_WORKSPACE, 0);
    rmcp_arg_memory(launch, output, 0);
    rmcp_arg_memory(launch, r.epilogue.bias ? RMCP_CONV_BIAS : RMCP_SLOT_WORKSPACE, 0);
    rmcp_arg_value(launch, &r, sizeof r);
    return RMCP_OK;
}

static rmcp_status emit(const struct rmcp_request *request, struct rmcp_launch_list *list)
{
    const struct rmcp_gemm_way way = rmcp_gemm_choose(request, true);
    rmcp_status status = rmcp_gemm_emit(request, &way, list);
    return status ? status : emit_reduction(request, way.splits, list);
}

const struct rmcp_algo rmcp_algo_conv_split_k = {
    .name = "split_k",
    .version = 2,
    .kind = RMCP_LAUNCH_KERNEL,
    .refuse = refuse,
    .cost = cost,
    .workspace = workspace,
    .emit = emit,
};
