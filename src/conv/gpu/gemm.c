/* gemm.c: the host side of gemm.cl: which tile, how many splits, and the launches. */
#include "conv/gpu/gemm.h"

#include "conv/gpu/shape.h"

#include <math.h>
#include <stdio.h>

enum {
    SLICES = 16, /* of gemm.cl */
    MOST_SPLITS = 1024,
    UNIT_THREADS = 256, /* work-items that a compute unit has at once */
};

struct rmcp_gemm_tile {
    const char *name;
    int64_t rows, columns, threads;
    double efficiency; /* share of peak that its inner loop reaches */
};

static const struct rmcp_gemm_tile tiles[] = {
    { "128x128", 128, 128, 256, 0.80 },
    { "64x128", 64, 128, 128, 0.75 },
    { "64x64", 64, 64, 64, 0.65 },
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

static int64_t share_of(const struct rmcp_gemm *g, int64_t splits)
{
    return ceil_divide(ceil_divide(g->reduction, splits), SLICES) * SLICES;
}

/* ---- estimates ---- */

/* Workgroups run in rounds of UNIT_THREADS work-items a compute unit; in the last, unfilled round a
 * unit still needs BUSY_THREADS to be at work on all of its lanes. Besides its slices a workgroup
 * decodes indices, fills the pipeline and stores: about as much as PREAMBLE slices. */
static double phase_seconds(const struct rmcp_request *request, const struct rmcp_gemm *g,
                            const struct rmcp_gemm_tile *tile, int64_t splits)
{
    enum { BUSY_THREADS = 128, PREAMBLE = 48 };
    const struct rmcp_caps *caps = request->caps;
    const int64_t units = caps->compute_units ? caps->compute_units : 1;
    const int64_t at_once = UNIT_THREADS / tile->threads;
    const int64_t groups = tiles_of(g, tile) * request->conv.groups * splits;
    const int64_t rounds = groups / (units * at_once);
    const int64_t rest = ceil_divide(groups - rounds * units * at_once, units);
    const double busy = fmin(1, (double)(rest * tile->threads) / BUSY_THREADS);
    const double work = (double)(rounds * at_once) + (rest ? (double)rest / busy : 0);
    const double flops =
        2.0 * (double)tile->rows * (double)tile->columns * (double)(share_of(g, splits) + PREAMBLE);
    return work * flops * (double)units / (caps->flops_per_second * tile->efficiency);
}

static double way_seconds(const struct rmcp_request *request, const struct rmcp_gemm_tile *tile,
                          int64_t splits)
{
    const struct rmcp_conv *conv = &request->conv;
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

int64_t rmcp_gemm_reduction(const struct rmcp_conv *conv)
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
    const int64_t longest = ceil_divide(rmcp_gemm_reduction(&request->conv), 8 * SLICES);
    const int64_t most = !split || longest < first ? first
                         : longest < MOST_SPLITS   ? longest
                                                   : MOST_SPLITS;
    struct rmcp_gemm_way best = { .tile = NULL };
    for (int i = 0; i < N_TILES; i++)
        for (int64_t splits = first; splits <= most; splits += splits > 1 ? splits / 2 : 1) {
            struct rmcp_gemm_way way = { &tiles[i], splits,
                                         way_seconds(request, &tiles[i], splits) };
            const bool fits =
                rmcp_gemm_workspace(&request->conv, &way) <= request->caps->max_buffer_bytes;
            if (!best.tile || (fits && way.seconds < best.seconds)) best = way;
        }
    return best;
}

uint64_t rmcp_gemm_workspace(const struct rmcp_conv *conv, const struct rmcp_gemm_way *way)
{
    if (way->splits == 1) return 0;
    const int64_t elements = rmcp_conv_elements(conv, rmcp_conv_output_slot(conv));
    return (uint64_t)(way->splits * elements) * sizeof(float);
}

/* ---- launches ---- */

/* The variant whose work-items read neighbours in memory: those of a along rows or along the
 * reduction, those of b along columns or along the reduction. */
static void variant_of(const struct rmcp_conv *conv, const struct rmcp_gemm_tile *tile, char *text,
                       size_t size)
{
    const bool last = conv->layout == RMCP_NHWC, data = conv->pass == RMCP_BACKWARD_DATA;
    const bool weights = conv->pass == RMCP_BACKWARD_WEIGHTS;
    const bool pointwise = conv->filter[0] * conv->filter[1] * conv->filter[2] == 1;
    const bool a_rows = (weights && last) || (data && (last || pointwise));
    const bool b_columns = weights ? last : !last;
    snprintf(text, size, "_%s_%s_%s", tile->name, a_rows ? "row" : "sum",
             b_columns ? "col" : "sum");
}

static rmcp_status emit_phase(const struct rmcp_request *request, const struct rmcp_gemm_way *way,
                              struct rmcp_gemm *g, struct rmcp_launch_list *list)
{
    const struct rmcp_conv *conv = &request->conv;
    const enum rmcp_slot output = rmcp_conv_output_slot(conv);
    char variant[32];
    variant_of(conv, way->tile, variant, sizeof variant);
    g->row_tiles = rmcp_divider_of(ceil_divide(g->rows, way->tile->rows));
    g->share = (unsigned)share_of(g, way->splits);
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
    for (int64_t phase = 0; phase < rmcp_gemm_phases(&request->conv) && !status; phase++) {
        struct rmcp_gemm g;
        if (rmcp_gemm_init(&g, &request->conv, phase)) status = emit_phase(request, way, &g, list);
    }
    return status;
}
