/* forward.c: launches of inference and training: for each layer one product for all of its inputs,
 * then its steps, both directions in the same launches. */
#include "engine/ops/rnn/gpu/walk.h"

#include <math.h>
#include <stdio.h>

/* Wx x of all rows, into the gates or, where a mode keeps none, the output. */
static void project(struct rmcp_rnn_walk *walk, int64_t layer)
{
    const struct rmcp_recurrence *rec = walk->rec;
    const struct rmcp_rnn_planes planes = rmcp_rnn_planes(walk, layer);
    const int64_t columns = rmcp_rec_columns(rec, layer), units = rec->width * rec->gates;
    const struct rmcp_rnn_place to =
        rec->gates > 1 ? planes.start : rmcp_rnn_behind(planes.start, planes.out);
    if (columns == 0) {
        const int64_t count = rec->rows * rec->problem.hidden;
        const struct rmcp_rnn_skip skip = { (unsigned)count, (unsigned)rec->problem.hidden,
                                            (unsigned)(rec->directions * rec->gates) };
        struct rmcp_kernel_launch *launch =
            rmcp_rnn_launch(walk, "rnn_spread", "", count, 4.0 * (double)(rec->rows * units));
        if (!launch) return;
        rmcp_rnn_argument(launch, rmcp_rnn_input(walk, layer));
        rmcp_rnn_argument(launch, to);
        rmcp_arg_value(launch, &skip, sizeof skip);
        return;
    }
    rmcp_rnn_multiply(
        walk, &(struct rmcp_rnn_product){
                  .m = rec->rows,
                  .n = units,
                  .k = columns,
                  .a = { rmcp_rnn_input(walk, layer), columns, false },
                  .b = { rmcp_rnn_behind(walk->tensor[RMCP_REC_W], rmcp_rec_weights(rec, layer).wx),
                         columns, true },
                  .c = { to, units, false },
              });
}

/* Wh h of one direction: of sequences that go on, and of those that start. */
static void recur(struct rmcp_rnn_walk *walk, int64_t layer, int d,
                  const struct rmcp_rnn_move *move)
{
    const struct rmcp_recurrence *rec = walk->rec;
    const rmcp_rnn *p = &rec->problem;
    const int64_t hidden = p->hidden, units = rec->gates * hidden;
    const struct rmcp_rnn_planes planes = rmcp_rnn_planes(walk, layer);
    const int64_t on = move->starts < move->batch ? move->starts : move->batch;
    struct rmcp_rnn_product product = {
        .m = on,
        .n = units,
        .k = hidden,
        .a = { rmcp_rnn_behind(planes.start, planes.out + move->before * rec->width + d * hidden),
               rec->width, false },
        .b = { rmcp_rnn_behind(walk->tensor[RMCP_REC_W],
                               rmcp_rec_weights(rec, layer).wh + d * units * hidden),
               hidden, true },
        .c = { rmcp_rnn_behind(walk->product, d * p->batch * units), units, false },
    };
    rmcp_rnn_multiply(walk, &product);
    if (!rmcp_rec_has(rec, RMCP_RNN_HX)) return;
    product.m = move->batch - on;
    product.a.place = rmcp_rnn_behind(walk->tensor[RMCP_REC_HX],
                                      ((layer * rec->directions + d) * p->batch + on) * hidden);
    product.a.pitch = hidden;
    product.c.place = rmcp_rnn_behind(walk->product, (d * p->batch + on) * units);
    rmcp_rnn_multiply(walk, &product);
}

static void add_arguments(const struct rmcp_rnn_walk *walk, int64_t layer,
                          const struct rmcp_rnn_step_args *args, struct rmcp_kernel_launch *launch)
{
    const struct rmcp_recurrence *rec = walk->rec;
    const int64_t states = layer * rec->problem.batch * rec->width;
    const struct rmcp_rnn_place saved = rmcp_rnn_planes(walk, layer).start;
    const struct rmcp_rnn_place w = walk->tensor[RMCP_REC_W];
    const int64_t bias = rmcp_rec_weights(rec, layer).bx;
    /* What is not there is never touched, but must be some memory. */
    rmcp_rnn_argument(launch, args->bias ? rmcp_rnn_behind(w, bias) : w);
    rmcp_rnn_argument(launch,
                      args->hx ? rmcp_rnn_behind(walk->tensor[RMCP_REC_HX], states) : saved);
    rmcp_rnn_argument(launch,
                      args->cx ? rmcp_rnn_behind(walk->tensor[RMCP_REC_CX], states) : saved);
    rmcp_rnn_argument(launch, saved);
    rmcp_rnn_argument(launch, args->y ? walk->tensor[RMCP_REC_Y] : saved);
    rmcp_rnn_argument(launch,
                      args->hy ? rmcp_rnn_behind(walk->tensor[RMCP_REC_HY], states) : saved);
    rmcp_rnn_argument(launch,
                      args->cy ? rmcp_rnn_behind(walk->tensor[RMCP_REC_CY], states) : saved);
    rmcp_arg_value(launch, args, sizeof *args);
}

/* One step as one launch. */
static void step_fused(struct rmcp_rnn_walk *walk, int64_t layer, int64_t most,
                       const struct rmcp_rnn_step_args *args)
{
    const struct rmcp_recurrence *rec = walk->rec;
    const int64_t hidden = rec->problem.hidden, rows = rmcp_rnn_rows(most);
    const int64_t lanes = rows == 1 ? 128 : 64, units = 256 / lanes; /* as in step.cl */
    const int64_t blocks = (most + rows - 1) / rows;
    char rest[32];
    snprintf(rest, sizeof rest, "_%dx%d", (int)rec->gates, (int)rows);
    const int64_t groups = (hidden + units - 1) / units;
    const double weights = 4.0 * (double)(rec->width * rec->gates) * (double)hidden;
    const double waiting =
        rmcp_rnn_waiting_bytes(walk, groups * blocks * rec->directions, hidden, lanes, rows);
    struct rmcp_kernel_launch *launch =
        rmcp_rnn_launch(walk, "rnn_step", rest, groups * 256, fmax(weights, waiting));
    if (!launch) return;
    launch->grid[1] = (uint32_t)blocks;
    launch->grid[2] = (uint32_t)rec->directions;
    rmcp_rnn_argument(launch,
                      rmcp_rnn_behind(walk->tensor[RMCP_REC_W], rmcp_rec_weights(rec, layer).wh));
    add_arguments(walk, layer, args, launch);
}

/* One step as a product and a launch. */
static void step_apart(struct rmcp_rnn_walk *walk, int64_t layer, int64_t most,
                       const struct rmcp_rnn_step_args *args)
{
    const struct rmcp_recurrence *rec = walk->rec;
    for (int d = 0; d < rec->directions; d++) recur(walk, layer, d, &args->move[d]);
    const int64_t items = most * rec->problem.hidden;
    struct rmcp_kernel_launch *launch =
        rmcp_rnn_launch(walk, "rnn_gates", "", items,
                        4.0 * (double)(3 * rec->gates + 4) * (double)(most * rec->width));
    if (!launch) return;
    launch->grid[1] = (uint32_t)rec->directions;
    rmcp_rnn_argument(launch, walk->product);
    add_arguments(walk, layer, args, launch);
}

void rmcp_rnn_walk_forward(struct rmcp_rnn_walk *walk)
{
    const struct rmcp_recurrence *rec = walk->rec;
    const int64_t layers = rec->problem.layers;
    const bool drops = rmcp_rec_drops(rec);
    const struct rmcp_rnn_place kept =
        drops ? rmcp_rnn_behind(walk->tensor[RMCP_REC_RESERVE], rmcp_rec_reserve_state(rec))
              : walk->tensor[RMCP_REC_RESERVE];
    struct rmcp_kernel_launch *launch = drops ? rmcp_rnn_launch(walk, "rnn_count", "", 1, 0) : NULL;
    if (launch) {
        rmcp_rnn_argument(launch, walk->tensor[RMCP_REC_STATE]);
        rmcp_rnn_argument(launch, kept);
    }
    for (int64_t layer = 0; layer < layers; layer++) {
        project(walk, layer);
        struct rmcp_rnn_step_args args = rmcp_rnn_step_args(walk, layer);
        struct rmcp_rnn_step first = rmcp_rec_first(rec), last = rmcp_rec_last(rec);
        do {
            args.move[0] = rmcp_rnn_move(rec, 0, &first);
            args.move[1] = rmcp_rnn_move(rec, 1, &last);
            const bool second = rec->directions > 1 && last.batch > first.batch;
            const int64_t most = second ? last.batch : first.batch;
            if (walk->fused)
                step_fused(walk, layer, most, &args);
            else
                step_apart(walk, layer, most, &args);
            rmcp_rec_previous(rec, &last);
        } while (rmcp_rec_next(rec, &first));
        if (!drops || layer == layers - 1) continue;
        const struct rmcp_rnn_planes planes = rmcp_rnn_planes(walk, layer);
        rmcp_rnn_mask(walk, layer, rmcp_rnn_behind(planes.start, planes.out), kept,
                      rmcp_rnn_input(walk, layer + 1));
    }
}
