/* loops_sum: sums over some dimensions on the host. Blocks are summed in f32, many of them side by
 * side, and blocks are added up in double. With few outputs threads share them, in parts whose sums
 * go to the workspace. */
#include "base/round.h"
#include "engine/figures/figures.h"
#include "engine/ops/tensor/host/lanes.h"

#include "base/convert.h"

#include <string.h>

enum {
    LENGTH = 1024, /* elements of a block along the sum                  */
    SIDE_BY_SIDE = 16,
    WIDTH = 256, /* outputs of a block that lies across the sum        */
};

/* The loops that are summed and the others, both fastest first. A unit is what one thread makes:
 * one output, or up to WIDTH neighbours where the fastest loop is not summed. A chunk is what it
 * adds at a time: up to LENGTH terms of an output, or one term of each. */
struct plan {
    struct rmcp_tensor_loop summed[RMCP_TENSOR_DIMS], kept[RMCP_TENSOR_DIMS];
    unsigned n_summed, n_kept;
    bool along;
    int64_t units, chunks, width; /* width: chunks of the fastest summed loop, or units of the
                                     fastest kept one */
    int64_t parts;
};

static struct plan plan_of(const struct rmcp_tensor_form *form, unsigned threads)
{
    struct plan p = { .units = 1, .chunks = 1, .parts = 1 };
    for (unsigned i = form->n_loops; i-- > 0;) {
        const struct rmcp_tensor_loop *loop = &form->loop[i];
        if (loop->stride[RMCP_TENSOR_C])
            p.kept[p.n_kept++] = *loop, p.units *= loop->size;
        else
            p.summed[p.n_summed++] = *loop, p.chunks *= loop->size;
    }
    p.along = !form->loop[form->n_loops - 1].stride[RMCP_TENSOR_C];
    if (p.along) {
        p.width = rmcp_ceil_divide(p.summed[0].size, LENGTH);
        p.chunks = p.chunks / p.summed[0].size * p.width;
    } else {
        p.width = rmcp_ceil_divide(p.kept[0].size, WIDTH);
        p.units = p.units / p.kept[0].size * p.width;
    }
    if (p.units < threads && form->outputs * form->terms >= 1 << 15)
        p.parts = p.chunks < threads ? p.chunks : threads;
    return p;
}

/* Where an index of some loops lies in a tensor. The fastest may be counted in steps of `step`. */
static int64_t place_of(const struct rmcp_tensor_loop *loop, unsigned n_loops, unsigned slot,
                        int64_t index, int64_t width, int64_t step)
{
    int64_t place = 0;
    for (unsigned i = 0; i < n_loops; i++) {
        const int64_t size = i == 0 ? width : loop[i].size;
        place += index % size * (i == 0 ? step : 1) * loop[i].stride[slot];
        index /= size;
    }
    return place;
}

/* Up to LENGTH terms: SIDE_BY_SIDE sums in f32, which vectorise, then in double. */
static double sum_of_block(const float *values, int64_t n)
{
    float sums[SIDE_BY_SIDE] = { 0 };
    int64_t i = 0;
    for (; i + SIDE_BY_SIDE <= n; i += SIDE_BY_SIDE)
        for (int k = 0; k < SIDE_BY_SIDE; k++) sums[k] += values[i + k];
    double sum = 0;
    for (; i < n; i++) sum += (double)values[i];
    for (int k = 0; k < SIDE_BY_SIDE; k++) sum += (double)sums[k];
    return sum;
}

static void sum_along(const struct rmcp_tensor_form *form, const struct plan *p,
                      const rmcp_memory *memory, int64_t first, int64_t begin, int64_t end,
                      double *sum)
{
    float room[LENGTH];
    *sum = 0;
    for (int64_t chunk = begin; chunk < end; chunk++) {
        const int64_t left = p->summed[0].size - chunk % p->width * LENGTH;
        const int64_t n = left < LENGTH ? left : LENGTH;
        const int64_t place =
            first + place_of(p->summed, p->n_summed, RMCP_TENSOR_A, chunk, p->width, LENGTH);
        const float *values =
            rmcp_tensor_gather(room, rmcp_tensor_address(memory, form, RMCP_TENSOR_A, place),
                               form->type[RMCP_TENSOR_A], p->summed[0].stride[RMCP_TENSOR_A], n);
        *sum += sum_of_block(values, n);
    }
}

static void sum_across(const struct rmcp_tensor_form *form, const struct plan *p,
                       const rmcp_memory *memory, int64_t first, int64_t begin, int64_t end,
                       int64_t n, double *sums)
{
    float room[WIDTH], block[WIDTH] = { 0 };
    for (int64_t i = 0; i < n; i++) sums[i] = 0;
    for (int64_t chunk = begin; chunk < end; chunk++) {
        const int64_t place = first + place_of(p->summed, p->n_summed, RMCP_TENSOR_A, chunk,
                                               p->n_summed ? p->summed[0].size : 1, 1);
        const float *values =
            rmcp_tensor_gather(room, rmcp_tensor_address(memory, form, RMCP_TENSOR_A, place),
                               form->type[RMCP_TENSOR_A], p->kept[0].stride[RMCP_TENSOR_A], n);
        for (int64_t i = 0; i < n; i++) block[i] += values[i];
        if ((chunk - begin) % RMCP_TENSOR_BLOCK < RMCP_TENSOR_BLOCK - 1 && chunk + 1 < end)
            continue;
        for (int64_t i = 0; i < n; i++) sums[i] += (double)block[i], block[i] = 0;
    }
}

/* c = alpha * sum + beta * c for the outputs of a unit. */
static void finish(const struct rmcp_tensor_form *form, const struct plan *p,
                   const rmcp_memory *memory, int64_t unit, const double *sums, int64_t n)
{
    const rmcp_type type = form->type[RMCP_TENSOR_C];
    const int64_t stride = p->n_kept ? p->kept[0].stride[RMCP_TENSOR_C] : 0;
    const int64_t width = p->along ? (p->n_kept ? p->kept[0].size : 1) : p->width;
    const int64_t place =
        place_of(p->kept, p->n_kept, RMCP_TENSOR_C, unit, width, p->along ? 1 : WIDTH);
    void *c = rmcp_tensor_address(memory, form, RMCP_TENSOR_C, place);
    for (int64_t i = 0; i < n; i++) {
        float value = form->alpha * (float)sums[i];
        if (form->beta != 0) value += form->beta * rmcp_load(c, type, i * stride);
        rmcp_store(c, type, i * stride, value);
    }
}

static int64_t outputs_of(const struct plan *p, int64_t unit)
{
    if (p->along) return 1;
    const int64_t left = p->kept[0].size - unit % p->width * WIDTH;
    return left < WIDTH ? left : WIDTH;
}

/* The sums of one part of a unit. */
static void sum_part(const struct rmcp_tensor_form *form, const struct plan *p,
                     const rmcp_memory *memory, int64_t unit, int64_t part, double *sums)
{
    const int64_t begin = p->chunks / p->parts * part + p->chunks % p->parts * part / p->parts;
    const int64_t end =
        p->chunks / p->parts * (part + 1) + p->chunks % p->parts * (part + 1) / p->parts;
    const int64_t width = p->along ? (p->n_kept ? p->kept[0].size : 1) : p->width;
    const int64_t first =
        place_of(p->kept, p->n_kept, RMCP_TENSOR_A, unit, width, p->along ? 1 : WIDTH);
    if (p->along)
        sum_along(form, p, memory, first, begin, end, sums);
    else
        sum_across(form, p, memory, first, begin, end, outputs_of(p, unit), sums);
}

static rmcp_status run(const void *state, const rmcp_memory *memory)
{
    const struct rmcp_tensor_state *s = state;
    const struct rmcp_tensor_form *form = s->form;
    const struct plan p = plan_of(form, s->threads);
    const int64_t room = p.along ? 1 : WIDTH; /* for the sums of one part of a unit */
    if (p.parts == 1) {
#pragma omp parallel for num_threads(s->threads) if (form->outputs * form->terms >= 1 << 15)
        for (int64_t unit = 0; unit < p.units; unit++) {
            double sums[WIDTH];
            sum_part(form, &p, memory, unit, 0, sums);
            finish(form, &p, memory, unit, sums, outputs_of(&p, unit));
        }
        return RMCP_OK;
    }
    double *all =
        (double *)((char *)memory[RMCP_SLOT_WORKSPACE].base + memory[RMCP_SLOT_WORKSPACE].offset);
#pragma omp parallel for num_threads(s->threads)
    for (int64_t i = 0; i < p.units * p.parts; i++)
        sum_part(form, &p, memory, i / p.parts, i % p.parts, all + i * room);
    for (int64_t unit = 0; unit < p.units; unit++) {
        double *sums = all + unit * p.parts * room;
        const int64_t n = outputs_of(&p, unit);
        for (int64_t part = 1; part < p.parts; part++)
            for (int64_t i = 0; i < n; i++) sums[i] += sums[part * room + i];
        finish(form, &p, memory, unit, sums, n);
    }
    return RMCP_OK;
}

static rmcp_status consider(const struct rmcp_request *request, struct rmcp_way *way)
{
    const struct rmcp_tensor_form *form = request->problem;
    if (form->kind != RMCP_TENSOR_SUM) return rmcp_refuse(way, "only sums");
    const struct plan p = plan_of(form, request->caps->threads);
    way->seconds = rmcp_figure(request->caps, RMCP_FIGURE_TENSOR_LOOPS_START) +
                   request->operation->bytes(form) / request->caps->bytes_per_second;
    way->workspace_bytes =
        p.parts > 1 ? (uint64_t)(p.units * p.parts * (p.along ? 1 : WIDTH)) * sizeof(double) : 0;
    return RMCP_OK;
}

static rmcp_status emit(const struct rmcp_request *request, const struct rmcp_way *way,
                        struct rmcp_launch_list *list)
{
    (void)way;
    return rmcp_tensor_append(request, run, list);
}

const struct rmcp_algo rmcp_algo_tensor_loops_sum = {
    .name = "loops_sum",
    .version = 1,
    .kind = RMCP_LAUNCH_HOST_CALL,
    .consider = consider,
    .emit = emit,
};
