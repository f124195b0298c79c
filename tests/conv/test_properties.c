/* test_properties.c: laws of convolution that need no reference: impulse, linearity, shift,
 * adjoints and numeric gradients, for every algorithm that applies.
 *
 * All data are small integers and all sums are representable, even in bfloat16, so that the laws
 * hold to the bit; only algorithms that declare themselves inexact get a tolerance. */
#include "support.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const cases[] = {
    "n1c1h1w1k1",
    "n2c4h7w8k5r3s3p1",
    "n2c4h7w8k5r3s3p1:nhwc",
    "n2c4h7w8k5r3s3p1:f16",
    "n2c4h7w8k5r3s3p1:bf16:nhwc",
    "n1c3h9w9k4r3s3p1u2",
    "n1c4h8w10k4r1s1",
    "n1c4h9w11k4r3s2p0-1x2-0u2x1",
    "n1c6h9w9k9r3s3p2d2g3",
    "n2c5h7w7k5r3s3p1g5:nhwc",
    "n1c3h5w5k2r5s5p4",
    "n1c3w17k4s5p2u2",
    "n1c3w17k4s4d3:f16:nhwc",
    "n1c2t5x3h5w6k3r2s3p1",
    "n1c2t5x2h5w6k4r3s3p1u2g2:bf16:nhwc",
};

/* One case with one algorithm on the device. */
struct subject {
    rmcp_device *device;
    rmcp_conv problem;
    rmcp_plan_options options;
    struct rmcp_convolution conv; /* of the forward pass */
    double tolerance;             /* relative; 0 unless the algorithm is inexact */
    char name[RMCP_CASE_MAX + 64];
};

static int open_device(void **state)
{
    *state = support_open();
    return 0;
}

static int close_device(void **state)
{
    rmcp_device_close(*state);
    return 0;
}

static bool applies(const struct subject *s)
{
    for (int pass = 0; pass < RMCP_CONV_PASSES; pass++) {
        rmcp_plan *plan = NULL;
        rmcp_status status =
            rmcp_conv_plan(s->device, &s->problem, (rmcp_conv_pass)pass, &s->options, &plan);
        rmcp_plan_destroy(plan);
        if (status == RMCP_E_UNSUPPORTED) return false;
        if (status) fail_msg("%s: %s", s->name, rmcp_last_error());
    }
    return true;
}

static void for_each(void **state, void (*check)(const struct subject *))
{
    size_t n_checked = 0;
    for (size_t c = 0; c < SUPPORT_LENGTH(cases); c++)
        for (size_t a = 0; rmcp_algos_conv[a]; a++) {
            struct subject s = {
                .device = *state,
                .problem = support_case(cases[c], NULL),
                .options = { .struct_size = sizeof s.options,
                             .algorithm = rmcp_algos_conv[a]->name },
                .tolerance = rmcp_algos_conv[a]->error_factor > 1 ? 1e-2 : 0,
            };
            s.conv = support_conv(&s.problem, RMCP_CONV_FORWARD);
            snprintf(s.name, sizeof s.name, "%s with %s", cases[c], rmcp_algos_conv[a]->name);
            if (!applies(&s)) continue;
            check(&s);
            n_checked++;
        }
    assert_true(n_checked >= SUPPORT_LENGTH(cases)); /* every case has some algorithm */
}

static void run(const struct subject *s, rmcp_conv_pass pass, struct support_tensors *t)
{
    support_run(s->device, &s->problem, pass, &s->options, t);
}

static void assert_near(const struct subject *s, const char *law, double got, double expected)
{
    if (!(fabs(got - expected) <= s->tolerance * (1 + fabs(expected))))
        fail_msg("%s: %s gives %.9g, expected %.9g", s->name, law, got, expected);
}

static int64_t at(const struct rmcp_strides *stride, int64_t outer, int64_t inner,
                  const int64_t place[3])
{
    return outer * stride->outer + inner * stride->inner + place[0] * stride->space[0] +
           place[1] * stride->space[1] + place[2] * stride->space[2];
}

/* Steps `place` through a box; false after the last. */
static bool next(int64_t place[3], const int64_t box[3])
{
    for (int d = 2; d >= 0; d--) {
        if (++place[d] < box[d]) return true;
        place[d] = 0;
    }
    return false;
}

static void clear(struct support_tensors *t, int slot)
{
    memset(t->of[slot], 0, (size_t)t->n[slot] * sizeof(float));
}

/* ---- impulse ---- */

/* Whether tap f of output o lies on input i, in every dimension. */
static bool meet(const struct rmcp_convolution *conv, const int64_t o[3], const int64_t f[3],
                 const int64_t i[3])
{
    for (int d = 0; d < 3; d++)
        if (o[d] * conv->stride[d] + f[d] * conv->dilation[d] != i[d] + conv->pad_begin[d])
            return false;
    return true;
}

/* The weight that ties channel c at i to channel k at o; 0 when none does. */
static double tie(const struct rmcp_convolution *conv, const float *w, int64_t k,
                  const int64_t o[3], int64_t c, const int64_t i[3])
{
    if (k / conv->group_k != c / conv->group_c) return 0;
    int64_t f[3] = { 0 };
    do
        if (meet(conv, o, f, i)) return (double)w[at(&conv->w, k, c % conv->group_c, f)];
    while (next(f, conv->filter));
    return 0;
}

/* A single 1 in x gives the filter in y; a single 1 in dy gives it in dx; both give a 1 in dw. */
static void check_impulse(const struct subject *s)
{
    const struct rmcp_convolution *conv = &s->conv;
    struct support_tensors t;
    support_tensors_init(&t, conv, 9, 1);
    float *weights = malloc((size_t)t.n[RMCP_CONV_W] * sizeof(float));
    assert_non_null(weights);
    memcpy(weights, t.of[RMCP_CONV_W], (size_t)t.n[RMCP_CONV_W] * sizeof(float));

    const int64_t n = conv->n - 1, c = conv->c - 1, k = conv->k - 1;
    const int64_t middle[3] = { conv->input[0] / 2, conv->input[1] / 2, conv->input[2] / 2 };
    const int64_t out[3] = { conv->output[0] / 2, conv->output[1] / 2, conv->output[2] / 2 };
    clear(&t, RMCP_CONV_X);
    t.of[RMCP_CONV_X][at(&conv->x, n, c, middle)] = 1;
    run(s, RMCP_CONV_FORWARD, &t);
    for (int64_t image = 0; image < conv->n; image++)
        for (int64_t channel = 0; channel < conv->k; channel++) {
            int64_t o[3] = { 0 };
            do
                assert_near(s, "an impulse forward",
                            (double)t.of[RMCP_CONV_Y][at(&conv->y, image, channel, o)],
                            image == n ? tie(conv, weights, channel, o, c, middle) : 0);
            while (next(o, conv->output));
        }

    clear(&t, RMCP_CONV_Y);
    t.of[RMCP_CONV_Y][at(&conv->y, n, k, out)] = 1;
    run(s, RMCP_CONV_BACKWARD_DATA, &t);
    for (int64_t image = 0; image < conv->n; image++)
        for (int64_t channel = 0; channel < conv->c; channel++) {
            int64_t i[3] = { 0 };
            do
                assert_near(s, "an impulse back to the data",
                            (double)t.of[RMCP_CONV_X][at(&conv->x, image, channel, i)],
                            image == n ? tie(conv, weights, k, out, channel, i) : 0);
            while (next(i, conv->input));
        }

    clear(&t, RMCP_CONV_X);
    t.of[RMCP_CONV_X][at(&conv->x, n, c, middle)] = 1;
    run(s, RMCP_CONV_BACKWARD_WEIGHTS, &t);
    for (int64_t outer = 0; outer < conv->k; outer++)
        for (int64_t inner = 0; inner < conv->group_c; inner++) {
            int64_t f[3] = { 0 };
            const bool here = outer == k && k / conv->group_k * conv->group_c + inner == c;
            do
                assert_near(s, "an impulse back to the weights",
                            (double)t.of[RMCP_CONV_W][at(&conv->w, outer, inner, f)],
                            here && meet(conv, out, f, middle) ? 1 : 0);
            while (next(f, conv->filter));
        }
    free(weights);
    support_tensors_deinit(&t);
}

/* ---- linearity ---- */

/* Each pass is linear in each of its two inputs: f(2a + b) = 2 f(a) + f(b). */
static void check_linearity(const struct subject *s)
{
    for (int pass = 0; pass < RMCP_CONV_PASSES; pass++) {
        const struct rmcp_convolution conv = support_conv(&s->problem, (rmcp_conv_pass)pass);
        const int out = (int)rmcp_conv_output_slot(&conv);
        for (int slot = RMCP_CONV_X; slot <= RMCP_CONV_Y; slot++) {
            if (slot == out) continue;
            struct support_tensors a, b, both;
            support_tensors_init(&a, &conv, 1, 3);
            support_tensors_init(&b, &conv, 1, 3);
            support_tensors_init(&both, &conv, 1, 3); /* the other input is the same in all */
            struct support_tensors fresh;
            support_tensors_init(&fresh, &conv, 1, 4);
            for (int64_t i = 0; i < b.n[slot]; i++) {
                b.of[slot][i] = fresh.of[slot][i];
                both.of[slot][i] = 2 * a.of[slot][i] + b.of[slot][i];
            }
            run(s, (rmcp_conv_pass)pass, &a);
            run(s, (rmcp_conv_pass)pass, &b);
            run(s, (rmcp_conv_pass)pass, &both);
            for (int64_t i = 0; i < a.n[out]; i++)
                assert_near(s, "a sum of inputs", (double)both.of[out][i],
                            2 * (double)a.of[out][i] + (double)b.of[out][i]);
            support_tensors_deinit(&a);
            support_tensors_deinit(&b);
            support_tensors_deinit(&both);
            support_tensors_deinit(&fresh);
        }
    }
}

/* ---- shift ---- */

/* Moving the image by one stride moves the result by one place; what moves out must be zero. */
static void check_shift_along(const struct subject *s, int d)
{
    const struct rmcp_convolution *conv = &s->conv;
    if (conv->input[d] <= conv->stride[d] || conv->output[d] < 2) return;
    struct support_tensors still, moved;
    support_tensors_init(&still, conv, 1, 5);
    support_tensors_init(&moved, conv, 1, 5);
    clear(&moved, RMCP_CONV_X);
    for (int64_t n = 0; n < conv->n; n++)
        for (int64_t c = 0; c < conv->c; c++) {
            int64_t i[3] = { 0 };
            do {
                int64_t there[3] = { i[0], i[1], i[2] };
                there[d] += conv->stride[d];
                float *value = &still.of[RMCP_CONV_X][at(&conv->x, n, c, i)];
                if (there[d] < conv->input[d])
                    moved.of[RMCP_CONV_X][at(&conv->x, n, c, there)] = *value;
                else
                    *value = 0;
            } while (next(i, conv->input));
        }
    run(s, RMCP_CONV_FORWARD, &still);
    run(s, RMCP_CONV_FORWARD, &moved);
    for (int64_t n = 0; n < conv->n; n++)
        for (int64_t k = 0; k < conv->k; k++) {
            int64_t o[3] = { 0 };
            do {
                int64_t there[3] = { o[0], o[1], o[2] };
                if (++there[d] >= conv->output[d]) continue;
                assert_near(s, "a shift", (double)moved.of[RMCP_CONV_Y][at(&conv->y, n, k, there)],
                            (double)still.of[RMCP_CONV_Y][at(&conv->y, n, k, o)]);
            } while (next(o, conv->output));
        }
    support_tensors_deinit(&still);
    support_tensors_deinit(&moved);
}

static void check_shift(const struct subject *s)
{
    for (int d = 0; d < 3; d++) check_shift_along(s, d);
}

/* ---- adjoints ---- */

static double dot(const struct support_tensors *a, const struct support_tensors *b, int slot)
{
    double sum = 0;
    for (int64_t i = 0; i < a->n[slot]; i++) sum += (double)a->of[slot][i] * (double)b->of[slot][i];
    return sum;
}

/* <conv(x, w), g> = <x, backward_data(g, w)> = <w, backward_weights(x, g)> */
static void check_adjoint(const struct subject *s)
{
    struct support_tensors input, t;
    support_tensors_init(&input, &s->conv, 1, 6); /* x, w, and the gradient of y */
    double product[RMCP_CONV_PASSES];
    for (int pass = 0; pass < RMCP_CONV_PASSES; pass++) {
        const struct rmcp_convolution conv = support_conv(&s->problem, (rmcp_conv_pass)pass);
        const int out = (int)rmcp_conv_output_slot(&conv);
        support_tensors_init(&t, &s->conv, 1, 6);
        run(s, (rmcp_conv_pass)pass, &t);
        product[pass] = dot(&t, &input, out);
        support_tensors_deinit(&t);
    }
    assert_near(s, "<x, backward data>", product[RMCP_CONV_BACKWARD_DATA],
                product[RMCP_CONV_FORWARD]);
    assert_near(s, "<w, backward weights>", product[RMCP_CONV_BACKWARD_WEIGHTS],
                product[RMCP_CONV_FORWARD]);
    support_tensors_deinit(&input);
}

/* ---- numeric gradients ---- */

/* The sum of y^3 / 3: its slope, y^2, tells a wrong sign and a wrong place. */
static double loss(const struct subject *s, struct support_tensors *t)
{
    run(s, RMCP_CONV_FORWARD, t);
    double sum = 0;
    for (int64_t i = 0; i < t->n[RMCP_CONV_Y]; i++) {
        const double y = (double)t->of[RMCP_CONV_Y][i];
        sum += y * y * y / 3;
    }
    return sum;
}

/* The five-point formula is exact for polynomials of this degree, up to the thirds. */
static double numeric_slope(const struct subject *s, struct support_tensors *t, int slot, int64_t i)
{
    static const double weight[] = { 1, -8, 0, 8, -1 };
    const float before = t->of[slot][i];
    double sum = 0;
    for (int step = -2; step <= 2; step++) {
        if (!step) continue;
        t->of[slot][i] = before + (float)step;
        sum += weight[step + 2] * loss(s, t);
    }
    t->of[slot][i] = before;
    return sum / 12;
}

static void check_gradient(const struct subject *s)
{
    if (s->conv.type != RMCP_F32) return; /* y^2 does not fit in the mantissa of the others */
    struct support_tensors t, gradient;
    support_tensors_init(&t, &s->conv, 1, 8);
    support_tensors_init(&gradient, &s->conv, 1, 8);
    run(s, RMCP_CONV_FORWARD, &gradient);
    for (int64_t i = 0; i < gradient.n[RMCP_CONV_Y]; i++)
        gradient.of[RMCP_CONV_Y][i] *= gradient.of[RMCP_CONV_Y][i];
    for (int pass = RMCP_CONV_BACKWARD_DATA; pass <= RMCP_CONV_BACKWARD_WEIGHTS; pass++) {
        const int slot = pass == RMCP_CONV_BACKWARD_DATA ? RMCP_CONV_X : RMCP_CONV_W;
        enum { SAMPLES = 6 };
        struct support_tensors result;
        support_tensors_init(&result, &s->conv, 1, 8);
        memcpy(result.of[RMCP_CONV_Y], gradient.of[RMCP_CONV_Y],
               (size_t)result.n[RMCP_CONV_Y] * sizeof(float));
        run(s, (rmcp_conv_pass)pass, &result);
        for (int64_t sample = 0; sample < SAMPLES; sample++) {
            const int64_t i = sample * (t.n[slot] - 1) / (SAMPLES - 1);
            const double got = (double)result.of[slot][i];
            const double expected = numeric_slope(s, &t, slot, i);
            if (!(fabs(got - expected) <= (1e-9 + s->tolerance) * (1 + fabs(expected))))
                fail_msg("%s: d loss / d %c[%lld] is %.9g, numerically %.9g", s->name, "xw"[slot],
                         (long long)i, got, expected);
        }
        support_tensors_deinit(&result);
    }
    support_tensors_deinit(&t);
    support_tensors_deinit(&gradient);
}

static void test_an_impulse_gives_the_filter_back(void **state)
{
    for_each(state, check_impulse);
}
static void test_every_pass_is_linear(void **state)
{
    for_each(state, check_linearity);
}
static void test_a_shift_by_the_stride_shifts_the_result(void **state)
{
    for_each(state, check_shift);
}
static void test_the_passes_are_adjoint(void **state)
{
    for_each(state, check_adjoint);
}
static void test_backward_passes_are_the_gradient(void **state)
{
    for_each(state, check_gradient);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_an_impulse_gives_the_filter_back),
        cmocka_unit_test(test_every_pass_is_linear),
        cmocka_unit_test(test_a_shift_by_the_stride_shifts_the_result),
        cmocka_unit_test(test_the_passes_are_adjoint),
        cmocka_unit_test(test_backward_passes_are_the_gradient),
    };
    return cmocka_run_group_tests(tests, open_device, close_device);
}
