/* backward.c: launches of backward data: the steps of each layer from the last to the first,
 * initial states, then one product for the gradients of all of its inputs. */
#include "engine/ops/rnn/gpu/walk.h"

#include <math.h>
#include <stdio.h>

/* Wh with its lines and columns exchanged, once for all steps of a layer. */
static void turn(struct rmcp_rnn_walk *walk, int64_t layer)
{
    const struct rmcp_recurrence *rec = walk->rec;
    const int64_t hidden = rec->problem.hidden, units = rec->gates * hidden;
    const int64_t tiles = ((units + 31) / 32) * ((hidden + 31) / 32);
    const struct rmcp_rnn_turn args = { (unsigned)units, (unsigned)hidden };
    struct rmcp_kernel_launch *launch =
        rmcp_rnn_launch(walk, "rnn_turn", "", tiles * 256,
                        8.0 * (double)(units * rec->directions) * (double)hidden);
    if (!launch) return;
    launch->grid[2] = (uint32_t)rec->directions;
    rmcp_rnn_argument(launch,
                      rmcp_rnn_behind(walk->tensor[RMCP_REC_W], rmcp_rec_weights(rec, layer).wh));
    rmcp_rnn_argument(launch, walk->turned);
    rmcp_arg_value(launch, &args, sizeof args);
}

/* Gradients of the hidden states that `count` sequences from `first` on had before row `after`. */
static void recur(struct rmcp_rnn_walk *walk, int64_t layer, int d, int64_t after, int64_t first,
                  int64_t count)
{
    const struct rmcp_recurrence *rec = walk->rec;
    const rmcp_rnn *p = &rec->problem;
    const int64_t hidden = p->hidden, units = rec->gates * hidden;
    const struct rmcp_rnn_gradients from = rmcp_rec_gradients(rec, layer);
    const struct rmcp_rnn_place gradients = walk->tensor[RMCP_REC_GRADIENTS];
    const int64_t row = (after + first) * rec->directions + d;
    const int64_t apart = from.hidden >= 0 ? hidden : 0; /* terms that are elsewhere */
    struct rmcp_rnn_product product = {
        .m = count,
        .n = hidden,
        .k = units - apart,
        .a = { rmcp_rnn_behind(gradients, from.gates + row * units), rec->directions * units,
               false },
        .b = { rmcp_rnn_behind(walk->tensor[RMCP_REC_W],
                               rmcp_rec_weights(rec, layer).wh + d * units * hidden),
               hidden, false },
        .c = { rmcp_rnn_behind(walk->product, (d * p->batch + first) * hidden), hidden, false },
    };
    rmcp_rnn_multiply(walk, &product);
    if (!apart) return;
    product.k = apart;
    product.a.place = rmcp_rnn_behind(gradients, from.hidden + row * hidden);
    product.a.pitch = rec->width;
    product.b.place = rmcp_rnn_behind(product.b.place, (units - apart) * hidden);
    product.add = true;
    rmcp_rnn_multiply(walk, &product);
}

static void add_arguments(const struct rmcp_rnn_walk *walk, int64_t layer,
                          const struct rmcp_rnn_step_args *args, struct rmcp_kernel_launch *launch)
{
    const struct rmcp_recurrence *rec = walk->rec;
    const bool top = layer == rec->problem.layers - 1, lstm = rec->problem.mode == RMCP_RNN_LSTM;
    const int64_t states = layer * rec->problem.batch * rec->width;
    const struct rmcp_rnn_place none = rmcp_rnn_planes(walk, layer).start;
    const struct rmcp_rnn_place start = walk->tensor[lstm ? RMCP_REC_CX : RMCP_REC_HX];
    rmcp_rnn_argument(launch, top ? walk->tensor[RMCP_REC_Y] : walk->output);
    rmcp_rnn_argument(launch, args->hx ? rmcp_rnn_behind(start, states) : none);
    rmcp_rnn_argument(launch, args->hy ? rmcp_rnn_behind(walk->tensor[RMCP_REC_HY], states) : none);
    rmcp_rnn_argument(launch, args->cy ? rmcp_rnn_behind(walk->tensor[RMCP_REC_CY], states) : none);
    rmcp_rnn_argument(launch, none);
    rmcp_rnn_argument(launch, rmcp_rnn_behind(walk->tensor[RMCP_REC_GRADIENTS],
                                              rmcp_rec_gradients(rec, layer).gates));
    rmcp_rnn_argument(launch, walk->carry);
    rmcp_rnn_argument(launch, args->initial & 1
                                  ? rmcp_rnn_behind(walk->tensor[RMCP_REC_DHX], states)
                                  : walk->carry);
    rmcp_rnn_argument(launch, args->initial & 2
                                  ? rmcp_rnn_behind(walk->tensor[RMCP_REC_DCX], states)
                                  : walk->carry);
    rmcp_arg_value(launch, args, sizeof *args);
}

/* `most` sequences from args->first on, of any direction. */
static void step_fused(struct rmcp_rnn_walk *walk, int64_t layer, int64_t most,
                       const struct rmcp_rnn_step_args *args)
{
    enum { UNITS = 8 }; /* of a workgroup */
    const struct rmcp_recurrence *rec = walk->rec;
    const int64_t hidden = rec->problem.hidden, rows = rmcp_rnn_rows(most);
    const int64_t blocks = (most + rows - 1) / rows;
    char rest[32];
    snprintf(rest, sizeof rest, "_%d", (int)rows);
    const double weights = 4.0 * (double)(rec->width * rec->gates) * (double)hidden;
    const int64_t groups = (hidden + UNITS - 1) / UNITS;
    const double waiting = rmcp_rnn_waiting_bytes(walk, groups * blocks * rec->directions,
                                                  rec->gates * hidden, 128, rows);
    struct rmcp_kernel_launch *launch =
        rmcp_rnn_launch(walk, "rnn_back_step", rest, groups * 256, fmax(weights, waiting));
    if (!launch) return;
    launch->grid[1] = (uint32_t)blocks;
    launch->grid[2] = (uint32_t)rec->directions;
    rmcp_rnn_argument(launch, walk->turned);
    add_arguments(walk, layer, args, launch);
}

static void step_apart(struct rmcp_rnn_walk *walk, int64_t layer, int64_t most,
                       const struct rmcp_rnn_step_args *args)
{
    const struct rmcp_recurrence *rec = walk->rec;
    for (int d = 0; d < rec->directions; d++) {
        const struct rmcp_rnn_move *move = &args->move[d];
        const int64_t on = move->ends < move->batch ? move->ends : move->batch;
        if (on > args->first) recur(walk, layer, d, move->after, args->first, on - args->first);
    }
    struct rmcp_kernel_launch *launch =
        rmcp_rnn_launch(walk, "rnn_back_gates", "", most * rec->problem.hidden,
                        4.0 * (double)(2 * rec->gates + 6) * (double)(most * rec->width));
    if (!launch) return;
    launch->grid[1] = (uint32_t)rec->directions;
    rmcp_rnn_argument(launch, walk->product);
    add_arguments(walk, layer, args, launch);
}

static void step(struct rmcp_rnn_walk *walk, int64_t layer, int64_t most,
                 const struct rmcp_rnn_step_args *args)
{
    if (walk->fused)
        step_fused(walk, layer, most, args);
    else
        step_apart(walk, layer, most, args);
}

/* Gradients of initial states. Those of the first direction belong to step 0; those of the second
 * to the last step of each sequence, which is the last of the run in which it ends. */
static void initial_states(struct rmcp_rnn_walk *walk, int64_t layer)
{
    const struct rmcp_recurrence *rec = walk->rec;
    const bool hidden = rmcp_rec_has(rec, RMCP_RNN_DHX), cell = rmcp_rec_has(rec, RMCP_RNN_DCX);
    if (!hidden && !cell) return;
    struct rmcp_rnn_step_args args = rmcp_rnn_step_args(walk, layer);
    args.initial = (hidden ? 1u : 0u) | (cell ? 2u : 0u);
    const unsigned batch = (unsigned)rec->problem.batch;
    args.move[0] = (struct rmcp_rnn_move){ .after = 0, .batch = batch, .ends = batch };
    step(walk, layer, batch, &args);
    args.move[0] = (struct rmcp_rnn_move){ 0 };
    int64_t row = 0;
    for (int64_t i = 0; i < rec->n_runs && rec->directions > 1; i++) {
        const struct rmcp_rnn_run *run = &rec->run[i];
        row += (int64_t)run->steps * run->batch;
        args.first = i + 1 < rec->n_runs ? (unsigned)rec->run[i + 1].batch : 0;
        args.move[1] = (struct rmcp_rnn_move){ .after = row - run->batch,
                                               .batch = (unsigned)run->batch,
                                               .ends = (unsigned)run->batch };
        step(walk, layer, run->batch - args.first, &args);
    }
}

/* Gradients of what the layer read. */
static void project(struct rmcp_rnn_walk *walk, int64_t layer)
{
    const struct rmcp_recurrence *rec = walk->rec;
    const int64_t columns = rmcp_rec_columns(rec, layer), units = rec->width * rec->gates;
    const struct rmcp_rnn_place from =
        rmcp_rnn_behind(walk->tensor[RMCP_REC_GRADIENTS], rmcp_rec_gradients(rec, layer).gates);
    const struct rmcp_rnn_place to = layer ? walk->output : walk->tensor[RMCP_REC_DX];
    if (columns == 0) {
        const int64_t count = rec->rows * rec->problem.hidden;
        const struct rmcp_rnn_skip skip = { (unsigned)count, (unsigned)rec->problem.hidden,
                                            (unsigned)(rec->directions * rec->gates) };
        struct rmcp_kernel_launch *launch =
            rmcp_rnn_launch(walk, "rnn_gather", "", count, 4.0 * (double)(rec->rows * units));
        if (!launch) return;
        rmcp_rnn_argument(launch, from);
        rmcp_rnn_argument(launch, to);
        rmcp_arg_value(launch, &skip, sizeof skip);
        return;
    }
    rmcp_rnn_multiply(
        walk, &(struct rmcp_rnn_product){
                  .m = rec->rows,
                  .n = columns,
                  .k = units,
                  .a = { from, units, false },
                  .b = { rmcp_rnn_behind(walk->tensor[RMCP_REC_W], rmcp_rec_weights(rec, layer).wx),
                         columns, false },
                  .c = { to, columns, false },
              });
    if (layer > 0 && rmcp_rec_drops(rec))
        rmcp_rnn_mask(walk, layer - 1, to,
                      rmcp_rnn_behind(walk->tensor[RMCP_REC_RESERVE], rmcp_rec_reserve_state(rec)),
                      to);
}

void rmcp_rnn_walk_backward(struct rmcp_rnn_walk *walk)
{
    const struct rmcp_recurrence *rec = walk->rec;
    for (int64_t layer = rec->problem.layers - 1; layer >= 0; layer--) {
        if (walk->fused) turn(walk, layer);
        struct rmcp_rnn_step_args args = rmcp_rnn_step_args(walk, layer);
        struct rmcp_rnn_step first = rmcp_rec_first(rec), last = rmcp_rec_last(rec);
        do {
            args.move[0] = rmcp_rnn_move(rec, 0, &last);
            args.move[1] = rmcp_rnn_move(rec, 1, &first);
            const bool second = rec->directions > 1 && first.batch > last.batch;
            step(walk, layer, second ? first.batch : last.batch, &args);
            rmcp_rec_next(rec, &first);
        } while (rmcp_rec_previous(rec, &last));
        initial_states(walk, layer);
        project(walk, layer);
    }
}
