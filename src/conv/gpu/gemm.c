/* gemm.c: the host side of gemm.cl: which tile, how many splits, and the launches. */
#include "conv/gpu/gemm.h"

#include "conv/gpu/last.h"
#include "conv/gpu/shape.h"

#include <math.h>
#include <stdio.h>

enum {
    MOST_SPLITS = 1024,
    SHORTEST = 128,     /* part of a reduction that is worth a workgroup */
    UNIT_THREADS = 256, /* work-items that a compute unit has at once */
    OUTPUT = 2,         /* the argument of that name, as rmcp_kernel_tensors appends them */
};

/* Where neighbours in memory are: those of a along the reduction or rows, those of b along the
 * reduction or columns. */
enum { SUM_SUM = 1, SUM_COL = 2, ROW_SUM = 4, ROW_COL = 8, ALL = 15 };

struct rmcp_gemm_tile {
    const char *name;
    int64_t rows, columns, threads, slices;
    double efficiency; /* share of peak that its inner loop reaches */
    double busy;       /* work-items that keep a compute unit at that, when it has no others */
    unsigned variants; /* a mask of the enum above: those that are compiled */
    struct {
        double at_once;    /* workgroups that a compute unit has at once          */
        double turn;       /* seconds of a turn of a workgroup that is alone      */
        double efficiency; /* share of peak that many workgroups reach            */
        double preamble;   /* turns' worth of work before the first and after the last */
    } crowd;               /* as measured on an H200, for crowd_seconds */
};

static const struct rmcp_gemm_tile tiles[] = {
    { "128x128", 128, 128, 256, 16, 0.80, 128, ALL, { 1, 1.68e-6, 0.96, 3.7 } },
    { "64x128", 64, 128, 128, 16, 0.75, 256, ALL, { 3, 1.07e-6, 0.63, 1.4 } },
    { "64x64", 64, 64, 64, 16, 0.65, 256, ALL, { 6, 1.00e-6, 0.56, 1.5 } },
    { "32x128",
      32,
      128,
      128,
      16,
      0.60,
      145,
      SUM_COL | SUM_SUM | ROW_COL,
      { 3, 0.71e-6, 0.56, 1.6 } },
    { "32x32", 32, 32, 64, 32, 0.50, 128, SUM_SUM | ROW_COL, { 6, 0.77e-6, 0.43, 1.1 } },
};
enum { N_TILES = sizeof tiles / sizeof *tiles };

static bool is_celled(enum rmcp_form form)
{
    return form == RMCP_FORM_LONE || form == RMCP_FORM_CELLS;
}

static int64_t ceil_divide(int64_t a, int64_t b)
{
    return (a + b - 1) / b;
}

/* The products of a request in a form: one, or those of all phases that have outputs. */
struct products {
    int64_t rows, count, longest; /* longest reduction */
    bool padded;
    struct {
        int64_t columns, reduction;
    } each[RMCP_GEMM_MOST_PHASES];
};

static struct products products_of(const struct rmcp_convolution *conv, enum rmcp_form form)
{
    struct products p = { 0 };
    if (is_celled(form)) {
        struct rmcp_gemm g;
        struct rmcp_cells c;
        rmcp_cells_init(&g, &c, conv, form);
        p = (struct products){ g.rows, 1, g.reduction, g.padded, { { g.columns, g.reduction } } };
        return p;
    }
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

/* Terms of a part: the longest reduction's, for all products. */
static int64_t part_terms(const struct products *p, const struct rmcp_gemm_way *way)
{
    const int64_t share = share_of(p->longest, way->tile, way->splits);
    return share ? share : way->tile->slices;
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

/* How many launches of gemm.cl a form takes, and whether splits leave out parts without products.
 */
static int64_t launches_of(const struct rmcp_convolution *conv, enum rmcp_form form)
{
    return is_celled(form) ? 1 : rmcp_gemm_launches(conv);
}

/* Whether sums go to the workspace, from where others add them up. */
static bool leaves_parts(const struct rmcp_gemm_way *way)
{
    return way->splits > 1 || way->partial;
}

static bool is_sparse(const struct rmcp_convolution *conv, const struct rmcp_gemm_way *way)
{
    if (way->partial || way->splits == 1 || rmcp_gemm_phases(conv) == 1) return false;
    return way->form != RMCP_FORM_CELLS && launches_of(conv, way->form) == 1;
}

static uint64_t parts_bytes(const struct rmcp_convolution *conv, const struct rmcp_gemm_way *way)
{
    enum { ALIGN = 256 };
    if (way->splits == 1) return 0;
    const int64_t elements = rmcp_conv_elements(conv, rmcp_conv_output_slot(conv));
    return ((uint64_t)(way->splits * elements) * sizeof(float) + ALIGN - 1) / ALIGN * ALIGN;
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
 * unit still needs BUSY_THREADS to be at work on all of its lanes, or more when it is the first.
 * However few they are, each waits for its slices: those of one turn are on their way at once. */
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
    const double needed = rounds > 0 ? BUSY_THREADS : tile->busy;
    const double busy = fmin(1, rest * (double)tile->threads / needed);
    const double work = rounds * at_once + (rest > 0 ? rest / busy : 0);
    const double busy_seconds =
        work * (load->flops / load->groups) * units / (caps->flops_per_second * tile->efficiency);
    return hypot(busy_seconds, load->turns * turn_seconds); /* each hides some of the other */
}

/* How many times as long a product takes with channels last: pixels are read in pieces of as many
 * channels as a slice has. As measured on an H200. */
static double last_factor(const struct rmcp_convolution *conv)
{
    const double usual = 1.3, phases = 1.25, lone = 1.8;
    const bool strided = conv->stride[0] * conv->stride[1] * conv->stride[2] > 1;
    if (conv->layout != RMCP_NHWC || conv->pass == RMCP_CONV_BACKWARD_WEIGHTS) return 1;
    if (!strided || conv->pass == RMCP_CONV_FORWARD) return usual;
    return rmcp_cells_lone(conv) ? lone : phases;
}

/* Phases in one launch run beside each other, but the one with the most taps has few workgroups: it
 * may take as long alone as all of them would if they were alike. All have parts of the same
 * length. */
static double compute_seconds(const struct rmcp_request *request, const struct products *p,
                              const struct rmcp_gemm_way *way)
{
    const struct rmcp_convolution *conv = request->problem;
    const struct rmcp_gemm_tile *tile = way->tile;
    const bool merged = launches_of(conv, way->form) == 1;
    /* Of each element for padding; and of weight gradients, which are read along the reduction. As
     * measured on an H200. */
    const double tests = 1.17, along = conv->pass == RMCP_CONV_BACKWARD_WEIGHTS ? 1.25 : 1;
    const int64_t share = part_terms(p, way);
    struct load all = { 0, 0, 0 };
    double sum = 0, longest = 0;
    for (int64_t i = 0; i < p->count; i++) {
        const int64_t n = tiles_of(p->rows, p->each[i].columns, tile) * conv->groups;
        const int64_t reduction = p->each[i].reduction, whole = reduction / share;
        const int64_t rest = share_of(reduction - whole * share, tile, 1);
        struct load one = { 0, 0, 0 };
        add_load(&one, (double)(n * whole), share, tile);
        if (rest || !whole) add_load(&one, (double)n, rest, tile);
        const double seconds = load_seconds(request->caps, tile, &one);
        all.groups += one.groups;
        all.flops += one.flops;
        all.turns = fmax(all.turns, one.turns);
        sum += seconds;
        longest = fmax(longest, seconds);
    }
    const double seconds =
        along * (merged ? fmax(load_seconds(request->caps, tile, &all), longest) : sum);
    return (p->padded ? seconds * tests : seconds) * last_factor(conv);
}

uint64_t rmcp_gemm_workspace(const struct rmcp_convolution *conv, const struct rmcp_gemm_way *way)
{
    return parts_bytes(conv, way) + rmcp_arranged_bytes(conv, way->form);
}

/* What the workgroups of all products do, a part of the reduction each. */
struct crowd {
    double groups, turns, preambles; /* preambles: a third where there is nothing to add up */
    double longest, longest_groups;  /* turns of the longest workgroups, and how many have them */
};

static void join_crowd(struct crowd *crowd, int64_t groups, int64_t turns)
{
    crowd->groups += (double)groups;
    crowd->turns += (double)(groups * turns);
    crowd->preambles += turns ? (double)groups : (double)groups / 3;
    if ((double)turns > crowd->longest) crowd->longest_groups = 0;
    crowd->longest = fmax(crowd->longest, (double)turns);
    if ((double)turns == crowd->longest) crowd->longest_groups += (double)groups;
}

/* Compute units are bound by their arithmetic when they have many workgroups, by each workgroup's
 * turns one after the other when they have few; near both limits each hides some of the other.
 * Fitted to 701 ways to compute 56 strided layers on an H200. */
static double crowd_seconds(const struct rmcp_request *request, const struct products *p,
                            const struct rmcp_gemm_way *way)
{
    const double first_loads = 0.3e-6, unfilled = 0.9, tests = 1.06;
    const struct rmcp_convolution *conv = request->problem;
    const struct rmcp_caps *caps = request->caps;
    const struct rmcp_gemm_tile *tile = way->tile;
    const double units = caps->compute_units ? caps->compute_units : 1;
    const int64_t share = part_terms(p, way);
    struct crowd crowd = { 0, 0, 0, 0, 0 };
    for (int64_t i = 0; i < p->count; i++) {
        const int64_t n = tiles_of(p->rows, p->each[i].columns, tile) * conv->groups;
        const int64_t reduction = p->each[i].reduction, whole = reduction / share;
        const int64_t rest = share_of(reduction - whole * share, tile, 1) / tile->slices;
        if (whole) join_crowd(&crowd, n * whole, share / tile->slices);
        if (rest || !whole) join_crowd(&crowd, n, rest);
    }
    const double last = crowd.longest + tile->crowd.preamble;
    const double work = (crowd.turns + crowd.preambles * tile->crowd.preamble) / units;
    const double turns = crowd.groups > units * tile->crowd.at_once
                             ? work + unfilled * last
                             : fmax(work, ceil(crowd.longest_groups / units) * last);
    const double turn_flops = 2.0 * (double)(tile->rows * tile->columns * tile->slices);
    const double busy =
        turns * turn_flops * units / (caps->flops_per_second * tile->crowd.efficiency);
    const double waits = fmax(crowd.longest * tile->crowd.turn + first_loads,
                              (crowd.turns * tile->crowd.turn + crowd.groups * first_loads) /
                                  (units * tile->crowd.at_once));
    return hypot(busy, waits) * (p->padded ? tests : 1) * last_factor(conv);
}

/* Whether crowd_seconds was fitted to such requests: data gradients with strides, and 1x1; in one
 * launch. */
static bool is_crowd(const struct rmcp_convolution *conv, enum rmcp_form form)
{
    const bool strided = conv->stride[0] * conv->stride[1] * conv->stride[2] > 1;
    const bool pointwise = conv->filter[0] * conv->filter[1] * conv->filter[2] == 1;
    if (!strided || launches_of(conv, form) > 1) return false;
    return conv->pass == RMCP_CONV_BACKWARD_DATA || (conv->pass == RMCP_CONV_FORWARD && pointwise);
}

/* Phases without products store zeros far apart. */
static double traffic_seconds(const struct rmcp_request *request, const struct rmcp_gemm_way *way,
                              double usual)
{
    const double far = 4.5; /* as measured on an H200 */
    const struct rmcp_convolution *conv = request->problem;
    const bool strided = conv->stride[0] * conv->stride[1] * conv->stride[2] > 1;
    const bool zeros = strided && way->form == RMCP_FORM_PHASES && conv->layout == RMCP_NCHW &&
                       conv->pass == RMCP_CONV_BACKWARD_DATA && rmcp_cells_lone(conv);
    return (zeros ? far : usual) * rmcp_traffic_seconds(conv, request->caps);
}

/* Weights of several taps that are taken as they are come in pieces of sectors. */
static double crowd_way_seconds(const struct rmcp_request *request, const struct products *p,
                                const struct rmcp_gemm_way *way)
{
    const double apart = 1.15, parts = 1.7;
    const struct rmcp_convolution *conv = request->problem;
    const struct rmcp_caps *caps = request->caps;
    const double usual = 1.6;
    const int64_t taps = conv->filter[0] * conv->filter[1] * conv->filter[2];
    const double compute =
        crowd_seconds(request, p, way) * (way->form == RMCP_FORM_PHASES && taps > 1 ? apart : 1);
    double seconds = hypot(compute, traffic_seconds(request, way, usual)) +
                     (double)launches_of(conv, way->form) * caps->launch_seconds +
                     rmcp_arrange_seconds(request, way->form);
    if (way->splits > 1)
        seconds += parts * (caps->launch_seconds +
                            2.0 * (double)parts_bytes(conv, way) / caps->bytes_per_second);
    return seconds;
}

static double way_seconds(const struct rmcp_request *request, const struct products *p,
                          const struct rmcp_gemm_way *way)
{
    const struct rmcp_convolution *conv = request->problem;
    const struct rmcp_caps *caps = request->caps;
    if (is_crowd(conv, way->form)) return crowd_way_seconds(request, p, way);
    const double launches = (double)launches_of(conv, way->form);
    const double compute = compute_seconds(request, p, way);
    double seconds =
        fmax(compute, traffic_seconds(request, way, 1)) + launches * caps->launch_seconds;
    if (way->splits > 1)
        seconds +=
            caps->launch_seconds + 2.0 * (double)parts_bytes(conv, way) / caps->bytes_per_second;
    return seconds;
}

int64_t rmcp_gemm_reduction(const struct rmcp_convolution *conv, enum rmcp_form form)
{
    return products_of(conv, form).longest;
}

static struct rmcp_gemm_way choose(const struct rmcp_request *request, enum rmcp_form form,
                                   bool split)
{
    const int64_t first = split ? 2 : 1;
    const struct products products = products_of(request->problem, form);
    const int64_t longest = ceil_divide(products.longest, SHORTEST);
    const int64_t most = !split || longest < first ? first
                         : longest < MOST_SPLITS   ? longest
                                                   : MOST_SPLITS;
    struct rmcp_gemm_way best = { .tile = NULL };
    for (int i = 0; i < N_TILES; i++) {
        if (!(tiles[i].variants & neighbours_of(request->problem, form, &tiles[i]))) continue;
        double before = 0;
        int worse = 0; /* in a row: more splits do not help any more */
        for (int64_t splits = first;
             splits <= most && worse<3; splits += splits> 1 ? splits / 2 : 1) {
            struct rmcp_gemm_way way = { .form = form, .tile = &tiles[i], .splits = splits };
            way.seconds = way_seconds(request, &products, &way);
            worse = way.seconds > before && before > 0 ? worse + 1 : 0;
            before = way.seconds;
            const bool fits =
                rmcp_gemm_workspace(request->problem, &way) <= request->caps->max_buffer_bytes;
            if (!best.tile || (fits && way.seconds < best.seconds)) best = way;
        }
    }
    return best;
}

struct rmcp_gemm_way rmcp_gemm_choose(const struct rmcp_request *request, enum rmcp_form form,
                                      bool split)
{
    static _Thread_local struct answer {
        struct rmcp_last last;
        struct rmcp_gemm_way way;
    } answers[RMCP_N_FORMS][2];
    struct answer *answer = &answers[form][split];
    if (!rmcp_last_is(&answer->last, request)) answer->way = choose(request, form, split);
    return answer->way;
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
    rmcp_arg_memory(launch, RMCP_SLOT_WORKSPACE, parts_bytes(conv, way));
    rmcp_arg_memory(launch, RMCP_CONV_Y, 0);
    rmcp_arg_memory(launch, output, 0);
    rmcp_arg_memory(launch, RMCP_CONV_Y, 0); /* no bias */
}

static rmcp_status emit_launch(const struct rmcp_request *request, const struct rmcp_gemm_way *way,
                               const struct products *products, struct rmcp_gemm *g,
                               union last *last, struct rmcp_launch_list *list)
{
    const struct rmcp_convolution *conv = request->problem;
    const bool celled = is_celled(way->form);
    char variant[32];
    variant_of(conv, way, variant, sizeof variant);
    g->row_tiles = rmcp_divider_of(ceil_divide(g->rows, way->tile->rows));
    g->share = (unsigned)part_terms(products, way);
    g->partial = leaves_parts(way);
    g->part = (unsigned)rmcp_conv_elements(conv, rmcp_conv_output_slot(conv));
    g->sparse = is_sparse(conv, way);

    const int64_t at_once = request->caps->compute_units * UNIT_THREADS / way->tile->threads;
    const int64_t n_tiles = tiles_of(g->rows, g->columns, way->tile);
    const int64_t n = celled ? n_tiles : rmcp_phases_workgroups(&last->phases, n_tiles, at_once);
    const double seconds =
        fmax(compute_seconds(request, products, way), rmcp_traffic_seconds(conv, request->caps));
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
                                 const struct rmcp_gemm_way *way, const struct products *products,
                                 struct rmcp_launch_list *list)
{
    const struct rmcp_convolution *conv = request->problem;
    const struct rmcp_convolution turned = rmcp_turned(conv);
    struct rmcp_gemm g;
    union last last;
    if (is_celled(way->form)) {
        rmcp_cells_init(&g, &last.cells, conv, way->form);
        return emit_launch(request, way, products, &g, &last, list);
    }
    rmcp_status status = RMCP_OK;
    for (int64_t i = 0; i < rmcp_gemm_launches(conv) && !status; i++) {
        if (!rmcp_gemm_init_launch(&g, &last.phases, way->form == RMCP_FORM_TURNED ? &turned : conv,
                                   i))
            continue;
        g.steps.linear_tap += (unsigned)way->first_tap;
        status = emit_launch(request, way, products, &g, &last, list);
    }
    return status;
}

rmcp_status rmcp_gemm_emit(const struct rmcp_request *request, const struct rmcp_gemm_way *way,
                           struct rmcp_launch_list *list)
{
    const struct rmcp_convolution *conv = request->problem;
    const struct products products = products_of(conv, way->form);
    rmcp_status status = rmcp_arrange_emit(request, way->form, parts_bytes(conv, way), list);
    if (!status) status = emit_products(request, way, &products, list);
    if (status || way->partial || way->splits == 1) return status;
    if (!is_sparse(conv, way)) return rmcp_parts_emit(request, way->splits, 0, list);
    return rmcp_sparse_parts_emit(request, way->splits, part_terms(&products, way), list);
}
