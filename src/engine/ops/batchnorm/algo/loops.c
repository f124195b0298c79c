/* loops: batch normalisation on the host's threads, any problem. A channel is read again while it
 * is in the cache, where there are channels for all threads; else threads share channels. */
#include "base/convert.h"
#include "base/round.h"
#include "engine/figures/figures.h"
#include "engine/ops/batchnorm/host.h"

#include <math.h>

enum { BLOCK = RMCP_NORM_BLOCK, TILE = RMCP_NORM_TILE, DEPTH = RMCP_NORM_DEPTH };

/* How the work is divided: each task has a part of the elements (rows) of some parameters. */
struct norm_loops {
    struct rmcp_norm norm;
    unsigned threads;
    bool columns;          /* neighbours in memory belong to different parameters       */
    int64_t splits, share; /* of a parameter's elements, or of rows                     */
    int64_t pieces, piece; /* columns: of the parameters                                */
    struct rmcp_norm_bend bend;
};

/* One execution: the tensors, and the workspace. */
struct norm_run {
    const struct norm_loops *s;
    void *memory[RMCP_NORM_SLOTS];
    struct rmcp_norm_lines lines;
    double *first, *second; /* [splits][params]: mean and m2, or sum and product */
};

static int64_t smaller(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static void divide(struct norm_loops *s)
{
    const struct rmcp_norm *norm = &s->norm;
    const int64_t threads = s->threads ? s->threads : 1;
    const int64_t length = s->columns ? norm->outer : norm->count;
    const int64_t least = s->columns ? 4 * DEPTH : 4 * BLOCK;
    int64_t parts = 1;
    if (s->columns || norm->params < 2 * threads)
        parts = smaller(s->columns ? threads : 4 * threads, rmcp_ceil_divide(length, least));
    s->share = rmcp_ceil_divide(length, parts);
    s->splits = rmcp_ceil_divide(length, s->share);
    const int64_t wanted =
        s->columns && s->splits < threads ? rmcp_ceil_divide(threads, s->splits) : 1;
    s->piece =
        rmcp_ceil_divide(norm->params, smaller(wanted, rmcp_ceil_divide(norm->params, TILE)));
    s->pieces = rmcp_ceil_divide(norm->params, s->piece);
}

/* Elements as floats: where they are, or in `room` after a conversion. */
static const float *floats(const struct norm_run *r, unsigned slot, int64_t index, int64_t n,
                           float *room)
{
    const void *data = r->memory[slot];
    if (r->s->norm.type == RMCP_F32) return (const float *)data + index;
    const uint16_t *half = (const uint16_t *)data + index;
    if (r->s->norm.type == RMCP_F16)
        for (int64_t i = 0; i < n; i++) room[i] = rmcp_float_of_f16(half[i]);
    else
        for (int64_t i = 0; i < n; i++) room[i] = rmcp_float_of_bf16(half[i]);
    return room;
}

static void put(const struct norm_run *r, unsigned slot, int64_t index, int64_t n,
                const float *values)
{
    uint16_t *half = (uint16_t *)r->memory[slot] + index;
    if (r->s->norm.type == RMCP_F16)
        for (int64_t i = 0; i < n; i++) half[i] = rmcp_f16_of_float(values[i]);
    else
        for (int64_t i = 0; i < n; i++) half[i] = rmcp_bf16_of_float(values[i]);
}

/* n neighbours from `index` on, of parameter p (step 0) or of p, p + 1, … (step 1); at most BLOCK.
 */
static void write_values(const struct norm_run *r, int64_t p, int64_t step, int64_t index,
                         int64_t n)
{
    const struct norm_loops *s = r->s;
    const bool backward = s->norm.pass == RMCP_BATCHNORM_BACKWARD;
    const unsigned slot = backward ? RMCP_NORM_DX : RMCP_NORM_Y;
    float x_room[BLOCK], dy_room[BLOCK], room[BLOCK];
    const bool whole = s->norm.type == RMCP_F32;
    float *out = whole ? (float *)r->memory[slot] + index : room;
    const float *x = floats(r, RMCP_NORM_X, index, n, x_room);
    if (backward)
        rmcp_norm_backward(&s->bend, &r->lines, p, step, x,
                           floats(r, RMCP_NORM_DY, index, n, dy_room), out, n);
    else
        rmcp_norm_forward(&s->bend, &r->lines, p, step, x, out, n);
    if (!whole) put(r, slot, index, n, room);
}

/* ---- statistics become what elements are computed with ---- */

static void finish_statistics(const struct norm_run *r, int64_t p, double mean, double variance)
{
    const struct rmcp_norm *norm = &r->s->norm;
    const double share = norm->problem.momentum;
    r->lines.mean[p] = (float)mean;
    r->lines.inverse[p] = (float)(1 / sqrt(variance + norm->problem.epsilon));
    if (rmcp_norm_runs(norm)) {
        float *running = (float *)r->memory[RMCP_NORM_RUNNING_MEAN] + p;
        *running = (float)((1 - share) * (double)*running + share * mean);
        running = (float *)r->memory[RMCP_NORM_RUNNING_VARIANCE] + p;
        *running =
            (float)((1 - share) * (double)*running + share * variance * rmcp_norm_unbias(norm));
    }
    if (norm->pass == RMCP_BATCHNORM_TRAIN && rmcp_norm_saves(norm)) {
        ((float *)r->memory[RMCP_NORM_SAVED_MEAN])[p] = r->lines.mean[p];
        ((float *)r->memory[RMCP_NORM_SAVED_INVERSE])[p] = r->lines.inverse[p];
    }
}

/* Everything but even and slant. */
static void prepare_line(const struct norm_run *r, int64_t p)
{
    const struct rmcp_norm *norm = &r->s->norm;
    if (norm->pass == RMCP_BATCHNORM_INFER) {
        const double variance = (double)((const float *)r->memory[RMCP_NORM_RUNNING_VARIANCE])[p];
        r->lines.mean[p] = ((const float *)r->memory[RMCP_NORM_RUNNING_MEAN])[p];
        r->lines.inverse[p] = (float)(1 / sqrt(variance + norm->problem.epsilon));
    } else if (!rmcp_norm_computes(norm)) {
        r->lines.mean[p] = ((const float *)r->memory[RMCP_NORM_SAVED_MEAN])[p];
        r->lines.inverse[p] = ((const float *)r->memory[RMCP_NORM_SAVED_INVERSE])[p];
    } else {
        struct rmcp_norm_moments all = { 0, 0, 0 };
        const int64_t length = r->s->columns ? norm->outer : norm->count;
        for (int64_t split = 0; split < r->s->splits; split++) {
            const int64_t n = smaller(r->s->share, length - split * r->s->share);
            const int64_t at = split * norm->params + p;
            all = rmcp_norm_merge(
                all, (struct rmcp_norm_moments){ (double)n, r->first[at], r->second[at] });
        }
        finish_statistics(r, p, all.mean, all.m2 / (double)norm->count);
    }
    r->lines.factor[p] = r->lines.inverse[p] * ((const float *)r->memory[RMCP_NORM_SCALE])[p];
    r->lines.bias[p] = rmcp_norm_biased(norm) ? ((const float *)r->memory[RMCP_NORM_BIAS])[p] : 0;
}

static void finish_gradients(const struct norm_run *r, int64_t p)
{
    const struct rmcp_norm *norm = &r->s->norm;
    double sum = 0, product = 0;
    for (int64_t split = 0; split < r->s->splits; split++) {
        sum += r->first[split * norm->params + p];
        product += r->second[split * norm->params + p];
    }
    const double inverse = (double)r->lines.inverse[p], m = (double)norm->count;
    ((float *)r->memory[RMCP_NORM_DBIAS])[p] = (float)sum;
    ((float *)r->memory[RMCP_NORM_DSCALE])[p] = (float)(product * inverse);
    r->lines.even[p] = (float)(sum / m);
    r->lines.slant[p] = (float)(inverse * inverse * product / m);
}

/* ---- rows: data is [outer][params][inner] ---- */

/* A run of neighbours from element `e` of parameter p on. */
static int64_t neighbours(const struct rmcp_norm *norm, int64_t p, int64_t e, int64_t end,
                          int64_t most, int64_t *index)
{
    const int64_t o = e / norm->inner, i = e - o * norm->inner;
    *index = (o * norm->params + p) * norm->inner + i;
    return smaller(smaller(norm->inner - i, end - e), most);
}

/* The next BLOCK elements of a parameter, or fewer at the end: where they are when they are
 * neighbours, else collected in `room`. */
static int64_t collect(const struct norm_run *r, unsigned slot, int64_t p, int64_t e, int64_t end,
                       float *room, const float **values)
{
    const struct rmcp_norm *norm = &r->s->norm;
    int64_t n = 0, index;
    int64_t length = neighbours(norm, p, e, end, BLOCK, &index);
    if (norm->type == RMCP_F32 && (length == BLOCK || length == end - e)) {
        *values = floats(r, slot, index, length, room);
        return length;
    }
    while (n < BLOCK && e + n < end) {
        length = neighbours(norm, p, e + n, end, BLOCK - n, &index);
        const float *from = floats(r, slot, index, length, room + n);
        if (from != room + n)
            for (int64_t i = 0; i < length; i++) room[n + i] = from[i];
        n += length;
    }
    *values = room;
    return n;
}

static void row_moments(const struct norm_run *r, int64_t p, int64_t split)
{
    const int64_t begin = split * r->s->share;
    const int64_t end = smaller(begin + r->s->share, r->s->norm.count);
    struct rmcp_norm_moments all = { 0, 0, 0 };
    float room[BLOCK];
    for (int64_t e = begin, n; e < end; e += n) {
        const float *x;
        n = collect(r, RMCP_NORM_X, p, e, end, room, &x);
        all = rmcp_norm_merge(all, rmcp_norm_block_moments(x, n));
    }
    r->first[split * r->s->norm.params + p] = all.mean;
    r->second[split * r->s->norm.params + p] = all.m2;
}

static void row_sums(const struct norm_run *r, int64_t p, int64_t split)
{
    const int64_t begin = split * r->s->share;
    const int64_t end = smaller(begin + r->s->share, r->s->norm.count);
    double sum = 0, product = 0;
    float room[BLOCK], dy_room[BLOCK];
    for (int64_t e = begin, n; e < end; e += n) {
        const float *x, *dy;
        n = collect(r, RMCP_NORM_X, p, e, end, room, &x);
        collect(r, RMCP_NORM_DY, p, e, end, dy_room, &dy);
        rmcp_norm_block_sums(&r->s->bend, &r->lines, p, x, dy, n, &sum, &product);
    }
    r->first[split * r->s->norm.params + p] = sum;
    r->second[split * r->s->norm.params + p] = product;
}

static void row_values(const struct norm_run *r, int64_t p)
{
    const int64_t end = r->s->norm.count;
    for (int64_t e = 0, n; e < end; e += n) {
        int64_t index;
        n = neighbours(&r->s->norm, p, e, end, BLOCK, &index);
        write_values(r, p, 0, index, n);
    }
}

/* All values in the order of memory, when every line is known. */
static void stream_values(const struct norm_run *r)
{
    enum { RUN = 16 * BLOCK };
    const struct rmcp_norm *norm = &r->s->norm;
    const int64_t runs = rmcp_ceil_divide(norm->inner, RUN);
#pragma omp parallel for num_threads(r->s->threads) schedule(static)
    for (int64_t task = 0; task < norm->outer * norm->params * runs; task++) {
        const int64_t row = task / runs, end = smaller((task % runs + 1) * RUN, norm->inner);
        for (int64_t i = task % runs * RUN; i < end; i += BLOCK)
            write_values(r, row % norm->params, 0, row * norm->inner + i, smaller(BLOCK, end - i));
    }
}

/* A whole channel by one thread. */
static void row_channel(const struct norm_run *r, int64_t p)
{
    if (rmcp_norm_computes(&r->s->norm)) row_moments(r, p, 0);
    prepare_line(r, p);
    if (r->s->norm.pass == RMCP_BATCHNORM_BACKWARD) {
        row_sums(r, p, 0);
        finish_gradients(r, p);
    }
    row_values(r, p);
}

/* ---- columns: data is [outer][params] ---- */

/* Statistics or sums of one part of the rows and one piece of the parameters. */
static void column_part(const struct norm_run *r, int64_t split, int64_t piece, bool gradients)
{
    const struct rmcp_norm *norm = &r->s->norm;
    const int64_t begin = split * r->s->share, end = smaller(begin + r->s->share, norm->outer);
    const int64_t first = piece * r->s->piece, last = smaller(first + r->s->piece, norm->params);
    double *a = r->first + split * norm->params, *b = r->second + split * norm->params;
    float x_room[DEPTH][TILE], dy_room[DEPTH][TILE];
    const float *x[DEPTH], *dy[DEPTH];
    for (int64_t p = first; p < last; p++) a[p] = b[p] = 0;
    for (int64_t row = begin; row < end; row += DEPTH) {
        const int64_t rows = smaller(DEPTH, end - row);
        for (int64_t p = first; p < last; p += TILE) {
            const int64_t n = smaller(TILE, last - p);
            for (int64_t i = 0; i < rows; i++) {
                const int64_t index = (row + i) * norm->params + p;
                x[i] = floats(r, RMCP_NORM_X, index, n, x_room[i]);
                if (gradients) dy[i] = floats(r, RMCP_NORM_DY, index, n, dy_room[i]);
            }
            if (gradients)
                rmcp_norm_tile_sums(&r->s->bend, &r->lines, p, x, dy, rows, n, a + p, b + p);
            else
                rmcp_norm_tile_moments(x, rows, n, (double)(row - begin), a + p, b + p);
        }
    }
}

static void column_values(const struct norm_run *r, int64_t split, int64_t piece)
{
    const struct rmcp_norm *norm = &r->s->norm;
    const int64_t begin = split * r->s->share, end = smaller(begin + r->s->share, norm->outer);
    const int64_t first = piece * r->s->piece, last = smaller(first + r->s->piece, norm->params);
    for (int64_t row = begin; row < end; row++)
        for (int64_t p = first; p < last; p += BLOCK)
            write_values(r, p, 1, row * norm->params + p, smaller(BLOCK, last - p));
}

/* ---- all of it ---- */

enum stage { MOMENTS, SUMS, VALUES };

/* One stage of all parts, on all threads. */
static void parts(const struct norm_run *r, enum stage stage)
{
    const struct norm_loops *s = r->s;
    const int64_t lots = s->columns ? s->pieces : s->norm.params;
#pragma omp parallel for num_threads(s->threads) schedule(static)
    for (int64_t task = 0; task < lots * s->splits; task++) {
        const int64_t lot = task / s->splits, split = task % s->splits;
        if (stage == VALUES)
            column_values(r, split, lot);
        else if (s->columns)
            column_part(r, split, lot, stage == SUMS);
        else if (stage == SUMS)
            row_sums(r, lot, split);
        else
            row_moments(r, lot, split);
    }
}

static void compute(const struct norm_run *r)
{
    const struct norm_loops *s = r->s;
    const int64_t params = s->norm.params;
    if (!s->columns && s->splits == 1 && s->norm.pass != RMCP_BATCHNORM_INFER) {
        /* Neighbouring channels by one thread: what is kept of them shares cache lines. */
        const int64_t few = 1 + params / (4 * (int64_t)s->threads);
        (void)few; /* without OpenMP */
#pragma omp parallel for num_threads(s->threads) schedule(dynamic, few)
        for (int64_t p = 0; p < params; p++) row_channel(r, p);
        return;
    }
    if (rmcp_norm_computes(&s->norm)) parts(r, MOMENTS);
#pragma omp parallel for num_threads(s->threads) schedule(static)
    for (int64_t p = 0; p < params; p++) prepare_line(r, p);
    if (s->norm.pass == RMCP_BATCHNORM_BACKWARD) {
        parts(r, SUMS);
#pragma omp parallel for num_threads(s->threads) schedule(static)
        for (int64_t p = 0; p < params; p++) finish_gradients(r, p);
    }
    if (s->columns)
        parts(r, VALUES);
    else
        stream_values(r);
}

/* ---- the algorithm ---- */

/* Six floats and, for each split, two doubles for each parameter. */
static uint64_t workspace_bytes(const struct norm_loops *s)
{
    return (uint64_t)s->norm.params *
           (6 * sizeof(float) + 2 * sizeof(double) * (uint64_t)s->splits);
}

static rmcp_status run(const void *state, const rmcp_memory *memory)
{
    const struct norm_loops *s = state;
    const int64_t params = s->norm.params;
    struct norm_run r = { .s = s };
    for (unsigned slot = 0; slot < RMCP_NORM_SLOTS; slot++)
        if (memory[slot].base) r.memory[slot] = (char *)memory[slot].base + memory[slot].offset;
    const rmcp_memory workspace = memory[RMCP_SLOT_WORKSPACE];
    r.first = (double *)(void *)((char *)workspace.base + workspace.offset);
    r.second = r.first + params * s->splits;
    float *lines = (float *)(r.second + params * s->splits);
    r.lines = (struct rmcp_norm_lines){ lines,
                                        lines + params,
                                        lines + 2 * params,
                                        lines + 3 * params,
                                        lines + 4 * params,
                                        lines + 5 * params };
    compute(&r);
    return RMCP_OK;
}

static struct norm_loops state_of(const struct rmcp_request *request)
{
    struct norm_loops s = { .norm = *rmcp_norm_of(request), .threads = request->caps->threads };
    const rmcp_batchnorm *p = &s.norm.problem;
    const bool clamps = p->activation == RMCP_CLAMP;
    s.columns = s.norm.inner == 1;
    s.bend = (struct rmcp_norm_bend){
        .kind = (rmcp_activation)p->activation,
        .slope = p->slope,
        .low = clamps ? p->clamp_low : 0,
        .high = clamps ? p->clamp_high : HUGE_VALF,
    };
    divide(&s);
    return s;
}

static rmcp_status consider(const struct rmcp_request *request, struct rmcp_way *way)
{
    struct norm_loops *s = RMCP_WAY_DETAILS(way, struct norm_loops);
    *s = state_of(request);
    way->seconds = rmcp_norm_bytes(request->problem) / request->caps->bytes_per_second +
                   rmcp_figure(request->caps, RMCP_FIGURE_BATCHNORM_LOOPS_START);
    way->workspace_bytes = workspace_bytes(s);
    return RMCP_OK;
}

static rmcp_status emit(const struct rmcp_request *request, const struct rmcp_way *way,
                        struct rmcp_launch_list *list)
{
    (void)request;
    const struct norm_loops *state = RMCP_WAY_DETAILS_CONST(way, struct norm_loops);
    return rmcp_launch_host(list, run, state, sizeof *state);
}

const struct rmcp_algo rmcp_algo_batchnorm_loops = {
    .name = "loops",
    .version = 2,
    .kind = RMCP_LAUNCH_HOST_CALL,
    .consider = consider,
    .emit = emit,
};
