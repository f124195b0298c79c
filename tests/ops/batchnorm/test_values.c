/* test_values.c: what batch normalisation computes, beside the judge's reference: numbers done by
 * hand, properties, NaN and infinities, and the same bits each time. */
#include "norms.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static rmcp_device *device;

static int open_device(void **state)
{
    (void)state;
    device = support_open();
    return 0;
}

static int close_device(void **state)
{
    (void)state;
    rmcp_device_close(device);
    return 0;
}

/* Calls `check` with the results of every algorithm that takes the problem. */
static void with_each(const char *text, void (*change)(struct norm_arrays *),
                      void (*check)(const struct rmcp_norm *, const struct norm_arrays *))
{
    const struct rmcp_norm norm = norm_of(text);
    char names[NORM_MOST_ALGOS][32];
    const size_t n = norm_algorithms(device, &norm, names);
    for (size_t i = 0; i < n; i++) {
        struct norm_arrays a;
        norm_arrays_init(&a, &norm, RMCP_DATA_REALS, 5);
        if (change) change(&a);
        norm_run(device, &norm, names[i], &a);
        print_message("%s: %s\n", text, names[i]);
        check(&norm, &a);
        norm_arrays_deinit(&a);
    }
}

static void assert_near(float got, double expected)
{
    if (fabs((double)got - expected) > 2e-6 * (1 + fabs(expected)))
        fail_msg("%.9g instead of %.9g", (double)got, expected);
}

/* ---- by hand: two images, one channel of two pixels, values 1 2 | 3 6 ---- */

static void set_by_hand(struct norm_arrays *a)
{
    const float x[] = { 1, 2, 3, 6 }, dy[] = { 1, 0, 0, 0 };
    memcpy(a->of[RMCP_NORM_X], x, sizeof x);
    if (a->n[RMCP_NORM_DY]) memcpy(a->of[RMCP_NORM_DY], dy, sizeof dy);
    const float one[] = { 2, -1, 10, 20 }; /* scale, bias, running mean and variance */
    const unsigned slots[] = { RMCP_NORM_SCALE, RMCP_NORM_BIAS, RMCP_NORM_RUNNING_MEAN,
                               RMCP_NORM_RUNNING_VARIANCE };
    for (int i = 0; i < 4; i++)
        if (a->n[slots[i]]) a->of[slots[i]][0] = one[i];
}

/* mean 3, variance 3.5, with epsilon 0.5 a deviation of 2 */
static void check_train(const struct rmcp_norm *norm, const struct norm_arrays *a)
{
    (void)norm;
    const double y[] = { -3, -2, -1, 2 };
    for (int i = 0; i < 4; i++) assert_near(a->of[RMCP_NORM_Y][i], y[i]);
    assert_near(a->of[RMCP_NORM_SAVED_MEAN][0], 3);
    assert_near(a->of[RMCP_NORM_SAVED_INVERSE][0], 0.5);
    assert_near(a->of[RMCP_NORM_RUNNING_MEAN][0], 0.75 * 10 + 0.25 * 3);
    assert_near(a->of[RMCP_NORM_RUNNING_VARIANCE][0], 0.75 * 20 + 0.25 * 3.5 * 4 / 3);
}

static void check_train_relu(const struct rmcp_norm *norm, const struct norm_arrays *a)
{
    (void)norm;
    for (int i = 0; i < 4; i++) assert_near(a->of[RMCP_NORM_Y][i], i < 3 ? 0 : 2);
}

/* (x - 10) / sqrt(20.25) * 2 - 1, epsilon being 0.25 */
static void check_infer(const struct rmcp_norm *norm, const struct norm_arrays *a)
{
    (void)norm;
    for (int i = 0; i < 4; i++)
        assert_near(a->of[RMCP_NORM_Y][i], ((double)a->of[RMCP_NORM_X][i] - 10) / 4.5 * 2 - 1);
    assert_near(a->of[RMCP_NORM_RUNNING_MEAN][0], 10);
}

/* sum 1, product -2: dx = 2 * 0.5 * (dy - 1/4 - (x - 3) / 4 * -2 / 4) */
static void check_backward(const struct rmcp_norm *norm, const struct norm_arrays *a)
{
    (void)norm;
    assert_near(a->of[RMCP_NORM_DBIAS][0], 1);
    assert_near(a->of[RMCP_NORM_DSCALE][0], -1);
    const double dx[] = { 1 - 0.25 - 0.25, -0.25 - 0.125, -0.25, -0.25 + 0.375 };
    for (int i = 0; i < 4; i++) assert_near(a->of[RMCP_NORM_DX][i], dx[i]);
}

/* The only gradient arrives where the activation cuts off. */
static void check_backward_relu(const struct rmcp_norm *norm, const struct norm_arrays *a)
{
    (void)norm;
    assert_true(a->of[RMCP_NORM_DBIAS][0] == 0 && a->of[RMCP_NORM_DSCALE][0] == 0);
    for (int i = 0; i < 4; i++) assert_true(a->of[RMCP_NORM_DX][i] == 0);
}

static void test_by_hand(void **state)
{
    (void)state;
    static const char *const layouts[] = { "nchw", "nhwc" };
    for (int i = 0; i < 2; i++) {
        char text[128];
        snprintf(text, sizeof text, "n2c1w2:%s:train:running:saved:eps0.5:mom0.25", layouts[i]);
        with_each(text, set_by_hand, check_train);
        snprintf(text, sizeof text, "n2c1w2:%s:train:relu:eps0.5", layouts[i]);
        with_each(text, set_by_hand, check_train_relu);
        snprintf(text, sizeof text, "n2c1w2:%s:infer:eps0.25", layouts[i]);
        with_each(text, set_by_hand, check_infer);
        snprintf(text, sizeof text, "n2c1w2:%s:bwd:eps0.5", layouts[i]);
        with_each(text, set_by_hand, check_backward);
        snprintf(text, sizeof text, "n2c1w2:%s:bwd:eps0.5:relu", layouts[i]);
        with_each(text, set_by_hand, check_backward_relu);
    }
}

/* ---- one element: no variance, and the biased one goes to the running variance ---- */

static void check_single(const struct rmcp_norm *norm, const struct norm_arrays *a)
{
    for (int64_t p = 0; p < norm->params; p++) {
        assert_near(a->of[RMCP_NORM_Y][p], (double)a->of[RMCP_NORM_BIAS][p]);
        assert_near(a->of[RMCP_NORM_SAVED_INVERSE][p], 1 / sqrt(1e-5));
        assert_true(a->of[RMCP_NORM_SAVED_MEAN][p] == a->of[RMCP_NORM_X][p]);
        assert_true(a->of[RMCP_NORM_RUNNING_VARIANCE][p] == 0);
    }
}

static void test_single_element(void **state)
{
    (void)state;
    with_each("n1c7w1:train:running:saved:mom1", NULL, check_single);
    with_each("n1c3h2w2:train:activation:running:saved:mom1", NULL, check_single);
}

/* ---- properties ---- */

/* The mean of y is the bias, its deviation the scale. */
static void check_normal(const struct rmcp_norm *norm, const struct norm_arrays *a)
{
    for (int64_t p = 0; p < norm->params; p++) {
        double sum = 0, squares = 0;
        for (int64_t o = 0; o < norm->outer; o++)
            for (int64_t i = 0; i < norm->inner; i++) {
                const double y =
                    (double)a->of[RMCP_NORM_Y][(o * norm->params + p) * norm->inner + i] -
                    (double)a->of[RMCP_NORM_BIAS][p];
                sum += y, squares += y * y;
            }
        const double scale = (double)a->of[RMCP_NORM_SCALE][p];
        assert_true(fabs(sum / (double)norm->count) < 3e-5);
        assert_true(fabs(squares / (double)norm->count - scale * scale) < 1e-3);
    }
}

/* The gradient is orthogonal to a constant and to x - mean: nothing that only shifts or scales x
 * changes y (but for epsilon). */
static void check_orthogonal(const struct rmcp_norm *norm, const struct norm_arrays *a)
{
    for (int64_t p = 0; p < norm->params; p++) {
        double sum = 0, product = 0, size = 0, mean = 0;
        for (int turn = 0; turn < 2; turn++)
            for (int64_t o = 0; o < norm->outer; o++)
                for (int64_t i = 0; i < norm->inner; i++) {
                    const int64_t at = (o * norm->params + p) * norm->inner + i;
                    const double x = (double)a->of[RMCP_NORM_X][at];
                    const double dx = (double)a->of[RMCP_NORM_DX][at];
                    if (turn == 0) {
                        mean += x / (double)norm->count;
                        continue;
                    }
                    sum += dx, product += dx * (x - mean), size += fabs(dx);
                }
        assert_true(size > 0);
        assert_true(fabs(sum) < 1e-5 * size);
        assert_true(fabs(product) < 1e-3 * size);
    }
}

static void test_properties(void **state)
{
    (void)state;
    with_each("n4c9h5w7:train", NULL, check_normal);
    with_each("n4c12h6w6:train:nhwc", NULL, check_normal);
    with_each("n900c5h1w2:train:activation", NULL, check_normal);
    with_each("n2c3h90w90:train", NULL, check_normal);
    with_each("n4c9h5w7:bwd", NULL, check_orthogonal);
    with_each("n4c12h6w6:bwd:nhwc:leaky0.5", NULL, check_orthogonal);
    with_each("n2c3h90w90:bwd:clamp-2x2", NULL, check_orthogonal);
}

/* ---- NaN and infinities ---- */

static float planted;
static void plant(struct norm_arrays *a)
{
    a->of[RMCP_NORM_X][7] = planted;
}

/* The channel of element 7 has no statistics any more, the others have theirs. */
static void check_planted(const struct rmcp_norm *norm, const struct norm_arrays *a)
{
    const int64_t ill = 7 / norm->inner % norm->params;
    for (int64_t i = 0; i < norm->elements; i++)
        assert_int_equal(isnan(a->of[RMCP_NORM_Y][i]) != 0, i / norm->inner % norm->params == ill);
    for (int64_t p = 0; p < norm->params; p++) {
        assert_int_equal(isnan(a->of[RMCP_NORM_SAVED_MEAN][p]) != 0, p == ill);
        assert_int_equal(isnan(a->of[RMCP_NORM_SAVED_INVERSE][p]) != 0, p == ill);
        assert_int_equal(isnan(a->of[RMCP_NORM_RUNNING_MEAN][p]) != 0, p == ill);
        assert_int_equal(isnan(a->of[RMCP_NORM_RUNNING_VARIANCE][p]) != 0, p == ill);
    }
}

/* Given statistics do not spread it; the activation does what it does to such a number. */
static void check_planted_infer(const struct rmcp_norm *norm, const struct norm_arrays *a)
{
    for (int64_t i = 0; i < norm->elements; i++) {
        const float y = a->of[RMCP_NORM_Y][i];
        if (i != 7)
            assert_true(isfinite(y));
        else if (isnan(planted))
            assert_true(isnan(y));
        else if (norm->problem.activation)
            assert_true(y == 0 || isinf(y));
        else
            assert_true(isinf(y));
    }
}

static void check_planted_backward(const struct rmcp_norm *norm, const struct norm_arrays *a)
{
    const int64_t ill = 7 / norm->inner % norm->params;
    for (int64_t i = 0; i < norm->elements; i++)
        assert_int_equal(isnan(a->of[RMCP_NORM_DX][i]) != 0, i / norm->inner % norm->params == ill);
}

static void test_nan_and_infinity(void **state)
{
    (void)state;
    const float values[] = { NAN, HUGE_VALF, -HUGE_VALF };
    for (int i = 0; i < 3; i++) {
        planted = values[i];
        with_each("n3c5h2w3:train:running:saved", plant, check_planted);
        with_each("n3c5h2w3:train:running:saved:nhwc:relu", plant, check_planted);
        with_each("n3c5h2w3:infer", plant, check_planted_infer);
        with_each("n3c5h2w3:infer:nhwc:relu", plant, check_planted_infer);
        with_each("n3c5h2w3:bwd", plant, check_planted_backward);
        with_each("n3c5h2w3:bwd:nhwc", plant, check_planted_backward);
    }
}

/* ---- the same bits ---- */

static void test_same_bits(void **state)
{
    (void)state;
    static const char *const texts[] = {
        "n3c5h40w40:train:running:saved", "n3c64h20w20:train:nhwc:saved", "n3c5h40w40:bwd:relu",
        "n3c64h20w20:bwd:nhwc",           "n300c5h2w3:train:activation",
    };
    for (size_t i = 0; i < SUPPORT_LENGTH(texts); i++) {
        const struct rmcp_norm norm = norm_of(texts[i]);
        char names[NORM_MOST_ALGOS][32];
        const size_t n = norm_algorithms(device, &norm, names);
        for (size_t j = 0; j < n; j++) {
            struct norm_arrays first, again;
            norm_arrays_init(&first, &norm, RMCP_DATA_REALS, 9);
            norm_run(device, &norm, names[j], &first);
            for (int turn = 0; turn < 3; turn++) {
                norm_arrays_init(&again, &norm, RMCP_DATA_REALS, 9);
                norm_run(device, &norm, names[j], &again);
                for (unsigned slot = 0; slot < RMCP_NORM_SLOTS; slot++)
                    assert_memory_equal(first.of[slot], again.of[slot],
                                        (size_t)first.n[slot] * sizeof(float));
                norm_arrays_deinit(&again);
            }
            norm_arrays_deinit(&first);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_by_hand),    cmocka_unit_test(test_single_element),
        cmocka_unit_test(test_properties), cmocka_unit_test(test_nan_and_infinity),
        cmocka_unit_test(test_same_bits),
    };
    return cmocka_run_group_tests(tests, open_device, close_device);
}
