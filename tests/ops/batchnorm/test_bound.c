/* test_bound.c: the judge of batch normalisation: every algorithm stays well inside its bound, and
 * one element left out, a wrong divisor or the other variance do not. */
#include "norms.h"

#include "base/convert.h"
#include "engine/core/judge.h"

#include <math.h>
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

/* The worst share of the bound over random problems, and that it is not far too wide. */
static void test_inside(void **state)
{
    (void)state;
    double worst = 0;
    for (uint64_t seed = 0; seed < 150; seed++) {
        struct rmcp_norm norm;
        char text[RMCP_CASE_MAX], names[NORM_MOST_ALGOS][32];
        rmcp_norm_draw(seed, &norm);
        if (norm.elements > 60000) continue;
        assert_int_equal(rmcp_norm_print(&norm, text, sizeof text), RMCP_OK);
        const size_t n = norm_algorithms(device, &norm, names);
        for (size_t i = 0; i < n; i++)
            for (int data = 0; data < RMCP_N_DATA; data++) {
                struct rmcp_judgement j;
                assert_int_equal(rmcp_judge_problem(device, &rmcp_operation_batchnorm, &norm,
                                                    names[i], (enum rmcp_data)data, seed, 0, &j),
                                 RMCP_OK);
                if (!j.passed) fail_msg("%s, %s, seed %d: %s", text, names[i], (int)seed, j.why);
                if (norm.type == RMCP_F32 && strcmp(names[i], "reference"))
                    worst = fmax(worst, j.worst);
            }
    }
    print_message("the largest error is %.3f of its bound\n", worst);
    assert_true(worst > 0.02 && worst < 0.9);
}

/* Computes in f32 from values changed by `change`, then asks the judge's reference of the
 * unchanged. */
static double share_of(const char *text, unsigned slot, int64_t index, double factor, double shift)
{
    const struct rmcp_norm norm = norm_of(text);
    struct norm_arrays a;
    norm_arrays_init(&a, &norm, RMCP_DATA_REALS, 3);
    struct rmcp_reference r = { .problem = &norm, .data = RMCP_DATA_REALS, .error_factor = 1 };
    for (unsigned i = 0; i < RMCP_NORM_SLOTS; i++) r.host[i] = a.of[i];
    assert_int_equal(rmcp_norm_reference_begin(&r), RMCP_OK);
    const struct rmcp_expected e = rmcp_norm_expect(&r, slot, index);
    rmcp_norm_reference_end(&r);
    assert_true(e.allowed > 0);
    assert_true(rmcp_error_share(e, RMCP_F32, (float)e.value) <= 1);
    const double share = rmcp_error_share(e, RMCP_F32, (float)(e.value * factor + shift));
    norm_arrays_deinit(&a);
    return share;
}

/* What typical mistakes change, in a problem of 2000 elements a channel. */
static void test_mistakes(void **state)
{
    (void)state;
    const char *train = "n20c4h10w10:train:running:saved", *backward = "n20c4h10w10:bwd";
    const double m = 2000;
    /* one of the elements left out of the mean (they are up to 1 from it) */
    assert_true(share_of(train, RMCP_NORM_SAVED_MEAN, 0, 1, 0.1 / m) > 1);
    /* the unbiased variance instead of the biased, the other way round, and the divisor off by one
     */
    assert_true(share_of(train, RMCP_NORM_SAVED_INVERSE, 0, sqrt((m - 1) / m), 0) > 1);
    assert_true(share_of(train, RMCP_NORM_RUNNING_VARIANCE, 0, 1, -0.1 / 3 / m) > 1);
    /* y without epsilon, when the variance is a third */
    assert_true(share_of(train, RMCP_NORM_Y, 0, 1 + 1.5e-5, 0) > 1);
    /* one gradient of the sum left out */
    assert_true(share_of(backward, RMCP_NORM_DBIAS, 0, 1, 0.01) > 1);
    assert_true(share_of(backward, RMCP_NORM_DSCALE, 0, 1, 0.01) > 1);
    assert_true(share_of(backward, RMCP_NORM_DX, 0, 1 + 1e-4, 0) > 1);
}

/* Sums of integers are exact: no other value is right. */
static void test_exact(void **state)
{
    (void)state;
    const struct rmcp_norm norm = norm_of("n20c4h10w10:bwd");
    struct norm_arrays a;
    norm_arrays_init(&a, &norm, RMCP_DATA_INTEGERS, 3);
    struct rmcp_reference r = { .problem = &norm, .data = RMCP_DATA_INTEGERS, .error_factor = 1 };
    for (unsigned i = 0; i < RMCP_NORM_SLOTS; i++) r.host[i] = a.of[i];
    assert_int_equal(rmcp_norm_reference_begin(&r), RMCP_OK);
    for (int64_t p = 0; p < norm.params; p++)
        assert_true(rmcp_norm_expect(&r, RMCP_NORM_DBIAS, p).allowed == 0);
    rmcp_norm_reference_end(&r);
    norm_arrays_deinit(&a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_inside),
        cmocka_unit_test(test_mistakes),
        cmocka_unit_test(test_exact),
    };
    return cmocka_run_group_tests(tests, open_device, close_device);
}
