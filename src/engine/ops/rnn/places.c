/* places.c: where the parts of weights, reserve and gradients are, and walking through the steps.
 */
#include "engine/ops/rnn/rnn.h"

int64_t rmcp_rec_columns(const struct rmcp_recurrence *rec, int64_t layer)
{
    if (layer > 0) return rec->width;
    return rec->problem.skip ? 0 : rec->problem.input;
}

/* Parameters of a direction's gates for each column. */
static int64_t stack(const struct rmcp_recurrence *rec)
{
    return rec->directions * rec->gates * rec->problem.hidden;
}

static int64_t weights_before(const struct rmcp_recurrence *rec, int64_t layer)
{
    if (layer == 0) return 0;
    const int64_t hidden = rec->problem.hidden;
    return stack(rec) * (rmcp_rec_columns(rec, 0) + hidden + (layer - 1) * (rec->width + hidden));
}

struct rmcp_rnn_weights rmcp_rec_weights(const struct rmcp_recurrence *rec, int64_t layer)
{
    const int64_t before = weights_before(rec, layer), layers = rec->problem.layers;
    const int64_t biases = weights_before(rec, layers) + 2 * layer * stack(rec);
    return (struct rmcp_rnn_weights){
        .wx = before,
        .wh = before + stack(rec) * rmcp_rec_columns(rec, layer),
        .bx = rec->problem.bias ? biases : -1,
        .bh = rec->problem.bias ? biases + stack(rec) : -1,
    };
}

int64_t rmcp_rec_matrix_elements(const struct rmcp_recurrence *rec)
{
    return weights_before(rec, rec->problem.layers);
}

int64_t rmcp_rec_weight_elements(const struct rmcp_recurrence *rec)
{
    const int64_t layers = rec->problem.layers;
    return weights_before(rec, layers) + (rec->problem.bias ? 2 * layers * stack(rec) : 0);
}

/* Elements of one number for each hidden unit of each row. */
static int64_t plane(const struct rmcp_recurrence *rec)
{
    return rec->rows * rec->width;
}

static int64_t saved_planes(const struct rmcp_recurrence *rec)
{
    return rec->problem.mode == RMCP_RNN_LSTM ? 7 : rec->problem.mode == RMCP_RNN_GRU ? 5 : 1;
}

struct rmcp_rnn_saved rmcp_rec_saved(const struct rmcp_recurrence *rec, int64_t layer)
{
    const int64_t planes = saved_planes(rec), one = plane(rec), layers = rec->problem.layers;
    const int64_t start = layer * planes * one;
    const bool drops = rec->problem.dropout > 0 && layer < layers - 1;
    return (struct rmcp_rnn_saved){
        .gates = planes > 1 ? start : -1,
        .cell = planes > 1 ? start + rec->gates * one : -1,
        .tanh = rec->problem.mode == RMCP_RNN_LSTM ? start + 5 * one : -1,
        .out = start + (planes - 1) * one,
        .dropped = drops ? (layers * planes + layer) * one : -1,
    };
}

int64_t rmcp_rec_reserve_state(const struct rmcp_recurrence *rec)
{
    const int64_t layers = rec->problem.layers;
    return (layers * saved_planes(rec) + layers - 1) * plane(rec);
}

int64_t rmcp_rec_reserve_elements(const struct rmcp_recurrence *rec)
{
    const bool drops = rec->problem.dropout > 0 && rec->problem.layers > 1;
    return drops ? rmcp_rec_reserve_state(rec) + 4
                 : rec->problem.layers * saved_planes(rec) * plane(rec);
}

static int64_t gradient_planes(const struct rmcp_recurrence *rec)
{
    return rec->problem.mode == RMCP_RNN_GRU ? 4 : rec->gates;
}

struct rmcp_rnn_gradients rmcp_rec_gradients(const struct rmcp_recurrence *rec, int64_t layer)
{
    const int64_t start = layer * gradient_planes(rec) * plane(rec);
    return (struct rmcp_rnn_gradients){
        .gates = start,
        .hidden = rec->problem.mode == RMCP_RNN_GRU ? start + 3 * plane(rec) : -1,
    };
}

int64_t rmcp_rec_gradient_elements(const struct rmcp_recurrence *rec)
{
    return rec->problem.layers * gradient_planes(rec) * plane(rec);
}

/* ---- steps ---- */

/* The batch of step t; 0 outside. */
static int64_t batch_at(const struct rmcp_recurrence *rec, int64_t t)
{
    if (t < 0) return 0;
    for (int64_t i = 0; i < rec->n_runs; i++) {
        if (t < rec->run[i].steps) return rec->run[i].batch;
        t -= rec->run[i].steps;
    }
    return 0;
}

static struct rmcp_rnn_step step_at(const struct rmcp_recurrence *rec, int64_t t, int64_t first)
{
    const int64_t batch = batch_at(rec, t), before = batch_at(rec, t - 1);
    return (struct rmcp_rnn_step){
        .t = t,
        .first = first,
        .batch = batch,
        .before_first = first - before,
        .before = before,
        .after_first = first + batch,
        .after = batch_at(rec, t + 1),
    };
}

struct rmcp_rnn_step rmcp_rec_first(const struct rmcp_recurrence *rec)
{
    return step_at(rec, 0, 0);
}

struct rmcp_rnn_step rmcp_rec_last(const struct rmcp_recurrence *rec)
{
    const int64_t t = rec->problem.steps - 1;
    return step_at(rec, t, rec->rows - batch_at(rec, t));
}

bool rmcp_rec_next(const struct rmcp_recurrence *rec, struct rmcp_rnn_step *step)
{
    if (step->after == 0) return false;
    *step = step_at(rec, step->t + 1, step->after_first);
    return true;
}

bool rmcp_rec_previous(const struct rmcp_recurrence *rec, struct rmcp_rnn_step *step)
{
    if (step->t == 0) return false;
    *step = step_at(rec, step->t - 1, step->before_first);
    return true;
}
