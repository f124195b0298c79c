/* gemm_cost.c: how long a way to compute a request by gemm.cl takes, by estimate. */
#include "engine/ops/conv/gpu/gemm_cost.h"

#include "engine/ops/conv/gpu/shape.h"

#include <math.h>

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

/* Workgroups run in rounds of RMCP_GEMM_UNIT_THREADS work-items a compute unit; in the last,
 * unfilled round a unit still needs BUSY_THREADS to be at work on all of its lanes, or more when it
 * is the first. However few they are, each waits for its slices: those of one turn are on their way
 * at once. */
static double load_seconds(const struct rmcp_caps *caps, const struct rmcp_gemm_tile *tile,
                           const struct load *load)
{
    enum { BUSY_THREADS = 128 };
    const double turn_seconds = 450e-9;
    if (load->groups <= 0) return 0;
    const double units = caps->compute_units ? caps->compute_units : 1;
    const double at_once = (double)(RMCP_GEMM_UNIT_THREADS / tile->threads);
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
static double last_factor(const struct rmcp_convolution *conv, const struct rmcp_gemm_products *p)
{
    const double usual = 1.3, phases = 1.25, lone = 1.8;
    if (conv->layout != RMCP_NHWC || conv->pass == RMCP_CONV_BACKWARD_WEIGHTS) return 1;
    if (!p->strided || conv->pass == RMCP_CONV_FORWARD) return usual;
    return p->lone ? lone : phases;
}

/* Phases in one launch run beside each other, but the one with the most taps has few workgroups: it
 * may take as long alone as all of them would if they were alike. All have parts of the same
 * length. */
double rmcp_gemm_compute_seconds(const struct rmcp_request *request,
                                 const struct rmcp_gemm_products *p,
                                 const struct rmcp_gemm_way *way)
{
    const struct rmcp_convolution *conv = request->problem;
    const struct rmcp_gemm_tile *tile = way->tile;
    /* Of each element for padding; and of weight gradients, which are read along the reduction. As
     * measured on an H200. */
    const double tests = 1.17, along = conv->pass == RMCP_CONV_BACKWARD_WEIGHTS ? 1.25 : 1;
    const int64_t share = way->share;
    struct load all = { 0, 0, 0 };
    double sum = 0, longest = 0;
    for (int64_t i = 0; i < p->count; i++) {
        const int64_t n = rmcp_gemm_tiles_of(p->rows, p->each[i].columns, tile) * conv->groups;
        const int64_t reduction = p->each[i].reduction, whole = reduction / share;
        const int64_t rest = rmcp_gemm_share_of(reduction - whole * share, tile, 1);
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
    const bool merged = p->launches == 1 && p->count > 1;
    const double seconds =
        along * (merged ? fmax(load_seconds(request->caps, tile, &all), longest) : sum);
    return (p->padded ? seconds * tests : seconds) * last_factor(conv, p);
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
static double crowd_seconds(const struct rmcp_request *request, const struct rmcp_gemm_products *p,
                            const struct rmcp_gemm_way *way)
{
    const double first_loads = 0.3e-6, unfilled = 0.9, tests = 1.06;
    const struct rmcp_convolution *conv = request->problem;
    const struct rmcp_caps *caps = request->caps;
    const struct rmcp_gemm_tile *tile = way->tile;
    const double units = caps->compute_units ? caps->compute_units : 1;
    const int64_t share = way->share;
    struct crowd crowd = { 0, 0, 0, 0, 0 };
    for (int64_t i = 0; i < p->count; i++) {
        const int64_t n = rmcp_gemm_tiles_of(p->rows, p->each[i].columns, tile) * conv->groups;
        const int64_t reduction = p->each[i].reduction, whole = reduction / share;
        const int64_t rest = rmcp_gemm_share_of(reduction - whole * share, tile, 1) / tile->slices;
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
    return hypot(busy, waits) * (p->padded ? tests : 1) * last_factor(conv, p);
}

/* Whether crowd_seconds was fitted to such requests: data gradients with strides, and 1x1; in one
 * launch. */
static bool is_crowd(const struct rmcp_convolution *conv, const struct rmcp_gemm_products *p)
{
    const bool pointwise = conv->filter[0] * conv->filter[1] * conv->filter[2] == 1;
    if (!p->strided || p->launches > 1) return false;
    return conv->pass == RMCP_CONV_BACKWARD_DATA || (conv->pass == RMCP_CONV_FORWARD && pointwise);
}

/* Phases without products store zeros far apart. */
static double traffic_seconds(const struct rmcp_request *request,
                              const struct rmcp_gemm_products *p, double usual)
{
    const struct rmcp_convolution *conv = request->problem;
    const bool rdna = request->caps->family == RMCP_FAMILY_RDNA;
    const double far = rdna ? usual : 4.5; /* as measured on an H200 */
    const bool zeros = p->strided && p->form == RMCP_FORM_PHASES && conv->layout == RMCP_NCHW &&
                       conv->pass == RMCP_CONV_BACKWARD_DATA && p->lone;
    return (zeros ? far : usual) * rmcp_traffic_seconds(conv, request->caps);
}

/* Weights of several taps that are taken as they are come in pieces of sectors. */
static double crowd_way_seconds(const struct rmcp_request *request,
                                const struct rmcp_gemm_products *p, const struct rmcp_gemm_way *way)
{
    const double apart = 1.15, parts = 1.7, usual = 1.6;
    const struct rmcp_convolution *conv = request->problem;
    const struct rmcp_caps *caps = request->caps;
    const int64_t taps = conv->filter[0] * conv->filter[1] * conv->filter[2];
    const double compute =
        crowd_seconds(request, p, way) * (way->form == RMCP_FORM_PHASES && taps > 1 ? apart : 1);
    double seconds = hypot(compute, traffic_seconds(request, p, usual)) +
                     (double)p->launches * caps->launch_seconds +
                     rmcp_arrange_seconds(request, way->form);
    if (way->splits > 1)
        seconds += parts * (caps->launch_seconds + 2.0 * (double)rmcp_gemm_parts_bytes(conv, way) /
                                                       caps->bytes_per_second);
    return seconds;
}

/* ---- RDNA ---- */

/* Figures of tiles, as modelled for an RX 5600 XT. */
struct rdna_tile {
    int64_t rows, columns;
    double at_once;    /* workgroups that a pair of compute units has at once               */
    double efficiency; /* multiply-adds a clock of a SIMD that has enough waves             */
    double preamble;   /* clocks' worth of work before the first turn and after the last    */
    double stall;      /* clocks that a wave waits in each turn when it is alone            */
    double first;      /* clocks that it takes besides: code and slices come from far       */
};

static const struct rdna_tile *rdna_tile_of(const struct rmcp_gemm_tile *tile)
{
    static const struct rdna_tile tiles[] = {
        { 128, 128, 3, 0.95, 100, 1000, 12500 }, { 64, 128, 4, 0.78, 100, 340, 12500 },
        { 64, 64, 6, 0.74, 100, 380, 13400 },    { 32, 128, 4, 0.68, 100, 430, 10000 },
        { 32, 32, 6, 0.58, 550, 820, 10800 },
    };
    size_t i = 0;
    while (i + 1 < sizeof tiles / sizeof *tiles &&
           (tiles[i].rows != tile->rows || tiles[i].columns != tile->columns))
        i++;
    return &tiles[i];
}

/* Each hides most of the others. */
static double longest_of(double a, double b, double c)
{
    return sqrt(hypot(hypot(a * a, b * b), c * c));
}

/* A workgroup has the four SIMDs of a pair of compute units, so that few large ones are as good as
 * many small ones; its waves need their instructions one after the other, and time to get the code
 * and the first slices. Fitted to what was modelled for the layers of ResNet-50 and MobileNetV2. */
static double rdna_compute_seconds(const struct rmcp_request *request,
                                   const struct rmcp_gemm_products *p,
                                   const struct rmcp_gemm_way *way, double traffic)
{
    enum { SIMDS = 4, LANES = 32 };
    const double tests = 1.1;   /* of each element for padding               */
    const double uneven = 1.15; /* parts of phases, which are not alike      */
    const struct rmcp_convolution *conv = request->problem;
    const struct rmcp_caps *caps = request->caps;
    const struct rmcp_gemm_tile *tile = way->tile;
    const struct rdna_tile *figures = rdna_tile_of(tile);
    const double units = caps->compute_units ? caps->compute_units : 1;
    const double clock = caps->flops_per_second / (2 * 64 * units), pairs = fmax(1, units / 2);
    const double turn = (double)(tile->rows * tile->columns * tile->slices / tile->threads);
    const int64_t share = way->share;
    double groups = 0, work = 0, longest = 0; /* work: clocks of a wave of all workgroups */
    for (int64_t i = 0; i < p->count; i++) {
        const double n =
            (double)(rmcp_gemm_tiles_of(p->rows, p->each[i].columns, tile) * conv->groups);
        const double turns = ceil((double)p->each[i].reduction / (double)tile->slices);
        const double parts = fmax(1, ceil((double)p->each[i].reduction / (double)share));
        groups += n * parts;
        work += n * (turns * turn + parts * figures->preamble);
        longest = fmax(longest, fmin(turns, (double)(share / tile->slices)));
    }
    if (groups <= 0) return traffic;
    const double each = ceil(groups / pairs);
    const double waves = ceil(each * (double)tile->threads / (SIMDS * LANES));
    const double busy = waves * work / groups / figures->efficiency;
    const double alone =
        ceil(each / figures->at_once) * longest * (turn + figures->stall) + figures->first;
    const double slower = (p->padded ? tests : 1) * (p->count > 1 && way->splits > 1 ? uneven : 1) *
                          last_factor(conv, p);
    return longest_of(slower * busy / clock, slower * alone / clock, traffic);
}

/* Workgroups that have room at once store all that they have, and zeros beside it, at the end. */
static double rdna_lone_seconds(const struct rmcp_request *request,
                                const struct rmcp_gemm_products *p, const struct rmcp_gemm_way *way)
{
    const double apart = 2.5;
    const struct rmcp_convolution *conv = request->problem;
    const double pairs = fmax(1, request->caps->compute_units / 2.0);
    double groups = 0;
    for (int64_t i = 0; i < p->count; i++)
        groups +=
            (double)(rmcp_gemm_tiles_of(p->rows, p->each[i].columns, way->tile) * conv->groups);
    if (ceil(groups / pairs) > rdna_tile_of(way->tile)->at_once) return 0;
    return apart * (double)rmcp_conv_elements(conv, RMCP_CONV_X) * sizeof(float) /
           request->caps->bytes_per_second;
}

static double rdna_seconds(const struct rmcp_request *request, const struct rmcp_gemm_products *p,
                           const struct rmcp_gemm_way *way)
{
    const double usual = 1.75, parts = 2.2; /* bytes take so much longer than at peak */
    const struct rmcp_convolution *conv = request->problem;
    const struct rmcp_caps *caps = request->caps;
    const double bytes = (double)rmcp_gemm_parts_bytes(conv, way) / caps->bytes_per_second;
    const double traffic = traffic_seconds(request, p, usual) + usual * bytes;
    double seconds = rdna_compute_seconds(request, p, way, traffic) +
                     (double)p->launches * caps->launch_seconds +
                     rmcp_arrange_seconds(request, way->form);
    if (way->splits > 1) seconds += caps->launch_seconds + parts * bytes;
    if (way->form == RMCP_FORM_LONE) seconds += rdna_lone_seconds(request, p, way);
    return seconds;
}

double rmcp_gemm_seconds(const struct rmcp_request *request, const struct rmcp_gemm_products *p,
                         const struct rmcp_gemm_way *way)
{
    const struct rmcp_convolution *conv = request->problem;
    const struct rmcp_caps *caps = request->caps;
    if (caps->family == RMCP_FAMILY_RDNA) return rdna_seconds(request, p, way);
    if (is_crowd(conv, p)) return crowd_way_seconds(request, p, way);
    const double launches = (double)p->launches;
    const double compute = rmcp_gemm_compute_seconds(request, p, way);
    double seconds =
        fmax(compute, traffic_seconds(request, p, 1)) + launches * caps->launch_seconds;
    if (way->splits > 1)
        seconds += caps->launch_seconds +
                   2.0 * (double)rmcp_gemm_parts_bytes(conv, way) / caps->bytes_per_second;
    return seconds;
}
