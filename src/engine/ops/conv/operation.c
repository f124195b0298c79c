/* operation.c: convolution as an operation: what planner, caches, guard and judge need to know. */
#include "base/convert.h"
#include "base/random.h"
#include "engine/ops/conv/conv.h"
#include "engine/ops/conv/reference.h"

#include <math.h>
#include <string.h>

/* ---- slots and figures ---- */

static struct rmcp_slot slot(const void *problem, unsigned number)
{
    static const char *const names[] = { "x", "w", "y", "bias" };
    const struct rmcp_convolution *conv = problem;
    const bool output = number == rmcp_conv_output_slot(conv);
    return (struct rmcp_slot){
        .name = names[number],
        .elements = rmcp_conv_elements(conv, number),
        .type = conv->type,
        .read = !output,
        .written = output,
    };
}

static rmcp_type type(const void *problem)
{
    return ((const struct rmcp_convolution *)problem)->type;
}

static double flops(const void *problem)
{
    return ((const struct rmcp_convolution *)problem)->flops;
}

static double bytes(const void *problem)
{
    const struct rmcp_convolution *conv = problem;
    return ((double)conv->x_elements + (double)conv->w_elements + (double)conv->y_elements) *
           (double)rmcp_type_bytes(conv->type);
}

static rmcp_status check_options(const void *problem, const rmcp_plan_options *options)
{
    const struct rmcp_convolution *conv = problem;
    if (conv->pass == RMCP_CONV_BACKWARD_WEIGHTS && options->fixed_weights.base)
        return rmcp_fail(RMCP_E_ARG, "fixed_weights is set, but backward weights writes them");
    return RMCP_OK;
}

/* ---- texts and traits ---- */

static rmcp_status parse(const char *text, void *problems, size_t *count)
{
    rmcp_conv problem = { .struct_size = sizeof problem };
    struct rmcp_convolution *list = problems;
    int pass = -1;
    size_t n = 0;
    rmcp_status status = rmcp_conv_parse(text, &problem, &pass);
    for (int i = 0; i < RMCP_CONV_PASSES && !status; i++)
        if (pass < 0 || pass == i) status = rmcp_conv_init(&list[n++], &problem, i);
    *count = status ? 0 : n;
    return status;
}

static rmcp_status print(const void *problem, char *text, size_t size)
{
    const struct rmcp_convolution *conv = problem;
    return rmcp_conv_print(&conv->problem, (int)conv->pass, text, size);
}

static const char *const passes[] = { "fwd", "bwd_data", "bwd_weights", NULL };
static const char *const layouts[] = { "nchw", "nhwc", NULL };
static const char *const dims[] = { "1-D", "2-D", "3-D", NULL };
static const struct rmcp_trait traits[] = {
    { "pass", passes }, { "type", rmcp_type_names }, { "layout", layouts }, { "dims", dims },
    { NULL, NULL },
};

static unsigned trait(const void *problem, unsigned number)
{
    const struct rmcp_convolution *conv = problem;
    const unsigned values[] = { conv->pass, conv->type, conv->layout, conv->problem.dims - 1 };
    return values[number];
}

/* ---- judging ---- */

/* Padding, strides, odd sizes, both layouts, long sums, one channel a group. */
static const char *const trials[] = {
    "n1c8h9w7k24r3s3p1:%s:nchw",
    "n2c20h6w6k40r3s3p1u2:%s:nhwc",
    "n1c64h5w5k6r3s3p1:%s:nchw",
    "n1c16h8w8k16r3s3p1g16:%s:nchw",
    "n2c32h15w15k32r3s3p1u2g32:%s:nhwc",
    "n1c4h9w8k4r5s5p2g4:%s:nchw",
    "n1c4h9w9k8r5s5p2u2g4:%s:nchw",
    "n1c4h9w8k4r7s7p3g4:%s:nchw",
    "n1c4h7w6k4r3s2p1g4:%s:nhwc",
    "n1c20h9w7k18r3s3p1:%s:nhwc",
    "n3c24h1w1k10r1s1:%s:nchw",
    "n2c4h7w7k5r5s5p2:%s:nchw",
    "n1c3w40k5s37p9:%s:nchw",
    "n1c20h9w8k24r1s1u2:%s:nchw",
    "n1c64h7w8k96r1s1:%s:nchw",
    NULL,
};

static void draw(uint64_t seed, void *problem)
{
    rmcp_conv drawn;
    rmcp_conv_pass pass;
    rmcp_conv_draw(seed, &drawn, &pass);
    rmcp_conv_init(problem, &drawn, (int)pass);
}

/* The largest integer that keeps every partial sum exact in f32. */
static int64_t largest_integer(const struct rmcp_convolution *conv)
{
    double terms = rmcp_conv_reduction(conv) + 1;
    for (int64_t m = 4; m > 1; m--)
        if (terms * (double)(m * m) < 0x1p24) return m;
    return 1;
}

static void fill(const void *problem, unsigned number, enum rmcp_data data, uint64_t seed,
                 void *host)
{
    const struct rmcp_convolution *conv = problem;
    const int64_t n = rmcp_conv_elements(conv, number), most = largest_integer(conv);
    struct rmcp_random r = { seed + 0x1000193u * (uint64_t)(number + 1) };
    for (int64_t i = 0; i < n; i++)
        rmcp_store(host, conv->type, i,
                   data == RMCP_DATA_INTEGERS ? (float)rmcp_random_between(&r, -most, most)
                                              : rmcp_random_real(&r));
}

double rmcp_conv_bound(const struct rmcp_convolution *conv, double value, double magnitude)
{
    double slope = rmcp_conv_activation(conv) == RMCP_LEAKY_RELU
                       ? fmax(1, fabs((double)conv->problem.slope))
                       : 1;
    return 2 * 0x1p-24 * slope * magnitude * sqrt(rmcp_conv_reduction(conv) + 1) +
           rmcp_rounding_error(conv->type, value);
}

/* The factor that may be multiplied with zeros of the padding: r->state is not NULL when it has a
 * NaN or an infinity. */
static rmcp_status begin(struct rmcp_reference *r)
{
    const struct rmcp_convolution *conv = r->problem;
    const unsigned factor = conv->pass == RMCP_CONV_BACKWARD_WEIGHTS ? RMCP_CONV_Y : RMCP_CONV_W;
    const int64_t n = rmcp_conv_elements(conv, factor);
    bool finite = true;
    for (int64_t i = 0; i < n && finite; i++)
        finite = isfinite(rmcp_load(r->host[factor], conv->type, i));
    r->state = finite ? NULL : r;
    return RMCP_OK;
}

/* Whether rmcp.h leaves open what becomes of NaN and Inf in this element: of weights beside the
 * tensor, and of a NaN before the activation. */
static bool is_open(const struct rmcp_reference *r, const struct rmcp_conv_reference *reference,
                    int64_t index, double value)
{
    if (isnan(value)) return !r->strict && rmcp_conv_activation(r->problem) != RMCP_NO_ACTIVATION;
    return r->state && !rmcp_conv_factors_finite(reference, index);
}

static struct rmcp_conv_reference reference_of(const struct rmcp_reference *r)
{
    return (struct rmcp_conv_reference){
        .conv = r->problem,
        .x = r->host[RMCP_CONV_X],
        .w = r->host[RMCP_CONV_W],
        .y = r->host[RMCP_CONV_Y],
        .bias = r->host[RMCP_CONV_BIAS],
    };
}

static struct rmcp_expected expect(const struct rmcp_reference *r, unsigned number, int64_t index)
{
    (void)number; /* a pass writes one */
    const struct rmcp_conv_reference reference = reference_of(r);
    const struct rmcp_conv_value value = rmcp_conv_element(&reference, index);
    const bool exact = r->data == RMCP_DATA_INTEGERS && r->error_factor <= 1;
    return (struct rmcp_expected){
        .value = value.value,
        .allowed =
            exact ? 0 : r->error_factor * rmcp_conv_bound(r->problem, value.value, value.magnitude),
        .open = rmcp_sum_overflows(value.magnitude) || is_open(r, &reference, index, value.value),
    };
}

/* Errors, NaN and Inf of a whole tile show in each of its elements. */
static struct rmcp_expected expect_near(const struct rmcp_reference *r, unsigned number,
                                        int64_t index)
{
    struct rmcp_expected expected = expect(r, number, index);
    const struct rmcp_conv_reference reference = reference_of(r);
    const double magnitude = rmcp_conv_magnitude_near(&reference, index);
    expected.open |= !(magnitude < 0x1p117); /* a transform's sums are larger: they may overflow */
    expected.allowed = r->error_factor * rmcp_conv_bound(r->problem, expected.value, magnitude);
    return expected;
}

static double expect_cost(const void *problem, unsigned number)
{
    (void)number;
    return rmcp_conv_reduction(problem);
}

const struct rmcp_operation rmcp_operation_conv = {
    .name = "conv",
    .nameless = true,
    .problem_bytes = sizeof(struct rmcp_convolution),
    .n_slots = RMCP_CONV_SLOTS,
    .algos = rmcp_algos_conv,
    .slot = slot,
    .type = type,
    .check_options = check_options,
    .flops = flops,
    .bytes = bytes,
    .parse = parse,
    .print = print,
    .traits = traits,
    .trait = trait,
    .draw = draw,
    .trials = trials,
    .fill = fill,
    .reference_begin = begin,
    .expect = expect,
    .expect_near = expect_near,
    .expect_cost = expect_cost,
};
