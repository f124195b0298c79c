/* narrow: one output a work-item, for products of few rows, whose tiles would be mostly empty:
 * depthwise and other convolutions with few channels in a group, gradients of a first layer. */
#include "core/algo.h"
#include "conv/gpu/shape.h"

#include <math.h>

enum { MOST_ROWS = 16, THREADS = 256, SECTOR = 32 };

static const char *refuse(const struct rmcp_request *request)
{
    const struct rmcp_conv *conv = &request->conv;
    if (conv->pass != RMCP_BACKWARD_DATA && conv->group_k > MOST_ROWS)
        return "more than 16 output channels in a group";
    if (conv->pass != RMCP_FORWARD && conv->group_c > MOST_ROWS)
        return "more than 16 input channels in a group";
    return rmcp_gemm_refuse(conv);
}

/* Besides its FMA each product takes two loads and their addresses; in weight gradients the pixel
 * is decoded anew. */
static double compute_seconds(const struct rmcp_request *request)
{
    const double share = request->conv.pass == RMCP_BACKWARD_WEIGHTS ? 1.0 / 50 : 1.0 / 10;
    return request->conv.flops / (share * request->caps->flops_per_second);
}

static double cost(const struct rmcp_request *request)
{
    return fmax(compute_seconds(request), rmcp_traffic_seconds(&request->conv, request->caps)) +
           (double)rmcp_gemm_phases(&request->conv) * request->caps->launch_seconds;
}

/* `count` pieces of work, each of `threads` work-items, in launches that are not too long. */
static rmcp_status emit_launches(const struct rmcp_request *request, struct rmcp_launch_list *list,
                                 const char *kernel, int64_t count, int64_t threads,
                                 const struct rmcp_gemm *g, struct rmcp_narrow o)
{
    const struct rmcp_conv *conv = &request->conv;
    const int64_t busy = (int64_t)request->caps->compute_units * THREADS / threads;
    const int64_t quota = rmcp_launch_quota(
        count, busy, fmax(compute_seconds(request), rmcp_traffic_seconds(conv, request->caps)));
    for (int64_t first = 0; first < count; first += quota) {
        struct rmcp_kernel_launch *launch = NULL;
        const int64_t n = count - first < quota ? count - first : quota;
        rmcp_status status = rmcp_kernel_append(list, kernel, conv->type, "", n * threads, &launch);
        if (status) return status;
        o.first = (unsigned)first;
        o.count = (unsigned)n;
        rmcp_kernel_tensors(launch, conv, rmcp_conv_output_slot(conv));
        rmcp_arg_value(launch, g, sizeof *g);
        rmcp_arg_value(launch, &o, sizeof o);
    }
    return RMCP_OK;
}

static rmcp_status emit(const struct rmcp_request *request, struct rmcp_launch_list *list)
{
    const struct rmcp_conv *conv = &request->conv;
    rmcp_status status = RMCP_OK;
    for (int64_t phase = 0; phase < rmcp_gemm_phases(conv) && !status; phase++) {
        struct rmcp_gemm g;
        if (!rmcp_gemm_init(&g, conv, phase)) continue;
        struct rmcp_narrow o = {
            .rows = rmcp_divider_of(g.rows),
            .groups = rmcp_divider_of(conv->groups),
            .columns = rmcp_divider_of(g.columns),
            .lanes = 1,
        };
        const int64_t channels = g.rows * conv->groups;
        if (conv->pass != RMCP_BACKWARD_WEIGHTS) {
            status = emit_launches(request, list, "narrow", channels * g.columns, 1, &g, o);
            continue;
        }
        /* With channels last, work-items share sectors when neighbours differ in channel. */
        if (conv->layout == RMCP_NHWC) o.lanes = SECTOR / (unsigned)rmcp_type_bytes(conv->type);
        const int64_t blocks = (channels + o.lanes - 1) / o.lanes;
        status = emit_launches(request, list, "narrow_weights", blocks * g.columns, THREADS, &g, o);
    }
    return status;
}

const struct rmcp_algo rmcp_algo_narrow = {
    .name = "narrow",
    .version = 1,
    .kind = RMCP_LAUNCH_KERNEL,
    .refuse = refuse,
    .cost = cost,
    .emit = emit,
};
