/* gemm.c: the host side of gemm.cl: which tile, how many splits, and the launches. */
#include "engine/ops/conv/gpu/gemm.h"

#include "base/round.h"
#include "engine/ops/conv/gpu/gemm_cost.h"
#include "engine/ops/conv/gpu/shape.h"

#include <math.h>
#include <stdio.h>

enum {
    MOST_SPLITS = 1024,
    SHORTEST = 128, /* part of a reduction that is worth a workgroup */
    OUTPUT = 2,     /* the argument of that name, as rmcp_kernel_tensors appends them */
};

/* Where neighbours in memory are: those of a along the reduction or rows, those of b along the
 * reduction or columns. */
enum { SUM_SUM = 1, SUM_COL = 2, ROW_SUM = 4, ROW_COL = 8, ALL = 15, NOT_ROW_SUM = 11 };

#define FIGURES(tile)                                                                              \
    RMCP_FIGURE_CONV_##tile##_EFFICIENCY, RMCP_FIGURE_CONV_##tile##_BUSY,                          \
        RMCP_FIGURE_CONV_##tile##_CROWD, RMCP_FIGURE_CONV_##tile##_CROWD_TURN,                     \
        RMCP_FIGURE_CONV_##tile##_CROWD_EFFICIENCY, RMCP_FIGURE_CONV_##tile##_CROWD_PREAMBLE,      \
        RMCP_FIGURE_CONV_##tile##_PAIR, RMCP_FIGURE_CONV_##tile##_PAIR_EFFICIENCY,                 \
        RMCP_FIGURE_CONV_##tile##_PAIR_PREAMBLE, RMCP_FIGURE_CONV_##tile##_PAIR_STALL,             \
        RMCP_FIGURE_CONV_##tile##_PAIR_FIRST
static const struct rmcp_gemm_tile tiles[] = {
    { "128x128", 128, 128, 256, 16, ALL, FIGURES(128X128) },
    { "64x128", 64, 128, 128, 16, ALL, FIGURES(64X128) },
    { "64x64", 64, 64, 64, 16, ALL, FIGURES(64X64) },
    { "32x128", 32, 128, 128, 16, NOT_ROW_SUM, FIGURES(32X128) },
    { "32x32", 32, 32, 64, 32, NOT_ROW_SUM, FIGURES(32X32) },
};
#undef FIGURES
enum { N_TILES = sizeof tiles / sizeof *tiles };

static bool is_celled(enum rmcp_form form)
{
    return form == RMCP_FORM_LONE || form == RMCP_FORM_CELLS;
}

void rmcp_gemm_products_of(const struct rmcp_convolution *conv, enum rmcp_form form,
                           struct rmcp_gemm_products *p)
{
    struct rmcp_gemm g;
    p->form = form;
    p->launches = is_celled(form) ? 1 : rmcp_gemm_launches(conv);
    p->rows = p->count = p->longest = 0;
    p->padded = false;
    p->strided = conv->stride[0] * conv->stride[1] * conv->stride[2] > 1;
    p->lone = rmcp_cells_lone(conv);
    p->arranged_bytes = rmcp_arranged_bytes(conv, form);
    if (is_celled(form)) {
        struct rmcp_cells c;
        rmcp_cells_init(&g, &c, conv, form);
    }
    for (int64_t phase = 0; phase < (is_celled(form) ? 1 : rmcp_gemm_phases(conv)); phase++) {
        if (!is_celled(form) && !rmcp_gemm_init(&g, conv, phase)) continue;
        p->rows = g.rows;
        p->each[p->count].columns = g.columns;
        p->each[p->count++].reduction = g.reduction;
        if (g.reduction > p->longest) p->longest = g.reduction;
        p->padded |= g.padded;
    }
}

int64_t rmcp_gemm_tiles_of(int64_t rows, int64_t columns, const struct rmcp_gemm_tile *tile)
{
    return rmcp_ceil_divide(rows, tile->rows) * rmcp_ceil_divide(columns, tile->columns);
}

int64_t rmcp_gemm_share_of(int64_t reduction, const struct rmcp_gemm_tile *tile, int64_t splits)
{
    return rmcp_ceil_divide(rmcp_ceil_divide(reduction, splits), tile->slices) * tile->slices;
}

/* Which of a tile's variants has work-items that read neighbours in memory. A small tile that lacks
 * the one with a along rows reads a, which has few rows then, along the reduction. */
static unsigned neighbours_of(const struct rmcp_convolution *conv, enum rmcp_form form,
                              const struct rmcp_gemm_tile *tile)
{
    if (form != RMCP_FORM_PHASES) return ROW_COL;
    const bool last = conv->layout == RMCP_NHWC, data = conv->pass == RMCP_CONV_BACKWARD_DATA;
    const bool weights = conv->pass == RMCP_CONV_BACKWARD_WEIGHTS;
    const bool pointwise = conv->filter[0] * conv->filter[1] * conv->filter[2] == 1;
    const bool a_rows = (weights && last) || (data && (last || pointwise));
    const bool b_columns = weights ? last : !last;
    const unsigned by_rows = b_columns ? ROW_COL : ROW_SUM, by_sums = b_columns ? SUM_COL : SUM_SUM;
    return a_rows && (weights || tile->variants & by_rows) ? by_rows : by_sums;
}

static void variant_of(const struct rmcp_convolution *conv, const struct rmcp_gemm_way *way,
                       char *text, size_t size)
{
    const unsigned neighbours = neighbours_of(conv, way->form, way->tile);
    if (is_celled(way->form))
        snprintf(text, size, "_%s_cells", way->tile->name);
    else
        snprintf(text, size, "_%s_%s_%s", way->tile->name,
                 neighbours & (ROW_SUM | ROW_COL) ? "row" : "sum",
                 neighbours & (SUM_COL | ROW_COL) ? "col" : "sum");
}

/* Whether sums go to the workspace, from where others add them up. */
static bool leaves_parts(const struct rmcp_gemm_way *way)
{
    return way->splits > 1 || way->partial;
}

/* Whether splits leave out parts without products. */
static bool is_sparse(const struct rmcp_convolution *conv, const struct rmcp_gemm_way *way)
{
    if (way->partial || way->splits == 1 || rmcp_gemm_phases(conv) == 1) return false;
    return way->form != RMCP_FORM_CELLS && (is_celled(way->form) || rmcp_gemm_launches(conv) == 1);
}

uint64_t rmcp_gemm_parts_bytes(const struct rmcp_convolution *conv, const struct rmcp_gemm_way *way)
{
    enum { ALIGN = 256 };
    if (way->splits == 1) return 0;
    const int64_t elements = rmcp_conv_elements(conv, rmcp_conv_output_slot(conv));
    return rmcp_round_up((uint64_t)(way->splits * elements) * sizeof(float), ALIGN);
}

uint64_t rmcp_gemm_workspace(const struct rmcp_convolution *conv, const struct rmcp_gemm_way *way)
{
    return rmcp_gemm_parts_bytes(conv, way) + rmcp_arranged_bytes(conv, way->form);
}

static int64_t part_terms(const struct rmcp_gemm_products *p, const struct rmcp_gemm_way *way)
{
    const int64_t share = rmcp_gemm_share_of(p->longest, way->tile, way->splits);
    return share ? share : way->tile->slices;
}

void rmcp_gemm_fit(const struct rmcp_request *request, const struct rmcp_gemm_products *products,
                   struct rmcp_gemm_way *way)
{
    way->share = part_terms(products, way);
    way->work_seconds = fmax(rmcp_gemm_compute_seconds(request, products, way),
                             rmcp_traffic_seconds(request->problem, request->caps));
}

static size_t list_ways(const struct rmcp_request *request,
                        const struct rmcp_gemm_products *products, bool split,
                        struct rmcp_gemm_way ways[static RMCP_GEMM_MOST_WAYS])
{
    enum { STOP = 3 };
    const enum rmcp_form form = products->form;
    const int64_t first = split ? 2 : 1;
    const int64_t longest = rmcp_ceil_divide(products->longest, SHORTEST);
    const int64_t most = !split || longest < first ? first
                         : longest < MOST_SPLITS   ? longest
                                                   : MOST_SPLITS;
    size_t n = 0;
    for (int i = 0; i < N_TILES; i++) {
        if (!(tiles[i].variants & neighbours_of(request->problem, form, &tiles[i]))) continue;
        double before = 0;
        int worse = 0; /* times in a row: more splits do not help any more */
        for (int64_t splits = first; splits <= most && worse < STOP && n < RMCP_GEMM_MOST_WAYS;) {
            struct rmcp_gemm_way way = { .form = form, .tile = &tiles[i], .splits = splits };
            way.share = part_terms(products, &way);
            rmcp_gemm_estimate(request, products, &way);
            worse = way.seconds > before && before > 0 ? worse + 1 : 0;
            before = way.seconds;
            ways[n++] = way;
            splits += splits > 1 ? splits / 2 : 1;
        }
    }
    return n;
}

size_t rmcp_gemm_list(const struct rmcp_request *request, const struct rmcp_gemm_products *products,
                      bool split, struct rmcp_gemm_way ways[static RMCP_GEMM_MOST_WAYS])
{
    const size_t n = list_ways(request, products, split, ways);
    for (size_t i = 0; i < n; i++)
        if (!ways[i].work_seconds) rmcp_gemm_fit(request, products, &ways[i]);
    return n;
}

/* The fastest that fits; when none does, the first, which will be refused. */
struct rmcp_gemm_way rmcp_gemm_choose(const struct rmcp_request *request,
                                      const struct rmcp_gemm_products *products, bool split)
{
    struct rmcp_gemm_way ways[RMCP_GEMM_MOST_WAYS];
    const size_t n = list_ways(request, products, split, ways);
    size_t best = 0;
    for (size_t i = 1; i < n; i++)
        if (ways[i].seconds < ways[best].seconds &&
            rmcp_gemm_parts_bytes(request->problem, &ways[i]) + products->arranged_bytes <=
                request->caps->max_buffer_bytes)
            best = i;
    if (!ways[best].work_seconds) rmcp_gemm_fit(request, products, &ways[best]);
    return ways[best];
}

/* ---- launches ---- */

/* What a launch needs besides its struct rmcp_gemm. */
union last {
    struct rmcp_phases phases;
    struct rmcp_cells cells;
};

static void bind_tensors(struct rmcp_kernel_launch *launch, const struct rmcp_convolution *conv,
                         const struct rmcp_gemm_way *way)
{
    const unsigned output = leaves_parts(way) ? RMCP_SLOT_WORKSPACE : rmcp_conv_output_slot(conv);
    if (!rmcp_arranged_bytes(conv, way->form)) {
        rmcp_kernel_tensors(launch, conv, output);
        return;
    }
    rmcp_arg_memory(launch, RMCP_SLOT_WORKSPACE, rmcp_gemm_parts_bytes(conv, way));
    rmcp_arg_memory(launch, RMCP_CONV_Y, 0);
    rmcp_arg_memory(launch, output, 0);
    rmcp_arg_memory(launch, RMCP_CONV_Y, 0); /* no bias */
}

static rmcp_status emit_launch(const struct rmcp_request *request, const struct rmcp_gemm_way *way,
                               struct rmcp_gemm *g, union last *last, struct rmcp_launch_list *list)
{
    const struct rmcp_convolution *conv = request->problem;
    const bool celled = is_celled(way->form);
    char variant[32];
    variant_of(conv, way, variant, sizeof variant);
    g->row_tiles = rmcp_divider_of(rmcp_ceil_divide(g->rows, way->tile->rows));
    g->share = (unsigned)way->share;
    g->partial = leaves_parts(way);
    g->part = (unsigned)rmcp_conv_elements(conv, rmcp_conv_output_slot(conv));
    g->sparse = is_sparse(conv, way);

    const int64_t at_once =
        request->caps->compute_units * RMCP_GEMM_UNIT_THREADS / way->tile->threads;
    const int64_t n_tiles = rmcp_gemm_tiles_of(g->rows, g->columns, way->tile);
    const int64_t n = celled ? n_tiles : rmcp_phases_workgroups(&last->phases, n_tiles, at_once);
    const int64_t quota =
        rmcp_launch_quota(n, at_once / (conv->groups * way->splits), way->work_seconds);
    for (int64_t first = 0; first < n; first += quota) {
        const int64_t count = n - first < quota ? n - first : quota;
        struct rmcp_kernel_launch *launch = NULL;
        rmcp_status status = rmcp_kernel_append(list, "gemm", conv->type, variant,
                                                count * way->tile->threads, &launch);
        if (status) return status;
        g->first_tile = (unsigned)first;
        launch->grid[1] = (uint32_t)conv->groups;
        launch->grid[2] = (uint32_t)way->splits;
        bind_tensors(launch, conv, way);
        launch->args[OUTPUT].offset += (uint64_t)(way->first_part * g->part) * sizeof(float);
        rmcp_arg_value(launch, g, sizeof *g);
        if (celled)
            rmcp_arg_value(launch, &last->cells, sizeof last->cells);
        else
            rmcp_arg_value(launch, &last->phases, sizeof last->phases);
    }
    return RMCP_OK;
}

static rmcp_status emit_products(const struct rmcp_request *request,
                                 const struct rmcp_gemm_way *way, struct rmcp_launch_list *list)
{
    const struct rmcp_convolution *conv = request->problem;
    const struct rmcp_convolution turned = rmcp_turned(conv);
    struct rmcp_gemm g;
    union last last;
    if (is_celled(way->form)) {
        rmcp_cells_init(&g, &last.cells, conv, way->form);
        return emit_launch(request, way, &g, &last, list);
    }
    rmcp_status status = RMCP_OK;
    for (int64_t i = 0; i < rmcp_gemm_launches(conv) && !status; i++) {
        if (!rmcp_gemm_init_launch(&g, &last.phases, way->form == RMCP_FORM_TURNED ? &turned : conv,
                                   i))
            continue;
        g.steps.linear_tap += (unsigned)way->first_tap;
        status = emit_launch(request, way, &g, &last, list);
    }
    return status;
}

rmcp_status rmcp_gemm_emit(const struct rmcp_request *request, const struct rmcp_gemm_way *way,
                           struct rmcp_launch_list *list)
{
    const struct rmcp_convolution *conv = request->problem;
    rmcp_status status =
        rmcp_arrange_emit(request, way->form, rmcp_gemm_parts_bytes(conv, way), list);
    if (!status) status = emit_products(request, way, list);
    if (status || way->partial || way->splits == 1) return status;
    if (!is_sparse(conv, way)) return rmcp_parts_emit(request, way->splits, 0, list);
    return rmcp_sparse_parts_emit(request, way->splits, way->share, list);
}
