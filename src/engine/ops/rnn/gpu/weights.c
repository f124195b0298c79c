/* weights.c: launches of backward weights: for each layer one product for Wx and one for each
 * direction's Wh, all steps at once, and sums for the biases; all are added to what is there. */
#include "engine/ops/rnn/gpu/walk.h"

/* The hidden state that each row follows. */
static void shift(struct rmcp_rnn_walk *walk, int64_t layer)
{
    const struct rmcp_recurrence *rec = walk->rec;
    const rmcp_rnn *p = &rec->problem;
    const struct rmcp_rnn_planes planes = rmcp_rnn_planes(walk, layer);
    const bool hx = rmcp_rec_has(rec, RMCP_RNN_HX);
    int64_t first = 0;
    for (int64_t i = 0; i < rec->n_runs; i++) {
        const struct rmcp_rnn_run *run = &rec->run[i];
        const struct rmcp_rnn_shift args = {
            .hidden = (unsigned)p->hidden,
            .directions = (unsigned)rec->directions,
            .states = (unsigned)p->batch,
            .hx = hx,
            .first = first,
            .rows = (int64_t)run->steps * run->batch,
            .batch = (unsigned)run->batch,
            .before = i ? (unsigned)rec->run[i - 1].batch : 0,
            .after = i + 1 < rec->n_runs ? (unsigned)rec->run[i + 1].batch : 0,
        };
        first += args.rows;
        struct rmcp_kernel_launch *launch = rmcp_rnn_launch(
            walk, "rnn_shift", "", args.rows * p->hidden, 8.0 * (double)(args.rows * rec->width));
        if (!launch) continue;
        launch->grid[1] = (uint32_t)rec->directions;
        rmcp_rnn_argument(launch, rmcp_rnn_behind(planes.start, planes.out));
        rmcp_rnn_argument(
            launch, hx ? rmcp_rnn_behind(walk->tensor[RMCP_REC_HX], layer * p->batch * rec->width)
                       : planes.start);
        rmcp_rnn_argument(launch, walk->before);
        rmcp_arg_value(launch, &args, sizeof args);
    }
}

/* dw += gradients' * rows, gradients being `m` columns of a plane. */
static void multiply(struct rmcp_rnn_walk *walk, int64_t m, struct rmcp_rnn_place gradients,
                     int64_t gradients_pitch, struct rmcp_rnn_place rows, int64_t rows_pitch,
                     int64_t columns, int64_t to)
{
    rmcp_rnn_multiply(walk,
                      &(struct rmcp_rnn_product){
                          .m = m,
                          .n = columns,
                          .k = walk->rec->rows,
                          .a = { gradients, gradients_pitch, true },
                          .b = { rows, rows_pitch, false },
                          .c = { rmcp_rnn_behind(walk->tensor[RMCP_REC_DW], to), columns, false },
                          .add = true,
                      });
}

static void biases(struct rmcp_rnn_walk *walk, int64_t layer)
{
    const struct rmcp_recurrence *rec = walk->rec;
    const struct rmcp_rnn_gradients from = rmcp_rec_gradients(rec, layer);
    const int64_t columns = rec->width * rec->gates;
    const struct rmcp_rnn_sums args = {
        .rows = (unsigned)rec->rows,
        .columns = (unsigned)columns,
        .hidden = (unsigned)rec->problem.hidden,
        .gates = (unsigned)rec->gates,
        .apart = from.hidden >= 0,
        .plane = from.hidden >= 0 ? from.hidden - from.gates : 0,
    };
    struct rmcp_kernel_launch *launch = rmcp_rnn_launch(
        walk, "rnn_sums", "", (columns + 31) / 32 * 256, 8.0 * (double)(rec->rows * columns));
    if (!launch) return;
    rmcp_rnn_argument(launch, rmcp_rnn_behind(walk->tensor[RMCP_REC_GRADIENTS], from.gates));
    rmcp_rnn_argument(launch,
                      rmcp_rnn_behind(walk->tensor[RMCP_REC_DW], rmcp_rec_weights(rec, layer).bx));
    rmcp_arg_value(launch, &args, sizeof args);
}

void rmcp_rnn_walk_weights(struct rmcp_rnn_walk *walk)
{
    const struct rmcp_recurrence *rec = walk->rec;
    const int64_t hidden = rec->problem.hidden, units = rec->gates * hidden;
    const int64_t all = rec->directions * units;
    const struct rmcp_rnn_place gradients = walk->tensor[RMCP_REC_GRADIENTS];
    for (int64_t layer = 0; layer < rec->problem.layers; layer++) {
        const struct rmcp_rnn_weights at = rmcp_rec_weights(rec, layer);
        const struct rmcp_rnn_gradients from = rmcp_rec_gradients(rec, layer);
        const int64_t columns = rmcp_rec_columns(rec, layer);
        if (columns)
            multiply(walk, all, rmcp_rnn_behind(gradients, from.gates), all,
                     rmcp_rnn_input(walk, layer), columns, columns, at.wx);
        shift(walk, layer);
        const int64_t apart = from.hidden >= 0 ? hidden : 0;
        for (int64_t d = 0; d < rec->directions; d++) {
            const struct rmcp_rnn_place before = rmcp_rnn_behind(walk->before, d * hidden);
            const int64_t to = at.wh + d * units * hidden;
            multiply(walk, units - apart, rmcp_rnn_behind(gradients, from.gates + d * units), all,
                     before, rec->width, hidden, to);
            if (apart)
                multiply(walk, apart, rmcp_rnn_behind(gradients, from.hidden + d * hidden),
                         rec->width, before, rec->width, hidden, to + (units - apart) * hidden);
        }
        if (at.bx >= 0) biases(walk, layer);
    }
}
