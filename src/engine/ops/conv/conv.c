/* conv.c: checks a problem and brings it into canonical form. */
#include "engine/ops/conv/conv.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

unsigned rmcp_conv_output_slot(const struct rmcp_convolution *conv)
{
    static const unsigned written[RMCP_CONV_PASSES] = {
        [RMCP_CONV_FORWARD] = RMCP_CONV_Y,
        [RMCP_CONV_BACKWARD_DATA] = RMCP_CONV_X,
        [RMCP_CONV_BACKWARD_WEIGHTS] = RMCP_CONV_W,
    };
    return written[conv->pass];
}

int64_t rmcp_conv_elements(const struct rmcp_convolution *conv, unsigned slot)
{
    switch (slot) {
    case RMCP_CONV_X: return conv->x_elements;
    case RMCP_CONV_W: return conv->w_elements;
    case RMCP_CONV_Y: return conv->y_elements;
    case RMCP_CONV_BIAS: return rmcp_conv_has_bias(conv) ? conv->k : 0;
    default: return 0;
    }
}

double rmcp_conv_reduction(const struct rmcp_convolution *conv)
{
    double taps = (double)conv->filter[0] * (double)conv->filter[1] * (double)conv->filter[2];
    double pixels = (double)conv->output[0] * (double)conv->output[1] * (double)conv->output[2];
    switch (conv->pass) {
    case RMCP_CONV_FORWARD: return (double)conv->group_c * taps;
    case RMCP_CONV_BACKWARD_DATA: return (double)conv->group_k * taps;
    default: return (double)conv->n * pixels;
    }
}

bool rmcp_conv_has_bias(const struct rmcp_convolution *conv)
{
    return conv->pass == RMCP_CONV_FORWARD && conv->problem.bias;
}

rmcp_activation rmcp_conv_activation(const struct rmcp_convolution *conv)
{
    if (conv->pass != RMCP_CONV_FORWARD) return RMCP_NO_ACTIVATION;
    return (rmcp_activation)conv->problem.activation;
}

double rmcp_conv_activate(const struct rmcp_convolution *conv, double v)
{
    const rmcp_conv *p = &conv->problem;
    switch (rmcp_conv_activation(conv)) {
    case RMCP_RELU: return v < 0 ? 0 : v; /* NaN stays NaN */
    case RMCP_LEAKY_RELU: return v < 0 ? v * (double)p->slope : v;
    case RMCP_CLAMP:
        return v < (double)p->clamp_low    ? (double)p->clamp_low
               : v > (double)p->clamp_high ? (double)p->clamp_high
                                           : v;
    default: return v;
    }
}

/* ---- checks: each returns a status of its own ---- */

static rmcp_status at_least(const char *name, int64_t value, int64_t least)
{
    if (value >= least) return RMCP_OK;
    return rmcp_fail(RMCP_E_ARG, "%s is %" PRId64 "; it must be at least %" PRId64, name, value,
                     least);
}

static rmcp_status check_scalars(rmcp_conv *p)
{
    if (p->dims == 0) p->dims = 2;
    if (p->groups == 0) p->groups = 1;
    if (p->dims > RMCP_MAX_DIMS)
        return rmcp_fail(RMCP_E_ARG, "dims is %u; it must be 1, 2 or 3", (unsigned)p->dims);
    if (p->reserved)
        return rmcp_fail(RMCP_E_ARG, "reserved is %u; it must be 0", (unsigned)p->reserved);

    rmcp_status status;
    if ((status = at_least("n", p->n, 1))) return status;
    if ((status = at_least("c", p->c, 1))) return status;
    if ((status = at_least("k", p->k, 1))) return status;
    if ((status = at_least("groups", p->groups, 1))) return status;
    if (p->c % p->groups)
        return rmcp_fail(RMCP_E_ARG, "groups, %" PRId64 ", does not divide c, %" PRId64, p->groups,
                         p->c);
    if (p->k % p->groups)
        return rmcp_fail(RMCP_E_ARG, "groups, %" PRId64 ", does not divide k, %" PRId64, p->groups,
                         p->k);
    return RMCP_OK;
}

static rmcp_status check_kinds(const rmcp_conv *p)
{
    if (p->type > RMCP_BF16)
        return rmcp_fail(RMCP_E_ARG, "type is %u; known are f32 (0), f16 (1) and bf16 (2)",
                         (unsigned)p->type);
    if (p->layout > RMCP_NHWC)
        return rmcp_fail(RMCP_E_ARG, "layout is %u; known are nchw (0) and nhwc (1)",
                         (unsigned)p->layout);
    if (p->bias > 1)
        return rmcp_fail(RMCP_E_ARG, "bias is %u; it must be 0 or 1", (unsigned)p->bias);
    if (p->activation > RMCP_CLAMP)
        return rmcp_fail(RMCP_E_ARG,
                         "activation is %u; known are none (0), relu (1), leaky relu (2) and "
                         "clamp (3)",
                         (unsigned)p->activation);
    if (p->activation == RMCP_LEAKY_RELU && !isfinite(p->slope))
        return rmcp_fail(RMCP_E_ARG, "slope is %g; it must be finite", (double)p->slope);
    if (p->activation == RMCP_CLAMP && !(p->clamp_low <= p->clamp_high))
        return rmcp_fail(RMCP_E_ARG, "clamp_low, %g, is not below clamp_high, %g",
                         (double)p->clamp_low, (double)p->clamp_high);
    return RMCP_OK;
}

/* Unused entries must be zero: a caller who filled {h, w} into a 1-D problem wants to know. */
static rmcp_status check_unused(const rmcp_conv *p)
{
    const struct {
        const char *name;
        const int64_t *values;
    } arrays[] = {
        { "input", p->input },     { "filter", p->filter }, { "pad_begin", p->pad_begin },
        { "pad_end", p->pad_end }, { "stride", p->stride }, { "dilation", p->dilation },
    };
    for (size_t a = 0; a < sizeof arrays / sizeof *arrays; a++)
        for (uint32_t i = p->dims; i < RMCP_MAX_DIMS; i++)
            if (arrays[a].values[i])
                return rmcp_fail(
                    RMCP_E_ARG, "%s[%u] is %" PRId64 ", but the problem has %u spatial dimensions",
                    arrays[a].name, (unsigned)i, arrays[a].values[i], (unsigned)p->dims);
    return RMCP_OK;
}

/* One spatial dimension, `name` being d, h or w; sets the output size. */
static rmcp_status check_dimension(rmcp_conv *p, uint32_t i, char name, int64_t *output)
{
    if (p->stride[i] == 0) p->stride[i] = 1;
    if (p->dilation[i] == 0) p->dilation[i] = 1;
    const struct {
        const char *what;
        int64_t value, least;
    } checks[] = {
        { "input", p->input[i], 1 },         { "filter", p->filter[i], 1 },
        { "pad_begin", p->pad_begin[i], 0 }, { "pad_end", p->pad_end[i], 0 },
        { "stride", p->stride[i], 1 },       { "dilation", p->dilation[i], 1 },
    };
    for (size_t a = 0; a < sizeof checks / sizeof *checks; a++)
        if (checks[a].value < checks[a].least)
            return rmcp_fail(RMCP_E_ARG,
                             "%s of dimension %c is %" PRId64 "; it must be at least %" PRId64,
                             checks[a].what, name, checks[a].value, checks[a].least);

    int64_t padded, reach;
    if (__builtin_add_overflow(p->input[i], p->pad_begin[i], &padded) ||
        __builtin_add_overflow(padded, p->pad_end[i], &padded))
        return rmcp_fail(RMCP_E_ARG,
                         "the padded input of dimension %c, %" PRId64 " + %" PRId64 " + %" PRId64
                         ", does not fit in 63 bits",
                         name, p->input[i], p->pad_begin[i], p->pad_end[i]);
    if (__builtin_mul_overflow(p->dilation[i], p->filter[i] - 1, &reach) ||
        __builtin_add_overflow(reach, 1, &reach))
        return rmcp_fail(RMCP_E_ARG,
                         "the dilated filter of dimension %c, %" PRId64 " taps %" PRId64
                         " apart, does not fit in 63 bits",
                         name, p->filter[i], p->dilation[i]);
    if (reach > padded)
        return rmcp_fail(RMCP_E_ARG,
                         "the filter is larger than the padded input in dimension %c: %" PRId64
                         " taps with dilation %" PRId64 " reach over %" PRId64
                         ", the padded input has %" PRId64,
                         name, p->filter[i], p->dilation[i], reach, padded);
    *output = (padded - reach) / p->stride[i] + 1;
    return RMCP_OK;
}

/* Elements of a tensor, so that its bytes in any type fit in 63 bits. */
static rmcp_status count(const char *name, int64_t outer, int64_t inner,
                         const int64_t space[RMCP_MAX_DIMS], int64_t *elements)
{
    int64_t product = 4; /* bytes of the largest type */
    const int64_t factors[] = { outer, inner, space[0], space[1], space[2] };
    for (size_t i = 0; i < sizeof factors / sizeof *factors; i++)
        if (__builtin_mul_overflow(product, factors[i], &product))
            return rmcp_fail(RMCP_E_ARG,
                             "%s is too large: %" PRId64 " * %" PRId64 " * %" PRId64 " * %" PRId64
                             " * %" PRId64 " elements do not fit in 63 bits",
                             name, outer, inner, space[0], space[1], space[2]);
    *elements = product / 4;
    return RMCP_OK;
}

static struct rmcp_strides strides_of(rmcp_layout layout, int64_t channels,
                                      const int64_t space[RMCP_MAX_DIMS])
{
    int64_t pixel = layout == RMCP_NHWC ? channels : 1;
    struct rmcp_strides s;
    s.space[2] = pixel;
    s.space[1] = s.space[2] * space[2];
    s.space[0] = s.space[1] * space[1];
    int64_t image = space[0] * space[1] * space[2];
    s.inner = layout == RMCP_NHWC ? 1 : image;
    s.outer = image * channels;
    return s;
}

rmcp_status rmcp_conv_init(struct rmcp_convolution *conv, const rmcp_conv *problem, int pass)
{
    memset(conv, 0, sizeof *conv);
    rmcp_conv *p = &conv->problem;
    rmcp_status status = rmcp_struct_read(problem, p, sizeof *p, RMCP_FIRST_CONV, "rmcp_conv");
    if (status) return status;
    if (pass < RMCP_CONV_FORWARD || pass > RMCP_CONV_BACKWARD_WEIGHTS)
        return rmcp_fail(RMCP_E_ARG,
                         "pass is %d; known are forward (0), backward data (1) and backward "
                         "weights (2)",
                         pass);
    if ((status = check_scalars(p)) || (status = check_kinds(p)) || (status = check_unused(p)))
        return status;

    conv->pass = (rmcp_conv_pass)pass;
    conv->type = (rmcp_type)p->type;
    conv->layout = (rmcp_layout)p->layout;
    conv->n = p->n, conv->c = p->c, conv->k = p->k, conv->groups = p->groups;
    conv->group_c = p->c / p->groups, conv->group_k = p->k / p->groups;

    const uint32_t missing = RMCP_MAX_DIMS - p->dims;
    for (uint32_t i = 0; i < RMCP_MAX_DIMS; i++) {
        conv->input[i] = conv->filter[i] = conv->output[i] = 1;
        conv->stride[i] = conv->dilation[i] = 1;
        if (i < missing) continue;
        uint32_t from = i - missing;
        if ((status = check_dimension(p, from, "dhw"[i], &conv -> output[i]))) return status;
        conv->input[i] = p->input[from];
        conv->filter[i] = p->filter[from];
        conv->pad_begin[i] = p->pad_begin[from];
        conv->pad_end[i] = p->pad_end[from];
        conv->stride[i] = p->stride[from];
        conv->dilation[i] = p->dilation[from];
    }

    if ((status = count("x", conv->n, conv->c, conv->input, &conv->x_elements)) ||
        (status = count("w", conv->k, conv->group_c, conv->filter, &conv->w_elements)) ||
        (status = count("y", conv->n, conv->k, conv->output, &conv->y_elements)))
        return status;
    conv->x = strides_of(conv->layout, conv->c, conv->input);
    conv->w = strides_of(conv->layout, conv->group_c, conv->filter);
    conv->y = strides_of(conv->layout, conv->k, conv->output);
    conv->flops = 2.0 * (double)conv->y_elements * (double)conv->group_c * (double)conv->filter[0] *
                  (double)conv->filter[1] * (double)conv->filter[2];
    return RMCP_OK;
}

rmcp_status rmcp_conv_describe(const rmcp_conv *problem, rmcp_conv_info *shape)
{
    struct rmcp_convolution conv;
    rmcp_status status = rmcp_conv_init(&conv, problem, RMCP_CONV_FORWARD);
    if (status) return status;

    const uint64_t element = rmcp_type_bytes(conv.type);
    rmcp_conv_info ours = {
        .struct_size = sizeof ours,
        .x_bytes = (uint64_t)conv.x_elements * element,
        .w_bytes = (uint64_t)conv.w_elements * element,
        .y_bytes = (uint64_t)conv.y_elements * element,
        .bias_bytes = conv.problem.bias ? (uint64_t)conv.k * element : 0,
        .flops = conv.flops,
    };
    for (uint32_t i = 0; i < conv.problem.dims; i++)
        ours.output[i] = conv.output[RMCP_MAX_DIMS - conv.problem.dims + i];
    return rmcp_struct_write(&ours, sizeof ours, shape, RMCP_FIRST_CONV_INFO, "rmcp_conv_info");
}
