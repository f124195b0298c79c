/* cells.c: strided data gradients in cells (cells.h), and the order of weights that they need. */
#include "engine/ops/conv/gpu/cells.h"

#include "base/round.h"
#include "engine/ops/conv/gpu/shape.h"

enum { CHUNK = 2048, ARRANGE_THREADS = 256 }; /* as in arrange.cl */

/* One dimension: cell q is the inputs from q * stride - origin on, and meets outputs q + first down
 * to q + first - (taps - 1). */
struct dimension {
    int64_t origin, first, taps, positions;
};

static int64_t dilation_of(const struct rmcp_convolution *conv, int i)
{
    return conv->filter[i] > 1 ? conv->dilation[i] : 1;
}

/* Input `phase` of a cell and tap f meet output q + (phase + pad - origin - f * dilation) / stride,
 * if the stride divides it. */
static struct dimension dimension_from(const struct rmcp_convolution *conv, int i, int64_t origin)
{
    const int64_t stride = conv->stride[i], dilation = dilation_of(conv, i);
    int64_t lowest = INT64_MAX, highest = INT64_MIN;
    for (int64_t phase = 0; phase < stride; phase++)
        for (int64_t f = 0; f < conv->filter[i]; f++) {
            const int64_t distance = phase + conv->pad_begin[i] - origin - f * dilation;
            if (distance % stride) continue;
            if (distance / stride < lowest) lowest = distance / stride;
            if (distance / stride > highest) highest = distance / stride;
        }
    return (struct dimension){ origin, highest, highest - lowest + 1,
                               rmcp_ceil_divide(conv->input[i] + origin, stride) };
}

/* Cells begin where they meet the fewest outputs. */
static struct dimension dimension_of(const struct rmcp_convolution *conv, int i)
{
    struct dimension best = dimension_from(conv, i, 0);
    for (int64_t origin = 1; origin < conv->stride[i]; origin++) {
        const struct dimension d = dimension_from(conv, i, origin);
        if (d.taps * d.positions < best.taps * best.positions) best = d;
    }
    return best;
}

static bool is_lone(const struct rmcp_convolution *conv, int i)
{
    return conv->stride[i] == 1 || dilation_of(conv, i) % conv->stride[i] == 0 ||
           conv->filter[i] == 1;
}

bool rmcp_cells_lone(const struct rmcp_convolution *conv)
{
    bool lone = true;
    for (int i = 0; i < RMCP_MAX_DIMS; i++) lone &= is_lone(conv, i);
    return lone;
}

static int64_t cell_inputs(const struct rmcp_convolution *conv)
{
    return conv->stride[0] * conv->stride[1] * conv->stride[2];
}

const char *rmcp_cells_refuse(const struct rmcp_convolution *conv, enum rmcp_form form)
{
    if (conv->pass != RMCP_CONV_BACKWARD_DATA) return "data gradients only";
    if (rmcp_gemm_phases(conv) == 1) return "no strides";
    if (conv->layout == RMCP_NHWC) return "channels last";
    const char *reason = rmcp_gemm_refuse(conv);
    if (reason) return reason;
    for (int i = 0; i < RMCP_MAX_DIMS; i++)
        if (conv->stride[i] > RMCP_CELL_MOST) return "a stride beyond 31";
    const int64_t taps = conv->filter[0] * conv->filter[1] * conv->filter[2];
    if (form != RMCP_FORM_LONE && taps > CHUNK) return "more than 2048 taps";
    if (form == RMCP_FORM_LONE) return rmcp_cells_lone(conv) ? NULL : "several phases have taps";
    if (form == RMCP_FORM_CELLS) {
        if (conv->group_c > INT32_MAX / 2 / cell_inputs(conv)) return "too many channels";
        for (int i = 0; i < RMCP_MAX_DIMS; i++)
            if (dimension_of(conv, i).taps > conv->filter[i]) return "dilated taps lie apart";
    }
    const uint64_t most = UINT64_C(1) << 32;
    return rmcp_arranged_bytes(conv, form) >= most ? "arranged weights of 4 GiB or more" : NULL;
}

/* The window of a cell's one input that meets taps: each tap meets the next output. */
static void lone_window(struct rmcp_window *w, struct rmcp_cell *c,
                        const struct rmcp_convolution *conv, int i)
{
    const int64_t stride = conv->stride[i];
    c->phase = (unsigned)((stride - conv->pad_begin[i] % stride) % stride);
    c->first = 0;
    w->positions = rmcp_divider_of(rmcp_ceil_divide(conv->input[i], stride));
    w->taps = rmcp_divider_of(conv->filter[i]);
    w->first = (int)((c->phase + conv->pad_begin[i]) / stride);
    w->tap_step = (int)-(dilation_of(conv, i) / stride);
    w->tap = (unsigned)conv->w.space[i];
}

static void cell_window(struct rmcp_window *w, struct rmcp_cell *c, const struct dimension *d)
{
    c->first = (int)-d->origin;
    w->positions = rmcp_divider_of(d->positions);
    w->taps = rmcp_divider_of(d->taps);
    w->first = (int)d->first;
    w->tap_step = -1;
}

void rmcp_cells_init(struct rmcp_gemm *g, struct rmcp_cells *c, const struct rmcp_convolution *conv,
                     enum rmcp_form form)
{
    const bool lone = form == RMCP_FORM_LONE;
    rmcp_gemm_init(g, conv, 0);
    *c = (struct rmcp_cells){ .lone = lone };
    g->rows = (unsigned)(lone ? conv->group_c : conv->group_c * cell_inputs(conv));
    g->padded = 0;
    g->steps.linear_position = g->steps.linear_tap = 0;
    int64_t taps = 1, columns = conv->n;
    unsigned bit = 0;
    for (int i = RMCP_MAX_DIMS - 1; i >= 0; i--) {
        struct rmcp_window *const w = &g->window[i];
        struct rmcp_cell *const cell = &c->cell[i];
        cell->stride = rmcp_divider_of(conv->stride[i]);
        cell->size = (unsigned)conv->input[i];
        cell->step = (unsigned)conv->x.space[i];
        const struct dimension d = dimension_of(conv, i);
        if (lone)
            lone_window(w, cell, conv, i);
        else
            cell_window(w, cell, &d), w->tap = (unsigned)(g->rows * taps);
        w->first_bit = rmcp_gemm_spare_bit(conv, i) ? rmcp_gemm_spare_bit(conv, i) : bit;
        bit += rmcp_gemm_spare_bit(conv, i) ? 0 : w->taps.divisor;
        g->padded |= rmcp_window_is_padded(w);
        taps *= w->taps.divisor;
        columns *= w->positions.divisor;
    }
    g->columns = (unsigned)columns;
    g->reduction = (unsigned)(conv->group_k * taps);
    if (lone) return;
    g->a_row = 1;
    g->steps.linear_channel = (unsigned)(g->rows * taps);
    g->a_group = (unsigned)(conv->group_k * g->rows * taps);
}

struct rmcp_convolution rmcp_turned(const struct rmcp_convolution *conv)
{
    struct rmcp_convolution turned = *conv;
    int64_t step = conv->group_c;
    turned.w.inner = 1;
    for (int i = RMCP_MAX_DIMS - 1; i >= 0; i--) {
        turned.w.space[i] = step;
        step *= conv->filter[i];
    }
    turned.w.outer = step;
    return turned;
}

/* ---- arranged weights ---- */

uint64_t rmcp_arranged_bytes(const struct rmcp_convolution *conv, enum rmcp_form form)
{
    uint64_t elements = (uint64_t)conv->w_elements;
    if (form == RMCP_FORM_PHASES || form == RMCP_FORM_LONE) return 0;
    if (form == RMCP_FORM_CELLS) {
        elements = (uint64_t)(conv->k * conv->group_c);
        for (int i = 0; i < RMCP_MAX_DIMS; i++)
            elements *= (uint64_t)(dimension_of(conv, i).taps * conv->stride[i]);
    }
    return elements * rmcp_type_bytes(conv->type);
}

double rmcp_arrange_seconds(const struct rmcp_caps *caps, uint64_t bytes)
{
    return bytes ? caps->launch_seconds + 2 * (double)bytes / caps->bytes_per_second : 0;
}

rmcp_status rmcp_arrange_emit(const struct rmcp_request *request, enum rmcp_form form,
                              uint64_t begin, struct rmcp_launch_list *list)
{
    const struct rmcp_convolution *conv = request->problem;
    if (!rmcp_arranged_bytes(conv, form)) return RMCP_OK;
    struct rmcp_arrange a = { .channels = (unsigned)conv->group_c };
    int64_t taps = 1, inputs = 1;
    for (int i = 0; i < RMCP_MAX_DIMS; i++) {
        const bool cells = form == RMCP_FORM_CELLS;
        const struct dimension d =
            cells ? dimension_of(conv, i) : (struct dimension){ .taps = conv->filter[i] };
        const int64_t stride = cells ? conv->stride[i] : 1;
        a.stride[i] = rmcp_divider_of(stride);
        a.taps[i] = rmcp_divider_of(d.taps);
        a.dilation[i] = rmcp_divider_of(cells ? dilation_of(conv, i) : 1);
        a.base[i] = cells ? (int)(conv->pad_begin[i] - d.origin - stride * d.first) : 0;
        a.filter[i] = (unsigned)conv->filter[i];
        taps *= conv->filter[i];
        inputs *= stride;
    }
    const int64_t most = CHUNK / taps;
    a.chunk = (unsigned)(conv->group_c < most ? conv->group_c : most);
    a.rows = rmcp_divider_of(conv->group_c * inputs);
    a.chunk_rows = rmcp_divider_of(a.chunk * inputs);
    a.chunks = rmcp_divider_of(rmcp_ceil_divide(conv->group_c, a.chunk));
    struct rmcp_kernel_launch *launch = NULL;
    rmcp_status status = rmcp_kernel_append(list, "arrange", conv->type, "",
                                            conv->k * a.chunks.divisor * ARRANGE_THREADS, &launch);
    if (status) return status;
    rmcp_arg_memory(launch, RMCP_CONV_W, 0);
    rmcp_arg_memory(launch, RMCP_SLOT_WORKSPACE, begin);
    rmcp_arg_value(launch, &a, sizeof a);
    return RMCP_OK;
}
