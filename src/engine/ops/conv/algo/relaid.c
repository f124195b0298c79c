/* relaid: channels last as channels first: the tensors are turned in the workspace, and another
 * algorithm has the rest. Worth it where that one has no equal for channels last: few channels, and
 * data gradients with strides. */
#include "base/round.h"
#include "engine/figures/figures.h"
#include "engine/ops/conv/conv.h"
#include "engine/ops/conv/gpu/shape.h"
#include "engine/ops/conv/kernels/relay.h"

#include <string.h>

enum { THREADS = 256, TILE = 2048, LEAST = 32, ALIGN = 256 }; /* the first two as in relay.cl */

/* What computes the same convolution with channels first fastest by estimate, and how. */
struct relaid {
    const struct rmcp_algo *algo;
    uint64_t places[RMCP_CONV_SLOTS]; /* of the turned tensors, behind its workspace */
    _Alignas(16) unsigned char details[RMCP_CONV_WAY_BYTES]; /* of its way           */
};

/* A tensor is so many matrices, with a row for each pixel or tap and a column for each channel. */
struct matrices {
    int64_t count, rows, columns;
};

static struct matrices matrices_of(const struct rmcp_convolution *conv, unsigned slot)
{
    const int64_t *size = slot == RMCP_CONV_X   ? conv->input
                          : slot == RMCP_CONV_W ? conv->filter
                                                : conv->output;
    const int64_t channels = slot == RMCP_CONV_X   ? conv->c
                             : slot == RMCP_CONV_W ? conv->group_c
                                                   : conv->k;
    return (struct matrices){ slot == RMCP_CONV_W ? conv->k : conv->n, size[0] * size[1] * size[2],
                              channels };
}

static uint64_t bytes_of(const struct rmcp_convolution *conv, unsigned slot)
{
    return (uint64_t)rmcp_conv_elements(conv, slot) * rmcp_type_bytes(conv->type);
}

/* Whether the two layouts are different memory. */
static bool differs(const struct rmcp_convolution *conv, unsigned slot)
{
    const struct matrices m = matrices_of(conv, slot);
    return slot != RMCP_CONV_BIAS && m.rows > 1 && m.columns > 1;
}

/* The same convolution with channels first. */
static rmcp_status make_twin(const struct rmcp_convolution *conv, struct rmcp_convolution *twin)
{
    rmcp_conv problem = conv->problem;
    problem.layout = RMCP_NCHW;
    return rmcp_conv_init(twin, &problem, (int)conv->pass);
}

/* The fastest of the exact algorithms; NULL when none does it. */
static const struct rmcp_algo *find_algo(const struct rmcp_request *request, struct rmcp_way *best)
{
    const struct rmcp_algo *algo = NULL;
    struct rmcp_way other;
    for (const struct rmcp_algo *const *a = request->operation->algos; *a; a++) {
        struct rmcp_way *way = algo ? &other : best;
        const bool fits = (*a)->kind == RMCP_LAUNCH_KERNEL && (*a)->error_factor <= 1;
        if (!fits || rmcp_algo_consider(*a, request, way) || way->refusal) continue;
        if (algo && other.seconds >= best->seconds) continue;
        if (algo) *best = other;
        algo = *a;
    }
    return algo;
}

static const char *refusal_of(const struct rmcp_convolution *conv)
{
    if (conv->layout != RMCP_NHWC) return "channels are first";
    bool any = false;
    for (unsigned slot = 0; slot < RMCP_CONV_BIAS; slot++) {
        any |= differs(conv, slot);
        if (rmcp_conv_elements(conv, slot) > INT32_MAX) return "a tensor of 2^31 elements or more";
    }
    return any ? NULL : "channels last are channels first";
}

static rmcp_status consider(const struct rmcp_request *request, struct rmcp_way *way)
{
    const struct rmcp_convolution *conv = request->problem;
    const struct rmcp_caps *caps = request->caps;
    const double turning = rmcp_figure(caps, RMCP_FIGURE_RELAID_TURNING);
    const char *reason = refusal_of(conv);
    if (reason) return rmcp_refuse(way, reason);
    struct relaid *relaid = RMCP_WAY_DETAILS(way, struct relaid);
    struct rmcp_convolution twin;
    struct rmcp_request inner = *request;
    struct rmcp_way best;
    inner.problem = &twin;
    relaid->algo = make_twin(conv, &twin) ? NULL : find_algo(&inner, &best);
    if (!relaid->algo) return rmcp_refuse(way, "no algorithm for channels first does it");

    memcpy(relaid->details, best.details, sizeof relaid->details);
    uint64_t bytes = rmcp_round_up(best.workspace_bytes, ALIGN);
    double seconds = best.seconds;
    for (unsigned slot = 0; slot < RMCP_CONV_BIAS; slot++) {
        if (!differs(conv, slot)) continue;
        relaid->places[slot] = bytes;
        bytes += rmcp_round_up(bytes_of(conv, slot), ALIGN);
        seconds += caps->launch_seconds +
                   turning * 2 * (double)bytes_of(conv, slot) / caps->bytes_per_second;
    }
    if (bytes > caps->max_buffer_bytes)
        return rmcp_refuse(way, "the workspace would exceed the device's largest buffer");
    way->seconds = seconds;
    way->workspace_bytes = bytes;
    return RMCP_OK;
}

/* Append the launches that turn m's rows into columns. */
static rmcp_status turn(const struct rmcp_request *request, struct matrices m, unsigned from,
                        uint64_t from_offset, unsigned to, uint64_t to_offset,
                        struct rmcp_launch_list *list)
{
    const int64_t columns = m.columns < LEAST ? m.columns : m.rows < LEAST ? TILE / m.rows : LEAST;
    const int64_t rows = TILE / columns; /* then at least as many as a matrix with few has */
    const int64_t row_tiles = rmcp_ceil_divide(m.rows, rows);
    const int64_t column_tiles = rmcp_ceil_divide(m.columns, columns);
    struct rmcp_relay r = {
        .rows = (unsigned)m.rows,
        .columns = (unsigned)m.columns,
        .tile_rows = rmcp_divider_of(rows),
        .tile_columns = rmcp_divider_of(columns),
        .row_tiles = rmcp_divider_of(row_tiles),
        .column_tiles = rmcp_divider_of(column_tiles),
    };
    const int64_t tiles = m.count * row_tiles * column_tiles;
    const double bytes = 2.0 * (double)rmcp_type_bytes(rmcp_conv_of(request)->type) *
                         (double)(m.count * m.rows * m.columns);
    const int64_t quota = rmcp_launch_quota(tiles, (int64_t)request->caps->compute_units * 8,
                                            bytes / request->caps->bytes_per_second);
    for (int64_t first = 0; first < tiles; first += quota) {
        const int64_t count = tiles - first < quota ? tiles - first : quota;
        struct rmcp_kernel_launch *launch = NULL;
        rmcp_status status = rmcp_kernel_append(list, "relay", rmcp_conv_of(request)->type, "",
                                                count * THREADS, &launch);
        if (status) return status;
        r.first = (unsigned)first;
        rmcp_arg_memory(launch, from, from_offset);
        rmcp_arg_memory(launch, to, to_offset);
        rmcp_arg_value(launch, &r, sizeof r);
    }
    return RMCP_OK;
}

/* Launches from `first` on take turned tensors from the workspace. */
static void redirect(struct rmcp_launch_list *list, size_t first,
                     const struct rmcp_convolution *conv, const struct relaid *relaid)
{
    for (size_t i = first; i < list->n_records; i++) {
        struct rmcp_kernel_launch *launch = &list->records[i].kernel;
        for (uint32_t a = 0; a < launch->n_args; a++) {
            struct rmcp_arg *arg = &launch->args[a];
            if (arg->kind != RMCP_ARG_MEMORY || arg->slot >= RMCP_CONV_SLOTS ||
                !differs(conv, arg->slot))
                continue;
            arg->offset += relaid->places[arg->slot];
            arg->slot = RMCP_SLOT_WORKSPACE;
        }
    }
}

static rmcp_status emit(const struct rmcp_request *request, const struct rmcp_way *way,
                        struct rmcp_launch_list *list)
{
    const struct rmcp_convolution *conv = request->problem;
    const struct relaid *relaid = RMCP_WAY_DETAILS_CONST(way, struct relaid);
    const unsigned output = rmcp_conv_output_slot(conv);
    struct rmcp_convolution twin;
    rmcp_status status = make_twin(conv, &twin);
    for (unsigned slot = 0; slot < RMCP_CONV_BIAS && !status; slot++)
        if (slot != output && differs(conv, slot))
            status = turn(request, matrices_of(conv, slot), slot, 0, RMCP_SLOT_WORKSPACE,
                          relaid->places[slot], list);
    if (status) return status;
    struct rmcp_request inner = *request;
    inner.problem = &twin;
    const size_t first = list->n_records;
    struct rmcp_way inner_way = { .refusal = NULL };
    memcpy(inner_way.details, relaid->details, sizeof relaid->details);
    status = relaid->algo->emit(&inner, &inner_way, list);
    if (status) return status;
    redirect(list, first, conv, relaid);
    if (!differs(conv, output)) return RMCP_OK;
    const struct matrices m = matrices_of(conv, output);
    return turn(request, (struct matrices){ m.count, m.columns, m.rows }, RMCP_SLOT_WORKSPACE,
                relaid->places[output], output, 0, list);
}

const struct rmcp_algo rmcp_algo_conv_relaid = {
    .name = "relaid",
    .version = 1,
    .kind = RMCP_LAUNCH_KERNEL,
    .consider = consider,
    .emit = emit,
};
