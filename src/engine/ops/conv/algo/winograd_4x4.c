/* winograd_4x4: 3x3 and 5x5 filters with stride 1 through F(4x4, 3x3) and F(4x4, 5x5), weight
 * gradients through F(3x3, 4x4) and F(5x5, 4x4): 4 and 6.25 times fewer multiplications, for
 * problems with enough channels to pay for the transforms' traffic. Tiles, filters and sums stand
 * in the workspace, a stretch of the tiles at a time. */
#include "base/round.h"
#include "engine/figures/figures.h"
#include "engine/ops/conv/conv.h"
#include "engine/ops/conv/gpu/shape.h"
#include "engine/ops/conv/kernels/winograd.h"

#include <math.h>
#include <stdio.h>

enum {
    SLICES = RMCP_PRODUCT_SLICES,
    MOST_SPLITS = 32,
    LEAST_TERMS = 32,
    ROUND = 128, /* tiles of a stretch are a multiple of it */
    MOST_GROUPS = 4,
};

static const double most_bytes =
    128 << 20; /* of tiles in the workspace, if a stretch may be so small */

/* Sides of product.cl's tiles; the share of peak that its inner loop reaches, on the scale of
 * gpu/gemm.c; workgroups that a compute unit has at once, and how few of them take as long as
 * fewer. */
static const struct side {
    int64_t side;
    enum rmcp_figure efficiency, at_once, least;
} sides[] = {
    { 128, RMCP_FIGURE_WINOGRAD_4X4_128_EFFICIENCY, RMCP_FIGURE_WINOGRAD_4X4_128_AT_ONCE,
      RMCP_FIGURE_WINOGRAD_4X4_128_LEAST },
    { 64, RMCP_FIGURE_WINOGRAD_4X4_64_EFFICIENCY, RMCP_FIGURE_WINOGRAD_4X4_64_AT_ONCE,
      RMCP_FIGURE_WINOGRAD_4X4_64_LEAST },
};
enum { N_SIDES = sizeof sides / sizeof *sides };

/* How a problem is cut. Rows and channels are those of the filters: rows are made, channels are
 * read; in weight gradients both are made, and tiles are summed. */
struct cut {
    const struct side *side;
    int64_t rows, channels;       /* padded                                */
    int64_t across, down, tiles;  /* of all images                         */
    int64_t stretch, stretches;   /* tiles of one, padded; how many        */
    int64_t splits;               /* of the sum in a weight gradient       */
    uint64_t filters, read, made; /* bytes in the workspace: filters or errors, tiles, sums */
    double product_seconds;       /* of the products of one stretch          */
    double seconds;
};

static int64_t round_up(int64_t a, int64_t unit)
{
    return rmcp_ceil_divide(a, unit) * unit;
}

static bool makes_weights(const struct rmcp_convolution *conv)
{
    return conv->pass == RMCP_CONV_BACKWARD_WEIGHTS;
}

static bool is_data(const struct rmcp_convolution *conv)
{
    return conv->pass == RMCP_CONV_BACKWARD_DATA;
}

/* The size of a filter; how many positions a tile of 4 x 4 outputs has with it. */
static int64_t taps_of(const struct rmcp_convolution *conv)
{
    return conv->filter[1];
}

static int64_t positions_of(const struct rmcp_convolution *conv)
{
    return (taps_of(conv) + 3) * (taps_of(conv) + 3);
}

/* ---- estimates ---- */

/* One product for each position, `rows` x `columns` with a sum of `length` for each split. However
 * few they are, each waits for its slices. */
static double product_seconds(const struct rmcp_request *request, const struct side *side,
                              int64_t rows, int64_t columns, int64_t length, int64_t splits)
{
    const struct rmcp_caps *caps = request->caps;
    const double turn = rmcp_figure(caps, RMCP_FIGURE_WINOGRAD_4X4_TURN);
    const double preamble = rmcp_figure(caps, RMCP_FIGURE_WINOGRAD_4X4_PREAMBLE);
    const int64_t at_once = (int64_t)rmcp_figure(caps, side->at_once);
    const int64_t least = (int64_t)rmcp_figure(caps, side->least);
    const int64_t units = caps->compute_units ? caps->compute_units : 1;
    const int64_t groups =
        positions_of(request->problem) * splits * (rows / side->side) * (columns / side->side);
    const int64_t rounds = groups / (units * at_once);
    int64_t rest = rmcp_ceil_divide(groups - rounds * units * at_once, units);
    if (rest && rest < least) rest = least;
    const double flops = 2.0 * (double)(side->side * side->side) * ((double)length + preamble);
    const double busy = (double)((rounds * at_once + rest) * units) * flops /
                        (caps->flops_per_second * rmcp_figure(caps, side->efficiency));
    return hypot(busy, (double)(length / SLICES) * turn); /* each hides some of the other */
}

static double product_seconds_of(const struct rmcp_request *request, const struct cut *w)
{
    if (makes_weights(request->problem))
        return product_seconds(request, w->side, w->rows, w->channels,
                               round_up(rmcp_ceil_divide(w->stretch, w->splits), SLICES),
                               w->splits);
    return product_seconds(request, w->side, w->rows, w->stretch, w->channels, 1);
}

static double cut_seconds(const struct rmcp_request *request, const struct cut *w)
{
    const struct rmcp_convolution *conv = request->problem;
    const struct rmcp_caps *caps = request->caps;
    const bool weights = makes_weights(conv);
    const double stretches = (double)w->stretches;
    /* Written by a transform and read by the product, or the other way round; the whole of `made`
     * is read and written for each stretch of a gradient. Caches serve about half of it, but
     * gradients take longer than their bytes. */
    const double moved = 2 * ((double)w->read + (double)w->made) * stretches +
                         (double)w->filters * (weights ? 2 * stretches : 2);
    const double again = rmcp_figure(caps, weights ? RMCP_FIGURE_WINOGRAD_4X4_AGAIN_WEIGHTS
                                                   : RMCP_FIGURE_WINOGRAD_4X4_AGAIN);
    const double each = w->product_seconds * stretches + moved * again / caps->bytes_per_second +
                        (3 * stretches + 1) * caps->launch_seconds;
    return (double)conv->groups * each + rmcp_traffic_seconds(conv, caps);
}

static struct cut cut_of(const struct rmcp_request *request, const struct side *side,
                         int64_t splits)
{
    const struct rmcp_convolution *conv = request->problem;
    const bool weights = makes_weights(conv);
    const int64_t *output = is_data(conv) ? conv->input : conv->output;
    struct cut w = {
        .side = side,
        .rows = round_up(is_data(conv) ? conv->group_c : conv->group_k, side->side),
        .channels =
            round_up(is_data(conv) ? conv->group_k : conv->group_c, weights ? side->side : SLICES),
        .across = rmcp_ceil_divide(output[2], 4),
        .down = rmcp_ceil_divide(output[1], 4),
        .splits = splits,
    };
    w.tiles = conv->n * w.across * w.down;
    const uint64_t bytes = (uint64_t)positions_of(conv) * sizeof(float);
    const double tile_bytes = (double)(w.rows + w.channels) * (double)bytes;
    int64_t most = (int64_t)(most_bytes / tile_bytes) / ROUND * ROUND;
    if (most < ROUND) most = ROUND;
    w.stretches = rmcp_ceil_divide(w.tiles, most);
    w.stretch = round_up(rmcp_ceil_divide(w.tiles, w.stretches), weights ? SLICES : side->side);
    w.stretches = rmcp_ceil_divide(w.tiles, w.stretch);
    const uint64_t by_rows = (uint64_t)(w.rows * w.stretch) * bytes;
    const uint64_t by_both = (uint64_t)(w.rows * w.channels) * bytes;
    w.read = (uint64_t)(w.channels * w.stretch) * bytes;
    w.filters = weights ? by_rows : by_both;
    w.made = weights ? by_both * (uint64_t)splits : by_rows;
    w.product_seconds = product_seconds_of(request, &w);
    w.seconds = cut_seconds(request, &w);
    return w;
}

static struct cut choose(const struct rmcp_request *request)
{
    struct cut best = { .seconds = 0 };
    for (int i = 0; i < N_SIDES; i++) {
        const struct cut whole = cut_of(request, &sides[i], 1);
        const int64_t slices = whole.stretch / SLICES;
        if (!i || whole.seconds < best.seconds) best = whole;
        if (!makes_weights(request->problem)) continue;
        for (int64_t splits = 2; splits <= MOST_SPLITS && splits * 8 <= slices + 7; splits++) {
            /* Only as many as have something to add up. */
            if (rmcp_ceil_divide(slices, rmcp_ceil_divide(slices, splits)) != splits) continue;
            const struct cut cut = cut_of(request, &sides[i], splits);
            if (cut.seconds < best.seconds) best = cut;
        }
    }
    return best;
}

/* ---- what it can do ---- */

/* The fewest terms along one dimension: taps of an output, or outputs that a tap meets. */
static int64_t least_in(const struct rmcp_convolution *conv, int i)
{
    const int64_t input = conv->input[i], output = conv->output[i], pad = conv->pad_begin[i];
    const int64_t taps = taps_of(conv);
    int64_t least = INT64_MAX;
    for (int64_t at = 0; at < taps; at++) { /* taps; or the first and the last of what is made */
        int64_t first, last, most;          /* of the other: first and last in the tensor */
        if (makes_weights(conv)) {
            first = pad - at, last = input - 1 + pad - at, most = output;
            if (first < 0) first = 0;
            if (last > most - 1) last = most - 1;
            if (last - first + 1 < least) least = last - first + 1;
            continue;
        }
        const bool data = is_data(conv);
        const int64_t made = data ? input : output, read = data ? output : input;
        const int64_t before = data ? taps - 1 - pad : pad;
        for (int end = 0; end < 2; end++) {
            const int64_t o = end ? made - 1 - at : at;
            if (o < 0 || o >= made) continue;
            first = before - o, last = read - 1 + before - o;
            if (first < 0) first = 0;
            if (last > taps - 1) last = taps - 1;
            if (last - first + 1 < least) least = last - first + 1;
        }
    }
    return least > 0 ? least : 0;
}

/* Filters or errors, then tiles, then sums; all are multiples of 256 bytes. */
static uint64_t bytes_of(const struct cut *w)
{
    return w->filters + w->read + w->made;
}

static const char *refusal_of(const struct rmcp_request *request)
{
    const struct rmcp_convolution *conv = request->problem;
    if (request->strict) return "spreads NaN and Inf within a tile";
    if (conv->problem.dims != 2) return "2-D only";
    if (conv->groups > MOST_GROUPS) return "more than 4 groups";
    for (int i = 1; i < RMCP_MAX_DIMS; i++) {
        if (conv->filter[i] != 3 && conv->filter[i] != 5) return "3x3 and 5x5 filters only";
        if (conv->filter[i] != taps_of(conv)) return "square filters only";
        if (conv->stride[i] != 1 || conv->dilation[i] != 1) return "stride 1 and dilation 1 only";
    }
    const char *reason = rmcp_gemm_refuse(conv);
    if (reason) return reason;
    /* Errors follow the whole tile, the bound follows one output: with few terms it may be far
     * less, and without any there must be zero. */
    const int64_t channels = makes_weights(conv) ? conv->n
                             : is_data(conv)     ? conv->group_k
                                                 : conv->group_c;
    const int64_t down = least_in(conv, 1), across = least_in(conv, 2), least = down * across;
    if (least == 0 || channels < rmcp_ceil_divide(LEAST_TERMS, least))
        return "some sums have fewer than 32 terms";
    if (makes_weights(conv) && (down < taps_of(conv) || across < taps_of(conv)))
        return "images smaller than a tile";
    if (conv->c > 1 << 20 || conv->k > 1 << 20) return "more than 2^20 channels";
    return NULL;
}

static rmcp_status consider(const struct rmcp_request *request, struct rmcp_way *way)
{
    const uint64_t most = UINT64_C(1) << 32;
    const char *reason = refusal_of(request);
    if (reason) return rmcp_refuse(way, reason);
    struct cut *w = RMCP_CONV_WAY(way, struct cut);
    *w = choose(request);
    if (w->filters >= most || w->read >= most || w->made >= most)
        return rmcp_refuse(way, "the transformed tensors would have 4 GiB or more");
    if (bytes_of(w) > request->caps->max_buffer_bytes)
        return rmcp_refuse(way, "the workspace would exceed the device's largest buffer");
    way->seconds = w->seconds;
    way->workspace_bytes = bytes_of(w);
    return RMCP_OK;
}

/* ---- launches ---- */

/* The end of the names of kernels. */
static const char *size_of(const struct rmcp_convolution *conv)
{
    return taps_of(conv) == 3 ? "_3x3" : "_5x5";
}

/* The tiles of x, y or one of their gradients: `step` pixels make one, of which the tensor's first
 * begins at `first`. */
static struct rmcp_tiles tiles_of(const struct rmcp_convolution *conv, const struct cut *w,
                                  unsigned slot, int64_t padded, const int64_t first[2])
{
    const bool x = slot == RMCP_CONV_X, last = conv->layout == RMCP_NHWC;
    const struct rmcp_strides *s = x ? &conv->x : &conv->y;
    const int64_t *size = x ? conv->input : conv->output;
    return (struct rmcp_tiles){
        .across = rmcp_divider_of(w->across),
        .down = rmcp_divider_of(w->down),
        .fast = rmcp_divider_of(last ? padded : w->stretch),
        .count = (unsigned)(padded * w->stretch),
        .tiles = (unsigned)w->tiles,
        .channels = (unsigned)(x ? conv->group_c : conv->group_k),
        .first_y = (int)first[0],
        .first_x = (int)first[1],
        .height = (unsigned)size[1],
        .width = (unsigned)size[2],
        .image = (unsigned)s->outer,
        .channel = (unsigned)s->inner,
        .y = (unsigned)s->space[1],
        .x = (unsigned)s->space[2],
        .channels_last = last,
        .batch = (unsigned)(padded * w->stretch),
        .epilogue = rmcp_epilogue_of(conv),
    };
}

/* The memory argument of a group's part of a tensor. */
static void add_tensor(struct rmcp_kernel_launch *launch, const struct rmcp_convolution *conv,
                       unsigned slot, int64_t group)
{
    const int64_t elements[] = {
        [RMCP_CONV_X] = conv->group_c * conv->x.inner,
        [RMCP_CONV_W] = conv->group_k * conv->w.outer,
        [RMCP_CONV_Y] = conv->group_k * conv->y.inner,
        [RMCP_CONV_BIAS] = conv->group_k,
    };
    rmcp_arg_memory(launch, slot, (uint64_t)(group * elements[slot]) * rmcp_type_bytes(conv->type));
}

/* Between a tensor and the workspace, which begins at `begin`; outputs are written, others read. */
static rmcp_status emit_tiles(const struct rmcp_convolution *conv, struct rmcp_launch_list *list,
                              const char *kernel, const struct rmcp_tiles *g, unsigned slot,
                              int64_t group, uint64_t begin, bool outputs)
{
    struct rmcp_kernel_launch *launch = NULL;
    rmcp_status status =
        rmcp_kernel_append(list, kernel, conv->type, size_of(conv), g->count, &launch);
    if (status) return status;
    if (!outputs) add_tensor(launch, conv, slot, group);
    rmcp_arg_memory(launch, RMCP_SLOT_WORKSPACE, begin);
    if (outputs) {
        add_tensor(launch, conv, slot, group);
        if (rmcp_conv_has_bias(conv))
            add_tensor(launch, conv, RMCP_CONV_BIAS, group);
        else
            rmcp_arg_memory(launch, RMCP_SLOT_WORKSPACE, 0);
    }
    rmcp_arg_value(launch, g, sizeof *g);
    return RMCP_OK;
}

/* Filters to the workspace, or a gradient from it. */
static rmcp_status emit_taps(const struct rmcp_convolution *conv, const struct cut *w,
                             int64_t group, struct rmcp_launch_list *list)
{
    const bool data = is_data(conv), weights = makes_weights(conv);
    const struct rmcp_strides *s = &conv->w;
    const unsigned y = (unsigned)s->space[1], x = (unsigned)s->space[2];
    const unsigned last = (unsigned)(taps_of(conv) - 1);
    const struct rmcp_taps f = {
        .fast = rmcp_divider_of(weights ? w->channels : w->rows),
        .count = (unsigned)(w->rows * w->channels),
        .rows = (unsigned)(data ? conv->group_c : conv->group_k),
        .channels = (unsigned)(data ? conv->group_k : conv->group_c),
        .first = data ? last * (y + x) : 0,
        .row = (unsigned)(data ? s->inner : s->outer),
        .channel = (unsigned)(data ? s->outer : s->inner),
        .y = data ? -y : y,
        .x = data ? -x : x,
        .batch = (unsigned)(w->rows * w->channels),
        .parts = (unsigned)w->splits,
        .part = (unsigned)(positions_of(conv) * w->rows * w->channels),
    };
    struct rmcp_kernel_launch *launch = NULL;
    rmcp_status status =
        rmcp_kernel_append(list, weights ? "winograd4_gradient" : "winograd4_filter", conv->type,
                           size_of(conv), f.count, &launch);
    if (status) return status;
    if (!weights) add_tensor(launch, conv, RMCP_CONV_W, group);
    rmcp_arg_memory(launch, RMCP_SLOT_WORKSPACE, weights ? w->filters + w->read : 0);
    if (weights) add_tensor(launch, conv, RMCP_CONV_W, group);
    rmcp_arg_value(launch, &f, sizeof f);
    return RMCP_OK;
}

/* Which matrix is a and which b follows from the layout of what is made: [row][tile], [tile][row],
 * or [row][channel]. */
static rmcp_status emit_product(const struct rmcp_request *request, const struct cut *w, bool add,
                                struct rmcp_launch_list *list)
{
    const struct rmcp_convolution *conv = request->problem;
    const bool last = conv->layout == RMCP_NHWC, weights = makes_weights(conv);
    const bool swapped = last && !weights; /* a are tiles, b are filters */
    const int64_t rows = swapped ? w->stretch : w->rows;
    const int64_t columns = swapped ? w->rows : weights ? w->channels : w->stretch;
    const int64_t sum = weights ? w->stretch : w->channels;
    const bool a_rows = weights ? last : !last, b_columns = weights ? last : true;
    struct rmcp_product p = {
        .row_tiles = rmcp_divider_of(rows / w->side->side),
        .reduction = (unsigned)sum,
        .share = (unsigned)(rmcp_ceil_divide(sum / SLICES, w->splits) * SLICES),
        .a_pitch = (unsigned)(a_rows ? rows : sum),
        .b_pitch = (unsigned)(b_columns ? columns : sum),
        .out_pitch = (unsigned)columns,
        .a_batch = (unsigned)(rows * sum),
        .b_batch = (unsigned)(columns * sum),
        .out_batch = (unsigned)(rows * columns),
        .part = (unsigned)(positions_of(conv) * rows * columns),
        .add = add,
    };
    char variant[32];
    const int side = (int)w->side->side;
    snprintf(variant, sizeof variant, "_%dx%d_%s_%s", side, side, a_rows ? "row" : "sum",
             b_columns ? "col" : "sum");
    const int64_t n = rows / side * (columns / side), threads = (int64_t)side * side / 64;
    const int64_t busy = request->caps->compute_units *
                         (int64_t)rmcp_figure(request->caps, w->side->at_once) /
                         (positions_of(conv) * w->splits);
    const int64_t quota = rmcp_launch_quota(n, busy, w->product_seconds);
    for (int64_t first = 0; first < n; first += quota) {
        const int64_t count = n - first < quota ? n - first : quota;
        struct rmcp_kernel_launch *launch = NULL;
        rmcp_status status =
            rmcp_kernel_append(list, "product", RMCP_F32, variant, count * threads, &launch);
        if (status) return status;
        p.first_tile = (unsigned)first;
        launch->grid[1] = (uint32_t)positions_of(conv);
        launch->grid[2] = (uint32_t)w->splits;
        rmcp_arg_memory(launch, RMCP_SLOT_WORKSPACE, swapped ? w->filters : 0);
        rmcp_arg_memory(launch, RMCP_SLOT_WORKSPACE, swapped ? 0 : w->filters);
        rmcp_arg_memory(launch, RMCP_SLOT_WORKSPACE, w->filters + w->read);
        rmcp_arg_value(launch, &p, sizeof p);
    }
    return RMCP_OK;
}

static rmcp_status emit_group(const struct rmcp_request *request, const struct cut *w,
                              int64_t group, struct rmcp_launch_list *list)
{
    const struct rmcp_convolution *conv = request->problem;
    const bool data = is_data(conv), weights = makes_weights(conv);
    const int64_t none[2] = { 0, 0 };
    const int64_t last = taps_of(conv) - 1;
    const int64_t pad[2] = { data ? conv->pad_begin[1] - last : -conv->pad_begin[1],
                             data ? conv->pad_begin[2] - last : -conv->pad_begin[2] };
    const unsigned in = data ? RMCP_CONV_Y : RMCP_CONV_X, out = data ? RMCP_CONV_X : RMCP_CONV_Y;
    const uint64_t sums = w->filters + w->read;
    struct rmcp_tiles pixels = tiles_of(conv, w, in, w->channels, pad);
    struct rmcp_tiles others = tiles_of(conv, w, out, w->rows, none); /* outputs, or errors */
    rmcp_status status = weights ? RMCP_OK : emit_taps(conv, w, group, list);
    for (int64_t i = 0; i < w->stretches && !status; i++) {
        pixels.first_tile = others.first_tile = (unsigned)(i * w->stretch);
        status = emit_tiles(conv, list, "winograd4_pixels", &pixels, in, group, w->filters, false);
        if (!status && weights)
            status = emit_tiles(conv, list, "winograd4_errors", &others, out, group, 0, false);
        if (!status) status = emit_product(request, w, weights && i > 0, list);
        if (!status && !weights)
            status = emit_tiles(conv, list, "winograd4_outputs", &others, out, group, sums, true);
    }
    return !status && weights ? emit_taps(conv, w, group, list) : status;
}

/* Groups one after the other: they have the workspace in turn. */
static rmcp_status emit(const struct rmcp_request *request, const struct rmcp_way *way,
                        struct rmcp_launch_list *list)
{
    const struct cut *w = RMCP_CONV_WAY_CONST(way, struct cut);
    rmcp_status status = RMCP_OK;
    for (int64_t group = 0; group < rmcp_conv_of(request)->groups && !status; group++)
        status = emit_group(request, w, group, list);
    return status;
}

const struct rmcp_algo rmcp_algo_conv_winograd_4x4 = {
    .name = "winograd_4x4",
    .version = 3,
    .kind = RMCP_LAUNCH_KERNEL,
    .error_factor = 8,
    .consider = consider,
    .emit = emit,
};
