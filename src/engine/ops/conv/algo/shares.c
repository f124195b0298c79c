/* shares: products of 1x1 filters whose workgroups add up all of a sum themselves
 * (engine/ops/conv/kernels/shares.cl): forward and backward data in tiles of 49 columns, which
 * planes of 7 x 7, 14 x 14 and the like fill, and weight gradients of one image; a long sum needs
 * no second launch. */
#include "base/round.h"
#include "engine/figures/figures.h"
#include "engine/ops/conv/conv.h"
#include "engine/ops/conv/gpu/shape.h"
#include "engine/ops/conv/kernels/shares_args.h"

#include <math.h>
#include <stdio.h>

enum {
    COLUMNS = RMCP_SHARES_COLUMNS,
    LEAST_SLICES = 32,
    LEAST_THREADS = 256,
    MOST_BYTES = 48 << 10
};

/* Rows and shares of the kernel, and what it takes. */
struct tile {
    const char *name;
    int64_t rows, columns, shares, own; /* own: slices of a share in one turn */
    enum rmcp_figure at_once, efficiency, preamble, stall, first, traffic;
};
#define FIGURES(tile)                                                                              \
    RMCP_FIGURE_SHARES_##tile##_AT_ONCE, RMCP_FIGURE_SHARES_##tile##_EFFICIENCY,                   \
        RMCP_FIGURE_SHARES_##tile##_PREAMBLE, RMCP_FIGURE_SHARES_##tile##_STALL,                   \
        RMCP_FIGURE_SHARES_##tile##_FIRST, RMCP_FIGURE_SHARES_##tile##_TRAFFIC
static const struct tile pixel_tiles[] = {
    { "64x49x8", 64, 49, 8, 4, FIGURES(64X49X8) },    { "64x49x4", 64, 49, 4, 8, FIGURES(64X49X4) },
    { "32x49x16", 32, 49, 16, 4, FIGURES(32X49X16) }, { "32x49x8", 32, 49, 8, 4, FIGURES(32X49X8) },
    { "16x49x16", 16, 49, 16, 4, FIGURES(16X49X16) },
};
static const struct tile weight_tiles[] = {
    { "64x64x8", 64, 64, 8, 4, FIGURES(64X64X8) },
    { "64x64x4", 64, 64, 4, 8, FIGURES(64X64X4) },
    { "32x32x16", 32, 32, 16, 4, FIGURES(32X32X16) },
};
#undef FIGURES

static bool makes_weights(const struct rmcp_convolution *conv)
{
    return conv->pass == RMCP_CONV_BACKWARD_WEIGHTS;
}

static int64_t slices_of(const struct tile *tile)
{
    return tile->shares * tile->own;
}

static int64_t threads_of(const struct tile *tile)
{
    return tile->rows / 8 * ((tile->columns + 7) / 8) * tile->shares;
}

static int64_t pixels_of(const struct rmcp_convolution *conv)
{
    return conv->output[0] * conv->output[1] * conv->output[2];
}

static const char *refusal_of(const struct rmcp_request *request)
{
    const struct rmcp_convolution *conv = request->problem;
    for (int i = 0; i < RMCP_MAX_DIMS; i++) {
        if (conv->filter[i] != 1 || conv->pad_begin[i] || conv->pad_end[i])
            return "not 1x1 without padding";
        if (conv->stride[i] != 1 && conv->pass != RMCP_CONV_FORWARD)
            return "a gradient with strides";
    }
    if (conv->layout != RMCP_NCHW) return "channels last";
    if (conv->groups > 1) return "groups > 1";
    if (makes_weights(conv)) {
        if (conv->n > 1) return "weight gradients of several images";
        if (pixels_of(conv) % 4) return "pixels are no multiple of 4";
    } else {
        if (conv->c % 4 || conv->k % 4) return "channels are no multiple of 4";
        if ((conv->pass == RMCP_CONV_FORWARD ? conv->c : conv->k) % LEAST_SLICES)
            return "the sum is no multiple of 32";
    }
    if (request->caps->local_bytes < MOST_BYTES || request->caps->max_block < LEAST_THREADS)
        return "too little local memory, or too small workgroups";
    return rmcp_gemm_refuse(conv);
}

/* The product of a and the gathered b, but for what follows from the tile. */
static struct rmcp_shares arguments_of(const struct rmcp_convolution *conv)
{
    const bool data = conv->pass == RMCP_CONV_BACKWARD_DATA;
    const struct rmcp_strides *w = &conv->w, *x = &conv->x, *y = &conv->y, *b = data ? y : x,
                              *out = data ? x : y;
    const int64_t *stride = conv->stride, *size = conv->output;
    if (makes_weights(conv))
        return (struct rmcp_shares){
            .a_row = (unsigned)y->inner,
            .a_inner = (unsigned)y->space[2],
            .b_inner = (unsigned)x->space[2],
            .out_row = (unsigned)w->outer,
            .rows = (unsigned)conv->k,
            .columns = (unsigned)conv->c,
            .inner = (unsigned)pixels_of(conv),
            .b_digit[2] = (unsigned)x->inner,
            .out_digit[2] = (unsigned)w->inner,
        };
    struct rmcp_shares g = {
        .a_row = (unsigned)(data ? w->inner : w->outer),
        .a_inner = (unsigned)(data ? w->outer : w->inner),
        .b_inner = (unsigned)b->inner,
        .out_row = (unsigned)out->inner,
        .rows = (unsigned)(data ? conv->c : conv->k),
        .columns = (unsigned)(conv->n * pixels_of(conv)),
        .inner = (unsigned)(data ? conv->k : conv->c),
        .strided = stride[0] * stride[1] * stride[2] > 1,
        .epilogue = rmcp_epilogue_of(conv),
    };
    for (int i = 0; i < 3; i++) {
        const int d = g.strided ? 2 - i : 2; /* w first */
        g.size[i] = rmcp_divider_of(g.strided ? size[d] : pixels_of(conv));
        g.b_digit[i] = (unsigned)(stride[d] * b->space[d]);
        g.out_digit[i] = (unsigned)out->space[d];
    }
    g.b_digit[3] = (unsigned)b->outer;
    g.out_digit[3] = (unsigned)out->outer;
    return g;
}

static int64_t workgroups_of(const struct rmcp_shares *g, const struct tile *tile)
{
    return rmcp_ceil_divide(g->rows, tile->rows) * rmcp_ceil_divide(g->columns, tile->columns);
}

/* As of gemm.cl where compute units work in pairs (gemm_cost.c). Large tiles gain more from many
 * workgroups a pair than their estimates say. */
static double seconds_of(const struct rmcp_request *request, const struct rmcp_shares *g,
                         const struct tile *tile)
{
    enum { SIMDS = 4, LANES = 32 };
    const struct rmcp_caps *caps = request->caps;
    const double units = caps->compute_units ? caps->compute_units : 1;
    const double clock = caps->flops_per_second / (2 * 64 * units), pairs = fmax(1, units / 2);
    const double each = ceil((double)workgroups_of(g, tile) / pairs);
    const double turns = ceil((double)g->inner / (double)slices_of(tile));
    const double turn = (double)(8 * (tile->columns == COLUMNS ? 7 : 8) * tile->own);
    const double waves = each * (double)threads_of(tile) / (SIMDS * LANES);
    const double busy = waves * (turns * turn + rmcp_figure(caps, tile->preamble)) /
                        rmcp_figure(caps, tile->efficiency) / clock;
    const double alone =
        ceil(each / rmcp_figure(caps, tile->at_once)) *
        (turns * (turn + rmcp_figure(caps, tile->stall)) + rmcp_figure(caps, tile->first)) / clock;
    const double traffic =
        rmcp_figure(caps, tile->traffic) * rmcp_traffic_seconds(request->problem, caps);
    const double all = sqrt(hypot(hypot(busy * busy, alone * alone), traffic * traffic));
    const bool many = each > rmcp_figure(caps, RMCP_FIGURE_SHARES_MANY);
    return (many ? rmcp_figure(caps, RMCP_FIGURE_SHARES_CROWD) : 1) * all + caps->launch_seconds;
}

static const struct tile *choose(const struct rmcp_request *request, const struct rmcp_shares *g,
                                 double *seconds)
{
    const bool weights = makes_weights(request->problem);
    const struct tile *const tiles = weights ? weight_tiles : pixel_tiles, *best = NULL;
    const size_t n = weights ? sizeof weight_tiles / sizeof *weight_tiles
                             : sizeof pixel_tiles / sizeof *pixel_tiles;
    for (size_t i = 0; i < n; i++) {
        if (threads_of(&tiles[i]) > request->caps->max_block) continue;
        if (!weights && g->inner % slices_of(&tiles[i])) continue;
        const double one = seconds_of(request, g, &tiles[i]);
        if (!best || one < *seconds) best = &tiles[i], *seconds = one;
    }
    *seconds += rmcp_figure(request->caps, RMCP_FIGURE_SHARES_UNKNOWN);
    return best;
}

/* What is to be done, and the kernel. */
struct work {
    struct rmcp_shares arguments; /* but for what follows from the tile */
    const struct tile *tile;
};

static rmcp_status consider(const struct rmcp_request *request, struct rmcp_way *way)
{
    const char *reason = refusal_of(request);
    if (reason) return rmcp_refuse(way, reason);
    struct work *work = RMCP_CONV_WAY(way, struct work);
    work->arguments = arguments_of(request->problem);
    work->tile = choose(request, &work->arguments, &way->seconds);
    return RMCP_OK;
}

static rmcp_status emit(const struct rmcp_request *request, const struct rmcp_way *way,
                        struct rmcp_launch_list *list)
{
    const struct rmcp_convolution *conv = request->problem;
    const struct work *work = RMCP_CONV_WAY_CONST(way, struct work);
    const struct tile *tile = work->tile;
    struct rmcp_shares g = work->arguments;
    const int64_t n = workgroups_of(&g, tile);
    const int64_t quota = rmcp_launch_quota(n, request->caps->compute_units,
                                            conv->flops / request->caps->flops_per_second * 4);
    g.row_tiles = rmcp_divider_of(rmcp_ceil_divide(g.rows, tile->rows));
    char variant[32];
    snprintf(variant, sizeof variant, "_%s_%s", tile->name,
             makes_weights(conv)                     ? "weights"
             : conv->pass == RMCP_CONV_BACKWARD_DATA ? "row"
                                                     : "sum");
    for (int64_t first = 0; first < n; first += quota) {
        const int64_t count = n - first < quota ? n - first : quota;
        struct rmcp_kernel_launch *launch = NULL;
        rmcp_status status = rmcp_kernel_append(list, "shares", conv->type, variant,
                                                count * threads_of(tile), &launch);
        if (status) return status;
        g.first_tile = (unsigned)first;
        rmcp_kernel_tensors(launch, conv, rmcp_conv_output_slot(conv));
        rmcp_arg_value(launch, &g, sizeof g);
    }
    return RMCP_OK;
}

const struct rmcp_algo rmcp_algo_conv_shares = {
    .name = "shares",
    .version = 1,
    .kind = RMCP_LAUNCH_KERNEL,
    .consider = consider,
    .emit = emit,
};
