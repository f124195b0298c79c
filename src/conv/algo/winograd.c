/* winograd: 3x3 filters with stride 1 through F(2x2, 3x3): 2.25 times fewer multiplications, at the
 * price of NaN and Inf, which spread within a tile of 2 x 2 outputs. */
#include "conv/kernels/winograd.h"
#include "conv/conv.h"
#include "conv/gpu/shape.h"

#include <math.h>

enum {
    ROWS = RMCP_WINOGRAD_ROWS,
    TILES = RMCP_WINOGRAD_TILES,
    DEPTH = RMCP_WINOGRAD_DEPTH,
    POSITIONS = RMCP_WINOGRAD_POSITIONS,
    THREADS = 256,
    AHEAD = 2, /* channels of filters that are read behind the last, for nobody */
    MOST_SPLITS = 16,
    LEAST_CHANNELS = 16,
};

/* Share of peak that the inner loop reaches, on the scale of gpu/gemm.c; how many times the bytes
 * of the filters move at the speed of memory: written, and read by workgroups that are not all
 * under way at once; channels' worth of work besides. */
static const struct figures {
    double efficiency, filters, preamble;
} figures[RMCP_N_FIGURES] = {
    [RMCP_FIGURES_CUDA] = { 0.515, 2.9, 14 },
    [RMCP_FIGURES_RDNA] = { 0.88, 2.3, 8 },
};

static int64_t ceil_divide(int64_t a, int64_t b)
{
    return (a + b - 1) / b;
}

/* Sizes that follow from the problem. Rows are the channels of the output, channels are summed. */
struct size {
    int64_t rows, channels, blocks, padded; /* blocks of rows; channels rounded up to the depth */
    int64_t across, down, tiles, columns;   /* columns: blocks of tiles                         */
    int64_t filter_floats;                  /* with what is read ahead                          */
};

static struct size size_of(const struct rmcp_convolution *conv)
{
    const bool data = conv->pass == RMCP_CONV_BACKWARD_DATA;
    const int64_t *output = data ? conv->input : conv->output;
    struct size s = {
        .rows = data ? conv->group_c : conv->group_k,
        .channels = data ? conv->group_k : conv->group_c,
        .across = ceil_divide(output[2], 2),
        .down = ceil_divide(output[1], 2),
    };
    s.blocks = ceil_divide(s.rows, ROWS);
    s.padded = ceil_divide(s.channels, DEPTH) * DEPTH;
    s.tiles = conv->n * s.across * s.down;
    s.columns = ceil_divide(s.tiles, TILES);
    s.filter_floats = (conv->groups * s.padded + AHEAD) * s.blocks * POSITIONS * ROWS;
    return s;
}

/* ---- estimates ---- */

/* A workgroup has a compute unit for itself. Besides its channels it finds its tiles, fills the
 * pipeline, transforms and stores: about as much as some channels. */
static double compute_seconds(const struct rmcp_request *request, int64_t splits)
{
    const struct rmcp_caps *caps = request->caps;
    const struct size s = size_of(request->problem);
    const int64_t units = caps->compute_units ? caps->compute_units : 1;
    const int64_t rounds =
        ceil_divide(s.blocks * s.columns * rmcp_conv_of(request)->groups * splits, units);
    const int64_t share = ceil_divide(s.padded / DEPTH, splits) * DEPTH;
    const double flops =
        2.0 * POSITIONS * ROWS * TILES * ((double)share + figures[caps->figures].preamble);
    return (double)(rounds * units) * flops /
           (caps->flops_per_second * figures[caps->figures].efficiency);
}

static uint64_t parts_bytes(const struct rmcp_convolution *conv, int64_t splits)
{
    const int64_t elements = rmcp_conv_elements(conv, rmcp_conv_output_slot(conv));
    return splits > 1 ? (uint64_t)(splits * elements) * sizeof(float) : 0;
}

static double seconds_of(const struct rmcp_request *request, int64_t splits)
{
    const struct rmcp_caps *caps = request->caps;
    const double filters = figures[caps->figures].filters *
                           (double)size_of(request->problem).filter_floats * sizeof(float);
    const double parts = 2.0 * (double)parts_bytes(request->problem, splits);
    return fmax(compute_seconds(request, splits), rmcp_traffic_seconds(request->problem, caps)) +
           (filters + parts) / caps->bytes_per_second + (splits > 1 ? 3 : 2) * caps->launch_seconds;
}

static int64_t splits_of(const struct rmcp_request *request)
{
    const struct size s = size_of(request->problem);
    const int64_t longest = s.padded / (4 * DEPTH),
                  most = longest < MOST_SPLITS ? longest : MOST_SPLITS;
    int64_t best = 1;
    for (int64_t splits = 2; splits <= most; splits++)
        if (parts_bytes(request->problem, splits) <= request->caps->max_buffer_bytes / 2 &&
            seconds_of(request, splits) < seconds_of(request, best))
            best = splits;
    /* As many as the shares of this length need. */
    const int64_t share = ceil_divide(s.padded / DEPTH, best);
    return ceil_divide(s.padded / DEPTH, share);
}

static const char *refuse(const struct rmcp_request *request)
{
    const struct rmcp_convolution *conv = request->problem;
    if (request->strict) return "spreads NaN and Inf within a tile";
    if (conv->pass == RMCP_CONV_BACKWARD_WEIGHTS) return "not for weight gradients";
    if (conv->problem.dims != 2) return "2-D only";
    for (int i = 1; i < RMCP_MAX_DIMS; i++) {
        if (conv->filter[i] != 3) return "3x3 filters only";
        if (conv->stride[i] != 1 || conv->dilation[i] != 1) return "stride 1 and dilation 1 only";
    }
    const char *reason = rmcp_gemm_refuse(conv);
    if (reason) return reason;
    const struct size s = size_of(conv);
    /* Errors follow the whole tile, the bound follows one output: with few terms it may be far
     * less.
     */
    if (s.channels < LEAST_CHANNELS) return "fewer than 16 channels to add up";
    const double filter_bytes = (double)conv->groups * (double)(s.padded + AHEAD) *
                                (double)s.blocks * POSITIONS * ROWS * sizeof(float);
    if (filter_bytes >= 0x1p32 || filter_bytes > (double)(request->caps->max_buffer_bytes / 2))
        return "the transformed filters would have 4 GiB or more, or half of the largest buffer";
    return NULL;
}

static double cost(const struct rmcp_request *request)
{
    return seconds_of(request, splits_of(request));
}

/* Filters, then the parts of a split sum. */
static uint64_t filter_bytes(const struct rmcp_convolution *conv)
{
    return ((uint64_t)size_of(conv).filter_floats * sizeof(float) + 255) / 256 * 256;
}

static rmcp_status workspace(const struct rmcp_request *request, uint64_t *bytes)
{
    *bytes = filter_bytes(request->problem) + parts_bytes(request->problem, splits_of(request));
    return RMCP_OK;
}

/* ---- launches ---- */

static rmcp_status emit_filter(const struct rmcp_convolution *conv, struct rmcp_launch_list *list)
{
    const bool data = conv->pass == RMCP_CONV_BACKWARD_DATA;
    const struct size s = size_of(conv);
    const struct rmcp_strides *w = &conv->w;
    const unsigned y = (unsigned)w->space[1], x = (unsigned)w->space[2];
    const struct rmcp_winograd_filter f = {
        .blocks = rmcp_divider_of(s.blocks),
        .channels = rmcp_divider_of(s.padded),
        .count = (unsigned)(conv->groups * s.padded * s.blocks * ROWS),
        .rows = (unsigned)s.rows,
        .last_channel = (unsigned)s.channels,
        .first = data ? 2 * y + 2 * x : 0,
        .group = (unsigned)(conv->group_k * w->outer),
        .row = (unsigned)(data ? w->inner : w->outer),
        .channel = (unsigned)(data ? w->outer : w->inner),
        .y = data ? -y : y,
        .x = data ? -x : x,
    };
    struct rmcp_kernel_launch *launch = NULL;
    rmcp_status status =
        rmcp_kernel_append(list, "winograd_filter", conv->type, "", f.count, &launch);
    if (status) return status;
    rmcp_arg_memory(launch, RMCP_CONV_W, 0);
    rmcp_arg_memory(launch, RMCP_SLOT_WORKSPACE, 0);
    rmcp_arg_value(launch, &f, sizeof f);
    return RMCP_OK;
}

static struct rmcp_winograd arguments_of(const struct rmcp_convolution *conv, int64_t splits)
{
    const bool data = conv->pass == RMCP_CONV_BACKWARD_DATA;
    const struct size s = size_of(conv);
    const struct rmcp_strides *in = data ? &conv->y : &conv->x, *out = data ? &conv->x : &conv->y;
    const int64_t *input = data ? conv->output : conv->input;
    const int64_t *output = data ? conv->input : conv->output;
    return (struct rmcp_winograd){
        .across = rmcp_divider_of(s.across),
        .down = rmcp_divider_of(s.down),
        .blocks = rmcp_divider_of(s.blocks),
        .tiles = (unsigned)s.tiles,
        .rows = (unsigned)s.rows,
        .channels = (unsigned)s.channels,
        .filter_channels = (unsigned)s.padded,
        .filter_group = (unsigned)(s.padded * s.blocks * POSITIONS * ROWS),
        .filter_channel = (unsigned)(s.blocks * POSITIONS * ROWS),
        .share = (unsigned)(ceil_divide(s.padded / DEPTH, splits) * DEPTH),
        .first_y = (int)(data ? conv->pad_begin[1] - 2 : -conv->pad_begin[1]),
        .first_x = (int)(data ? conv->pad_begin[2] - 2 : -conv->pad_begin[2]),
        .height = (unsigned)input[1],
        .width = (unsigned)input[2],
        .in_image = (unsigned)in->outer,
        .in_channel = (unsigned)in->inner,
        .in_y = (unsigned)in->space[1],
        .in_x = (unsigned)in->space[2],
        .in_group = (unsigned)(s.channels * in->inner),
        .out_height = (unsigned)output[1],
        .out_width = (unsigned)output[2],
        .out_image = (unsigned)out->outer,
        .out_channel = (unsigned)out->inner,
        .out_y = (unsigned)out->space[1],
        .out_x = (unsigned)out->space[2],
        .channels_last = conv->layout == RMCP_NHWC,
        .partial = splits > 1,
        .part = (unsigned)rmcp_conv_elements(conv, rmcp_conv_output_slot(conv)),
        .epilogue = rmcp_epilogue_of(conv),
    };
}

static rmcp_status emit(const struct rmcp_request *request, struct rmcp_launch_list *list)
{
    const struct rmcp_convolution *conv = request->problem;
    const struct size s = size_of(conv);
    const int64_t splits = splits_of(request), n = s.blocks * s.columns;
    const int64_t quota =
        rmcp_launch_quota(n, (int64_t)request->caps->compute_units / (conv->groups * splits),
                          compute_seconds(request, splits));
    const unsigned output = rmcp_conv_output_slot(conv);
    struct rmcp_winograd g = arguments_of(conv, splits);
    rmcp_status status = emit_filter(conv, list);
    for (int64_t first = 0; first < n && !status; first += quota) {
        const int64_t count = n - first < quota ? n - first : quota;
        struct rmcp_kernel_launch *launch = NULL;
        status = rmcp_kernel_append(list, "winograd", conv->type, "", count * THREADS, &launch);
        if (status) break;
        g.first_task = (unsigned)first;
        launch->grid[1] = (uint32_t)conv->groups;
        launch->grid[2] = (uint32_t)splits;
        rmcp_arg_memory(launch, RMCP_SLOT_WORKSPACE, 0);
        rmcp_arg_memory(launch, conv->pass == RMCP_CONV_BACKWARD_DATA ? RMCP_CONV_Y : RMCP_CONV_X,
                        0);
        rmcp_arg_memory(launch, splits > 1 ? RMCP_SLOT_WORKSPACE : output,
                        splits > 1 ? filter_bytes(conv) : 0);
        rmcp_arg_memory(launch, rmcp_conv_has_bias(conv) ? RMCP_CONV_BIAS : RMCP_SLOT_WORKSPACE, 0);
        rmcp_arg_value(launch, &g, sizeof g);
    }
    if (status || splits == 1) return status;
    return rmcp_parts_emit(request, splits, filter_bytes(conv), list);
}

const struct rmcp_algo rmcp_algo_conv_winograd = {
    .name = "winograd",
    .version = 1,
    .kind = RMCP_LAUNCH_KERNEL,
    .error_factor = 4,
    .refuse = refuse,
    .cost = cost,
    .workspace = workspace,
    .emit = emit,
};
