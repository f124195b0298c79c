/* gemm.c: the host side of gemm.cl: which tile, how many splits, and the launches. */
#include "conv/gpu/gemm.h"

#include "conv/gpu/shape.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

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

/* The products of a request: one, or those of all phases that have outputs. */
struct products {
    int64_t rows, count, longest; /* longest reduction */
    bool padded;
    struct {
        int64_t columns, reduction;
    } each[RMCP_GEMM_MOST_PHASES];
};

static struct products products_of(const struct rmcp_convolution *conv)
{
    struct products p = { 0 };
    for (int64_t phase = 0; phase < rmcp_gemm_phases(conv); phase++) {
        struct rmcp_gemm g;
        if (!rmcp_gemm_init(&g, conv, phase)) continue;
        p.rows = g.rows;
        p.each[p.count].columns = g.columns;
        p.each[p.count++].reduction = g.reduction;
        if (g.reduction > p.longest) p.longest = g.reduction;
        p.padded |= g.padded;
    }
    return p;
}

static int64_t tiles_of(int64_t rows, int64_t columns, const struct rmcp_gemm_tile *tile)
{
    return ceil_divide(rows, tile->rows) * ceil_divide(columns, tile->columns);
}

static int64_t share_of(int64_t reduction, const struct rmcp_gemm_tile *tile, int64_t splits)
{
    return ceil_divide(ceil_divide(reduction, splits), tile->slices) * tile->slices;
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

/* The work of one launch or of several phases in one. */
struct load {
    double groups, flops; /* workgroups, and what they compute */
    double turns;         /* of the longest workgroup          */
};

/* Besides its slices a workgroup decodes indices, fills the pipeline and stores: about as much as
 * PREAMBLE slices of 8 x 8 outputs a work-item; a third of it when it has nothing to add up. */
static void add_load(struct load *load, double workgroups, int64_t share,
                     const struct rmcp_gemm_tile *tile)
{
    enum { PREAMBLE = 48 };
    const double each = (double)(tile->rows * tile->columns * share +
                                 64 * tile->threads * (share ? PREAMBLE : PREAMBLE / 3));
    load->groups += workgroups;
    load->flops += workgroups * 2 * each;
    load->turns = fmax(load->turns, (double)(share / tile->slices));
}

/* Workgroups run in rounds of UNIT_THREADS work-items a compute unit; in the last, unfilled round a
 * unit still needs BUSY_THREADS to be at work on all of its lanes. However few they are, each waits
 * for its slices: those of one turn are on their way at once. */
static double load_seconds(const struct rmcp_caps *caps, const struct rmcp_gemm_tile *tile,
                           const struct load *load)
{
    enum { BUSY_THREADS = 128 };
    const double turn_seconds = 450e-9;
    if (load->groups <= 0) return 0;
    const double units = caps->compute_units ? caps->compute_units : 1;
    const double at_once = (double)(UNIT_THREADS / tile->threads);
    const double rounds = floor(load->groups / (units * at_once));
    const double rest = ceil((load->groups - rounds * units * at_once) / units);
    const double busy = fmin(1, rest * (double)tile->threads / BUSY_THREADS);
    const double work = rounds * at_once + (rest > 0 ? rest / busy : 0);
    const double busy_seconds =
        work * (load->flops / load->groups) * units / (caps->flops_per_second * tile->efficiency);
    return hypot(busy_seconds, load->turns * turn_seconds); /* each hides some of the other */
}

/* Phases in one launch run beside each other, but the one with the most taps has few workgroups: it
 * may take as long alone as all of them would if they were alike. */
static double compute_seconds(const struct rmcp_request *request, const struct products *p,
                              const struct rmcp_gemm_tile *tile, int64_t splits)
{
    const struct rmcp_convolution *conv = request->problem;
    const bool merged = rmcp_gemm_launches(conv) == 1;
    const double tests = 1.17; /* of each element for padding, as measured on an H200 */
    struct load all = { 0, 0, 0 };
    double sum = 0, longest = 0;
    for (int64_t i = 0; i < p->count; i++) {
        const int64_t n = tiles_of(p->rows, p->each[i].columns, tile) * conv->groups * splits;
        const int64_t share = share_of(p->each[i].reduction, tile, splits);
        struct load one = { 0, 0, 0 };
        add_load(&one, (double)n, share, tile);
        add_load(&all, (double)n, share, tile);
        const double seconds = load_seconds(request->caps, tile, &one);
        sum += seconds;
        longest = fmax(longest, seconds);
    }
    const double seconds = merged ? fmax(load_seconds(request->caps, tile, &all), longest) : sum;
    return p->padded ? seconds * tests : seconds;
}

static double way_seconds(const struct rmcp_request *request, const struct products *p,
                          const struct rmcp_gemm_tile *tile, int64_t splits)
{
    const struct rmcp_convolution *conv = request->problem;
    const struct rmcp_caps *caps = request->caps;
    const double launches = (double)rmcp_gemm_launches(conv);
    const double compute = compute_seconds(request, p, tile, splits);
    double seconds =
        fmax(compute, rmcp_traffic_seconds(conv, caps)) + launches * caps->launch_seconds;
    if (splits > 1) {
        struct rmcp_gemm_way way = { tile, splits, 0 };
        seconds += caps->launch_seconds +
                   2.0 * (double)rmcp_gemm_workspace(conv, &way) / caps->bytes_per_second;
    }
    return seconds;
}

int64_t rmcp_gemm_reduction(const struct rmcp_convolution *conv)
{
    return products_of(conv).longest;
}

static struct rmcp_gemm_way choose(const struct rmcp_request *request, bool split)
{
    const int64_t first = split ? 2 : 1;
    const struct products products = products_of(request->problem);
    const int64_t longest = ceil_divide(products.longest, SHORTEST);
    const int64_t most = !split || longest < first ? first
                         : longest < MOST_SPLITS   ? longest
                                                   : MOST_SPLITS;
    struct rmcp_gemm_way best = { .tile = NULL };
    for (int i = 0; i < N_TILES; i++) {
        if (!(tiles[i].variants & neighbours_of(request->problem, &tiles[i]))) continue;
        for (int64_t splits = first; splits <= most; splits += splits > 1 ? splits / 2 : 1) {
            struct rmcp_gemm_way way = { &tiles[i], splits,
                                         way_seconds(request, &products, &tiles[i], splits) };
            const bool fits =
                rmcp_gemm_workspace(request->problem, &way) <= request->caps->max_buffer_bytes;
            if (!best.tile || (fits && way.seconds < best.seconds)) best = way;
        }
    }
    return best;
}

struct rmcp_gemm_way rmcp_gemm_choose(const struct rmcp_request *request, bool split)
{
    /* A plan asks for workspace, cost and launches in turn: the last answer is the next. */
    static _Thread_local struct {
        struct rmcp_gemm_way way; /* tile NULL: none yet */
        struct rmcp_convolution problem;
        struct rmcp_caps caps;
    } last[2];
    struct rmcp_gemm_way *way = &last[split].way;
    if (way->tile && !memcmp(&last[split].problem, request->problem, sizeof last->problem) &&
        !memcmp(&last[split].caps, request->caps, sizeof last->caps))
        return *way;
    *way = choose(request, split);
    memcpy(&last[split].problem, request->problem, sizeof last->problem);
    memcpy(&last[split].caps, request->caps, sizeof last->caps);
    return *way;
}

uint64_t rmcp_gemm_workspace(const struct rmcp_convolution *conv, const struct rmcp_gemm_way *way)
{
    if (way->splits == 1) return 0;
    const int64_t elements = rmcp_conv_elements(conv, rmcp_conv_output_slot(conv));
    return (uint64_t)(way->splits * elements) * sizeof(float);
}

/* ---- launches ---- */

static rmcp_status emit_launch(const struct rmcp_request *request, const struct rmcp_gemm_way *way,
                               const struct products *products, struct rmcp_gemm *g,
                               const struct rmcp_phases *p, struct rmcp_launch_list *list)
{
    const struct rmcp_convolution *conv = request->problem;
    const unsigned output = rmcp_conv_output_slot(conv);
    char variant[32];
    variant_of(conv, way->tile, variant, sizeof variant);
    g->row_tiles = rmcp_divider_of(ceil_divide(g->rows, way->tile->rows));
    g->share = (unsigned)share_of(products->longest, way->tile, way->splits);
    g->partial = way->splits > 1;
    g->part = (unsigned)rmcp_conv_elements(conv, output);

    const int64_t n = tiles_of(g->rows, g->columns, way->tile) << p->shift;
    const int64_t at_once = request->caps->compute_units * UNIT_THREADS / way->tile->threads;
    const double seconds = fmax(compute_seconds(request, products, way->tile, way->splits),
                                rmcp_traffic_seconds(conv, request->caps));
    const int64_t quota = rmcp_launch_quota(n, at_once / (conv->groups * way->splits), seconds);
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
        rmcp_arg_value(launch, p, sizeof *p);
    }
    return RMCP_OK;
}

rmcp_status rmcp_gemm_emit(const struct rmcp_request *request, const struct rmcp_gemm_way *way,
                           struct rmcp_launch_list *list)
{
    const struct products products = products_of(request->problem);
    rmcp_status status = RMCP_OK;
    for (int64_t i = 0; i < rmcp_gemm_launches(request->problem) && !status; i++) {
        struct rmcp_gemm g;
        struct rmcp_phases p;
        if (rmcp_gemm_init_launch(&g, &p, request->problem, i))
            status = emit_launch(request, way, &products, &g, &p, list);
    }
    return status;
}
