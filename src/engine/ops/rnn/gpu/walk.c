/* walk.c: the places of a recurrent network's tensors and temporaries, and what its passes share.
 */
#include "engine/ops/rnn/gpu/walk.h"

#include "engine/figures/figures.h"
#include "engine/gpu/launch.h"

#include <math.h>

/* ---- places ---- */

struct rmcp_rnn_place rmcp_rnn_behind(struct rmcp_rnn_place place, int64_t elements)
{
    place.offset += (uint64_t)elements * sizeof(float);
    return place;
}

static struct rmcp_rnn_place take(struct rmcp_rnn_walk *walk, int64_t elements)
{
    const struct rmcp_rnn_place place = { RMCP_SLOT_WORKSPACE, walk->workspace };
    walk->workspace += ((uint64_t)elements * sizeof(float) + 255) / 256 * 256;
    return place;
}

static void arrange(struct rmcp_rnn_walk *walk)
{
    const struct rmcp_recurrence *rec = walk->rec;
    const rmcp_rnn *p = &rec->problem;
    const int64_t plane = rec->rows * rec->width, states = p->batch * rec->width;
    for (unsigned slot = 0; slot < RMCP_REC_SLOTS; slot++) {
        const struct rmcp_slot s = rmcp_rec_slot(rec, slot);
        walk->tensor[slot] = (struct rmcp_rnn_place){ slot, 0 };
        if (s.elements && s.type != RMCP_F32) walk->tensor[slot] = take(walk, s.elements);
    }
    const bool forward = rec->pass <= RMCP_RNN_TRAIN;
    if (rec->pass == RMCP_RNN_INFER) /* gates, cell, and the outputs of two layers */
        walk->saved = take(walk, plane * (rec->gates > 1 ? rec->gates + 3 : 2));
    if (rec->pass == RMCP_RNN_BACKWARD_DATA) {
        walk->carry = take(walk, states);
        if (p->layers > 1) walk->output = take(walk, plane);
        if (walk->fused) walk->turned = take(walk, rec->width * rec->gates * p->hidden);
    }
    if (rec->pass == RMCP_RNN_BACKWARD_WEIGHTS)
        walk->before = take(walk, plane);
    else if (!walk->fused)
        walk->product = take(walk, states * (forward ? rec->gates : 1));
}

struct rmcp_rnn_planes rmcp_rnn_planes(const struct rmcp_rnn_walk *walk, int64_t layer)
{
    const struct rmcp_recurrence *rec = walk->rec;
    if (rec->pass == RMCP_RNN_INFER) {
        const int64_t plane = rec->rows * rec->width, gates = rec->gates > 1 ? rec->gates : 0;
        const bool kept = gates > 0;
        return (struct rmcp_rnn_planes){ walk->saved, kept ? gates * plane : -1, -1,
                                         (gates + kept + layer % 2) * plane };
    }
    const struct rmcp_rnn_saved s = rmcp_rec_saved(rec, layer);
    const int64_t start = s.gates >= 0 ? s.gates : s.out;
    return (struct rmcp_rnn_planes){
        .start = rmcp_rnn_behind(walk->tensor[RMCP_REC_RESERVE], start),
        .cell = s.cell >= 0 ? s.cell - start : -1,
        .tanh = s.tanh >= 0 ? s.tanh - start : -1,
        .out = s.out - start,
    };
}

struct rmcp_rnn_place rmcp_rnn_input(const struct rmcp_rnn_walk *walk, int64_t layer)
{
    if (layer == 0) return walk->tensor[RMCP_REC_X];
    if (rmcp_rec_drops(walk->rec))
        return rmcp_rnn_behind(walk->tensor[RMCP_REC_RESERVE],
                               rmcp_rec_saved(walk->rec, layer - 1).dropped);
    const struct rmcp_rnn_planes planes = rmcp_rnn_planes(walk, layer - 1);
    return rmcp_rnn_behind(planes.start, planes.out);
}

/* ---- launches ---- */

struct rmcp_kernel_launch *rmcp_rnn_launch(struct rmcp_rnn_walk *walk, const char *stem,
                                           const char *rest, int64_t work_items, double bytes)
{
    walk->seconds += walk->caps->launch_seconds + bytes / walk->caps->bytes_per_second;
    if (!walk->list || walk->status) return NULL;
    struct rmcp_kernel_launch *launch = NULL;
    walk->status = rmcp_kernel_append(walk->list, stem, RMCP_F32, rest, work_items, &launch);
    return walk->status ? NULL : launch;
}

void rmcp_rnn_argument(struct rmcp_kernel_launch *launch, struct rmcp_rnn_place place)
{
    rmcp_arg_memory(launch, place.slot, place.offset);
}

static struct rmcp_matrix matrix_of(const struct rmcp_rnn_matrix *m)
{
    return (struct rmcp_matrix){
        .slot = m->place.slot,
        .offset = m->place.offset,
        .pitch = m->pitch,
        .transposed = m->transposed,
    };
}

void rmcp_rnn_multiply(struct rmcp_rnn_walk *walk, const struct rmcp_rnn_product *product)
{
    if (product->m == 0 || walk->status || walk->refusal) return;
    const struct rmcp_matmul p = {
        .type = RMCP_F32,
        .batch = 1,
        .m = product->m,
        .n = product->n,
        .k = product->k,
        .a = matrix_of(&product->a),
        .b = matrix_of(&product->b),
        .c = matrix_of(&product->c),
        .alpha = 1,
        .beta = product->add ? 1 : 0,
    };
    if (walk->list) {
        walk->status = rmcp_matmul_emit(&p, walk->caps, &walk->known, walk->workspace, walk->list);
        return;
    }
    const struct rmcp_matmul_cost cost = rmcp_matmul_consider(&p, walk->caps, &walk->known);
    walk->refusal = cost.refusal;
    walk->seconds += cost.seconds;
    if (cost.workspace_bytes > walk->product_bytes) walk->product_bytes = cost.workspace_bytes;
}

/* ---- steps ---- */

struct rmcp_rnn_move rmcp_rnn_move(const struct rmcp_recurrence *rec, int d,
                                   const struct rmcp_rnn_step *step)
{
    const bool initial = rec->problem.given & RMCP_RNN_HX;
    struct rmcp_rnn_move move = {
        .first = step->first,
        .before = d ? step->after_first : step->before_first,
        .after = d ? step->before_first : step->after_first,
        .batch = (unsigned)step->batch,
    };
    if (d) {
        move.starts = (unsigned)step->after;
        move.ends = step->t == 0 ? 0 : move.batch;
    } else {
        move.starts = step->t == 0 ? 0 : move.batch;
        move.ends = (unsigned)step->after;
    }
    if (rec->pass == RMCP_RNN_BACKWARD_DATA)
        move.still = move.ends == 0;
    else
        move.still = move.starts == 0 && !initial;
    return move;
}

struct rmcp_rnn_step_args rmcp_rnn_step_args(const struct rmcp_rnn_walk *walk, int64_t layer)
{
    const struct rmcp_recurrence *rec = walk->rec;
    const rmcp_rnn *p = &rec->problem;
    const struct rmcp_rnn_planes planes = rmcp_rnn_planes(walk, layer);
    const struct rmcp_rnn_gradients to = rmcp_rec_gradients(rec, layer);
    const bool backward = rec->pass == RMCP_RNN_BACKWARD_DATA;
    const bool lstm = p->mode == RMCP_RNN_LSTM;
    return (struct rmcp_rnn_step_args){
        .mode = p->mode,
        .gates = (unsigned)rec->gates,
        .hidden = (unsigned)p->hidden,
        .directions = (unsigned)rec->directions,
        .batch = (unsigned)p->batch,
        .bias = p->bias,
        /* Backward there is one initial state that counts: LSTM's cx, GRU's hx. */
        .hx = rmcp_rec_has(rec, backward && lstm ? RMCP_RNN_CX : RMCP_RNN_HX),
        .cx = rmcp_rec_has(rec, RMCP_RNN_CX),
        .hy = rmcp_rec_has(rec, RMCP_RNN_HY),
        .cy = rmcp_rec_has(rec, RMCP_RNN_CY),
        .y = layer == p->layers - 1,
        .tanh = planes.tanh >= 0,
        .cell = planes.cell,
        .tanh_plane = planes.tanh,
        .out = planes.out,
        .apart = to.hidden >= 0 ? to.hidden - to.gates : -1,
    };
}

int64_t rmcp_rnn_rows(int64_t batch)
{
    return batch <= 1 ? 1 : batch <= 4 ? 4 : 8;
}

/* A work-item waits for its terms and at the end; the fewer sequences a workgroup has, the more of
 * them are on a compute unit. */
double rmcp_rnn_waiting_bytes(const struct rmcp_rnn_walk *walk, int64_t groups, int64_t terms,
                              int64_t lanes, int64_t rows)
{
    const int64_t ahead = rows > 4 ? 2 : 4;
    const int64_t units = rmcp_launch_units(walk->caps);
    const int64_t at_once = rows > 4 ? 2 : rows > 1 ? 4 : 8;
    const double rounds = ceil((double)groups / (double)(at_once * units));
    const double turns = ceil((double)terms / (double)(ahead * lanes));
    return rounds *
           (turns * rmcp_figure(walk->caps, RMCP_FIGURE_RNN_TURN) +
            rmcp_figure(walk->caps, RMCP_FIGURE_RNN_END)) *
           walk->caps->bytes_per_second;
}

void rmcp_rnn_mask(struct rmcp_rnn_walk *walk, int64_t layer, struct rmcp_rnn_place from,
                   struct rmcp_rnn_place state, struct rmcp_rnn_place to)
{
    const struct rmcp_recurrence *rec = walk->rec;
    const int64_t plane = rec->rows * rec->width;
    const struct rmcp_rnn_mask mask = {
        .first = layer * plane,
        .count = (unsigned)plane,
        .threshold = rmcp_rec_threshold(rec),
        .scale = rmcp_rec_scale(rec),
    };
    struct rmcp_kernel_launch *launch =
        rmcp_rnn_launch(walk, "rnn_mask", "", plane, 8.0 * (double)plane);
    if (!launch) return;
    rmcp_rnn_argument(launch, from);
    rmcp_rnn_argument(launch, state);
    rmcp_rnn_argument(launch, to);
    rmcp_arg_value(launch, &mask, sizeof mask);
}

/* ---- tensors of another type ---- */

static void convert(struct rmcp_rnn_walk *walk, const char *stem, unsigned slot,
                    const struct rmcp_slot *s, bool back)
{
    walk->seconds +=
        walk->caps->launch_seconds + 6.0 * (double)s->elements / walk->caps->bytes_per_second;
    if (!walk->list || walk->status) return;
    struct rmcp_kernel_launch *launch = NULL;
    walk->status = rmcp_kernel_append(walk->list, stem, s->type, "", s->elements, &launch);
    if (walk->status) return;
    const struct rmcp_rnn_place own = { slot, 0 };
    rmcp_rnn_argument(launch, back ? walk->tensor[slot] : own);
    rmcp_rnn_argument(launch, back ? own : walk->tensor[slot]);
    const uint32_t count = (uint32_t)s->elements;
    rmcp_arg_value(launch, &count, sizeof count);
}

static void convert_all(struct rmcp_rnn_walk *walk, bool back)
{
    for (unsigned slot = 0; slot < RMCP_REC_SLOTS; slot++) {
        const struct rmcp_slot s = rmcp_rec_slot(walk->rec, slot);
        if (!s.elements || s.type == RMCP_F32) continue;
        if (back ? s.written : s.read)
            convert(walk, back ? "rnn_from_float" : "rnn_to_float", slot, &s, back);
    }
}

void rmcp_rnn_walk(struct rmcp_rnn_walk *walk, const struct rmcp_request *request, bool fused,
                   const struct rmcp_matmul_known *known, struct rmcp_launch_list *list)
{
    *walk = (struct rmcp_rnn_walk){
        .rec = rmcp_rec_of(request),
        .caps = request->caps,
        .fused = fused,
        .list = list,
    };
    if (known) walk->known = *known;
    arrange(walk);
    convert_all(walk, false);
    if (walk->rec->pass == RMCP_RNN_BACKWARD_DATA)
        rmcp_rnn_walk_backward(walk);
    else if (walk->rec->pass == RMCP_RNN_BACKWARD_WEIGHTS)
        rmcp_rnn_walk_weights(walk);
    else
        rmcp_rnn_walk_forward(walk);
    convert_all(walk, true);
}

/* ---- for the algorithms ---- */

rmcp_status rmcp_rnn_consider(const struct rmcp_request *request, bool fused, struct rmcp_way *way)
{
    const struct rmcp_recurrence *rec = rmcp_rec_of(request);
    const rmcp_rnn *p = &rec->problem;
    if (fused && rec->pass == RMCP_RNN_BACKWARD_WEIGHTS)
        return rmcp_refuse(way, "gradients of weights have no steps");
    if (fused && p->batch > 256) return rmcp_refuse(way, "more than 256 sequences");
    for (unsigned slot = 0; slot < RMCP_REC_RESERVE; slot++)
        if (rmcp_rec_slot(rec, slot).elements > INT32_MAX)
            return rmcp_refuse(way, "2^31 elements or more in a tensor");
    if (rec->rows * rec->width * rec->gates > INT32_MAX)
        return rmcp_refuse(way, "2^31 gates or more in a layer");
    if (p->steps * (int64_t)p->layers > 1 << 18)
        return rmcp_refuse(way, "more than 2^18 steps of all layers");
    struct rmcp_rnn_walk walk;
    rmcp_rnn_walk(&walk, request, fused, NULL, NULL);
    if (walk.refusal) return rmcp_refuse(way, walk.refusal);
    way->seconds = walk.seconds;
    way->workspace_bytes = walk.workspace + walk.product_bytes;
    *RMCP_WAY_DETAILS(way, struct rmcp_matmul_known) = walk.known;
    return RMCP_OK;
}

rmcp_status rmcp_rnn_emit(const struct rmcp_request *request, bool fused,
                          const struct rmcp_way *way, struct rmcp_launch_list *list)
{
    struct rmcp_rnn_walk walk;
    rmcp_rnn_walk(&walk, request, fused, RMCP_WAY_DETAILS_CONST(way, struct rmcp_matmul_known),
                  list);
    return walk.status;
}
