/* gemm_cost.c: how long a way to compute a request by gemm.cl takes, by estimate. */
#include "engine/ops/conv/gpu/gemm_cost.h"

#include "engine/ops/conv/gpu/shape.h"

#include <math.h>

static double units_of(const struct rmcp_caps *caps)
{
    return caps->compute_units ? caps->compute_units : 1;
}

/* The work of one launch or of several phases in one. */
struct load {
    double groups, flops; /* workgroups, and what they compute */
    double turns;         /* of the longest workgroup          */
};

/* Besides its slices a workgroup decodes indices, fills the pipeline and stores: about as much as
 * `preamble` slices of 8 x 8 outputs a work-item; a third of it when it has nothing to add up. */
static void add_load(struct load *load, double workgroups, int64_t share,
                     const struct rmcp_gemm_tile *tile, double preamble)
{
    const double each = (double)(tile->rows * tile->columns * share) +
                        (double)(64 * tile->threads) * (share ? preamble : preamble / 3);
    load->groups += workgroups;
    load->flops += workgroups * 2 * each;
    load->turns = fmax(load->turns, (double)(share / tile->slices));
}

/* Workgroups run in rounds of RMCP_GEMM_UNIT_THREADS work-items a compute unit; in the last,
 * unfilled round a unit still needs some to be at work on all of its lanes, or more when it is the
 * first. However few they are, each waits for its slices: those of one turn are on their way
 * at once. */
static double load_seconds(const struct rmcp_caps *caps, const struct rmcp_gemm_tile *tile,
                           const struct load *load)
{
    if (load->groups <= 0) return 0;
    const double units = units_of(caps);
    const double at_once = (double)(RMCP_GEMM_UNIT_THREADS / tile->threads);
    const double rounds = floor(load->groups / (units * at_once));
    const double rest = ceil((load->groups - rounds * units * at_once) / units);
    const double needed =
        rmcp_figure(caps, rounds > 0 ? RMCP_FIGURE_CONV_BUSY_THREADS : tile->busy);
    const double busy = fmin(1, rest * (double)tile->threads / needed);
    const double work = rounds * at_once + (rest > 0 ? rest / busy : 0);
    const double busy_seconds = work * (load->flops / load->groups) * units /
                                (caps->flops_per_second * rmcp_figure(caps, tile->efficiency));
    const double waits = load->turns * rmcp_figure(caps, RMCP_FIGURE_CONV_TURN);
    return hypot(busy_seconds, waits); /* each hides some of the other */
}

/* How many times as long a product takes with channels last: pixels are read in pieces of as many
 * channels as a slice has. */
static double last_factor(const struct rmcp_request *request, const struct rmcp_gemm_products *p)
{
    const struct rmcp_convolution *conv = request->problem;
    if (conv->layout != RMCP_NHWC || conv->pass == RMCP_CONV_BACKWARD_WEIGHTS) return 1;
    return rmcp_figure(request->caps, !p->strided || conv->pass == RMCP_CONV_FORWARD
                                          ? RMCP_FIGURE_CONV_LAST
                                      : p->lone ? RMCP_FIGURE_CONV_LAST_LONE
                                                : RMCP_FIGURE_CONV_LAST_PHASES);
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
    const struct rmcp_caps *caps = request->caps;
    const double preamble = rmcp_figure(caps, RMCP_FIGURE_CONV_PREAMBLE);
    const double tests = p->padded ? rmcp_figure(caps, RMCP_FIGURE_CONV_TESTS) : 1;
    const bool weights = conv->pass == RMCP_CONV_BACKWARD_WEIGHTS;
    const double along = weights ? rmcp_figure(caps, RMCP_FIGURE_CONV_WEIGHTS) : 1;
    const int64_t share = way->share;
    struct load all = { 0, 0, 0 };
    double sum = 0, longest = 0;
    for (int64_t i = 0; i < p->count; i++) {
        const int64_t n = rmcp_gemm_tiles_of(p->rows, p->each[i].columns, tile) * conv->groups;
        const int64_t reduction = p->each[i].reduction, whole = reduction / share;
        const int64_t rest = rmcp_gemm_share_of(reduction - whole * share, tile, 1);
        struct load one = { 0, 0, 0 };
        add_load(&one, (double)(n * whole), share, tile, preamble);
        if (rest || !whole) add_load(&one, (double)n, rest, tile, preamble);
        const double seconds = load_seconds(caps, tile, &one);
        all.groups += one.groups;
        all.flops += one.flops;
        all.turns = fmax(all.turns, one.turns);
        sum += seconds;
        longest = fmax(longest, seconds);
    }
    const bool merged = p->launches == 1 && p->count > 1;
    const double seconds = along * (merged ? fmax(load_seconds(caps, tile, &all), longest) : sum);
    return seconds * tests * last_factor(request, p);
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
 * turns one after the other when they have few; near both limits each hides some of the other. */
static double crowd_seconds(const struct rmcp_request *request, const struct rmcp_gemm_products *p,
                            const struct rmcp_gemm_way *way)
{
    const struct rmcp_convolution *conv = request->problem;
    const struct rmcp_caps *caps = request->caps;
    const struct rmcp_gemm_tile *tile = way->tile;
    const double first_loads = rmcp_figure(caps, RMCP_FIGURE_CONV_CROWD_FIRST);
    const double unfilled = rmcp_figure(caps, RMCP_FIGURE_CONV_CROWD_UNFILLED);
    const double tests = p->padded ? rmcp_figure(caps, RMCP_FIGURE_CONV_CROWD_TESTS) : 1;
    const double preamble = rmcp_figure(caps, tile->crowd_preamble);
    const double units = units_of(caps), at_once = units * rmcp_figure(caps, tile->crowd);
    const double turn = rmcp_figure(caps, tile->crowd_turn);
    const int64_t share = way->share;
    struct crowd crowd = { 0, 0, 0, 0, 0 };
    for (int64_t i = 0; i < p->count; i++) {
        const int64_t n = rmcp_gemm_tiles_of(p->rows, p->each[i].columns, tile) * conv->groups;
        const int64_t reduction = p->each[i].reduction, whole = reduction / share;
        const int64_t rest = rmcp_gemm_share_of(reduction - whole * share, tile, 1) / tile->slices;
        if (whole) join_crowd(&crowd, n * whole, share / tile->slices);
        if (rest || !whole) join_crowd(&crowd, n, rest);
    }
    const double last = crowd.longest + preamble;
    const double work = (crowd.turns + crowd.preambles * preamble) / units;
    const double turns = crowd.groups > at_once
                             ? work + unfilled * last
                             : fmax(work, ceil(crowd.longest_groups / units) * last);
    const double turn_flops = 2.0 * (double)(tile->rows * tile->columns * tile->slices);
    const double busy = turns * turn_flops * units /
                        (caps->flops_per_second * rmcp_figure(caps, tile->crowd_efficiency));
    const double waits = fmax(crowd.longest * turn + first_loads,
                              (crowd.turns * turn + crowd.groups * first_loads) / at_once);
    return hypot(busy, waits) * tests * last_factor(request, p);
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
    const struct rmcp_caps *caps = request->caps;
    const bool zeros = p->strided && p->form == RMCP_FORM_PHASES && conv->layout == RMCP_NCHW &&
                       conv->pass == RMCP_CONV_BACKWARD_DATA && p->lone;
    return (zeros ? rmcp_figure(caps, RMCP_FIGURE_CONV_ZEROS) : usual) *
           rmcp_traffic_seconds(conv, caps);
}

/* Weights of several taps that are taken as they are come in pieces of sectors. */
static double crowd_way_seconds(const struct rmcp_request *request,
                                const struct rmcp_gemm_products *p, const struct rmcp_gemm_way *way)
{
    const struct rmcp_convolution *conv = request->problem;
    const struct rmcp_caps *caps = request->caps;
    const int64_t taps = conv->filter[0] * conv->filter[1] * conv->filter[2];
    const bool apart = way->form == RMCP_FORM_PHASES && taps > 1;
    const double compute = crowd_seconds(request, p, way) *
                           (apart ? rmcp_figure(caps, RMCP_FIGURE_CONV_CROWD_APART) : 1);
    const double traffic =
        traffic_seconds(request, p, rmcp_figure(caps, RMCP_FIGURE_CONV_CROWD_TRAFFIC));
    double seconds = hypot(compute, traffic) + (double)p->launches * caps->launch_seconds +
                     rmcp_arrange_seconds(caps, p->arranged_bytes);
    if (way->splits > 1)
        seconds += rmcp_figure(caps, RMCP_FIGURE_CONV_CROWD_PARTS) *
                   (caps->launch_seconds +
                    2.0 * (double)rmcp_gemm_parts_bytes(conv, way) / caps->bytes_per_second);
    return seconds;
}

/* ---- compute units in pairs ---- */

/* Each hides most of the others. */
static double longest_of(double a, double b, double c)
{
    return sqrt(hypot(hypot(a * a, b * b), c * c));
}

/* A workgroup has the four SIMDs of a pair of compute units, so that few large ones are as good as
 * many small ones; its waves need their instructions one after the other, and time to get the code
 * and the first slices. */
static double pair_compute_seconds(const struct rmcp_request *request,
                                   const struct rmcp_gemm_products *p,
                                   const struct rmcp_gemm_way *way, double traffic)
{
    enum { SIMDS = 4, LANES = 32 };
    const struct rmcp_convolution *conv = request->problem;
    const struct rmcp_caps *caps = request->caps;
    const struct rmcp_gemm_tile *tile = way->tile;
    const double tests = p->padded ? rmcp_figure(caps, RMCP_FIGURE_CONV_PAIR_TESTS) : 1;
    const bool parts_of_phases = p->count > 1 && way->splits > 1;
    const double uneven = parts_of_phases ? rmcp_figure(caps, RMCP_FIGURE_CONV_PAIR_UNEVEN) : 1;
    const double preamble = rmcp_figure(caps, tile->pair_preamble);
    const double units = units_of(caps);
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
        work += n * (turns * turn + parts * preamble);
        longest = fmax(longest, fmin(turns, (double)(share / tile->slices)));
    }
    if (groups <= 0) return traffic;
    const double each = ceil(groups / pairs);
    const double waves = ceil(each * (double)tile->threads / (SIMDS * LANES));
    const double busy = waves * work / groups / rmcp_figure(caps, tile->pair_efficiency);
    const double alone = ceil(each / rmcp_figure(caps, tile->pair)) * longest *
                             (turn + rmcp_figure(caps, tile->pair_stall)) +
                         rmcp_figure(caps, tile->pair_first);
    const double slower = tests * uneven * last_factor(request, p);
    return longest_of(slower * busy / clock, slower * alone / clock, traffic);
}

/* Workgroups that have room at once store all that they have, and zeros beside it, at the end. */
static double pair_lone_seconds(const struct rmcp_request *request,
                                const struct rmcp_gemm_products *p, const struct rmcp_gemm_way *way)
{
    const struct rmcp_convolution *conv = request->problem;
    const struct rmcp_caps *caps = request->caps;
    const double pairs = fmax(1, caps->compute_units / 2.0);
    double groups = 0;
    for (int64_t i = 0; i < p->count; i++)
        groups +=
            (double)(rmcp_gemm_tiles_of(p->rows, p->each[i].columns, way->tile) * conv->groups);
    if (ceil(groups / pairs) > rmcp_figure(caps, way->tile->pair)) return 0;
    return rmcp_figure(caps, RMCP_FIGURE_CONV_PAIR_ZEROS) *
           (double)rmcp_conv_elements(conv, RMCP_CONV_X) * sizeof(float) / caps->bytes_per_second;
}

static double pair_seconds(const struct rmcp_request *request, const struct rmcp_gemm_products *p,
                           const struct rmcp_gemm_way *way)
{
    const struct rmcp_convolution *conv = request->problem;
    const struct rmcp_caps *caps = request->caps;
    const double usual = rmcp_figure(caps, RMCP_FIGURE_CONV_PAIR_TRAFFIC);
    const double bytes = (double)rmcp_gemm_parts_bytes(conv, way) / caps->bytes_per_second;
    const double traffic = traffic_seconds(request, p, usual) + usual * bytes;
    double seconds = pair_compute_seconds(request, p, way, traffic) +
                     (double)p->launches * caps->launch_seconds +
                     rmcp_arrange_seconds(caps, p->arranged_bytes);
    if (way->splits > 1)
        seconds += caps->launch_seconds + rmcp_figure(caps, RMCP_FIGURE_CONV_PAIR_PARTS) * bytes;
    if (way->form == RMCP_FORM_LONE) seconds += pair_lone_seconds(request, p, way);
    return seconds;
}

/* Products that neither of the two above was fitted to. */
static double usual_seconds(const struct rmcp_request *request, const struct rmcp_gemm_products *p,
                            const struct rmcp_gemm_way *way, double compute)
{
    const struct rmcp_convolution *conv = request->problem;
    const struct rmcp_caps *caps = request->caps;
    const double launches = (double)p->launches;
    double seconds =
        fmax(compute, traffic_seconds(request, p, 1)) + launches * caps->launch_seconds;
    if (way->splits > 1)
        seconds += caps->launch_seconds +
                   2.0 * (double)rmcp_gemm_parts_bytes(conv, way) / caps->bytes_per_second;
    return seconds;
}

void rmcp_gemm_estimate(const struct rmcp_request *request, const struct rmcp_gemm_products *p,
                        struct rmcp_gemm_way *way)
{
    way->work_seconds = 0;
    if (rmcp_figure_known(request->caps, RMCP_FIGURE_CONV_PAIR_TRAFFIC)) {
        way->seconds = pair_seconds(request, p, way);
    } else if (is_crowd(request->problem, p)) {
        way->seconds = crowd_way_seconds(request, p, way);
    } else {
        const double compute = rmcp_gemm_compute_seconds(request, p, way);
        way->seconds = usual_seconds(request, p, way, compute);
        way->work_seconds = fmax(compute, rmcp_traffic_seconds(request->problem, request->caps));
    }
}
