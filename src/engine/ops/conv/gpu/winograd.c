/* winograd.c: the host side of winograd.cl and winograd_fused.cl. */
#include "engine/ops/conv/gpu/winograd.h"

#include "base/round.h"
#include "engine/figures/figures.h"
#include "engine/ops/conv/gpu/shape.h"
#include "engine/ops/conv/kernels/winograd.h"

#include <math.h>

enum {
    ROWS = RMCP_WINOGRAD_ROWS,
    TILES = RMCP_WINOGRAD_TILES,
    POSITIONS = RMCP_WINOGRAD_POSITIONS,
    THREADS = 256,
    AHEAD = 2, /* channels of filters that are read behind the last, for nobody */
    LEAST_CHANNELS = 16,
};

static bool is_data(const struct rmcp_convolution *conv)
{
    return conv->pass == RMCP_CONV_BACKWARD_DATA;
}

static int64_t depth_of(bool fused)
{
    return fused ? RMCP_WINOGRAD_FUSED_DEPTH : RMCP_WINOGRAD_DEPTH;
}

/* Sizes that follow from the problem. Rows are the channels of the output, channels are summed. */
struct size {
    int64_t rows, channels, blocks, padded; /* blocks of rows; channels rounded up to the depth */
    int64_t across, down, tiles, columns;   /* columns: blocks of tiles                         */
    int64_t filter_floats;                  /* transformed, with what is read ahead             */
};

static struct size size_of(const struct rmcp_convolution *conv, bool fused)
{
    const int64_t *output = is_data(conv) ? conv->input : conv->output;
    struct size s = {
        .rows = is_data(conv) ? conv->group_c : conv->group_k,
        .channels = is_data(conv) ? conv->group_k : conv->group_c,
        .across = rmcp_ceil_divide(output[2], 2),
        .down = rmcp_ceil_divide(output[1], 2),
    };
    s.blocks = rmcp_ceil_divide(s.rows, ROWS);
    s.padded = rmcp_ceil_divide(s.channels, depth_of(fused)) * depth_of(fused);
    s.tiles = conv->n * s.across * s.down;
    s.columns = rmcp_ceil_divide(s.tiles, TILES);
    if (!fused) s.filter_floats = (conv->groups * s.padded + AHEAD) * s.blocks * POSITIONS * ROWS;
    return s;
}

/* Channels that one split takes. */
static int64_t share_of(const struct size *s, const struct rmcp_winograd_way *way)
{
    const int64_t depth = depth_of(way->fused);
    return rmcp_ceil_divide(s->padded / depth, way->splits) * depth;
}

static uint64_t parts_bytes(const struct rmcp_convolution *conv, int64_t splits)
{
    const int64_t elements = rmcp_conv_elements(conv, rmcp_conv_output_slot(conv));
    return splits > 1 ? (uint64_t)(splits * elements) * sizeof(float) : 0;
}

/* Transformed filters, then the parts of a split sum. */
static uint64_t filter_bytes(const struct rmcp_convolution *conv, bool fused)
{
    return rmcp_round_up((uint64_t)size_of(conv, fused).filter_floats * sizeof(float), 256);
}

uint64_t rmcp_winograd_workspace(const struct rmcp_convolution *conv,
                                 const struct rmcp_winograd_way *way)
{
    return filter_bytes(conv, way->fused) + parts_bytes(conv, way->splits);
}

/* ---- estimates ---- */

/* A workgroup has a compute unit for itself. Besides its channels it finds its tiles, fills the
 * pipeline, transforms and stores: about as much as some channels. */
static double compute_seconds(const struct rmcp_request *request, const struct size *s,
                              const struct rmcp_winograd_way *way)
{
    const struct rmcp_caps *caps = request->caps;
    const double efficiency = rmcp_figure(caps, way->fused ? RMCP_FIGURE_WINOGRAD_FUSED_EFFICIENCY
                                                           : RMCP_FIGURE_WINOGRAD_EFFICIENCY);
    const double preamble = rmcp_figure(caps, way->fused ? RMCP_FIGURE_WINOGRAD_FUSED_PREAMBLE
                                                         : RMCP_FIGURE_WINOGRAD_PREAMBLE);
    const int64_t units = caps->compute_units ? caps->compute_units : 1;
    const int64_t rounds = rmcp_ceil_divide(
        s->blocks * s->columns * rmcp_conv_of(request)->groups * way->splits, units);
    const double flops = 2.0 * POSITIONS * ROWS * TILES * ((double)share_of(s, way) + preamble);
    return (double)(rounds * units) * flops / (caps->flops_per_second * efficiency);
}

/* Two workgroups at once have the four SIMDs of a pair of compute units; one that is alone waits
 * for itself. Each has code to get and pixels to wait for before its first channel, in later rounds
 * beside another. */
static double pair_fused_seconds(const struct rmcp_request *request, const struct size *s,
                                 const struct rmcp_winograd_way *way)
{
    const struct rmcp_convolution *conv = request->problem;
    const struct rmcp_caps *caps = request->caps;
    const int64_t pairs = caps->compute_units > 1 ? caps->compute_units / 2 : 1;
    const int64_t each =
        rmcp_ceil_divide(s->blocks * s->columns * conv->groups * way->splits, pairs);
    const double clock = caps->flops_per_second / (4 * 64 * (double)pairs);
    const double channel = (double)(each / 2) * rmcp_figure(caps, RMCP_FIGURE_WINOGRAD_FUSED_PAIR) +
                           (double)(each % 2) * rmcp_figure(caps, RMCP_FIGURE_WINOGRAD_FUSED_LONE);
    const double last = rmcp_figure(caps, RMCP_FIGURE_WINOGRAD_FUSED_LAST);
    return (rmcp_figure(caps, RMCP_FIGURE_WINOGRAD_FUSED_FIRST) +
            (double)((each - 1) / 2) * rmcp_figure(caps, RMCP_FIGURE_WINOGRAD_FUSED_LATER) +
            (double)share_of(s, way) * channel * (conv->layout == RMCP_NHWC ? last : 1)) /
           clock;
}

static double seconds_of(const struct rmcp_request *request, const struct size *s,
                         const struct rmcp_winograd_way *way)
{
    const struct rmcp_caps *caps = request->caps;
    const double times = rmcp_figure(caps, RMCP_FIGURE_WINOGRAD_FILTERS);
    const double cached = rmcp_figure(caps, RMCP_FIGURE_WINOGRAD_CACHED);
    const double once = (double)s->filter_floats * sizeof(float);
    const double least = 9.0 / POSITIONS + 1; /* read as they are, and written */
    const double filters = way->fused ? 0 : fmax(times * once - cached, least * once);
    const double parts = 2.0 * (double)parts_bytes(request->problem, way->splits);
    const double compute = way->fused && rmcp_figure_known(caps, RMCP_FIGURE_WINOGRAD_FUSED_PAIR)
                               ? pair_fused_seconds(request, s, way)
                               : way->work_seconds;
    return fmax(compute, rmcp_traffic_seconds(request->problem, caps)) +
           (filters + parts) / caps->bytes_per_second +
           ((way->splits > 1) + (way->fused ? 1 : 2)) * caps->launch_seconds;
}

static bool find_way(const struct rmcp_request *request, const struct size *s, bool fused,
                     int64_t splits, struct rmcp_winograd_way *way)
{
    enum { SHORTEST = 4, MOST = 16 }; /* depths in a share; splits unfused */
    *way = (struct rmcp_winograd_way){ .fused = fused, .splits = splits };
    if (splits > 1 && s->padded < splits * depth_of(fused) * SHORTEST) return false;
    if (splits > (fused ? RMCP_WINOGRAD_MOST_SPLITS : MOST)) return false;
    if (parts_bytes(request->problem, splits) > request->caps->max_buffer_bytes / 2) return false;
    /* As many as the shares of this length need. */
    way->splits = rmcp_ceil_divide(s->padded, share_of(s, way));
    if (way->splits != splits) return false;
    way->work_seconds = compute_seconds(request, s, way);
    way->seconds = seconds_of(request, s, way);
    return true;
}

bool rmcp_winograd_way_of(const struct rmcp_request *request, bool fused, int64_t splits,
                          struct rmcp_winograd_way *way)
{
    const struct size s = size_of(request->problem, fused);
    return find_way(request, &s, fused, splits, way);
}

static const char *refusal_of(const struct rmcp_request *request, const struct size *s, bool fused)
{
    const struct rmcp_convolution *conv = request->problem;
    /* Errors follow the whole tile, the bound follows one output: with few terms it may be far
     * less. */
    if (s->channels < LEAST_CHANNELS) return "fewer than 16 channels to add up";
    if (fused) return NULL;
    const double bytes = (double)conv->groups * (double)(s->padded + AHEAD) * (double)s->blocks *
                         POSITIONS * ROWS * sizeof(float);
    if (bytes >= 0x1p32 || bytes > (double)(request->caps->max_buffer_bytes / 2))
        return "the transformed filters would have 4 GiB or more, or half of the largest buffer";
    return NULL;
}

rmcp_status rmcp_winograd_consider(const struct rmcp_request *request, bool fused,
                                   struct rmcp_way *way)
{
    const struct rmcp_convolution *conv = request->problem;
    if (request->strict) return rmcp_refuse(way, "spreads NaN and Inf within a tile");
    if (conv->pass == RMCP_CONV_BACKWARD_WEIGHTS)
        return rmcp_refuse(way, "not for weight gradients");
    if (conv->problem.dims != 2) return rmcp_refuse(way, "2-D only");
    for (int i = 1; i < RMCP_MAX_DIMS; i++) {
        if (conv->filter[i] != 3) return rmcp_refuse(way, "3x3 filters only");
        if (conv->stride[i] != 1 || conv->dilation[i] != 1)
            return rmcp_refuse(way, "stride 1 and dilation 1 only");
    }
    const char *reason = rmcp_gemm_refuse(conv);
    if (reason) return rmcp_refuse(way, reason);
    const struct size s = size_of(conv, fused);
    reason = refusal_of(request, &s, fused);
    if (reason) return rmcp_refuse(way, reason);

    struct rmcp_winograd_way *best = RMCP_CONV_WAY(way, struct rmcp_winograd_way), other;
    find_way(request, &s, fused, 1, best);
    for (int64_t splits = 2; splits <= RMCP_WINOGRAD_MOST_SPLITS; splits++)
        if (find_way(request, &s, fused, splits, &other) && other.seconds < best->seconds)
            *best = other;
    way->seconds = best->seconds;
    way->workspace_bytes = rmcp_winograd_workspace(conv, best);
    return RMCP_OK;
}

/* ---- launches ---- */

static rmcp_status emit_filter(const struct rmcp_convolution *conv, struct rmcp_launch_list *list)
{
    const struct size s = size_of(conv, false);
    const struct rmcp_strides *w = &conv->w;
    const unsigned y = (unsigned)w->space[1], x = (unsigned)w->space[2];
    const struct rmcp_winograd_filter f = {
        .blocks = rmcp_divider_of(s.blocks),
        .channels = rmcp_divider_of(s.padded),
        .count = (unsigned)(conv->groups * s.padded * s.blocks * ROWS),
        .rows = (unsigned)s.rows,
        .last_channel = (unsigned)s.channels,
        .first = is_data(conv) ? 2 * y + 2 * x : 0,
        .group = (unsigned)(conv->group_k * w->outer),
        .row = (unsigned)(is_data(conv) ? w->inner : w->outer),
        .channel = (unsigned)(is_data(conv) ? w->outer : w->inner),
        .y = is_data(conv) ? -y : y,
        .x = is_data(conv) ? -x : x,
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

static struct rmcp_winograd_fused filters_of(const struct rmcp_convolution *conv)
{
    const struct rmcp_strides *w = &conv->w;
    return (struct rmcp_winograd_fused){
        .group = (unsigned)(conv->group_k * w->outer),
        .row = (unsigned)(is_data(conv) ? w->inner : w->outer),
        .channel = (unsigned)(is_data(conv) ? w->outer : w->inner),
        .y = (unsigned)w->space[1],
        .x = (unsigned)w->space[2],
        .together = w->space[2] == 1 && w->space[1] == 3,
        .by_rows = is_data(conv),
        .turned = is_data(conv),
    };
}

static struct rmcp_winograd arguments_of(const struct rmcp_convolution *conv,
                                         const struct rmcp_winograd_way *way)
{
    const bool data = is_data(conv);
    const struct size s = size_of(conv, way->fused);
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
        .share = (unsigned)share_of(&s, way),
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
        .partial = way->splits > 1,
        .part = (unsigned)rmcp_conv_elements(conv, rmcp_conv_output_slot(conv)),
        .epilogue = way->splits > 1 ? (struct rmcp_epilogue){ 0 } : rmcp_epilogue_of(conv),
    };
}

/* The workgroups from g->first_task on. */
static rmcp_status emit_tasks(const struct rmcp_convolution *conv,
                              const struct rmcp_winograd_way *way, const struct rmcp_winograd *g,
                              int64_t count, struct rmcp_launch_list *list)
{
    const unsigned output = rmcp_conv_output_slot(conv);
    const uint64_t parts = filter_bytes(conv, way->fused);
    struct rmcp_kernel_launch *launch = NULL;
    rmcp_status status = rmcp_kernel_append(list, way->fused ? "winograd_fused" : "winograd",
                                            conv->type, "", count * THREADS, &launch);
    if (status) return status;
    launch->grid[1] = (uint32_t)conv->groups;
    launch->grid[2] = (uint32_t)way->splits;
    rmcp_arg_memory(launch, way->fused ? RMCP_CONV_W : RMCP_SLOT_WORKSPACE, 0);
    rmcp_arg_memory(launch, is_data(conv) ? RMCP_CONV_Y : RMCP_CONV_X, 0);
    rmcp_arg_memory(launch, way->splits > 1 ? RMCP_SLOT_WORKSPACE : output,
                    way->splits > 1 ? parts : 0);
    rmcp_arg_memory(launch, rmcp_conv_has_bias(conv) ? RMCP_CONV_BIAS : output, 0);
    rmcp_arg_value(launch, g, sizeof *g);
    if (way->fused) {
        const struct rmcp_winograd_fused filters = filters_of(conv);
        rmcp_arg_value(launch, &filters, sizeof filters);
    }
    return RMCP_OK;
}

rmcp_status rmcp_winograd_emit(const struct rmcp_request *request,
                               const struct rmcp_winograd_way *way, struct rmcp_launch_list *list)
{
    const struct rmcp_convolution *conv = request->problem;
    const struct size s = size_of(conv, way->fused);
    const int64_t n = s.blocks * s.columns;
    const int64_t quota = rmcp_launch_quota(
        n, (int64_t)request->caps->compute_units / (conv->groups * way->splits), way->work_seconds);
    struct rmcp_winograd g = arguments_of(conv, way);
    rmcp_status status = way->fused ? RMCP_OK : emit_filter(conv, list);
    for (int64_t first = 0; first < n && !status; first += quota) {
        g.first_task = (unsigned)first;
        status = emit_tasks(conv, way, &g, n - first < quota ? n - first : quota, list);
    }
    if (status || way->splits == 1) return status;
    return rmcp_parts_emit(request, way->splits, filter_bytes(conv, way->fused), list);
}
