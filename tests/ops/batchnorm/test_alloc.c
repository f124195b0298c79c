/* test_alloc.c: every allocation of batch normalisation fails in turn: the call reports it and
 * leaks nothing. */
#include "allocations.h"
#include "norms.h"

#include "core/judge.h"

#include <stdlib.h>

static rmcp_device *device;
static struct rmcp_norm norm;
static const char *algorithm;

static rmcp_status make_plan(rmcp_plan **plan)
{
    const rmcp_plan_options options = { .struct_size = sizeof options, .algorithm = algorithm };
    return rmcp_batchnorm_plan(device, &norm.problem, norm.pass, &options, plan);
}

static rmcp_status plan_and_destroy(void)
{
    rmcp_plan *plan = NULL;
    const rmcp_status status = make_plan(&plan);
    if (status) assert_null(plan);
    rmcp_plan_destroy(plan);
    return status;
}

static rmcp_status judge(void)
{
    struct rmcp_judgement j;
    const rmcp_status status = rmcp_judge_problem(device, &rmcp_operation_batchnorm, &norm,
                                                  algorithm, RMCP_DATA_REALS, 1, 0, &j);
    if (!status) assert_true(j.passed);
    return status;
}

/* With the first, the second, … allocation failing, until nothing fails any more. */
static void fail_each(rmcp_status (*call)(void))
{
    long failed = 0;
    for (long first = 1; first < 1000; first++) {
        const long live = allocations_live();
        allocations_arm(first, first % 2);
        const rmcp_status status = call();
        const long calls = allocations_calls();
        allocations_arm(0, false);
        if (status) {
            support_assert_failed(status, RMCP_E_NOMEM, "memory");
            failed++;
        }
        assert_int_equal(allocations_live(), live);
        if (calls < first) {
            assert_int_equal(status, RMCP_OK);
            assert_true(failed > 0);
            return;
        }
    }
    fail_msg("it never succeeds");
}

static void test_each(void **state)
{
    (void)state;
    static const char *const texts[] = { "n2c3h4w5:train:running:saved", "n2c3h4w5:infer",
                                         "n2c3h4w5:bwd:nhwc:relu" };
    device = support_open();
    for (size_t i = 0; i < SUPPORT_LENGTH(texts); i++) {
        norm = norm_of(texts[i]);
        static const char *const algorithms[] = { "loops", "reference" };
        for (size_t j = 0; j < 2; j++) {
            algorithm = algorithms[j];
            assert_int_equal(judge(), RMCP_OK); /* threads and what a device makes once */
            fail_each(plan_and_destroy);
            fail_each(judge);
        }
    }
    rmcp_device_close(device);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(test_each) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
