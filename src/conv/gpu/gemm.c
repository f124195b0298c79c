/* gemm.c: the host side of gemm.cl: which tile, how many splits, and the launches. */
#include "conv/gpu/gemm.h"

#include "conv/gpu/shape.h"

#include <math.h>
#include <stdio.h>

enum {
    MOST_SPLITS = 1024,
    SHORTEST = 128,     /* part of a reduction that is worth a workgroup */
    UNIT_THREADS = 256, /* work-items that a compute unit has at once */
};

/* Where neighbours in memory are: those of a along the reduction or rows, those of b along the
 * reduction or columns. */
enum { SUM_SUM = 1, SUM_COL = 2, ROW_SUM = 4, ROW_COL = 8, ALL = 15 };

struct rmcp_gemm_tile {
    const char *name;
    int64_t rows, columns, threads, slices;
    double efficiency; /* share of peak that its inner loop reaches */
    unsigned variants; /* a mask of the enum above: those that are compiled */
};

static const struct rmcp_gemm_tile tiles[] = {
    { "128x128", 128, 128, 256, 16, 0.80, ALL },
    { "64x128", 64, 128, 128, 16, 0.75, ALL },
    { "64x64", 64, 64, 64, 16, 0.65, ALL },
    { "32x128", 32, 128, 128, 16, 0.60, SUM_COL | SUM_SUM | ROW_COL },
    { "32x32", 32, 32, 64, 32, 0.50, SUM_SUM | ROW_COL },
};
enum { N_TILES = sizeof tiles / sizeof *tiles };

static int64_t ceil_divide(int64_t a, int64_t b)
{
    return (a + b - 1) / b;
}

static int64_t tiles_of(const struct rmcp_gemm *g, const struct rmcp_gemm_tile *tile)
{
    return ceil_divide(g->rows, tile->rows) * ceil_divide(g->columns, tile->columns);
}

static int64_t share_of(const struct rmcp_gemm *g, const struct rmcp_gemm_tile *tile,
                        int64_t splits)
{
    return ceil_divide(ceil_divide(g->reduction, splits), tile->slices) * tile->slices;
}

/* Which of a tile's variants has work-items that read neighbours in memory. A small tile that lacks
 * the one with a along rows reads a, which has few rows then, along the reduction. */
static unsigned neighbours_of(const struct rmcp_convolution *conv,
                              const struct rmcp_gemm_tile *tile)
{
    const bool last = conv->layout == RMCP_NHWC, data = conv->pass == RMCP_CONV_BACKWARD_DATA;
    const bool weights = conv->pass == RMCP_CONV_BACKWARD_WEIGHTS;
    const bool pointwise = conv->filter[0] * conv->filter[1] * conv->filter[2] == 1;
    const bool a_rows = (weights && last) || (data && (last || pointwise));
    const bool b_columns = weights ? last : !last;
    const unsigned by_rows = b_columns ? ROW_COL : ROW_SUM, by_sums = b_columns ? SUM_COL : SUM_SUM;
    return a_rows && (weights || tile->variants & by_rows) ? by_rows : by_sums;
}

static void variant_of(const struct rmcp_convolution *conv, const struct rmcp_gemm_tile *tile,
                       char *text, size_t size)
{
    const unsigned neighbours = neighbours_of(conv, tile);
    snprintf(text, size, "_%s_%s_%s", tile->name, neighbours & (ROW_SUM | ROW_COL) ? "row" : "sum",
             neighbours & (SUM_COL | ROW_COL) ? "col" : "sum");
}

/* ---- estimates ---- */

/* Workgroups run in rounds of UNIT_THREADS work-items a compute unit; in the last, unfilled round a
 * unit still needs BUSY_THREADS to be at work on all of its lanes. Besides its slices a workgroup
 * decodes indices, fills the pipeline and stores: about as much as PREAMBLE slices of 8 x 8 outputs
 * a work-item. */
static double phase_seconds(const struct rmcp_request *request, const struct rmcp_gemm *g,
                            const struct rmcp_gemm_tile *tile, int64_t splits)
{
    enum { BUSY_THREADS = 128, PREAMBLE = 48 };
    const struct rmcp_caps *caps = request->caps;
    const int64_t units = caps->compute_units ? caps->compute_units : 1;
    const int64_t at_once = UNIT_THREADS / tile->threads;
    const int64_t groups = tiles_of(g, tile) * rmcp_conv_of(request)->groups * splits;
    const int64_t rounds = groups / (units * at_once);
    const int64_t rest = ceil_divide(groups - rounds * units * at_once, units);
    const double busy = fmin(1, (double)(rest * tile->threads) / BUSY_THREADS);
    const double work = (double)(rounds * at_once) + (rest ? (double)rest / busy : 0);
    const double flops =
        2.0 * (double)(tile->rows * tile->columns) * (double)share_of(g, tile, splits) +
        2.0 * 64 * (double)(tile->threads * PREAMBLE);
    return work * flops * (double)units / (caps->flops_per_second * tile->efficiency);
}

static double way_seconds(const struct rmcp_request *request, const struct rmcp_gemm_tile *tile,
                          int64_t splits)
{
    const struct rmcp_convolution *conv = request->problem;
    const struct rmcp_caps *caps = request->caps;
    const double traffic = rmcp_traffic_seconds(conv, caps);
    double compute = 0, launches = 0;
    for (int64_t phase = 0; phase < rmcp_gemm_phases(conv); phase++) {
        struct rmcp_gemm g;
        if (!rmcp_gemm_init(&g, conv, phase)) continue;
        compute += phase_seconds(request, &g, tile, splits);
        launches++;
    }
    double seconds = fmax(compute, traffic) + launches * caps->launch_seconds;
    if (splits > 1) {
        struct rmcp_gemm_way way = { tile, splits, 0 };
        seconds += caps->launch_seconds +
                   2.0 * (double)rmcp_gemm_workspace(conv, &way) / caps->bytes_per_second;
    }
    return seconds;
}

int64_t rmcp_gemm_reduction(const struct rmcp_convolution *conv)
{
    int64_t longest = 0;
    for (int64_t phase = 0; phase < rmcp_gemm_phases(conv); phase++) {
        struct rmcp_gemm g;
        if (rmcp_gemm_init(&g, conv, phase) && g.reduction > longest) longest = g.reduction;
    }
    return longest;
}

struct rmcp_gemm_way rmcp_gemm_choose(const struct rmcp_request *request, bool split)
{
    const int64_t first = split ? 2 : 1;
    const int64_t longest = ceil_divide(rmcp_gemm_reduction(request->problem), SHORTEST);
    const int64_t most = !split || longest < first ? first
                         : longest < MOST_SPLITS   ? longest
                                                   : MOST_SPLITS;
    struct rmcp_gemm_way best = { .tile = NULL };
    for (int i = 0; i < N_TILES; i++) {
        if (!(tiles[i].variants & neighbours_of(request->problem, &tiles[i]))) continue;
        for (int64_t splits = first; splits <= most; splits += splits > 1 ? splits / 2 : 1) {
            struct rmcp_gemm_way way = { &tiles[i], splits,
                                         way_seconds(request, &tiles[i], splits) };
            const bool fits =
                rmcp_gemm_workspace(request->problem, &way) <= request->caps->max_buffer_bytes;
            if (!best.tile || (fits && way.seconds < best.seconds)) best = way;
        }
    }
    return best;
}

uint64_t rmcp_gemm_workspace(const struct rmcp_convolution *conv, const struct rmcp_gemm_way *way)
{
    if (way->splits == 1) return 0;
    const int64_t elements = rmcp_conv_elements(conv, rmcp_conv_output_slot(conv));
    return (uint64_t)(way->splits * elements) * sizeof(float);
}

/* ---- launches ---- */

static rmcp_status emit_phase(const struct rmcp_request *request, const struct rmcp_gemm_way *way,
                              struct rmcp_gemm *g, struct rmcp_launch_list *list)
{
    const struct rmcp_convolution *conv = request->problem;
    const unsigned output = rmcp_conv_output_slot(conv);
    char variant[32];
    variant_of(conv, way->tile, variant, sizeof variant);
    g->row_tiles = rmcp_divider_of(ceil_divide(g->rows, way->tile->rows));
    g->share = (unsigned)share_of(g, way->tile, way->splits);
    g->partial = way->splits > 1;
    g->part = (unsigned)rmcp_conv_elements(conv, output);

    const int64_t n = tiles_of(g, way->tile);
    const int64_t at_once = request->caps->compute_units * UNIT_THREADS / way->tile->threads;
    const double traffic = rmcp_traffic_seconds(conv, request->caps);
    const int64_t quota =
        rmcp_launch_quota(n, at_once / (conv->groups * way->splits),
                          fmax(phase_seconds(request, g, way->tile, way->splits), traffic));
    for (int64_t first = 0; first < n; first += quota) {
        const int64_t count = n - first < quota ? n - first : quota;
        struct rmcp_kernel_launch *launch = NULL;
        rmcp_status status = rmcp_kernel_append(list, "gemm", conv->type, variant,
                                                count * way->tile->threads, &launch);
        if (status) return status;
        g->first_tile = (unsigned)first;
        launch->grid[1] = (uint32_t)conv->groups;
        launch->grid[2] = (uint32_t)way->splits;
        rmcp_kernel_tensors(launch, conv, way->splits > 1 ? RMCP_SLOT_WORKSPACE : output);
        rmcp_arg_value(launch, g, sizeof *g);
    }
    return RMCP_OK;
}

rmcp_status rmcp_gemm_emit(const struct rmcp_request *request, const struct rmcp_gemm_way *way,
                           struct rmcp_launch_list *list)
{
    rmcp_status status = RMCP_OK;
    for (int64_t phase = 0; phase < rmcp_gemm_phases(request->problem) && !status; phase++) {
        struct rmcp_gemm g;
        if (rmcp_gemm_init(&g, request->problem, phase))
            status = emit_phase(request, way, &g, list);
    }
    return status;
}
