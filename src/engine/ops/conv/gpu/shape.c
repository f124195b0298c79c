/* shape.c: fills the structs of convolution's kernels, for the algorithms that use them. */
#include "engine/ops/conv/gpu/shape.h"

struct rmcp_epilogue rmcp_epilogue_of(const struct rmcp_convolution *conv)
{
    return (struct rmcp_epilogue){
        .bias = rmcp_conv_has_bias(conv),
        .kind = rmcp_conv_activation(conv),
        .slope = conv->problem.slope,
        .low = conv->problem.clamp_low,
        .high = conv->problem.clamp_high,
    };
}

void rmcp_kernel_tensors(struct rmcp_kernel_launch *launch, const struct rmcp_convolution *conv,
                         unsigned output)
{
    static const unsigned read[RMCP_CONV_PASSES][2] = {
        [RMCP_CONV_FORWARD] = { RMCP_CONV_W, RMCP_CONV_X },
        [RMCP_CONV_BACKWARD_DATA] = { RMCP_CONV_W, RMCP_CONV_Y },
        [RMCP_CONV_BACKWARD_WEIGHTS] = { RMCP_CONV_Y, RMCP_CONV_X },
    };
    const unsigned *inputs = read[conv->pass];
    rmcp_arg_memory(launch, inputs[0], 0);
    rmcp_arg_memory(launch, inputs[1], 0);
    rmcp_arg_memory(launch, output, 0);
    rmcp_arg_memory(launch, rmcp_conv_has_bias(conv) ? RMCP_CONV_BIAS : inputs[0], 0);
}

/* How many share the parts of an output, as a power of two: each has four parts at least, and there
 * are not many more than the device can hold. */
static unsigned sharers_shift(const struct rmcp_caps *caps, int64_t outputs, int64_t parts)
{
    enum { UNIT_ITEMS = 512, MOST = 5 };
    const int64_t items = (int64_t)caps->compute_units * UNIT_ITEMS;
    unsigned shift = 0;
    while (shift < MOST && parts >> shift >= 8 && outputs << shift < items) shift++;
    return shift;
}

static rmcp_status emit_parts(const struct rmcp_request *request, struct rmcp_reduce *r,
                              int64_t parts, uint64_t begin, struct rmcp_launch_list *list)
{
    const struct rmcp_convolution *conv = request->problem;
    const unsigned output = rmcp_conv_output_slot(conv);
    const int64_t n = rmcp_conv_elements(conv, output);
    r->count = (unsigned)n;
    r->parts = (unsigned)parts;
    r->inner = rmcp_divider_of(conv->y.inner);
    r->channels = rmcp_divider_of(conv->k);
    r->epilogue = rmcp_epilogue_of(conv);
    r->shift = sharers_shift(request->caps, n, parts);
    struct rmcp_kernel_launch *launch = NULL;
    rmcp_status status = rmcp_kernel_append(list, "reduce", conv->type, "", n << r->shift, &launch);
    if (status) return status;
    rmcp_arg_memory(launch, RMCP_SLOT_WORKSPACE, begin);
    rmcp_arg_memory(launch, output, 0);
    rmcp_arg_memory(launch, r->epilogue.bias ? RMCP_CONV_BIAS : RMCP_SLOT_WORKSPACE, 0);
    rmcp_arg_value(launch, r, sizeof *r);
    return RMCP_OK;
}

rmcp_status rmcp_parts_emit(const struct rmcp_request *request, int64_t parts, uint64_t begin,
                            struct rmcp_launch_list *list)
{
    struct rmcp_reduce r = { 0 };
    return emit_parts(request, &r, parts, begin, list);
}

/* Taps that meet the inputs whose remainder by the stride is `phase`. */
static unsigned taps_at(const struct rmcp_convolution *conv, int i, int64_t phase)
{
    unsigned taps = 0;
    for (int64_t f = 0; f < conv->filter[i]; f++)
        taps += (phase + conv->pad_begin[i] - f * conv->dilation[i]) % conv->stride[i] == 0;
    return taps;
}

rmcp_status rmcp_sparse_parts_emit(const struct rmcp_request *request, int64_t parts, int64_t share,
                                   struct rmcp_launch_list *list)
{
    const struct rmcp_convolution *conv = request->problem;
    struct rmcp_reduce r = {
        .sparse = 1,
        .terms = (unsigned)conv->group_k,
        .last = rmcp_divider_of(conv->layout == RMCP_NHWC ? conv->c : 1),
        .share = rmcp_divider_of(share),
    };
    for (int i = 0; i < RMCP_MAX_DIMS; i++) {
        const int64_t stride = conv->stride[i];
        const int64_t phase = (stride - conv->pad_begin[i] % stride) % stride; /* of tap 0 */
        r.dim[i] = (struct rmcp_phase_taps){
            .size = rmcp_divider_of(conv->input[i]),
            .stride = rmcp_divider_of(stride),
            .phase = (unsigned)phase,
            .taps = taps_at(conv, i, phase),
            .other_taps = taps_at(conv, i, phase + 1),
        };
    }
    return emit_parts(request, &r, parts, 0, list);
}

/* ---- implicit matrix products ---- */

/* A tap that meets the tensor from every pixel needs no bit of its own: they share the last. */
enum { SPARE_BIT = 31 };

static bool never_misses(const struct rmcp_convolution *conv, int i)
{
    return conv->filter[i] == 1 && conv->stride[i] == 1 && !conv->pad_begin[i] && !conv->pad_end[i];
}

unsigned rmcp_gemm_spare_bit(const struct rmcp_convolution *conv, int i)
{
    return never_misses(conv, i) ? SPARE_BIT : 0;
}

const char *rmcp_gemm_refuse(const struct rmcp_convolution *conv)
{
    const int64_t most = (INT64_C(1) << 32) / (int64_t)rmcp_type_bytes(conv->type);
    if (conv->x_elements >= most || conv->w_elements >= most || conv->y_elements >= most)
        return "a tensor has 4 GiB or more";
    int64_t bits = 0, most_bits = 32;
    for (int i = 0; i < RMCP_MAX_DIMS; i++)
        if (never_misses(conv, i))
            most_bits = SPARE_BIT;
        else
            bits += conv->filter[i];
    if (bits > most_bits) return "the filter's sizes sum up to more than 31 or 32";
    if (conv->groups > UINT16_MAX) return "more than 65535 groups";
    for (int i = 0; i < RMCP_MAX_DIMS; i++) {
        const int64_t padded = conv->input[i] + conv->pad_begin[i] + conv->pad_end[i];
        if (padded > INT32_MAX / 2 || conv->stride[i] > INT32_MAX / 2)
            return "coordinates in the padded input do not fit in 30 bits";
    }
    if (rmcp_gemm_phases(conv) > RMCP_GEMM_MOST_PHASES)
        return "the strides multiply to more than 64 phases";
    return NULL;
}

int64_t rmcp_gemm_phases(const struct rmcp_convolution *conv)
{
    if (conv->pass != RMCP_CONV_BACKWARD_DATA) return 1;
    int64_t phases = 1;
    for (int i = 0; i < RMCP_MAX_DIMS; i++) {
        if (conv->stride[i] > INT32_MAX / phases) return INT32_MAX;
        phases *= conv->stride[i];
    }
    return phases;
}

static int64_t greatest_common_divisor(int64_t a, int64_t b)
{
    while (b) {
        int64_t rest = a % b;
        a = b, b = rest;
    }
    return a;
}

/* Forward and backward weights: positions are those of y, x is gathered. Returns the taps. */
static int64_t window_of_output(struct rmcp_window *w, const struct rmcp_convolution *conv, int i)
{
    *w = (struct rmcp_window){
        .positions = rmcp_divider_of(conv->output[i]),
        .step = (int)conv->stride[i],
        .first = (int)-conv->pad_begin[i],
        .tap_step = conv->filter[i] > 1 ? (int)conv->dilation[i] : 0,
        .size = (unsigned)conv->input[i],
        .gather = (unsigned)conv->x.space[i],
        .position = (unsigned)conv->y.space[i],
        .tap = (unsigned)conv->w.space[i],
    };
    return conv->filter[i];
}

/* Backward data: positions p are the inputs i = p * stride + phase, dy is gathered. Tap f meets
 * them when the stride divides i + pad - f * dilation: that is every `apart`-th tap from
 * `first_tap` on, or none. The t-th of them meets output o = p + first - t * (dilation / gcd). */
static int64_t window_of_input(struct rmcp_window *w, struct rmcp_gemm *g,
                               const struct rmcp_convolution *conv, int i, int64_t phase)
{
    const int64_t stride = conv->stride[i], filter = conv->filter[i];
    const int64_t dilation = filter > 1 ? conv->dilation[i] : 1;
    const int64_t divisor = greatest_common_divisor(dilation, stride), apart = stride / divisor;
    const int64_t start = phase + conv->pad_begin[i];
    int64_t first_tap = 0;
    while (first_tap < filter && (start - first_tap * dilation) % stride) first_tap++;
    *w = (struct rmcp_window){
        .positions = rmcp_divider_of((conv->input[i] - phase + stride - 1) / stride),
        .step = 1,
        .first = (int)((start - first_tap * dilation) / stride),
        .tap_step = (int)-(dilation / divisor),
        .size = (unsigned)conv->output[i],
        .gather = (unsigned)conv->y.space[i],
        .position = (unsigned)(stride * conv->x.space[i]),
        .tap = (unsigned)(apart * conv->w.space[i]),
    };
    g->steps.linear_position += (unsigned)(phase * conv->x.space[i]);
    g->steps.linear_tap += (unsigned)(first_tap * conv->w.space[i]);
    return first_tap < filter ? (filter - 1 - first_tap) / apart + 1 : 0;
}

bool rmcp_window_is_padded(const struct rmcp_window *w)
{
    const int64_t last_position = (int64_t)(w->positions.divisor - 1) * w->step + w->first;
    const int64_t last_tap = (int64_t)(w->taps.divisor - 1) * w->tap_step;
    const int64_t lowest = w->first + (last_tap < 0 ? last_tap : 0);
    const int64_t highest = last_position + (last_tap > 0 ? last_tap : 0);
    return lowest < 0 || highest >= w->size;
}

bool rmcp_gemm_init(struct rmcp_gemm *g, const struct rmcp_convolution *conv, int64_t phase)
{
    const bool data = conv->pass == RMCP_CONV_BACKWARD_DATA;
    const bool weights = conv->pass == RMCP_CONV_BACKWARD_WEIGHTS;
    const struct rmcp_strides *x = &conv->x, *w = &conv->w, *y = &conv->y;
    *g = (struct rmcp_gemm){ 0 };
    g->steps.sum_pixels = weights;
    g->steps.channels_last = conv->layout == RMCP_NHWC;

    int64_t taps = 1, pixels = conv->n, bit = 0;
    for (int i = RMCP_MAX_DIMS - 1; i >= 0; i--) {
        struct rmcp_window *window = &g->window[i];
        const int64_t in_phase = phase % conv->stride[i];
        phase /= conv->stride[i];
        if (data && in_phase >= conv->input[i]) return false;
        const int64_t n = data ? window_of_input(window, g, conv, i, in_phase)
                               : window_of_output(window, conv, i);
        window->taps = rmcp_divider_of(n ? n : 1);
        window->first_bit = never_misses(conv, i) ? SPARE_BIT : (unsigned)bit;
        g->padded |= rmcp_window_is_padded(window);
        bit += never_misses(conv, i) ? 0 : n;
        taps *= n;
        pixels *= window->positions.divisor;
    }

    const struct rmcp_strides *gathered = data ? y : x;
    const int64_t channels = data ? conv->group_k : conv->group_c;
    g->steps.channels = rmcp_divider_of(channels);
    g->steps.gather_image = (unsigned)gathered->outer;
    g->steps.gather_channel = (unsigned)gathered->inner;
    g->b_group = (unsigned)(channels * gathered->inner);
    g->steps.linear_image = (unsigned)(data ? x->outer : y->outer);
    g->steps.linear_channel = (unsigned)(data ? w->outer : w->inner);

    const int64_t w_group = conv->group_k * w->outer, y_group = conv->group_k * y->inner;
    g->rows = (unsigned)(data ? conv->group_c : conv->group_k);
    g->columns = (unsigned)(weights ? channels * taps : pixels);
    g->reduction = (unsigned)(weights ? pixels : channels * taps);
    g->a_row = (unsigned)(data ? w->inner : weights ? y->inner : w->outer);
    g->a_group = (unsigned)(weights ? y_group : w_group);
    g->out_row = (unsigned)(data ? x->inner : weights ? w->outer : y->inner);
    g->out_group = (unsigned)(data ? conv->group_c * x->inner : weights ? w_group : y_group);
    g->bias_group = (unsigned)conv->group_k;
    g->epilogue = rmcp_epilogue_of(conv);
    return true;
}

/* ---- phases in one launch ---- */

static bool is_merged(const struct rmcp_convolution *conv)
{
    if (conv->pass != RMCP_CONV_BACKWARD_DATA) return false;
    for (int i = 0; i < RMCP_MAX_DIMS; i++)
        if (conv->stride[i] > 2) return false;
    return true;
}

int64_t rmcp_gemm_launches(const struct rmcp_convolution *conv)
{
    return is_merged(conv) ? 1 : rmcp_gemm_phases(conv);
}

/* The taps of a phase. */
static unsigned phase_taps(const struct rmcp_phases *p, unsigned phase)
{
    unsigned taps = 1;
    for (int i = 0; i < RMCP_MAX_DIMS; i++)
        taps *= phase & p->mask[i] ? p->other_taps[i] : p->taps[i];
    return taps;
}

/* Those with the most taps first. */
static void order_phases(struct rmcp_phases *p)
{
    for (unsigned phase = 0; phase < p->count; phase++) {
        unsigned rank = 0;
        for (unsigned other = 0; other < p->count; other++)
            rank += phase_taps(p, other) > phase_taps(p, phase) ||
                    (phase_taps(p, other) == phase_taps(p, phase) && other < phase);
        p->order |= phase << 4 * rank;
    }
}

/* Of the even inputs there are as many as of the odd ones or one more, so g has the most columns.
 */
static void merge_phases(struct rmcp_gemm *g, struct rmcp_phases *p,
                         const struct rmcp_convolution *conv)
{
    unsigned bit = 0;
    for (int i = RMCP_MAX_DIMS - 1; i >= 0; i--) {
        struct rmcp_gemm even = { 0 }, odd = { 0 };
        struct rmcp_window window;
        const int64_t even_taps = window_of_input(&window, &even, conv, i, 0);
        int64_t most = even_taps;
        p->taps[i] = (unsigned)even_taps;
        g->window[i].first_bit = never_misses(conv, i) ? SPARE_BIT : bit;
        if (conv->stride[i] == 2 && conv->input[i] > 1) {
            struct rmcp_window *other = &p->other[i];
            const int64_t taps = window_of_input(other, &odd, conv, i, 1);
            other->taps = rmcp_divider_of(taps ? taps : 1);
            other->first_bit = bit;
            p->other_taps[i] = (unsigned)taps;
            p->linear_position[i] = odd.steps.linear_position - even.steps.linear_position;
            p->linear_tap[i] = odd.steps.linear_tap - even.steps.linear_tap;
            p->mask[i] = p->count;
            p->count *= 2;
            g->padded |= rmcp_window_is_padded(other);
            if (taps > most) most = taps;
        }
        bit += never_misses(conv, i) ? 0 : (unsigned)most;
    }
    order_phases(p);
}

int64_t rmcp_phases_workgroups(struct rmcp_phases *p, int64_t tiles, int64_t at_once)
{
    enum { ROUNDS = 8 }; /* what is written side by side is then still near in time */
    const int64_t most = 1 + ROUNDS * at_once / p->count, blocks = (tiles + most - 1) / most;
    const int64_t block = p->count == 1 ? tiles : (tiles + blocks - 1) / blocks;
    p->block = rmcp_divider_of(block);
    p->round = rmcp_divider_of(block * p->count);
    return p->count == 1 ? tiles : blocks * block * p->count;
}

bool rmcp_gemm_init_launch(struct rmcp_gemm *g, struct rmcp_phases *p,
                           const struct rmcp_convolution *conv, int64_t launch)
{
    *p = (struct rmcp_phases){ .count = 1,
                               .images = (unsigned)conv->n,
                               .channels = (unsigned)conv->group_k };
    if (!rmcp_gemm_init(g, conv, launch)) return false;
    if (is_merged(conv)) merge_phases(g, p, conv);
    return true;
}

double rmcp_traffic_seconds(const struct rmcp_convolution *conv, const struct rmcp_caps *caps)
{
    const double elements =
        (double)conv->x_elements + (double)conv->w_elements + (double)conv->y_elements;
    return elements * (double)rmcp_type_bytes(conv->type) / caps->bytes_per_second;
}
