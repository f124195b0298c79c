/* direct: one output a work-item, 64-bit indices: any problem on any GPU, slowly. */
#include "engine/figures/figures.h"
#include "engine/ops/conv/conv.h"
#include "engine/ops/conv/gpu/shape.h"

#include <math.h>
#include <string.h>

enum { UNIT_ITEMS = 256 }; /* that keep a compute unit busy */

struct direct {
    double work_seconds; /* by which launches are cut */
};

/* The share of all pairs of outputs and taps that lie on the input, not beside it. Weight gradients
 * look at all of them. */
static double share_inside(const struct rmcp_convolution *conv)
{
    enum { MOST_TAPS = 4096 };
    double share = 1;
    if (conv->pass == RMCP_CONV_BACKWARD_WEIGHTS) return share;
    for (int i = 0; i < 3; i++) {
        const int64_t stride = conv->stride[i], outputs = conv->output[i];
        if (conv->filter[i] > MOST_TAPS || !outputs) continue;
        int64_t inside = 0;
        for (int64_t f = 0; f < conv->filter[i]; f++) {
            /* o * stride + begin is from 0 to input - 1. */
            const int64_t begin = f * conv->dilation[i] - conv->pad_begin[i];
            const int64_t last = conv->input[i] - 1 - begin;
            const int64_t from = begin < 0 ? (stride - 1 - begin) / stride : 0;
            const int64_t to = last < 0 ? 0 : last / stride + 1;
            const int64_t end = to < outputs ? to : outputs;
            if (end > from) inside += end - from;
        }
        share *= (double)inside / ((double)outputs * (double)conv->filter[i]);
    }
    return share;
}

/* How many taps a work-item of a data gradient tests: in each dimension only those behind a tap of
 * the one before that meets an output. */
static double tests_of(const struct rmcp_convolution *conv)
{
    double tests = 0, met = 1;
    for (int i = 0; i < 3; i++) {
        tests += met * (double)conv->filter[i];
        met *= (double)conv->filter[i] / (double)conv->stride[i];
    }
    return tests;
}

/* How many times as long a product takes with channels last, where neighbours are channels: in
 * forward each reads weights of its own, in a data gradient of few channels pixels far apart. */
static double apart(const struct rmcp_request *request)
{
    const struct rmcp_convolution *conv = request->problem;
    const double far = rmcp_figure(request->caps, RMCP_FIGURE_DIRECT_FAR);
    if (conv->layout != RMCP_NHWC || conv->pass == RMCP_CONV_BACKWARD_WEIGHTS) return 1;
    if (conv->pass == RMCP_CONV_FORWARD) return fmin(far, fmax(1, (double)conv->group_c / 4));
    return fmax(1,
                far / pow((double)conv->c, rmcp_figure(request->caps, RMCP_FIGURE_DIRECT_NEARER)));
}

/* Instructions of each product: two loads and 64-bit steps from channel to channel; of each tap:
 * its coordinates, in a data gradient with divisions, also where it meets nothing; there neighbours
 * take turns when there are strides, since each has other taps. Weight gradients step from
 * pixel to pixel, and at the end of each line to the next, or to the next image. */
static double compute_seconds(const struct rmcp_request *request)
{
    enum { CHANNEL = 20, TAP = 150, PLACE = 300, TEST = 200, TURN = 12, PIXEL = 30, LINE = 300 };
    const struct rmcp_convolution *conv = request->problem;
    const bool strided = conv->stride[0] * conv->stride[1] * conv->stride[2] > 1;
    const double products = conv->flops / 2 * share_inside(conv);
    double instructions;
    if (conv->pass == RMCP_CONV_FORWARD)
        instructions = products * (CHANNEL * apart(request) + TAP / (double)conv->group_c);
    else if (conv->pass == RMCP_CONV_BACKWARD_WEIGHTS)
        instructions = products * (PIXEL + LINE / (double)conv->output[2]);
    else
        instructions =
            products * TURN * (strided ? 3 : apart(request)) +
            (double)rmcp_conv_elements(conv, RMCP_CONV_X) * (PLACE + TEST * tests_of(conv));
    return 2 * instructions / request->caps->flops_per_second;
}

/* A work-item waits for the loads of each of its products and for the coordinates of each tap, and
 * for the end of each line that it sums (as measured on an H200): with few outputs and long sums
 * that takes longest, for they do not fill the device. */
static double waiting_seconds(const struct rmcp_request *request)
{
    const struct rmcp_convolution *conv = request->problem;
    const struct rmcp_caps *caps = request->caps;
    const double reduction = rmcp_conv_reduction(conv) * share_inside(conv);
    const double taps = (double)(conv->filter[0] * conv->filter[1] * conv->filter[2]);
    if (conv->pass == RMCP_CONV_BACKWARD_WEIGHTS)
        return rmcp_figure(caps, RMCP_FIGURE_DIRECT_WEIGHTS) +
               reduction * (rmcp_figure(caps, RMCP_FIGURE_DIRECT_PIXEL) +
                            rmcp_figure(caps, RMCP_FIGURE_DIRECT_LINE) / (double)conv->output[2]);
    const double products = reduction * rmcp_figure(caps, RMCP_FIGURE_DIRECT_TERM);
    if (conv->pass == RMCP_CONV_FORWARD)
        return rmcp_figure(caps, RMCP_FIGURE_DIRECT_FORWARD) + products +
               taps * rmcp_figure(caps, RMCP_FIGURE_DIRECT_TAP);
    return rmcp_figure(caps, RMCP_FIGURE_DIRECT_DATA) + products +
           tests_of(conv) * rmcp_figure(caps, RMCP_FIGURE_DIRECT_TEST);
}

static rmcp_status consider(const struct rmcp_request *request, struct rmcp_way *way)
{
    struct direct *direct = RMCP_CONV_WAY(way, struct direct);
    direct->work_seconds = compute_seconds(request);
    way->seconds = direct->work_seconds + waiting_seconds(request) +
                   rmcp_traffic_seconds(request->problem, request->caps) +
                   request->caps->launch_seconds;
    return RMCP_OK;
}

static struct rmcp_direct_strides strides_of(const struct rmcp_strides *s)
{
    return (struct rmcp_direct_strides){ s->outer,
                                         s->inner,
                                         { s->space[0], s->space[1], s->space[2] } };
}

static struct rmcp_direct arguments_of(const struct rmcp_convolution *conv)
{
    const int64_t channels[RMCP_CONV_PASSES] = { conv->k, conv->c, conv->group_c };
    struct rmcp_direct d = {
        .n = conv->n,
        .group_c = conv->group_c,
        .group_k = conv->group_k,
        .channels = channels[conv->pass],
        .x = strides_of(&conv->x),
        .w = strides_of(&conv->w),
        .y = strides_of(&conv->y),
        .pass = conv->pass,
        .channels_last = conv->layout == RMCP_NHWC,
        .epilogue = rmcp_epilogue_of(conv),
    };
    memcpy(d.input, conv->input, sizeof d.input);
    memcpy(d.filter, conv->filter, sizeof d.filter);
    memcpy(d.output, conv->output, sizeof d.output);
    memcpy(d.pad, conv->pad_begin, sizeof d.pad);
    memcpy(d.stride, conv->stride, sizeof d.stride);
    memcpy(d.dilation, conv->dilation, sizeof d.dilation);
    return d;
}

static rmcp_status emit(const struct rmcp_request *request, const struct rmcp_way *way,
                        struct rmcp_launch_list *list)
{
    const struct direct *direct = RMCP_CONV_WAY_CONST(way, struct direct);
    const struct rmcp_convolution *conv = request->problem;
    const unsigned output = rmcp_conv_output_slot(conv);
    const int64_t n = rmcp_conv_elements(conv, output), most = INT64_C(1) << 30;
    const int64_t busy = (int64_t)request->caps->compute_units * UNIT_ITEMS;
    int64_t quota = rmcp_launch_quota(n, busy, direct->work_seconds);
    if (quota > most) quota = most;

    struct rmcp_direct d = arguments_of(conv);
    for (d.first = 0; d.first < n; d.first += d.count) {
        d.count = n - d.first < quota ? n - d.first : quota;
        struct rmcp_kernel_launch *launch = NULL;
        rmcp_status status = rmcp_kernel_append(list, "direct", conv->type, "", d.count, &launch);
        if (status) return status;
        rmcp_kernel_tensors(launch, conv, output);
        rmcp_arg_value(launch, &d, sizeof d);
    }
    return RMCP_OK;
}

const struct rmcp_algo rmcp_algo_conv_direct = {
    .name = "direct",
    .version = 1,
    .kind = RMCP_LAUNCH_KERNEL,
    .consider = consider,
    .emit = emit,
};
