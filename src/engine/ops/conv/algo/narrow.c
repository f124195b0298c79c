/* narrow: one output a work-item, for products of few rows, whose tiles would be mostly empty:
 * depthwise and other convolutions with few channels in a group, gradients of a first layer. */
#include "base/round.h"
#include "engine/figures/figures.h"
#include "engine/ops/conv/conv.h"
#include "engine/ops/conv/gpu/shape.h"

#include <math.h>

enum { MOST_ROWS = 16, THREADS = 256, SECTOR = 32 };

struct narrow {
    double work_seconds; /* by which launches are cut */
};

/* Weight gradients: neighbours that differ in channel. With channels last they share sectors. */
static unsigned lanes_of(const struct rmcp_convolution *conv)
{
    return conv->layout == RMCP_NHWC ? SECTOR / (unsigned)rmcp_type_bytes(conv->type) : 1;
}

/* Besides its FMA each product takes two loads and their addresses, and each row of taps its own
 * tests. In weight gradients the
 * pixel is decoded anew for each product, and the work-items of each output's workgroup begin and
 * add up. */
static double compute_seconds(const struct rmcp_request *request)
{
    const struct rmcp_convolution *conv = request->problem;
    const struct rmcp_caps *caps = request->caps;
    const double products = conv->flops / 2, rate = caps->flops_per_second / 2;
    if (conv->pass != RMCP_CONV_BACKWARD_WEIGHTS)
        return products *
               (rmcp_figure(caps, RMCP_FIGURE_NARROW_PRODUCT) +
                rmcp_figure(caps, RMCP_FIGURE_NARROW_ROW) / (double)conv->filter[2]) /
               rate;
    const double groups = (double)conv->w_elements / lanes_of(conv);
    return (products * rmcp_figure(caps, RMCP_FIGURE_NARROW_PIXEL) +
            groups * THREADS * rmcp_figure(caps, RMCP_FIGURE_NARROW_OUTPUT)) /
           rate;
}

/* Weight gradients have one workgroup an output, and its work-items wait for each pixel's loads. In
 * the other passes a work-item waits for each channel, and some more for each of its taps; the
 * phases of a stride one after the other. */
static double waiting_seconds(const struct rmcp_request *request)
{
    const struct rmcp_convolution *conv = request->problem;
    const struct rmcp_caps *caps = request->caps;
    const double reduction = rmcp_conv_reduction(conv);
    if (conv->pass == RMCP_CONV_BACKWARD_WEIGHTS)
        return reduction / THREADS * rmcp_figure(caps, RMCP_FIGURE_NARROW_PIXEL_WAIT);
    const double channels =
        (double)(conv->pass == RMCP_CONV_FORWARD ? conv->group_c : conv->group_k);
    return (double)rmcp_gemm_phases(conv) * channels *
               rmcp_figure(caps, RMCP_FIGURE_NARROW_CHANNEL_WAIT) +
           reduction * rmcp_figure(caps, RMCP_FIGURE_NARROW_TAP_WAIT);
}

/* The phases of a stride store their elements one after the other, far apart. */
static double traffic_seconds(const struct rmcp_request *request)
{
    const struct rmcp_convolution *conv = request->problem;
    const bool apart = conv->pass == RMCP_CONV_BACKWARD_DATA && conv->stride[2] > 1;
    return (apart ? rmcp_figure(request->caps, RMCP_FIGURE_NARROW_APART) * (double)conv->stride[2]
                  : 1) *
           rmcp_traffic_seconds(conv, request->caps);
}

static rmcp_status consider(const struct rmcp_request *request, struct rmcp_way *way)
{
    const struct rmcp_convolution *conv = request->problem;
    if (conv->pass != RMCP_CONV_BACKWARD_DATA && conv->group_k > MOST_ROWS)
        return rmcp_refuse(way, "more than 16 output channels in a group");
    if (conv->pass != RMCP_CONV_FORWARD && conv->group_c > MOST_ROWS)
        return rmcp_refuse(way, "more than 16 input channels in a group");
    const char *reason = rmcp_gemm_refuse(conv);
    if (reason) return rmcp_refuse(way, reason);

    struct narrow *narrow = RMCP_CONV_WAY(way, struct narrow);
    const double compute = compute_seconds(request);
    narrow->work_seconds = fmax(compute, rmcp_traffic_seconds(conv, request->caps));
    way->seconds = fmax(fmax(compute, waiting_seconds(request)), traffic_seconds(request)) +
                   (double)rmcp_gemm_phases(conv) * request->caps->launch_seconds;
    return RMCP_OK;
}

/* `count` pieces of work, each of `threads` work-items, in launches that are not too long. */
static rmcp_status emit_launches(const struct rmcp_request *request, const struct narrow *narrow,
                                 const char *kernel, int64_t count, int64_t threads,
                                 const struct rmcp_gemm *g, struct rmcp_narrow o,
                                 struct rmcp_launch_list *list)
{
    const struct rmcp_convolution *conv = request->problem;
    const int64_t busy = (int64_t)request->caps->compute_units * THREADS / threads;
    const int64_t quota = rmcp_launch_quota(count, busy, narrow->work_seconds);
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

static rmcp_status emit(const struct rmcp_request *request, const struct rmcp_way *way,
                        struct rmcp_launch_list *list)
{
    const struct narrow *narrow = RMCP_CONV_WAY_CONST(way, struct narrow);
    const struct rmcp_convolution *conv = request->problem;
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
        if (conv->pass != RMCP_CONV_BACKWARD_WEIGHTS) {
            status = emit_launches(request, narrow, "narrow", channels * g.columns, 1, &g, o, list);
            continue;
        }
        o.lanes = lanes_of(conv);
        const int64_t blocks = rmcp_ceil_divide(channels, o.lanes);
        status = emit_launches(request, narrow, "narrow_weights", blocks * g.columns, THREADS, &g,
                               o, list);
    }
    return status;
}

const struct rmcp_algo rmcp_algo_conv_narrow = {
    .name = "narrow",
    .version = 1,
    .kind = RMCP_LAUNCH_KERNEL,
    .consider = consider,
    .emit = emit,
};
