/* depthwise: convolutions with one input channel in a group, which are bound by memory: each tensor
 * is read or written about once. Weight gradients are summed in slices, and these in a fixed order.
 */
#include "engine/ops/conv/gpu/depthwise.h"
#include "base/round.h"
#include "engine/figures/figures.h"
#include "engine/ops/conv/conv.h"
#include "engine/ops/conv/gpu/shape.h"

#include <math.h>

struct depthwise {
    struct rmcp_depthwise_way kernel;
    struct rmcp_depthwise_slices sums; /* of weight gradients                              */
    double work_seconds;               /* of weight gradients, by which launches are cut   */
};

static const char *refusal_of(const struct rmcp_request *request)
{
    const struct rmcp_convolution *conv = request->problem;
    if (conv->group_c != 1) return "more than one input channel in a group";
    const int64_t most = (INT64_C(1) << 32) / (int64_t)rmcp_type_bytes(conv->type);
    if (conv->x_elements >= most || conv->w_elements >= most || conv->y_elements >= most)
        return "a tensor has 4 GiB or more";
    for (int i = 0; i < RMCP_MAX_DIMS; i++) {
        const int64_t padded = conv->input[i] + conv->pad_begin[i] + conv->pad_end[i];
        if (padded > INT32_MAX / 4 || conv->stride[i] > INT32_MAX / 32)
            return "coordinates in the padded input do not fit in 29 bits";
    }
    if (rmcp_gemm_phases(conv) > 64) return "the strides multiply to more than 64 phases";
    return NULL;
}

/* Instructions; a few are lost waiting. */
static double instruction_seconds(const struct rmcp_request *request, double instructions)
{
    return 2 * instructions /
           (rmcp_figure(request->caps, RMCP_FIGURE_DEPTHWISE_EFFICIENCY) *
            request->caps->flops_per_second);
}

/* One launch. None is faster than one round of work-items on the whole device. */
static double compute_seconds(const struct rmcp_request *request,
                              const struct rmcp_depthwise_way *way, double items)
{
    const double round = (double)request->caps->compute_units *
                         rmcp_figure(request->caps, RMCP_FIGURE_DEPTHWISE_ROUND);
    return instruction_seconds(request, way->instructions * fmax(items, round));
}

/* ---- forward and backward data ---- */

static double outputs_seconds(const struct rmcp_request *request,
                              const struct rmcp_depthwise_way *way)
{
    enum { FEW = 8 };
    const struct rmcp_convolution *conv = request->problem;
    double compute = 0, launches = 0;
    for (int64_t phase = 0; phase < rmcp_depthwise_phases(conv, way); phase++) {
        struct rmcp_depthwise p;
        if (!rmcp_depthwise_init(&p, conv, way, phase)) continue;
        compute += compute_seconds(request, way, (double)rmcp_depthwise_items(&p, conv));
        launches++;
    }
    /* Strided data gradients store far apart. */
    const double stride = (double)conv->stride[2];
    const double apart =
        conv->pass == RMCP_CONV_BACKWARD_DATA && stride > 1
            ? rmcp_figure(request->caps, RMCP_FIGURE_DEPTHWISE_APART) * stride * stride
            : 1;
    /* Channels last, and few: neighbours are pixels whose errors lie as far apart as there are. */
    const bool scattered =
        conv->layout == RMCP_NHWC && conv->pass == RMCP_CONV_BACKWARD_DATA && conv->c < FEW;
    if (scattered)
        compute *=
            1 + (double)conv->group_k * rmcp_figure(request->caps, RMCP_FIGURE_DEPTHWISE_SCATTERED);
    return fmax(compute, fmax(apart, 1) * rmcp_traffic_seconds(conv, request->caps)) +
           launches * (way->waiting + request->caps->launch_seconds);
}

static rmcp_status emit_outputs(const struct rmcp_request *request,
                                const struct rmcp_depthwise_way *way, struct rmcp_depthwise *p,
                                struct rmcp_launch_list *list)
{
    const struct rmcp_convolution *conv = request->problem;
    const int64_t items = rmcp_depthwise_items(p, conv);
    const int64_t busy = (int64_t)request->caps->compute_units * way->threads * 8;
    const int64_t most =
        rmcp_launch_quota(items, busy, compute_seconds(request, way, (double)items));
    const int64_t quota = rmcp_ceil_divide(most, way->threads) * way->threads;
    for (int64_t first = 0; first < items; first += quota) {
        p->first = (unsigned)first;
        p->count = (unsigned)(items - first < quota ? items - first : quota);
        struct rmcp_kernel_launch *launch = NULL;
        rmcp_status status =
            rmcp_kernel_append(list, way->stem, conv->type, way->variant, p->count, &launch);
        if (status) return status;
        rmcp_kernel_tensors(launch, conv, rmcp_conv_output_slot(conv));
        rmcp_arg_value(launch, p, sizeof *p);
    }
    return RMCP_OK;
}

/* ---- weight gradients ---- */

/* Workgroups come in rounds; in each they wait for the loads of every turn, and for each other when
 * they add up. */
static double rounds_seconds(const struct rmcp_request *request,
                             const struct rmcp_depthwise_way *way,
                             const struct rmcp_depthwise_slices *s)
{
    const double level = rmcp_figure(request->caps, RMCP_FIGURE_DEPTHWISE_LEVEL);
    const double at_once = (double)(request->caps->compute_units * way->at_once);
    const double rounds = ceil((double)s->groups / fmax(at_once, 1));
    return rounds * ((double)s->turns * way->waiting + (double)s->levels * level);
}

static uint64_t parts_bytes(const struct rmcp_depthwise_slices *s)
{
    return s->slices > 1 ? (uint64_t)s->slices * s->sums.part * sizeof(float) : 0;
}

/* Fill in `sums`, the seconds and the workspace. */
static void consider_sums(const struct rmcp_request *request, const struct rmcp_depthwise *p,
                          struct depthwise *d, struct rmcp_way *way)
{
    const struct rmcp_convolution *conv = request->problem;
    const struct rmcp_caps *caps = request->caps;
    const struct rmcp_depthwise_slices s = d->sums = rmcp_depthwise_slice(request, &d->kernel, p);
    const double items = (double)rmcp_depthwise_items(p, conv) * s.sums.chunks.divisor;
    d->work_seconds = compute_seconds(request, &d->kernel, items);
    const double compute =
        d->work_seconds +
        instruction_seconds(request, (double)(s.groups * d->kernel.threads) * d->kernel.setup);
    way->seconds = hypot(fmax(compute, rmcp_traffic_seconds(conv, caps)),
                         rounds_seconds(request, &d->kernel, &s)) +
                   caps->launch_seconds;
    if (s.slices > 1)
        way->seconds += caps->launch_seconds +
                        2 * sizeof(float) * (double)s.slices * s.sums.part / caps->bytes_per_second;
    way->workspace_bytes = parts_bytes(&s);
}

static rmcp_status emit_finish(const struct rmcp_convolution *conv, int64_t parts,
                               struct rmcp_launch_list *list)
{
    enum { THREADS = 256, OUTPUTS = 8 }; /* of depthwise_finish.cl */
    const struct rmcp_depthwise_finish f = { (unsigned)conv->w_elements, (unsigned)parts };
    const int64_t groups = rmcp_ceil_divide(conv->w_elements, OUTPUTS);
    struct rmcp_kernel_launch *launch = NULL;
    rmcp_status status =
        rmcp_kernel_append(list, "depthwise_finish", conv->type, "", groups * THREADS, &launch);
    if (status) return status;
    rmcp_arg_memory(launch, RMCP_SLOT_WORKSPACE, 0);
    rmcp_arg_memory(launch, RMCP_CONV_W, 0);
    rmcp_arg_value(launch, &f, sizeof f);
    return RMCP_OK;
}

static rmcp_status emit_sums(const struct rmcp_request *request, const struct depthwise *d,
                             struct rmcp_depthwise *p, struct rmcp_launch_list *list)
{
    const struct rmcp_convolution *conv = request->problem;
    const struct rmcp_depthwise_slices *s = &d->sums;
    const int64_t busy = (int64_t)request->caps->compute_units * 4;
    const int64_t quota = rmcp_launch_quota(s->groups, busy, d->work_seconds);
    for (int64_t first = 0; first < s->groups; first += quota) {
        p->first = (unsigned)first;
        p->count = (unsigned)(s->groups - first < quota ? s->groups - first : quota);
        struct rmcp_kernel_launch *launch = NULL;
        rmcp_status status = rmcp_kernel_append(list, d->kernel.stem, conv->type, d->kernel.variant,
                                                p->count * d->kernel.threads, &launch);
        if (status) return status;
        rmcp_kernel_tensors(launch, conv, s->slices > 1 ? RMCP_SLOT_WORKSPACE : RMCP_CONV_W);
        rmcp_arg_value(launch, p, sizeof *p);
        rmcp_arg_value(launch, &s->sums, sizeof s->sums);
    }
    return s->slices > 1 ? emit_finish(conv, s->slices, list) : RMCP_OK;
}

/* ---- all passes ---- */

static rmcp_status consider(const struct rmcp_request *request, struct rmcp_way *way)
{
    const struct rmcp_convolution *conv = request->problem;
    const char *reason = refusal_of(request);
    if (reason) return rmcp_refuse(way, reason);
    struct depthwise *d = RMCP_CONV_WAY(way, struct depthwise);
    struct rmcp_depthwise p;
    d->kernel = rmcp_depthwise_choose(request);
    const bool any = rmcp_depthwise_init(&p, conv, &d->kernel, 0);
    if (any && rmcp_depthwise_items(&p, conv) > INT32_MAX / 2)
        return rmcp_refuse(way, "the work-items do not fit in 30 bits");
    if (conv->pass != RMCP_CONV_BACKWARD_WEIGHTS)
        way->seconds = outputs_seconds(request, &d->kernel);
    else if (any)
        consider_sums(request, &p, d, way);
    return RMCP_OK;
}

static rmcp_status emit(const struct rmcp_request *request, const struct rmcp_way *way,
                        struct rmcp_launch_list *list)
{
    const struct rmcp_convolution *conv = request->problem;
    const struct depthwise *d = RMCP_CONV_WAY_CONST(way, struct depthwise);
    rmcp_status status = RMCP_OK;
    for (int64_t phase = 0; phase < rmcp_depthwise_phases(conv, &d->kernel) && !status; phase++) {
        struct rmcp_depthwise p;
        if (!rmcp_depthwise_init(&p, conv, &d->kernel, phase)) continue;
        status = conv->pass == RMCP_CONV_BACKWARD_WEIGHTS
                     ? emit_sums(request, d, &p, list)
                     : emit_outputs(request, &d->kernel, &p, list);
    }
    return status;
}

const struct rmcp_algo rmcp_algo_conv_depthwise = {
    .name = "depthwise",
    .version = 3,
    .kind = RMCP_LAUNCH_KERNEL,
    .consider = consider,
    .emit = emit,
};
