/* loops: element by element on the host: blocks along the fastest loop are converted, computed and
 * converted back while they are in the first cache, on all threads. */
#include "base/convert.h"
#include "base/round.h"
#include "engine/figures/figures.h"
#include "engine/ops/tensor/host/lanes.h"

#include <string.h>

enum { BLOCK = 1024, STRIDED_BLOCK = 256 }; /* elements; those that lie apart fill a line each */

static rmcp_status consider(const struct rmcp_request *request, struct rmcp_way *way)
{
    const struct rmcp_tensor_form *form = request->problem;
    if (form->kind == RMCP_TENSOR_SUM) return rmcp_refuse(way, "does not sum");
    way->seconds = rmcp_figure(request->caps, RMCP_FIGURE_TENSOR_LOOPS_START) +
                   request->operation->bytes(form) / request->caps->bytes_per_second;
    return RMCP_OK;
}

/* ---- one block ---- */

/* Every kind but set. out may be x, y or z: nothing is read after it was written. Without an update
 * -0 is added, which changes nothing. */
static void compute(const struct rmcp_tensor_form *form, float *out, const float *x, const float *y,
                    const float *z, int64_t n)
{
    const float alpha = form->alpha, alpha_b = form->alpha_b;
    const float beta = form->beta;
    const bool update = beta != 0;
    switch (form->kind) {
    case RMCP_TENSOR_SCALE:
#pragma omp simd
        for (int64_t i = 0; i < n; i++) out[i] = alpha * z[i];
        break;
    case RMCP_TENSOR_ADD:
#pragma omp simd
        for (int64_t i = 0; i < n; i++)
            out[i] = alpha * x[i] + alpha_b * y[i] + (update ? beta * z[i] : -0.0f);
        break;
    case RMCP_TENSOR_MULTIPLY:
#pragma omp simd
        for (int64_t i = 0; i < n; i++)
            out[i] = alpha * x[i] * (alpha_b * y[i]) + (update ? beta * z[i] : -0.0f);
        break;
    case RMCP_TENSOR_MINIMUM:
#pragma omp simd
        for (int64_t i = 0; i < n; i++)
            out[i] = (alpha * x[i] < alpha_b * y[i] ? alpha * x[i] : alpha_b * y[i]) +
                     (update ? beta * z[i] : -0.0f);
        break;
    case RMCP_TENSOR_MAXIMUM:
#pragma omp simd
        for (int64_t i = 0; i < n; i++)
            out[i] = (alpha * x[i] > alpha_b * y[i] ? alpha * x[i] : alpha_b * y[i]) +
                     (update ? beta * z[i] : -0.0f);
        break;
    default:
#pragma omp simd
        for (int64_t i = 0; i < n; i++) out[i] = alpha * x[i] + (update ? beta * z[i] : -0.0f);
    }
}

static void fill(void *to, int64_t stride, rmcp_type type, float value, int64_t n)
{
    float *whole = to;
    uint16_t *half = to, bits = 0;
    if (type == RMCP_F32) {
        for (int64_t i = 0; i < n; i++) whole[i * stride] = value;
    } else {
        rmcp_store(&bits, type, 0, value);
        for (int64_t i = 0; i < n; i++) half[i * stride] = bits;
    }
}

static void move(void *to, int64_t to_stride, const void *from, int64_t from_stride, int64_t n,
                 size_t element)
{
    if (to_stride == 1 && from_stride == 1) {
        memcpy(to, from, (size_t)n * element);
    } else if (element == sizeof(uint32_t)) {
        uint32_t *target = to;
        const uint32_t *source = from;
        for (int64_t i = 0; i < n; i++) target[i * to_stride] = source[i * from_stride];
    } else {
        uint16_t *target = to;
        const uint16_t *source = from;
        for (int64_t i = 0; i < n; i++) target[i * to_stride] = source[i * from_stride];
    }
}

/* `n` elements from these places on. Everything is read before anything is written: a or b may be
 * c. */
static void run_block(const struct rmcp_tensor_form *form, const rmcp_memory *memory,
                      const int64_t place[RMCP_TENSOR_N], int64_t n)
{
    const int64_t *stride = form->loop[form->n_loops - 1].stride;
    void *data[RMCP_TENSOR_N];
    for (unsigned slot = 0; slot < RMCP_TENSOR_N; slot++)
        data[slot] = rmcp_tensor_address(memory, form, slot, place[slot]);
    void *c = data[RMCP_TENSOR_C];
    if (form->kind == RMCP_TENSOR_SET) {
        fill(c, stride[RMCP_TENSOR_C], form->type[RMCP_TENSOR_C], form->alpha, n);
        return;
    }
    if (rmcp_tensor_moves(form)) {
        if (c != data[RMCP_TENSOR_A])
            move(c, stride[RMCP_TENSOR_C], data[RMCP_TENSOR_A], stride[RMCP_TENSOR_A], n,
                 rmcp_type_bytes(form->type[RMCP_TENSOR_C]));
        return;
    }
    float room[RMCP_TENSOR_N][BLOCK], made[BLOCK];
    const float *values[RMCP_TENSOR_N] = { made, made, made }; /* some, where none are read */
    for (unsigned slot = 0; slot < RMCP_TENSOR_N; slot++)
        if (data[slot] && (slot != RMCP_TENSOR_C || rmcp_tensor_reads_output(form)))
            values[slot] =
                rmcp_tensor_gather(room[slot], data[slot], form->type[slot], stride[slot], n);
    const bool in_place = form->type[RMCP_TENSOR_C] == RMCP_F32 && stride[RMCP_TENSOR_C] == 1;
    compute(form, in_place ? c : made, values[RMCP_TENSOR_A], values[RMCP_TENSOR_B],
            values[RMCP_TENSOR_C], n);
    if (!in_place)
        rmcp_tensor_scatter(c, form->type[RMCP_TENSOR_C], stride[RMCP_TENSOR_C], made, n);
}

/* ---- all of them ---- */

/* The loops around a block: the fastest in blocks, then the others. Where neighbours of c lie apart
 * in a or b, the blocks are outside the next loop, which then meets their cache lines again. */
struct nest {
    struct rmcp_tensor_loop loop[RMCP_TENSOR_DIMS]; /* fastest first; strides in elements */
    unsigned n_loops, blocks;                       /* `blocks`: which loop counts blocks  */
    int64_t block, count;
};

static struct nest nest_of(const struct rmcp_tensor_form *form)
{
    const struct rmcp_tensor_loop *inner = &form->loop[form->n_loops - 1];
    const bool apart = inner->stride[RMCP_TENSOR_A] > 1 || inner->stride[RMCP_TENSOR_B] > 1;
    struct nest nest = { .block = apart ? STRIDED_BLOCK : BLOCK, .count = 1 };
    for (unsigned i = form->n_loops; i-- > 0;) nest.loop[nest.n_loops++] = form->loop[i];
    nest.loop[0].size = rmcp_ceil_divide(inner->size, nest.block);
    for (unsigned slot = 0; slot < RMCP_TENSOR_N; slot++) nest.loop[0].stride[slot] *= nest.block;
    if (apart && nest.n_loops > 1) {
        const struct rmcp_tensor_loop blocks = nest.loop[0];
        nest.loop[0] = nest.loop[1];
        nest.loop[1] = blocks;
        nest.blocks = 1;
    }
    for (unsigned i = 0; i < nest.n_loops; i++) nest.count *= nest.loop[i].size;
    return nest;
}

static void run_range(const struct rmcp_tensor_form *form, const struct nest *nest,
                      const rmcp_memory *memory, int64_t begin, int64_t end)
{
    const int64_t length = form->loop[form->n_loops - 1].size;
    int64_t digit[RMCP_TENSOR_DIMS], place[RMCP_TENSOR_N] = { 0 }, rest = begin;
    for (unsigned i = 0; i < nest->n_loops; i++) {
        digit[i] = rest % nest->loop[i].size;
        rest /= nest->loop[i].size;
        for (unsigned slot = 0; slot < RMCP_TENSOR_N; slot++)
            place[slot] += digit[i] * nest->loop[i].stride[slot];
    }
    for (int64_t at = begin; at < end; at++) {
        const int64_t left = length - digit[nest->blocks] * nest->block;
        run_block(form, memory, place, left < nest->block ? left : nest->block);
        for (unsigned i = 0; i < nest->n_loops; i++) { /* the next turn */
            const struct rmcp_tensor_loop *loop = &nest->loop[i];
            const bool wraps = ++digit[i] == loop->size;
            if (wraps) digit[i] = 0;
            for (unsigned slot = 0; slot < RMCP_TENSOR_N; slot++)
                place[slot] += wraps ? (1 - loop->size) * loop->stride[slot] : loop->stride[slot];
            if (!wraps) break;
        }
    }
}

static rmcp_status run(const void *state, const rmcp_memory *memory)
{
    const struct rmcp_tensor_state *s = state;
    const struct nest nest = nest_of(s->form);
    const int64_t worth_it = 1 << 15; /* elements, for a second thread */
    const int64_t ranges = s->form->outputs < worth_it || nest.count < s->threads ? 1 : s->threads;
#pragma omp parallel for num_threads(s->threads) if (ranges > 1)
    for (int64_t i = 0; i < ranges; i++)
        run_range(s->form, &nest, memory,
                  nest.count / ranges * i + nest.count % ranges * i / ranges,
                  nest.count / ranges * (i + 1) + nest.count % ranges * (i + 1) / ranges);
    return RMCP_OK;
}

static rmcp_status emit(const struct rmcp_request *request, const struct rmcp_way *way,
                        struct rmcp_launch_list *list)
{
    (void)way;
    return rmcp_tensor_append(request, run, list);
}

const struct rmcp_algo rmcp_algo_tensor_loops = {
    .name = "loops",
    .version = 1,
    .kind = RMCP_LAUNCH_HOST_CALL,
    .consider = consider,
    .emit = emit,
};
