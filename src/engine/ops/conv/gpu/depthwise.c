/* depthwise.c: which kernel computes a convolution with one input channel in a group, and with
 * which arguments. */
#include "engine/ops/conv/gpu/depthwise.h"

#include "base/round.h"
#include "engine/figures/figures.h"

#include <stdio.h>

enum {
    ROWS = 7,        /* of depthwise.cl, depthwise_weights.cl */
    ANY_ROWS = 4,    /* of depthwise_any.cl                   */
    PAIRS = 4,       /* of depthwise_spread.cl                */
    ANY_TAPS = 9,    /* of depthwise_weights_any.cl           */
    ANY_FILTER = 64, /* taps of depthwise_any.cl in local memory */
    MOST_LANES = 32,
    SMALL_LANES = 8, /* of small images, each channel of which lies elsewhere */
    THREADS = 128,
    SUM_THREADS = 256, /* of both kernels of weight gradients */
};

/* ---- which kernel ---- */

/* The size of a filter that is square along h and w, with one stride and no dilation; else 0. */
static int64_t square_of(const struct rmcp_convolution *conv)
{
    const bool square = conv->filter[1] == conv->filter[2] && conv->stride[1] == conv->stride[2] &&
                        conv->dilation[1] == 1 && conv->dilation[2] == 1;
    return square && conv->filter[1] >= 3 && conv->filter[1] <= 7 && conv->filter[1] % 2
               ? conv->filter[1]
               : 0;
}

/* ---- what they take ---- */

/* Instructions to load a tile and to multiply it: each element takes a load, its address and a
 * test, each row an address and a test. */
static double tile_instructions(int64_t rows, int64_t columns, int64_t products)
{
    return (double)(rows * (4 + 3 * columns) + products);
}

/* Planes of filters that a work-item which makes outputs adds up. */
static double planes_of(const struct rmcp_convolution *conv)
{
    const int64_t sums = conv->pass == RMCP_CONV_BACKWARD_DATA ? conv->group_k : 1;
    return (double)(sums * conv->filter[0]);
}

/* Its instructions, besides each plane. */
static double output_instructions(const struct rmcp_convolution *conv, int64_t outputs,
                                  double plane)
{
    return 60 + 6.0 * (double)outputs + planes_of(conv) * plane;
}

/* Taps along a dimension that meet the image: of the phases of a stride each has its share. */
static double reach_of(const struct rmcp_convolution *conv, int i)
{
    const bool data = conv->pass == RMCP_CONV_BACKWARD_DATA;
    const double taps = (double)conv->filter[i] / (data ? (double)conv->stride[i] : 1);
    const int64_t size = data ? conv->output[i] : conv->input[i];
    const double most = (double)rmcp_ceil_divide(size, conv->dilation[i]);
    return taps < most ? taps : most;
}

static struct rmcp_depthwise_way any_way(const struct rmcp_request *request)
{
    const struct rmcp_convolution *conv = request->problem;
    const struct rmcp_caps *caps = request->caps;
    if (conv->pass == RMCP_CONV_BACKWARD_WEIGHTS)
        return (struct rmcp_depthwise_way){
            .stem = "depthwise_weights_any",
            .rows = 1,
            .threads = SUM_THREADS,
            .instructions = 40 + 12 * ANY_TAPS,
            .setup = 500,
            .waiting = rmcp_figure(caps, RMCP_FIGURE_DEPTHWISE_PLANE_WAIT),
            .at_once = (int64_t)rmcp_figure(caps, RMCP_FIGURE_DEPTHWISE_ANY_AT_ONCE)
        };
    /* A single dimension stands along h. */
    const bool line = conv->input[1] == 1 && conv->filter[1] == 1;
    const double more = conv->filter[1] > conv->input[1] ? ANY_ROWS - 1 : 0; /* outputs differ */
    const double rows = line ? reach_of(conv, 2) : reach_of(conv, 1) + more;
    const double columns = line ? 1 : reach_of(conv, 2);
    const double plane = 30 + rows * (40 + columns * (12 + 7 * ANY_ROWS));
    return (struct rmcp_depthwise_way){
        .stem = "depthwise_any",
        .rows = ANY_ROWS,
        .threads = THREADS,
        .instructions = output_instructions(conv, ANY_ROWS, plane),
        .waiting =
            planes_of(conv) * (rmcp_figure(caps, RMCP_FIGURE_DEPTHWISE_ANY_WAIT) +
                               rows * (rmcp_figure(caps, RMCP_FIGURE_DEPTHWISE_ANY_ROW) +
                                       columns * rmcp_figure(caps, RMCP_FIGURE_DEPTHWISE_ANY_TAP))),
    };
}

/* Rows of a tile behind those whose loads are under way at once (AHEAD of depthwise.h). */
static int64_t rows_behind(int64_t rows, int64_t filter)
{
    const int64_t ahead = filter == 3 ? 9 : filter == 5 ? 5 : 2;
    return rows > ahead ? rows - ahead : 0;
}

struct rmcp_depthwise_way rmcp_depthwise_choose(const struct rmcp_request *request)
{
    const struct rmcp_convolution *conv = request->problem;
    const struct rmcp_caps *caps = request->caps;
    const double plane_wait = rmcp_figure(caps, RMCP_FIGURE_DEPTHWISE_PLANE_WAIT);
    const int64_t f = square_of(conv), stride = conv->stride[1], taps = f * f;
    const bool weights = conv->pass == RMCP_CONV_BACKWARD_WEIGHTS;
    const bool data = conv->pass == RMCP_CONV_BACKWARD_DATA;
    struct rmcp_depthwise_way way = any_way(request);
    if (!f || stride > 2 || (f == 7 && stride == 2)) return way;
    if (data && conv->stride[0] > 1) return way;

    const double more_planes = planes_of(conv) - 1;
    if (data && stride == 2) {
        const int64_t reach = (f + 1) / 2;
        const double tile = tile_instructions(PAIRS + reach - 1, reach, PAIRS * taps);
        way.stem = "depthwise_spread";
        way.spread = true;
        way.rows = PAIRS;
        way.instructions = output_instructions(conv, 4 * PAIRS, tile + 2.0 * (double)taps);
        way.waiting = more_planes * plane_wait;
        snprintf(way.variant, sizeof way.variant, "_%d", (int)f);
        return way;
    }
    const int64_t rows = (ROWS - 1) * stride + f;
    const double tile = tile_instructions(rows, f, ROWS * taps);
    const double behind =
        (double)rows_behind(rows, f) * rmcp_figure(caps, RMCP_FIGURE_DEPTHWISE_ROW_WAIT);
    way.stem = weights ? "depthwise_weights" : "depthwise";
    way.rows = ROWS;
    way.instructions =
        weights ? 40 + tile : output_instructions(conv, ROWS, tile + 2.0 * (double)taps);
    way.waiting = planes_of(conv) * behind + more_planes * plane_wait;
    if (weights) { /* rows that fill no strip are taken one by one */
        way.waiting = behind + plane_wait * (double)(1 + conv->output[1] % ROWS);
        way.setup = 0;
        way.at_once = (int64_t)rmcp_figure(caps, f == 3   ? RMCP_FIGURE_DEPTHWISE_3_AT_ONCE
                                                 : f == 5 ? RMCP_FIGURE_DEPTHWISE_5_AT_ONCE
                                                          : RMCP_FIGURE_DEPTHWISE_7_AT_ONCE);
    }
    snprintf(way.variant, sizeof way.variant, "_%ds%d", (int)f, (int)stride);
    return way;
}

int64_t rmcp_depthwise_phases(const struct rmcp_convolution *conv,
                              const struct rmcp_depthwise_way *way)
{
    return way->spread ? 1 : rmcp_gemm_phases(conv);
}

/* ---- its arguments ---- */

/* Count the taps from the other end where they go backwards. */
static void turn_forwards(struct rmcp_window *w, unsigned *linear_tap)
{
    if (w->tap_step >= 0) return;
    const int last = (int)w->taps.divisor - 1;
    w->first += last * w->tap_step;
    *linear_tap += (unsigned)last * w->tap;
    w->tap_step = -w->tap_step;
    w->tap = 0 - w->tap;
}

/* Positions are pairs of u = input + padding, and the gathered coordinate is that of dy which the
 * last tap joins to the first pair. */
static void spread_window(struct rmcp_depthwise *p, const struct rmcp_convolution *conv, int i)
{
    const int64_t pad = conv->pad_begin[i], f = conv->filter[i], last = pad + conv->input[i] - 1;
    p->window[i] = (struct rmcp_window){
        .positions = rmcp_divider_of(last / 2 - pad / 2 + 1),
        .taps = rmcp_divider_of(f),
        .step = 1,
        .first = (int)(pad / 2 - (f - 1) / 2),
        .tap_step = 1,
        .size = (unsigned)conv->output[i],
        .gather = (unsigned)conv->y.space[i],
        .position = (unsigned)conv->x.space[i],
        .tap = (unsigned)conv->w.space[i],
    };
    p->odd[i - 1] = pad % 2;
    p->outputs[i - 1] = (unsigned)conv->input[i];
}

/* Weight gradients of small images: a channel has fewer positions than a workgroup has work-items,
 * most of which would wait for the others. */
static int64_t small_lanes(const struct rmcp_convolution *conv,
                           const struct rmcp_depthwise_way *way)
{
    const int64_t positions =
        conv->n * conv->output[0] * rmcp_ceil_divide(conv->output[1], way->rows) * conv->output[2];
    int64_t lanes = 1;
    while (lanes < SMALL_LANES && 2 * lanes * positions <= SUM_THREADS) lanes *= 2;
    return lanes;
}

/* Neighbouring channels that neighbouring work-items take: one sector of memory or more, unless too
 * many of them would not exist. */
static int64_t lanes_of(const struct rmcp_convolution *conv, const struct rmcp_depthwise_way *way,
                        int64_t channels)
{
    if (conv->layout != RMCP_NHWC)
        return conv->pass == RMCP_CONV_BACKWARD_WEIGHTS ? small_lanes(conv, way) : 1;
    int64_t lanes = MOST_LANES;
    while (lanes > 1 && rmcp_ceil_divide(channels, lanes) * lanes * 3 > channels * 4) lanes /= 2;
    return lanes;
}

/* Of one channel. */
static int64_t positions_of(const struct rmcp_depthwise *p, const struct rmcp_convolution *conv)
{
    return conv->n * p->window[0].positions.divisor * p->blocks.divisor *
           p->window[2].positions.divisor;
}

/* With channels last neighbours have different filters: they are staged when there is room. */
static void stage(struct rmcp_depthwise *p, const struct rmcp_convolution *conv,
                  const struct rmcp_depthwise_way *way)
{
    const bool square = way->variant[0] && conv->filter[0] == 1;
    if (conv->pass == RMCP_CONV_BACKWARD_WEIGHTS || p->lanes.divisor == 1 || p->sums != 1 ||
        (!square && (way->variant[0] || p->taps > ANY_FILTER)))
        return;
    p->staged = 1;
    p->images = (unsigned)conv->n;
    p->groups =
        rmcp_divider_of(rmcp_ceil_divide(positions_of(p, conv) * p->lanes.divisor, THREADS));
}

bool rmcp_depthwise_init(struct rmcp_depthwise *p, const struct rmcp_convolution *conv,
                         const struct rmcp_depthwise_way *way, int64_t phase)
{
    struct rmcp_gemm g;
    if (!rmcp_gemm_init(&g, conv, phase)) return false;
    const bool data = conv->pass == RMCP_CONV_BACKWARD_DATA;
    const int64_t channels = data ? conv->c : conv->k, lanes = lanes_of(conv, way, channels);
    *p = (struct rmcp_depthwise){
        .window = { g.window[0], g.window[1], g.window[2] },
        .lanes = rmcp_divider_of(lanes),
        .channel_blocks = rmcp_divider_of(rmcp_ceil_divide(channels, lanes)),
        .share = rmcp_divider_of(data ? 1 : conv->group_k),
        .sums = !data         ? 1
                : g.reduction ? (unsigned)conv->group_k
                              : 0,
        .channels = (unsigned)channels,
        .taps = (unsigned)conv->w.outer,
        .gather_image = g.steps.gather_image,
        .gather_channel = g.steps.gather_channel,
        .linear_image = g.steps.linear_image,
        .linear_channel = g.out_row,
        .linear_position = g.steps.linear_position,
        .linear_tap = g.steps.linear_tap,
        .groups = rmcp_divider_of(1),
        .epilogue = g.epilogue,
    };
    if (conv->pass == RMCP_CONV_BACKWARD_WEIGHTS) p->linear_channel = (unsigned)conv->y.inner;
    if (data) p->linear_channel = (unsigned)conv->x.inner;
    if (way->spread) {
        spread_window(p, conv, 1);
        spread_window(p, conv, 2);
        p->sums = (unsigned)conv->group_k;
        p->linear_tap = 0;
    }
    for (int i = 0; i < RMCP_MAX_DIMS; i++) turn_forwards(&p->window[i], &p->linear_tap);

    /* A single dimension stands where work-items take several positions. */
    if (way->rows == ANY_ROWS && !way->spread && p->window[1].positions.divisor == 1 &&
        p->window[1].taps.divisor == 1) {
        const struct rmcp_window w = p->window[1];
        p->window[1] = p->window[2];
        p->window[2] = w;
    }
    p->blocks = rmcp_divider_of(rmcp_ceil_divide(p->window[1].positions.divisor, way->rows));
    stage(p, conv, way);
    return true;
}

int64_t rmcp_depthwise_items(const struct rmcp_depthwise *p, const struct rmcp_convolution *conv)
{
    if (p->staged) return (int64_t)p->groups.divisor * p->channel_blocks.divisor * THREADS;
    return positions_of(p, conv) * p->channel_blocks.divisor * p->lanes.divisor;
}

struct rmcp_depthwise_slices rmcp_depthwise_slice(const struct rmcp_request *request,
                                                  const struct rmcp_depthwise_way *way,
                                                  const struct rmcp_depthwise *p)
{
    /* Enough workgroups for every unit, but some turns of its loop for every work-item. */
    enum { UNIT_GROUPS = 6, LEAST_PIXELS = 16, MOST_SLICES = 2048 };
    const int64_t taps = p->taps, positions = positions_of(p, request->problem);
    const struct rmcp_convolution *conv = request->problem;
    const int64_t chunks = way->rows == 1 ? rmcp_ceil_divide(taps, ANY_TAPS) : conv->filter[0];
    const int64_t tasks = chunks * p->channel_blocks.divisor;
    const int64_t wanted =
        rmcp_ceil_divide((int64_t)request->caps->compute_units * UNIT_GROUPS, tasks);
    const int64_t turn = SUM_THREADS / p->lanes.divisor * rmcp_ceil_divide(LEAST_PIXELS, way->rows);
    int64_t slices = rmcp_ceil_divide(positions, turn);
    if (slices > wanted) slices = wanted;
    if (slices > MOST_SLICES) slices = MOST_SLICES;
    const int64_t length = rmcp_ceil_divide(positions, slices > 1 ? slices : 1);
    slices = rmcp_ceil_divide(positions, length);
    const int64_t sharers = SUM_THREADS / p->lanes.divisor;
    int64_t levels = 0;
    while (INT64_C(1) << levels < sharers && INT64_C(1) << levels < length) levels++;
    return (struct rmcp_depthwise_slices){
        .sums = {
            .chunks = rmcp_divider_of(chunks),
            .slices = rmcp_divider_of(slices),
            .positions = (unsigned)positions,
            .length = (unsigned)length,
            .partial = slices > 1,
            .part = p->channels * p->taps,
        },
        .slices = slices,
        .groups = tasks * slices,
        .turns = rmcp_ceil_divide(length, sharers),
        .levels = levels,
    };
}
