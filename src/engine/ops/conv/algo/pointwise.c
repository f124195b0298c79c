/* pointwise: 1x1 filters with few products, such as those on a single pixel: a kernel with hardly
 * any index work, where a tile would decode indices for longer than it computes. */
#include "base/round.h"
#include "engine/figures/figures.h"
#include "engine/ops/conv/conv.h"
#include "engine/ops/conv/gpu/shape.h"
#include "engine/ops/conv/kernels/pointwise_args.h"

#include <math.h>

enum {
    THREADS = RMCP_POINTWISE_THREADS,
    ROWS = RMCP_POINTWISE_ROWS,
    AHEAD = RMCP_POINTWISE_AHEAD,
    LEVELS = RMCP_POINTWISE_LEVELS,
};
static const double most_products = 1 << 28; /* tiles are faster long before, and it stays short */

/* ---- arguments ---- */

static void set_digit(struct rmcp_pointwise *g, int digit, int64_t size, int64_t b, int64_t out)
{
    if (digit < 3) g->size[digit] = rmcp_divider_of(size);
    g->b_digit[digit] = (unsigned)b;
    g->out_digit[digit] = (unsigned)out;
}

/* Columns are the pixels of what is written: of all dimensions in one where none has a stride, and
 * of all images where each has but one. */
static void set_pixels(struct rmcp_pointwise *g, const struct rmcp_convolution *conv,
                       const struct rmcp_strides *b, const struct rmcp_strides *out)
{
    const int64_t *stride = conv->stride, *size = conv->output;
    const bool plain = stride[0] * stride[1] * stride[2] == 1;
    const int64_t pixels = size[0] * size[1] * size[2];
    for (int i = 0; i < 3; i++) {
        const int d = 2 - i; /* w first */
        const int64_t all = i ? 1 : pixels;
        set_digit(g, i, plain ? all : size[d], stride[d] * b->space[d], out->space[d]);
    }
    set_digit(g, 3, conv->n, b->outer, out->outer);
    if (pixels == 1) set_digit(g, 0, conv->n, b->outer, out->outer);
    g->columns = rmcp_divider_of(conv->n * pixels);
}

/* Everything but the shares. */
static struct rmcp_pointwise arguments_of(const struct rmcp_convolution *conv)
{
    const struct rmcp_strides *x = &conv->x, *w = &conv->w, *y = &conv->y;
    const bool data = conv->pass == RMCP_CONV_BACKWARD_DATA;
    struct rmcp_pointwise g = { .outer = 1, .epilogue = rmcp_epilogue_of(conv) };
    if (conv->pass != RMCP_CONV_BACKWARD_WEIGHTS) {
        g.rows = (unsigned)(data ? conv->c : conv->k);
        g.inner = (unsigned)(data ? conv->k : conv->c);
        g.a_row = (unsigned)(data ? w->inner : w->outer);
        g.a_inner = (unsigned)(data ? w->outer : w->inner);
        g.b_inner = (unsigned)(data ? y->inner : x->inner);
        g.out_row = (unsigned)(data ? x->inner : y->inner);
        set_pixels(&g, conv, data ? y : x, data ? x : y);
        return g;
    }
    /* Where pixels follow each other from image to image, or there is but one, they are one sum. */
    const int64_t pixels = conv->output[0] * conv->output[1] * conv->output[2];
    const bool one = conv->layout == RMCP_NHWC || pixels == 1;
    const bool by_image = pixels == 1;
    g.rows = (unsigned)conv->k;
    g.outer = (unsigned)(one ? 1 : conv->n);
    g.inner = (unsigned)(one ? conv->n * pixels : pixels);
    g.a_row = (unsigned)y->inner;
    g.a_outer = (unsigned)y->outer;
    g.b_outer = (unsigned)x->outer;
    g.a_inner = (unsigned)(by_image ? y->outer : y->space[2]);
    g.b_inner = (unsigned)(by_image ? x->outer : x->space[2]);
    g.out_row = (unsigned)w->outer;
    set_digit(&g, 0, conv->c, x->inner, w->inner);
    set_digit(&g, 1, 1, 0, 0);
    set_digit(&g, 2, 1, 0, 0);
    g.columns = rmcp_divider_of(conv->c);
    return g;
}

/* ---- estimates ---- */

/* A workgroup with few columns takes little of each line that it reads, and the caches between do
 * not hold what others would take: the second level serves whole lines. Known where it was
 * modelled.
 */
static double lines_seconds(const struct rmcp_request *request, const struct rmcp_pointwise *g,
                            unsigned shift)
{
    enum { LINE = 128 };
    const struct rmcp_caps *caps = request->caps;
    const int64_t items = THREADS >> shift, size = sizeof(float);
    if (g->fast || !rmcp_figure_known(caps, RMCP_FIGURE_POINTWISE_LINES)) return 0;
    const int64_t lines =
        rmcp_ceil_divide(items * size, LINE) + ((int64_t)g->a_inner * size >= LINE);
    return (double)(rmcp_ceil_divide(g->count, items) * g->outer * g->inner * lines * LINE) /
           (rmcp_figure(caps, RMCP_FIGURE_POINTWISE_LINES) * caps->bytes_per_second);
}

/* Work-items issue five loads, their addresses and four FMAs a step, which take longer where
 * neighbours share a sum and so read other rows. And they wait: for each step, each turn of the
 * loop and each halving of the shares. */
static double seconds_of(const struct rmcp_request *request, const struct rmcp_pointwise *g,
                         unsigned shift)
{
    const struct rmcp_caps *caps = request->caps;
    const double turn = rmcp_figure(caps, RMCP_FIGURE_POINTWISE_TURN_WAIT);
    const double step = rmcp_figure(caps, RMCP_FIGURE_POINTWISE_STEP_WAIT);
    const double halving = rmcp_figure(caps, RMCP_FIGURE_POINTWISE_HALVING);
    const double efficiency = rmcp_figure(caps, RMCP_FIGURE_POINTWISE_EFFICIENCY);
    const double instructions =
        rmcp_figure(caps, g->fast ? RMCP_FIGURE_POINTWISE_STEP_FAST : RMCP_FIGURE_POINTWISE_STEP);
    const int64_t turns = g->outer * rmcp_ceil_divide(g->inner, (int64_t)AHEAD << shift);
    const int64_t steps = g->outer * rmcp_ceil_divide(g->inner, INT64_C(1) << shift);
    const double each =
        rmcp_figure(caps, RMCP_FIGURE_POINTWISE_BASE) + (double)(turns * AHEAD) * instructions;
    const double busy =
        (double)((int64_t)g->count << shift) * each / (efficiency * caps->flops_per_second / 2);
    const double waiting = (double)turns * turn + (double)steps * step + shift * halving;
    const double faster = g->fast ? rmcp_figure(caps, RMCP_FIGURE_POINTWISE_FAST) : 1;
    return faster * hypot(hypot(busy, waiting), lines_seconds(request, g, shift));
}

/* The number of shares that is estimated to be the fastest. Where neighbours have neighbouring
 * columns, eight of them at least: they read a sector of memory. Returns the seconds. */
static double choose(const struct rmcp_request *request, struct rmcp_pointwise *g)
{
    *g = arguments_of(request->problem);
    g->count = (unsigned)(rmcp_ceil_divide(g->rows, ROWS) * g->columns.divisor);
    g->fast = g->b_inner == 1 && g->b_digit[0] != 1;
    double seconds = seconds_of(request, g, 0);
    const unsigned most = g->fast ? LEVELS : LEVELS - 3;
    for (unsigned shift = 1; shift <= most && (g->inner - 1) >> shift; shift++) {
        const double shared = seconds_of(request, g, shift);
        if (shared < seconds) g->shift = shift, seconds = shared;
    }
    return seconds;
}

/* Of data gradients of single pixels neighbours read a few weights in each of many rows. */
static double scattered_seconds(const struct rmcp_request *request)
{
    const struct rmcp_convolution *conv = request->problem;
    const int64_t pixels = conv->output[0] * conv->output[1] * conv->output[2];
    if (conv->pass != RMCP_CONV_BACKWARD_DATA || pixels > 1) return 0;
    return rmcp_figure(request->caps, RMCP_FIGURE_POINTWISE_SCATTERED) *
           (double)rmcp_conv_elements(conv, RMCP_CONV_W) * sizeof(float) /
           request->caps->bytes_per_second;
}

static rmcp_status consider(const struct rmcp_request *request, struct rmcp_way *way)
{
    const struct rmcp_convolution *conv = request->problem;
    for (int i = 0; i < RMCP_MAX_DIMS; i++) {
        if (conv->filter[i] != 1 || conv->pad_begin[i] || conv->pad_end[i])
            return rmcp_refuse(way, "not 1x1 without padding");
        if (conv->stride[i] != 1 && conv->pass != RMCP_CONV_FORWARD)
            return rmcp_refuse(way, "a gradient with strides");
    }
    if (conv->groups > 1) return rmcp_refuse(way, "groups > 1");
    if (conv->flops / 2 > most_products) return rmcp_refuse(way, "more than 2^28 products");
    const char *reason = rmcp_gemm_refuse(conv);
    if (reason) return rmcp_refuse(way, reason);

    const double seconds = choose(request, RMCP_CONV_WAY(way, struct rmcp_pointwise));
    way->seconds = fmax(seconds, rmcp_traffic_seconds(conv, request->caps)) +
                   scattered_seconds(request) + request->caps->launch_seconds;
    return RMCP_OK;
}

/* ---- the launch ---- */

static rmcp_status emit(const struct rmcp_request *request, const struct rmcp_way *way,
                        struct rmcp_launch_list *list)
{
    const struct rmcp_convolution *conv = request->problem;
    const struct rmcp_pointwise *g = RMCP_CONV_WAY_CONST(way, struct rmcp_pointwise);
    const int64_t groups = rmcp_ceil_divide(g->count, THREADS >> g->shift);
    struct rmcp_kernel_launch *launch = NULL;
    rmcp_status status =
        rmcp_kernel_append(list, "pointwise", conv->type, "", groups * THREADS, &launch);
    if (status) return status;
    rmcp_kernel_tensors(launch, conv, rmcp_conv_output_slot(conv));
    rmcp_arg_value(launch, g, sizeof *g);
    return RMCP_OK;
}

const struct rmcp_algo rmcp_algo_conv_pointwise = {
    .name = "pointwise",
    .version = 1,
    .kind = RMCP_LAUNCH_KERNEL,
    .consider = consider,
    .emit = emit,
};
