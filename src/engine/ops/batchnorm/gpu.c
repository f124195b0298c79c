/* gpu.c: how batch normalisation is divided among workgroups, and launches of its kernels. */
#include "engine/ops/batchnorm/gpu.h"
#include "base/round.h"
#include "engine/figures/figures.h"

#include "engine/gpu/launch.h"

#include <math.h>
#include <stdio.h>

enum {
    THREADS = 256, /* of every kernel                                              */
    BLOCK = 16,    /* elements that a work-item of rows.h takes at once            */
    DEPTH = 4,     /* rows that a work-item of columns.h takes at once, at most    */
    WANTED = 32,   /* workgroups for each compute unit, several rounds of them     */
    MOST_SPLITS = 2048,
    MOST_LANES = 32, /* of columns.h: side by side                                 */
};

static int64_t smaller(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

/* The smallest n with 1 << n at least `value`, and at most `most`. */
static unsigned bits_of(int64_t value, unsigned most)
{
    unsigned bits = 0;
    while (bits < most && (INT64_C(1) << bits) < value) bits++;
    return bits;
}

/* ---- arguments ---- */

static struct rmcp_norm_figures figures_of(const struct rmcp_norm *norm)
{
    const rmcp_batchnorm *p = &norm->problem;
    const bool bends = p->activation == RMCP_RELU || p->activation == RMCP_LEAKY_RELU;
    const bool clamps = p->activation == RMCP_CLAMP;
    return (struct rmcp_norm_figures){
        .share = (float)(1 / (double)norm->count),
        .unbias = (float)rmcp_norm_unbias(norm),
        .epsilon = (float)p->epsilon,
        .momentum = (float)p->momentum,
        .keep = (float)(1 - p->momentum),
        .runs = rmcp_norm_runs(norm),
        .saves = rmcp_norm_saves(norm),
        .variances = norm->pass == RMCP_BATCHNORM_INFER,
        .epilogue = {
            .bias = rmcp_norm_biased(norm),
            .kind = p->activation,
            .slope = p->slope,
            .low = clamps ? p->clamp_low : bends ? 0 : -HUGE_VALF,
            .high = clamps ? p->clamp_high : HUGE_VALF,
        },
    };
}

static struct rmcp_norm_walk walk_of(const struct rmcp_norm *norm, int64_t lanes, int64_t share,
                                     int64_t width)
{
    const int64_t row = norm->inner / width;
    if (row == 0) return (struct rmcp_norm_walk){ .row = rmcp_divider_of(1) };
    return (struct rmcp_norm_walk){
        .row = rmcp_divider_of(row),
        .skip = (unsigned)(lanes % row),
        .share = (unsigned)(share / width),
        .jump = lanes / row * norm->params * norm->inner + lanes % row * width,
        .steps = norm->outer * row,
    };
}

/* How many parts to make of `length`, each a multiple of `least`, when there are `groups`
 * workgroups without any; sets the length of a part. */
static int64_t split(const struct rmcp_request *request, int64_t wanted, int64_t groups,
                     int64_t length, int64_t least, int64_t *share)
{
    int64_t parts = rmcp_ceil_divide(rmcp_launch_units(request->caps) * wanted, groups);
    parts = smaller(smaller(parts, MOST_SPLITS), rmcp_ceil_divide(length, least));
    *share = rmcp_ceil_divide(rmcp_ceil_divide(length, parts), least) * least;
    return rmcp_ceil_divide(length, *share);
}

/* A channel has a workgroup or more of its own when it is large. Small ones share one, with as many
 * work-items for each as keep the device busy. */
static void divide_rows(const struct rmcp_request *request, enum rmcp_norm_split purpose,
                        struct rmcp_norm_division *d)
{
    const struct rmcp_norm *norm = rmcp_norm_of(request);
    const int64_t busy = rmcp_launch_units(request->caps) * 4;
    unsigned bits = bits_of(rmcp_ceil_divide(norm->count, BLOCK), 8);
    while (bits < 8 && (INT64_C(1) << bits) < norm->count &&
           rmcp_ceil_divide(norm->params << bits, THREADS) < busy)
        bits++;
    const int64_t lanes = INT64_C(1) << bits;
    int64_t share = rmcp_ceil_divide(norm->count, lanes * BLOCK) * lanes * BLOCK;
    d->groups = rmcp_ceil_divide(norm->params, THREADS / lanes);
    d->splits = 1;
    if (purpose != RMCP_NORM_WHOLE && bits == 8)
        d->splits = split(request, WANTED, d->groups, norm->count, lanes * BLOCK, &share);
    d->share = share;
    d->elements = rmcp_ceil_divide(smaller(share, norm->count), lanes);
    d->row_args = (struct rmcp_norm_rows){
        .walk = { walk_of(norm, lanes, share, 1), walk_of(norm, lanes, share, 4) },
        .image = norm->params * norm->inner,
        .inner = norm->inner,
        .params = (unsigned)norm->params,
        .lane_bits = bits,
        .fours = norm->inner % 4 == 0,
        .figures = figures_of(norm),
    };
}

static void divide_columns(const struct rmcp_request *request, enum rmcp_norm_split purpose,
                           struct rmcp_norm_division *d)
{
    const struct rmcp_norm *norm = rmcp_norm_of(request);
    const int64_t busy = rmcp_launch_units(request->caps) * 2;
    unsigned bits = bits_of(rmcp_ceil_divide(norm->params, 4), 5);
    /* Without splits narrower workgroups are the way to have more of them: down to 128 bytes. */
    while (purpose == RMCP_NORM_WHOLE && bits > 3 &&
           rmcp_ceil_divide(norm->params, INT64_C(4) << bits) < busy)
        bits--;
    const int64_t lanes = INT64_C(1) << bits, levels = THREADS / lanes;
    int64_t share = rmcp_ceil_divide(norm->outer, levels * DEPTH) * levels * DEPTH;
    d->groups = rmcp_ceil_divide(norm->params, 4 * lanes);
    d->splits = 1;
    /* As many workgroups as are on a compute unit at once: a second round would merge once more. */
    const int64_t at_once = norm->pass == RMCP_BATCHNORM_BACKWARD ? 3 : 2;
    const int64_t wanted = purpose == RMCP_NORM_SUMS ? at_once : WANTED;
    if (purpose != RMCP_NORM_WHOLE)
        d->splits = split(request, wanted, d->groups, norm->outer, levels * DEPTH, &share);
    d->share = share;
    d->elements = 4 * rmcp_ceil_divide(smaller(share, norm->outer), levels);
    d->column_args = (struct rmcp_norm_columns){
        .rows = norm->outer,
        .params = norm->params,
        .lane_bits = bits,
        .share = (unsigned)share,
        .fours = norm->params % 4 == 0,
        .figures = figures_of(norm),
    };
}

struct rmcp_norm_division rmcp_norm_divide(const struct rmcp_request *request,
                                           enum rmcp_norm_split purpose)
{
    struct rmcp_norm_division d = { .columns = rmcp_norm_of(request)->inner == 1 };
    if (d.columns)
        divide_columns(request, purpose, &d);
    else
        divide_rows(request, purpose, &d);
    return d;
}

const char *rmcp_norm_refuse(const struct rmcp_request *request, enum rmcp_norm_split purpose,
                             struct rmcp_norm_division *division)
{
    const struct rmcp_norm *norm = rmcp_norm_of(request);
    if (norm->inner > INT32_MAX) return "a channel of one image has 2^31 elements or more";
    if (norm->inner > 1 && norm->params > INT32_MAX) return "2^31 channels or more";
    *division = rmcp_norm_divide(request, purpose);
    if (division->groups > INT32_MAX) return "2^31 workgroups or more";
    if (division->share > INT32_MAX)
        return "a workgroup would have 2^31 elements of a channel or more";
    return NULL;
}

/* A work-item waits for its block, then works on it. With few workgroups on a compute unit nothing
 * else happens meanwhile; with many the memory is the limit. */
double rmcp_norm_seconds(const struct rmcp_request *request,
                         const struct rmcp_norm_division *division, double passes)
{
    enum { AT_ONCE = 8 }; /* workgroups on a compute unit */
    const struct rmcp_caps *caps = request->caps;
    const double wait = rmcp_figure(caps, RMCP_FIGURE_BATCHNORM_WAIT);
    const double start = rmcp_figure(caps, RMCP_FIGURE_BATCHNORM_START);
    const double efficiency = rmcp_figure(caps, RMCP_FIGURE_BATCHNORM_EFFICIENCY);
    const int64_t rounds = rmcp_ceil_divide(division->groups * division->splits,
                                            rmcp_launch_units(request->caps) * AT_ONCE);
    const double blocks = (double)rmcp_ceil_divide(division->elements, BLOCK);
    const double waiting = (double)rounds * (passes * blocks * wait + start);
    const double moving =
        rmcp_norm_bytes(request->problem) / (request->caps->bytes_per_second * efficiency);
    return fmax(waiting, moving + start);
}

/* ---- launches ---- */

/* The part of a launch: over workgroups of parameters or over splits, whichever are more. */
struct range {
    int64_t first_group, groups, first_split, splits;
};

static rmcp_status append_range(const struct rmcp_request *request,
                                const struct rmcp_norm_division *division, const char *stem,
                                const struct rmcp_norm_memory *memory, size_t n_memory, bool parts,
                                struct range range, struct rmcp_launch_list *list)
{
    const rmcp_type type = rmcp_norm_of(request)->type;
    char name[48];
    snprintf(name, sizeof name, "batchnorm_%s_%s", division->columns ? "columns" : "rows", stem);
    struct rmcp_kernel_launch *launch = NULL;
    rmcp_status status = rmcp_kernel_append(list, name, type, "", range.groups * THREADS, &launch);
    if (status) return status;
    launch->grid[1] = (uint32_t)range.splits;
    for (size_t i = 0; i < n_memory; i++) rmcp_arg_memory(launch, memory[i].slot, memory[i].offset);
    struct rmcp_norm_rows rows = division->row_args;
    struct rmcp_norm_columns columns = division->column_args;
    rows.first_group = columns.first_group = (unsigned)range.first_group;
    rows.first_split = columns.first_split = (unsigned)range.first_split;
    if (division->columns)
        rmcp_arg_value(launch, &columns, sizeof columns);
    else
        rmcp_arg_value(launch, &rows, sizeof rows);
    const uint32_t splits = (uint32_t)division->splits;
    if (parts) rmcp_arg_value(launch, &splits, sizeof splits);
    return RMCP_OK;
}

rmcp_status rmcp_norm_append(const struct rmcp_request *request,
                             const struct rmcp_norm_division *division, const char *stem,
                             const struct rmcp_norm_memory *memory, size_t n_memory, bool parts,
                             struct rmcp_launch_list *list)
{
    const double seconds = rmcp_norm_bytes(request->problem) / request->caps->bytes_per_second;
    const bool over_groups = division->groups >= division->splits;
    const int64_t count = over_groups ? division->groups : division->splits;
    const int64_t other = over_groups ? division->splits : division->groups;
    const int64_t quota = rmcp_launch_quota(
        count, rmcp_ceil_divide(rmcp_launch_units(request->caps) * 8, other), seconds);
    rmcp_status status = RMCP_OK;
    for (int64_t first = 0; first < count && !status; first += quota) {
        const int64_t n = smaller(quota, count - first);
        const struct range range = over_groups ? (struct range){ first, n, 0, division->splits }
                                               : (struct range){ 0, division->groups, first, n };
        status = append_range(request, division, stem, memory, n_memory, parts, range, list);
    }
    return status;
}

rmcp_status rmcp_norm_append_finish(const struct rmcp_request *request,
                                    const struct rmcp_norm_division *division, const char *stem,
                                    const struct rmcp_norm_memory *memory, size_t n_memory,
                                    struct rmcp_launch_list *list)
{
    const struct rmcp_norm *norm = rmcp_norm_of(request);
    const unsigned bits = bits_of(division->splits, 8);
    const struct rmcp_norm_finish finish = {
        .params = norm->params,
        .splits = (unsigned)division->splits,
        .lane_bits = bits,
        .figures = figures_of(norm),
    };
    const int64_t several = THREADS >> bits;
    struct rmcp_kernel_launch *launch = NULL;
    rmcp_status status = rmcp_kernel_append(
        list, stem, RMCP_F32, "", rmcp_ceil_divide(norm->params, several) * THREADS, &launch);
    if (status) return status;
    for (size_t i = 0; i < n_memory; i++) rmcp_arg_memory(launch, memory[i].slot, memory[i].offset);
    rmcp_arg_value(launch, &finish, sizeof finish);
    return RMCP_OK;
}
