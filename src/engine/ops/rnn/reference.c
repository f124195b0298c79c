/* reference.c: recurrent networks as the textbook writes them: plain loops in double, with how far
 * an implementation in f32 may be from each number (bounded.h).
 *
 * Forward and backward data compute all when the reference begins; gradients of weights are sums
 * over rows of what is given, each made when it is asked for. */
#include "engine/ops/rnn/rnn.h"

#include "base/convert.h"
#include "engine/kernels/philox.h"
#include "engine/ops/rnn/bounded.h"

#include <stdlib.h>
#include <string.h>

struct reference {
    struct bounded *slot[RMCP_REC_SLOTS]; /* what is written, in the slot's layout       */
    struct bounded *saved;                /* the whole reserve: written, or as it is     */
    struct bounded *output;               /* gradient of a layer's output                */
    struct bounded *carry;                /* of the step behind: see below               */
    double *w;
    int64_t *before[2]; /* of each row and direction: the row of the step that it follows, or
                           -1 - n at the start of sequence n                                */
    int64_t *after[2];  /* the row that follows it, or -1 - n at its end                     */
    uint32_t state[4];
};

static double load(const struct rmcp_reference *r, unsigned slot, int64_t index)
{
    return (double)rmcp_load(r->host[slot], rmcp_rec_slot(r->problem, slot).type, index);
}

/* ---- rows and their neighbours in time ---- */

static void link_rows(const struct rmcp_recurrence *rec, struct reference *ref)
{
    struct rmcp_rnn_step s = rmcp_rec_first(rec);
    do {
        for (int64_t n = 0; n < s.batch; n++) {
            const int64_t earlier = s.t > 0 ? s.before_first + n : -1 - n;
            const int64_t later = n < s.after ? s.after_first + n : -1 - n;
            ref->before[0][s.first + n] = ref->after[1][s.first + n] = earlier;
            ref->after[0][s.first + n] = ref->before[1][s.first + n] = later;
        }
    } while (rmcp_rec_next(rec, &s));
}

/* Place of unit j of sequence n in hx and the like. */
static int64_t state_at(const struct rmcp_recurrence *rec, int64_t layer, int64_t d, int64_t n,
                        int64_t j)
{
    const rmcp_rnn *p = &rec->problem;
    return ((layer * rec->directions + d) * p->batch + n) * p->hidden + j;
}

/* What a row follows: a saved plane's element, or the initial state, or 0. */
static struct bounded previous(const struct rmcp_reference *r, int64_t plane, unsigned slot,
                               int64_t layer, int64_t d, int64_t row, int64_t j)
{
    const struct rmcp_recurrence *rec = r->problem;
    const struct reference *ref = r->state;
    const int64_t before = ref->before[d][row];
    if (before >= 0) return ref->saved[plane + before * rec->width + d * rec->problem.hidden + j];
    if (!r->host[slot]) return exactly(0);
    return exactly(load(r, slot, state_at(rec, layer, d, -1 - before, j)));
}

/* ---- dropout ---- */

static double mask(const struct rmcp_recurrence *rec, const uint32_t *state, int64_t layer,
                   int64_t row, int64_t column)
{
    const int64_t index = (layer * rec->rows + row) * rec->width + column;
    return rmcp_philox_at(state, (uint64_t)index) >= rmcp_rec_threshold(rec)
               ? (double)rmcp_rec_scale(rec)
               : 0;
}

/* ---- forward ---- */

/* A layer's input. */
static struct bounded input_at(const struct rmcp_reference *r, int64_t layer, int64_t row,
                               int64_t i)
{
    const struct rmcp_recurrence *rec = r->problem;
    const struct reference *ref = r->state;
    if (layer == 0) return exactly(load(r, RMCP_REC_X, row * rec->problem.input + i));
    const struct rmcp_rnn_saved s = rmcp_rec_saved(rec, layer - 1);
    const int64_t plane = rmcp_rec_drops(rec) ? s.dropped : s.out;
    return ref->saved[plane + row * rec->width + i];
}

/* Wx x + bx and Wh h + bh of one gate. */
static void project(const struct rmcp_reference *r, int64_t layer, int64_t d, int64_t row,
                    int64_t g, int64_t j, struct bounded *from_input, struct bounded *from_hidden)
{
    const struct rmcp_recurrence *rec = r->problem;
    const struct reference *ref = r->state;
    const struct rmcp_rnn_weights at = rmcp_rec_weights(rec, layer);
    const struct rmcp_rnn_saved s = rmcp_rec_saved(rec, layer);
    const int64_t hidden = rec->problem.hidden, columns = rmcp_rec_columns(rec, layer);
    const int64_t unit = (d * rec->gates + g) * hidden + j;
    struct bounded_sum x = { 0 }, h = { 0 };
    for (int64_t i = 0; i < columns; i++)
        bounded_accumulate(&x, input_at(r, layer, row, i), ref->w[at.wx + unit * columns + i]);
    if (layer == 0 && rec->problem.skip) bounded_accumulate(&x, input_at(r, 0, row, j), 1);
    for (int64_t i = 0; i < hidden; i++)
        bounded_accumulate(&h, previous(r, s.out, RMCP_REC_HX, layer, d, row, i),
                           ref->w[at.wh + unit * hidden + i]);
    if (at.bx >= 0) {
        bounded_accumulate(&x, exactly(1), ref->w[at.bx + unit]);
        bounded_accumulate(&h, exactly(1), ref->w[at.bh + unit]);
    }
    *from_input = bounded_total(&x);
    *from_hidden = bounded_total(&h);
}

static void forward_unit(const struct rmcp_reference *r, int64_t layer, int64_t d, int64_t row,
                         int64_t j)
{
    const struct rmcp_recurrence *rec = r->problem;
    const struct reference *ref = r->state;
    const struct rmcp_rnn_saved s = rmcp_rec_saved(rec, layer);
    const int64_t hidden = rec->problem.hidden, place = row * rec->width + d * hidden + j;
    const int64_t gate = s.gates + (row * rec->directions + d) * rec->gates * hidden + j;
    struct bounded x[4], h[4], a[4];
    for (int64_t g = 0; g < rec->gates; g++) {
        project(r, layer, d, row, g, j, &x[g], &h[g]);
        a[g] = bounded_add(x[g], h[g]);
    }
    switch (rec->problem.mode) {
    case RMCP_RNN_RELU:
        ref->saved[s.out + place] = (struct bounded){ a[0].v < 0 ? 0 : a[0].v, a[0].e };
        break;
    case RMCP_RNN_TANH: ref->saved[s.out + place] = bounded_tanh(a[0]); break;
    case RMCP_RNN_LSTM: {
        for (int g = 0; g < 4; g++) {
            a[g] = g == 3 ? bounded_tanh(a[g]) : bounded_sigmoid(a[g]);
            ref->saved[gate + g * hidden] = a[g];
        }
        const struct bounded c = previous(r, s.cell, RMCP_REC_CX, layer, d, row, j);
        const struct bounded now =
            bounded_add(bounded_multiply(a[1], c), bounded_multiply(a[0], a[3]));
        const struct bounded t = bounded_tanh(now);
        ref->saved[s.cell + place] = now;
        ref->saved[s.tanh + place] = t;
        ref->saved[s.out + place] = bounded_multiply(a[2], t);
        break;
    }
    default: {
        const struct bounded z = bounded_sigmoid(a[0]), reset = bounded_sigmoid(a[1]);
        const struct bounded n = bounded_tanh(bounded_add(x[2], bounded_multiply(reset, h[2])));
        ref->saved[gate] = z;
        ref->saved[gate + hidden] = reset;
        ref->saved[gate + 2 * hidden] = n;
        ref->saved[s.cell + place] = h[2];
        const struct bounded before = previous(r, s.out, RMCP_REC_HX, layer, d, row, j);
        ref->saved[s.out + place] =
            bounded_add(bounded_multiply(bounded_add(exactly(1), bounded_negate(z)), n),
                        bounded_multiply(z, before));
        break;
    }
    }
}

/* The last step of each sequence is its final state. */
static void keep_states(const struct rmcp_reference *r, int64_t layer, int64_t d)
{
    const struct rmcp_recurrence *rec = r->problem;
    struct reference *ref = r->state;
    const struct rmcp_rnn_saved s = rmcp_rec_saved(rec, layer);
    const int64_t hidden = rec->problem.hidden;
    for (int64_t row = 0; row < rec->rows; row++) {
        if (ref->after[d][row] >= 0) continue;
        for (int64_t j = 0; j < hidden; j++) {
            const int64_t to = state_at(rec, layer, d, -1 - ref->after[d][row], j);
            const int64_t from = row * rec->width + d * hidden + j;
            if (ref->slot[RMCP_REC_HY]) ref->slot[RMCP_REC_HY][to] = ref->saved[s.out + from];
            if (ref->slot[RMCP_REC_CY]) ref->slot[RMCP_REC_CY][to] = ref->saved[s.cell + from];
        }
    }
}

static void forward_direction(const struct rmcp_reference *r, int64_t layer, int64_t d)
{
    const struct rmcp_recurrence *rec = r->problem;
    struct rmcp_rnn_step s = d ? rmcp_rec_last(rec) : rmcp_rec_first(rec);
    const int64_t hidden = rec->problem.hidden;
    do {
#pragma omp parallel for schedule(static)
        for (int64_t i = 0; i < s.batch * hidden; i++)
            forward_unit(r, layer, d, s.first + i / hidden, i % hidden);
    } while (d ? rmcp_rec_previous(rec, &s) : rmcp_rec_next(rec, &s));
}

static void forward(const struct rmcp_reference *r)
{
    const struct rmcp_recurrence *rec = r->problem;
    struct reference *ref = r->state;
    const int64_t layers = rec->problem.layers, plane = rec->rows * rec->width;
    for (int64_t layer = 0; layer < layers; layer++) {
        for (int64_t d = 0; d < rec->directions; d++) {
            forward_direction(r, layer, d);
            keep_states(r, layer, d);
        }
        const struct rmcp_rnn_saved s = rmcp_rec_saved(rec, layer);
        if (layer == layers - 1) {
            memcpy(ref->slot[RMCP_REC_Y], ref->saved + s.out, (size_t)plane * sizeof *ref->saved);
        } else if (rmcp_rec_drops(rec)) {
            for (int64_t i = 0; i < plane; i++)
                ref->saved[s.dropped + i] = bounded_multiply(
                    ref->saved[s.out + i],
                    exactly(mask(rec, ref->state, layer, i / rec->width, i % rec->width)));
        }
    }
}

/* ---- backward data ---- */

/* Gradient of the hidden state that a row, or an initial state, gets from the row after it. */
static struct bounded from_after(const struct rmcp_reference *r, int64_t layer, int64_t d,
                                 int64_t after, int64_t j)
{
    const struct rmcp_recurrence *rec = r->problem;
    const struct reference *ref = r->state;
    const struct rmcp_rnn_gradients to = rmcp_rec_gradients(rec, layer);
    const int64_t hidden = rec->problem.hidden, wh = rmcp_rec_weights(rec, layer).wh;
    const struct bounded *gradients = ref->slot[RMCP_REC_GRADIENTS];
    struct bounded_sum sum = { 0 };
    for (int64_t g = 0; g < rec->gates; g++)
        for (int64_t i = 0; i < hidden; i++) {
            const bool apart = to.hidden >= 0 && g == 2;
            const int64_t at =
                apart ? to.hidden + after * rec->width + d * hidden + i
                      : to.gates + ((after * rec->directions + d) * rec->gates + g) * hidden + i;
            bounded_accumulate(&sum, gradients[at],
                               ref->w[wh + ((d * rec->gates + g) * hidden + i) * hidden + j]);
        }
    const struct bounded total = bounded_total(&sum);
    /* GRU's h passes through z, too: what the row after kept. */
    if (rec->problem.mode != RMCP_RNN_GRU) return total;
    return bounded_add(total, ref->carry[(after * rec->directions + d) * hidden + j]);
}

static struct bounded final_gradient(const struct rmcp_reference *r, unsigned slot, int64_t layer,
                                     int64_t d, int64_t n, int64_t j)
{
    if (!r->host[slot]) return exactly(0);
    return exactly(load(r, slot, state_at(r->problem, layer, d, n, j)));
}

/* a (1 - a): the slope of the sigmoid where it is a. */
static struct bounded sigmoid_slope(struct bounded a)
{
    return bounded_multiply(a, bounded_add(exactly(1), bounded_negate(a)));
}

static struct bounded tanh_slope(struct bounded a)
{
    return bounded_add(exactly(1), bounded_negate(bounded_multiply(a, a)));
}

static void backward_lstm(const struct rmcp_reference *r, int64_t layer, int64_t d, int64_t row,
                          int64_t j, struct bounded dh)
{
    const struct rmcp_recurrence *rec = r->problem;
    const struct reference *ref = r->state;
    const struct rmcp_rnn_saved s = rmcp_rec_saved(rec, layer);
    const int64_t hidden = rec->problem.hidden, after = ref->after[d][row];
    const int64_t place = row * rec->width + d * hidden + j;
    const int64_t gate = (row * rec->directions + d) * 4 * hidden + j;
    const struct bounded *a = ref->saved + s.gates + gate;
    struct bounded *da =
        ref->slot[RMCP_REC_GRADIENTS] + rmcp_rec_gradients(rec, layer).gates + gate;
    const struct bounded i = a[0], f = a[hidden], o = a[2 * hidden], g = a[3 * hidden];
    const struct bounded t = ref->saved[s.tanh + place];
    const struct bounded behind = after >= 0
                                      ? ref->carry[(after * rec->directions + d) * hidden + j]
                                      : final_gradient(r, RMCP_REC_CY, layer, d, -1 - after, j);
    const struct bounded dc =
        bounded_add(behind, bounded_multiply(bounded_multiply(dh, o), tanh_slope(t)));
    const struct bounded c = previous(r, s.cell, RMCP_REC_CX, layer, d, row, j);
    da[0] = bounded_multiply(bounded_multiply(dc, g), sigmoid_slope(i));
    da[hidden] = bounded_multiply(bounded_multiply(dc, c), sigmoid_slope(f));
    da[2 * hidden] = bounded_multiply(bounded_multiply(dh, t), sigmoid_slope(o));
    da[3 * hidden] = bounded_multiply(bounded_multiply(dc, i), tanh_slope(g));
    ref->carry[(row * rec->directions + d) * hidden + j] = bounded_multiply(dc, f);
}

static void backward_gru(const struct rmcp_reference *r, int64_t layer, int64_t d, int64_t row,
                         int64_t j, struct bounded dh)
{
    const struct rmcp_recurrence *rec = r->problem;
    const struct reference *ref = r->state;
    const struct rmcp_rnn_saved s = rmcp_rec_saved(rec, layer);
    const struct rmcp_rnn_gradients to = rmcp_rec_gradients(rec, layer);
    const int64_t hidden = rec->problem.hidden, place = row * rec->width + d * hidden + j;
    const int64_t gate = (row * rec->directions + d) * 3 * hidden + j;
    const struct bounded *a = ref->saved + s.gates + gate;
    struct bounded *da = ref->slot[RMCP_REC_GRADIENTS] + to.gates + gate;
    const struct bounded z = a[0], reset = a[hidden], n = a[2 * hidden];
    const struct bounded h = previous(r, s.out, RMCP_REC_HX, layer, d, row, j);
    const struct bounded dn = bounded_multiply(
        bounded_multiply(dh, bounded_add(exactly(1), bounded_negate(z))), tanh_slope(n));
    da[0] =
        bounded_multiply(bounded_multiply(dh, bounded_add(h, bounded_negate(n))), sigmoid_slope(z));
    da[hidden] =
        bounded_multiply(bounded_multiply(dn, ref->saved[s.cell + place]), sigmoid_slope(reset));
    da[2 * hidden] = dn;
    ref->slot[RMCP_REC_GRADIENTS][to.hidden + place] = bounded_multiply(dn, reset);
    ref->carry[(row * rec->directions + d) * hidden + j] = bounded_multiply(dh, z);
}

static void backward_unit(const struct rmcp_reference *r, int64_t layer, int64_t d, int64_t row,
                          int64_t j)
{
    const struct rmcp_recurrence *rec = r->problem;
    const struct reference *ref = r->state;
    const int64_t hidden = rec->problem.hidden, place = row * rec->width + d * hidden + j;
    const int64_t after = ref->after[d][row];
    const struct bounded behind = after >= 0
                                      ? from_after(r, layer, d, after, j)
                                      : final_gradient(r, RMCP_REC_HY, layer, d, -1 - after, j);
    const struct bounded dh = bounded_add(ref->output[place], behind);
    if (rec->problem.mode == RMCP_RNN_LSTM) {
        backward_lstm(r, layer, d, row, j, dh);
    } else if (rec->problem.mode == RMCP_RNN_GRU) {
        backward_gru(r, layer, d, row, j, dh);
    } else {
        const struct bounded h = ref->saved[rmcp_rec_saved(rec, layer).out + place];
        struct bounded *da = ref->slot[RMCP_REC_GRADIENTS] + rmcp_rec_gradients(rec, layer).gates;
        if (rec->problem.mode == RMCP_RNN_TANH)
            da[place] = bounded_multiply(dh, tanh_slope(h));
        else
            da[place] = h.v > 0 ? dh : exactly(0);
    }
}

static void backward_states(const struct rmcp_reference *r, int64_t layer, int64_t d)
{
    const struct rmcp_recurrence *rec = r->problem;
    struct reference *ref = r->state;
    const int64_t hidden = rec->problem.hidden;
    for (int64_t row = 0; row < rec->rows; row++) {
        const int64_t before = ref->before[d][row];
        for (int64_t j = 0; before < 0 && j < hidden; j++) {
            const int64_t to = state_at(rec, layer, d, -1 - before, j);
            if (ref->slot[RMCP_REC_DHX])
                ref->slot[RMCP_REC_DHX][to] = from_after(r, layer, d, row, j);
            if (ref->slot[RMCP_REC_DCX])
                ref->slot[RMCP_REC_DCX][to] = ref->carry[(row * rec->directions + d) * hidden + j];
        }
    }
}

/* Gradient of a layer's input. */
static struct bounded backward_input(const struct rmcp_reference *r, int64_t layer, int64_t row,
                                     int64_t i)
{
    const struct rmcp_recurrence *rec = r->problem;
    const struct reference *ref = r->state;
    const int64_t units = rec->width * rec->gates, columns = rmcp_rec_columns(rec, layer);
    const int64_t hidden = rec->problem.hidden, wx = rmcp_rec_weights(rec, layer).wx;
    const struct bounded *da =
        ref->slot[RMCP_REC_GRADIENTS] + rmcp_rec_gradients(rec, layer).gates + row * units;
    struct bounded_sum sum = { 0 };
    if (columns == 0) {
        for (int64_t unit = i; unit < units; unit += hidden) bounded_accumulate(&sum, da[unit], 1);
        return bounded_total(&sum);
    }
    for (int64_t unit = 0; unit < units; unit++)
        bounded_accumulate(&sum, da[unit], ref->w[wx + unit * columns + i]);
    const struct bounded total = bounded_total(&sum);
    if (layer == 0 || !rmcp_rec_drops(rec)) return total;
    return bounded_multiply(total, exactly(mask(rec, ref->state, layer - 1, row, i)));
}

static void backward(const struct rmcp_reference *r)
{
    const struct rmcp_recurrence *rec = r->problem;
    struct reference *ref = r->state;
    const int64_t hidden = rec->problem.hidden;
    for (int64_t i = 0; i < rec->rows * rec->width; i++)
        ref->output[i] = exactly(load(r, RMCP_REC_Y, i));
    for (int64_t layer = rec->problem.layers - 1; layer >= 0; layer--) {
        for (int64_t d = 0; d < rec->directions; d++) {
            struct rmcp_rnn_step s = d ? rmcp_rec_first(rec) : rmcp_rec_last(rec);
            do {
#pragma omp parallel for schedule(static)
                for (int64_t i = 0; i < s.batch * hidden; i++)
                    backward_unit(r, layer, d, s.first + i / hidden, i % hidden);
            } while (d ? rmcp_rec_next(rec, &s) : rmcp_rec_previous(rec, &s));
            backward_states(r, layer, d);
        }
        struct bounded *to = layer ? ref->output : ref->slot[RMCP_REC_DX];
        const int64_t columns = layer ? rec->width : rec->problem.input;
#pragma omp parallel for schedule(static)
        for (int64_t i = 0; i < rec->rows * columns; i++)
            to[i] = backward_input(r, layer, i / columns, i % columns);
    }
}

/* ---- backward weights ---- */

/* Where an element of w belongs. */
struct parameter {
    int64_t layer, unit, column; /* unit: of all directions and gates; column: -1 of a bias */
    bool hidden;                 /* of Wh or bh                                             */
};

static struct parameter parameter_at(const struct rmcp_recurrence *rec, int64_t index)
{
    const int64_t hidden = rec->problem.hidden, units = rec->width * rec->gates;
    for (int64_t layer = 0; layer < rec->problem.layers; layer++) {
        const struct rmcp_rnn_weights at = rmcp_rec_weights(rec, layer);
        const int64_t columns = rmcp_rec_columns(rec, layer);
        if (index >= at.wx && index < at.wh)
            return (struct parameter){ layer, (index - at.wx) / columns, (index - at.wx) % columns,
                                       false };
        if (index >= at.wh && index < at.wh + units * hidden)
            return (struct parameter){ layer, (index - at.wh) / hidden, (index - at.wh) % hidden,
                                       true };
        if (at.bx >= 0 && index >= at.bx && index < at.bh + units)
            return (struct parameter){ layer, (index - at.bx) % units, -1, index >= at.bh };
    }
    return (struct parameter){ 0, 0, -1, false };
}

static struct bounded weight_gradient(const struct rmcp_reference *r, int64_t index)
{
    const struct rmcp_recurrence *rec = r->problem;
    const struct parameter p = parameter_at(rec, index);
    const struct rmcp_rnn_gradients from = rmcp_rec_gradients(rec, p.layer);
    const int64_t hidden = rec->problem.hidden, units = rec->width * rec->gates;
    const int64_t d = p.unit / (rec->gates * hidden), g = p.unit / hidden % rec->gates;
    const bool apart = p.hidden && from.hidden >= 0 && g == 2;
    const int64_t out = rmcp_rec_saved(rec, p.layer).out;
    struct bounded_sum sum = { 0 };
    bounded_accumulate(&sum, exactly(load(r, RMCP_REC_DW, index)), 1);
    for (int64_t row = 0; row < rec->rows; row++) {
        const int64_t at = apart ? from.hidden + row * rec->width + d * hidden + p.unit % hidden
                                 : from.gates + row * units + p.unit;
        const struct bounded factor = p.column < 0 ? exactly(1)
                                      : p.hidden
                                          ? previous(r, out, RMCP_REC_HX, p.layer, d, row, p.column)
                                          : input_at(r, p.layer, row, p.column);
        bounded_accumulate(&sum, factor, load(r, RMCP_REC_GRADIENTS, at));
    }
    return bounded_total(&sum);
}

/* ---- the judge's face ---- */

void rmcp_rec_reference_end(struct rmcp_reference *r)
{
    struct reference *ref = r->state;
    if (!ref) return;
    for (unsigned slot = 0; slot < RMCP_REC_SLOTS; slot++)
        if (ref->slot[slot] != ref->saved) free(ref->slot[slot]);
    free(ref->saved);
    free(ref->output);
    free(ref->carry);
    free(ref->w);
    for (int d = 0; d < 2; d++) free(ref->before[d]), free(ref->after[d]);
    free(ref);
    r->state = NULL;
}

static bool allocate(const struct rmcp_recurrence *rec, struct reference *ref)
{
    const size_t plane = (size_t)(rec->rows * rec->width);
    bool all = true;
    ref->saved = calloc((size_t)rmcp_rec_reserve_elements(rec), sizeof *ref->saved);
    all = ref->saved;
    if (rec->pass == RMCP_RNN_BACKWARD_DATA) {
        ref->output = calloc(plane, sizeof *ref->output);
        ref->carry = calloc(plane, sizeof *ref->carry);
        all = all && ref->output && ref->carry;
    }
    for (int d = 0; d < 2; d++) {
        ref->before[d] = calloc((size_t)rec->rows, sizeof *ref->before[d]);
        ref->after[d] = calloc((size_t)rec->rows, sizeof *ref->after[d]);
        all = all && ref->before[d] && ref->after[d];
    }
    for (unsigned slot = 0; slot < RMCP_REC_SLOTS; slot++) {
        const struct rmcp_slot s = rmcp_rec_slot(rec, slot);
        if (!s.written || slot == RMCP_REC_DW || slot == RMCP_REC_STATE) continue;
        ref->slot[slot] = slot == RMCP_REC_RESERVE
                              ? ref->saved
                              : calloc((size_t)s.elements, sizeof *ref->slot[slot]);
        all = all && ref->slot[slot];
    }
    if (rec->pass != RMCP_RNN_BACKWARD_WEIGHTS) {
        ref->w = calloc((size_t)rmcp_rec_weight_elements(rec), sizeof *ref->w);
        all = all && ref->w;
    }
    return all;
}

/* The words that masks are drawn from: given to TRAIN, kept in the reserve for others. */
static void find_state(const struct rmcp_reference *r, struct reference *ref)
{
    const struct rmcp_recurrence *rec = r->problem;
    if (!rmcp_rec_drops(rec)) return;
    const bool train = rec->pass == RMCP_RNN_TRAIN;
    const float *words = train ? r->host[RMCP_REC_STATE] : r->host[RMCP_REC_RESERVE];
    const int64_t kept = rmcp_rec_reserve_state(rec);
    for (int i = 0; i < 4; i++) {
        const float word = words[train ? i : kept + i];
        ref->state[i] = rmcp_bits_of_float(word);
        if (train) ref->saved[kept + i] = exactly((double)word);
    }
}

rmcp_status rmcp_rec_reference_begin(struct rmcp_reference *r)
{
    const struct rmcp_recurrence *rec = r->problem;
    struct reference *ref = calloc(1, sizeof *ref);
    if (!ref) return rmcp_fail_memory("reference", sizeof *ref);
    r->state = ref;
    if (!allocate(rec, ref)) {
        rmcp_rec_reference_end(r);
        return rmcp_fail_memory("reference of a recurrent network",
                                (size_t)rmcp_rec_reserve_elements(rec) * sizeof *ref->saved);
    }
    link_rows(rec, ref);
    if (ref->w)
        for (int64_t i = 0; i < rmcp_rec_slot(rec, RMCP_REC_W).elements; i++)
            ref->w[i] = load(r, RMCP_REC_W, i);
    if (r->host[RMCP_REC_RESERVE] && rec->pass > RMCP_RNN_TRAIN)
        for (int64_t i = 0; i < rmcp_rec_reserve_elements(rec); i++)
            ref->saved[i] = exactly(load(r, RMCP_REC_RESERVE, i));
    find_state(r, ref);
    if (rec->pass <= RMCP_RNN_TRAIN) forward(r);
    if (rec->pass == RMCP_RNN_BACKWARD_DATA) backward(r);
    return RMCP_OK;
}

/* The counter, words 2 and 3, is one more. */
static double counted(const struct reference *ref, int64_t index)
{
    const uint64_t counter = ((uint64_t)ref->state[3] << 32 | ref->state[2]) + 1;
    const uint32_t words[] = { ref->state[0], ref->state[1], (uint32_t)counter,
                               (uint32_t)(counter >> 32) };
    return (double)rmcp_float_of_bits(words[index]);
}

struct rmcp_expected rmcp_rec_expect(const struct rmcp_reference *r, unsigned slot, int64_t index)
{
    const struct rmcp_recurrence *rec = r->problem;
    const struct reference *ref = r->state;
    if (slot == RMCP_REC_STATE) return (struct rmcp_expected){ .value = counted(ref, index) };
    if (slot == RMCP_REC_RESERVE && rmcp_rec_drops(rec) && index >= rmcp_rec_reserve_state(rec))
        return (struct rmcp_expected){ .value = ref->saved[index].v };
    const struct bounded b =
        slot == RMCP_REC_DW ? weight_gradient(r, index) : ref->slot[slot][index];
    const double error = b.e * r->error_factor;
    return (struct rmcp_expected){
        .value = b.v,
        .allowed = error + rmcp_rounding_error(rmcp_rec_slot(rec, slot).type, b.v),
        .open = !isfinite(b.v) || !isfinite(error) || rmcp_sum_overflows(fabs(b.v) + error),
    };
}
