/* relaid: channels last as channels first: the tensors are turned in the workspace, and another
 * algorithm has the rest. Worth it where that one has no equal for channels last: few channels, and
 * data gradients with strides. */
#include "engine/ops/conv/conv.h"
#include "engine/ops/conv/gpu/last.h"
#include "engine/ops/conv/gpu/shape.h"
#include "engine/ops/conv/kernels/relay.h"

enum { THREADS = 256, TILE = 2048, LEAST = 32, ALIGN = 256 }; /* the first two as in relay.cl */

/* The same convolution with channels first, and what computes it fastest by estimate. */
struct twin {
    struct rmcp_convolution conv;
    const struct rmcp_algo *algo; /* NULL: none does */
    double seconds;
    uint64_t inner;                   /* bytes of its own workspace, at the start */
    uint64_t places[RMCP_CONV_SLOTS]; /* of the turned tensors, behind it         */
    uint64_t bytes;                   /* of all                                   */
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

static uint64_t aligned(uint64_t bytes)
{
    return (bytes + ALIGN - 1) / ALIGN * ALIGN;
}

/* Whether the two layouts are different memory. */
static bool differs(const struct rmcp_convolution *conv, unsigned slot)
{
    const struct matrices m = matrices_of(conv, slot);
    return slot != RMCP_CONV_BIAS && m.rows > 1 && m.columns > 1;
}

/* The fastest of the exact ones. */
static void find_algo(const struct rmcp_request *request, struct twin *twin)
{
    struct rmcp_request inner = *request;
    inner.problem = &twin->conv;
    for (const struct rmcp_algo *const *a = request->operation->algos; *a; a++) {
        const bool fits = (*a)->kind == RMCP_LAUNCH_KERNEL && (*a)->error_factor <= 1;
        struct rmcp_way way;
        if (!fits || rmcp_algo_consider(*a, &inner, &way) || way.refusal) continue;
        if (twin->algo && way.seconds >= twin->seconds) continue;
        twin->algo = *a;
        twin->seconds = way.seconds;
        twin->inner = way.workspace_bytes;
    }
}

static void find_anew(const struct rmcp_request *request, struct twin *twin)
{
    const double turning = 1.25; /* times the time of its bytes */
    const struct rmcp_convolution *conv = request->problem;
    rmcp_conv problem = conv->problem;
    problem.layout = RMCP_NCHW;
    *twin = (struct twin){ .algo = NULL };
    if (rmcp_conv_init(&twin->conv, &problem, (int)conv->pass)) return;
    find_algo(request, twin);
    twin->bytes = aligned(twin->inner);
    for (unsigned slot = 0; slot < RMCP_CONV_BIAS; slot++) {
        if (!differs(conv, slot)) continue;
        twin->places[slot] = twin->bytes;
        twin->bytes += aligned(bytes_of(conv, slot));
        twin->seconds += request->caps->launch_seconds + turning * 2 *
                                                             (double)bytes_of(conv, slot) /
                                                             request->caps->bytes_per_second;
    }
}

static const struct twin *find(const struct rmcp_request *request)
{
    static _Thread_local struct rmcp_last last;
    static _Thread_local struct twin twin;
    if (!rmcp_last_is(&last, request)) find_anew(request, &twin);
    return &twin;
}

static const char *refuse(const struct rmcp_request *request)
{
    const struct rmcp_convolution *conv = request->problem;
    if (conv->layout != RMCP_NHWC) return "channels are first";
    bool any = false;
    for (unsigned slot = 0; slot < RMCP_CONV_BIAS; slot++) {
        any |= differs(conv, slot);
        if (rmcp_conv_elements(conv, slot) > INT32_MAX) return "a tensor of 2^31 elements or more";
    }
    if (!any) return "channels last are channels first";
    const struct twin *twin = find(request);
    if (!twin->algo) return "no algorithm for channels first does it";
    return twin->bytes > request->caps->max_buffer_bytes
               ? "the workspace would exceed the device's largest buffer"
               : NULL;
}

static double cost(const struct rmcp_request *request)
{
    return find(request)->seconds;
}

static rmcp_status workspace(const struct rmcp_request *request, uint64_t *bytes)
{
    *bytes = find(request)->bytes;
    return RMCP_OK;
}

/* Append the launches that turn m's rows into columns. */
static rmcp_status turn(const struct rmcp_request *request, struct matrices m, unsigned from,
                        uint64_t from_offset, unsigned to, uint64_t to_offset,
                        struct rmcp_launch_list *list)
{
    const int64_t columns = m.columns < LEAST ? m.columns : m.rows < LEAST ? TILE / m.rows : LEAST;
    const int64_t rows = TILE / columns; /* then at least as many as a matrix with few has */
    const int64_t row_tiles = (m.rows + rows - 1) / rows;
    const int64_t column_tiles = (m.columns + columns - 1) / columns;
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
static void redirect(struct rmcp_launch_list *list, size_t first, const struct twin *twin)
{
    for (size_t i = first; i < list->n_records; i++) {
        struct rmcp_kernel_launch *launch = &list->records[i].kernel;
        for (uint32_t a = 0; a < launch->n_args; a++) {
            struct rmcp_arg *arg = &launch->args[a];
            if (arg->kind != RMCP_ARG_MEMORY || arg->slot >= RMCP_CONV_SLOTS ||
                !differs(&twin->conv, arg->slot))
                continue;
            arg->offset += twin->places[arg->slot];
            arg->slot = RMCP_SLOT_WORKSPACE;
        }
    }
}

static rmcp_status emit(const struct rmcp_request *request, const struct rmcp_way *way,
                        struct rmcp_launch_list *list)
{
    (void)way;
    const struct rmcp_convolution *conv = request->problem;
    const struct twin twin = *find(request);
    const unsigned output = rmcp_conv_output_slot(conv);
    rmcp_status status = RMCP_OK;
    for (unsigned slot = 0; slot < RMCP_CONV_BIAS && !status; slot++)
        if (slot != output && differs(conv, slot))
            status = turn(request, matrices_of(conv, slot), slot, 0, RMCP_SLOT_WORKSPACE,
                          twin.places[slot], list);
    if (status) return status;
    struct rmcp_request inner = *request;
    inner.problem = &twin.conv;
    const size_t first = list->n_records;
    struct rmcp_way inner_way; /* asked again: a way has no room for another one's */
    status = rmcp_algo_consider(twin.algo, &inner, &inner_way);
    if (!status) status = twin.algo->emit(&inner, &inner_way, list);
    if (status) return status;
    redirect(list, first, &twin);
    if (!differs(conv, output)) return RMCP_OK;
    const struct matrices m = matrices_of(conv, output);
    return turn(request, (struct matrices){ m.count, m.columns, m.rows }, RMCP_SLOT_WORKSPACE,
                twin.places[output], output, 0, list);
}

const struct rmcp_algo rmcp_algo_conv_relaid = {
    .name = "relaid",
    .version = 1,
    .kind = RMCP_LAUNCH_KERNEL,
    .refuse = refuse,
    .cost = cost,
    .workspace = workspace,
    .emit = emit,
};
