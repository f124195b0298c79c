/* test_accuracy.c: statistics of channels whose mean is far from zero, and of 10^7 elements,
 * against double precision. Sums of squares would have no digit right here. */
#include "norms.h"

#include "base/random.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/* Near to normal: the sum of four uniform numbers; deviation 1. */
static double bell(struct rmcp_random *r)
{
    double sum = 0;
    for (int i = 0; i < 4; i++) sum += (double)rmcp_random_real(r);
    return sum * sqrt(0.75);
}

/* Fill x of a problem of one channel, and return mean and variance of what f32 made of it. */
static void fill(float *x, int64_t n, double mean, double *true_mean, double *true_variance)
{
    struct rmcp_random r = { 11 };
    double sum = 0, squares = 0;
    for (int64_t i = 0; i < n; i++) {
        x[i] = (float)(mean + bell(&r));
        sum += (double)x[i];
    }
    *true_mean = sum / (double)n;
    for (int64_t i = 0; i < n; i++) {
        const double distance = (double)x[i] - *true_mean;
        squares += distance * distance;
    }
    *true_variance = squares / (double)n;
}

/* Relative to the deviation, which is 1: the mean may be off by a rounding of itself and a little,
 * the inverse by some roundings. The old way, in f32, is printed beside it. */
static void measure(rmcp_device *device, const char *text, double mean)
{
    const struct rmcp_norm norm = norm_of(text);
    char names[NORM_MOST_ALGOS][32];
    const size_t n = norm_algorithms(device, &norm, names);
    for (size_t i = 0; i < n; i++) {
        struct norm_arrays a;
        double true_mean, true_variance;
        norm_arrays_init(&a, &norm, RMCP_DATA_INTEGERS, 1);
        fill(a.of[RMCP_NORM_X], norm.elements, mean, &true_mean, &true_variance);
        float sum = 0, squares = 0;
        for (int64_t e = 0; e < norm.elements; e++) {
            sum += a.of[RMCP_NORM_X][e];
            squares += a.of[RMCP_NORM_X][e] * a.of[RMCP_NORM_X][e];
        }
        const double naive_mean = (double)sum / (double)norm.count;
        const double naive = (double)squares / (double)norm.count - naive_mean * naive_mean;
        norm_run(device, &norm, names[i], &a);

        const double inverse = 1 / sqrt(true_variance + norm.problem.epsilon);
        const double mean_error = fabs((double)a.of[RMCP_NORM_SAVED_MEAN][0] - true_mean);
        const double inverse_error =
            fabs((double)a.of[RMCP_NORM_SAVED_INVERSE][0] - inverse) / inverse;
        double y_error = 0;
        for (int64_t e = 0; e < norm.elements; e += 97) {
            const double y = ((double)a.of[RMCP_NORM_X][e] - true_mean) * inverse *
                                 (double)a.of[RMCP_NORM_SCALE][0] +
                             (double)a.of[RMCP_NORM_BIAS][0];
            y_error = fmax(y_error, fabs((double)a.of[RMCP_NORM_Y][e] - y));
        }
        print_message(
            "%-9s %-32s mean %6g: error of the mean %.1e, of the inverse %.1e, of y %.1e; "
            "one pass of squares: variance %g instead of %g\n",
            names[i], text, mean, mean_error, inverse_error, y_error, naive, true_variance);
        assert_true(mean_error <= 2 * 0x1p-24 * fabs(mean) + 1e-6);
        assert_true(inverse_error <= 2e-6);
        assert_true(y_error <= 6 * (mean_error + inverse_error * 4 + 2e-6));
        norm_arrays_deinit(&a);
    }
}

static void test_far_from_zero(void **state)
{
    (void)state;
    rmcp_device *device = support_open();
    static const double means[] = { 0, 1, 1e3, 1e4 };
    for (size_t i = 0; i < SUPPORT_LENGTH(means); i++) {
        measure(device, "n8c1h100w100:train:saved", means[i]);
        measure(device, "n8c1h100w100:train:saved:nhwc", means[i]);
        measure(device, "n4c1h3w3:train:saved", means[i]);
    }
    rmcp_device_close(device);
}

static void test_many_elements(void **state)
{
    (void)state;
    rmcp_device *device = support_open();
    static const double means[] = { 0, 1e3, 1e4 };
    for (size_t i = 0; i < SUPPORT_LENGTH(means); i++) {
        measure(device, "n10c1h1000w1000:train:saved", means[i]);
        measure(device, "n10c1h1000w1000:train:saved:nhwc", means[i]);
    }
    rmcp_device_close(device);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_far_from_zero),
        cmocka_unit_test(test_many_elements),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
