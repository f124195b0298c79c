/* test_gemm_alloc.c: every allocation of a matrix product fails in turn: the call reports it and
 * leaks nothing. */
#include "allocations.h"
#include "core/judge.h"
#include "ops/gemm/gemm.h"
#include "support.h"

static rmcp_device *device;

static rmcp_status make_plan(const rmcp_gemm *gemm, const char *algorithm)
{
    const rmcp_plan_options options = { .struct_size = sizeof options, .algorithm = algorithm };
    rmcp_plan *plan = (rmcp_plan *)&options;
    rmcp_status status = rmcp_gemm_plan(device, gemm, &options, &plan);
    if (status) assert_null(plan);
    rmcp_plan_destroy(plan);
    return status;
}

static rmcp_status judge(const rmcp_gemm *gemm, const char *algorithm)
{
    struct rmcp_gemm_form form;
    struct rmcp_judgement judgement;
    rmcp_status status = rmcp_gemm_form_init(&form, gemm);
    if (!status)
        status = rmcp_judge_problem(device, &rmcp_operation_gemm, &form, algorithm, RMCP_DATA_REALS,
                                    1, 0, &judgement);
    if (!status) assert_true(judgement.passed);
    return status;
}

static const char *const cases[][2] = {
    { "m5n7k9:f16:bias_row", "reference" },
    { "m5n7k9:tn:b2:c/9", "reference" },
};

/* Fails the first, the second … allocation, alone and with all that follow. Returns how many. */
static long fail_each(rmcp_status (*call)(const rmcp_gemm *, const char *), size_t which)
{
    rmcp_gemm gemm = { .struct_size = sizeof gemm };
    assert_int_equal(rmcp_gemm_parse(cases[which][0], &gemm), RMCP_OK);
    long most = 0;
    for (int rest = 0; rest < 2; rest++)
        for (long first = 1;; first++) {
            const long live = allocations_live();
            allocations_arm(first, rest);
            const rmcp_status status = call(&gemm, cases[which][1]);
            const long calls = allocations_calls();
            allocations_arm(0, false);
            if (status) support_assert_failed(status, RMCP_E_NOMEM, "memory");
            assert_int_equal(allocations_live(), live);
            if (calls < first) {
                assert_int_equal(status, RMCP_OK);
                if (first - 1 > most) most = first - 1;
                break;
            }
        }
    return most;
}

static void test_plans(void **state)
{
    (void)state;
    for (size_t i = 0; i < SUPPORT_LENGTH(cases); i++)
        assert_true(fail_each(make_plan, i) >= 3); /* plan, state, records */
}

static void test_the_judge(void **state)
{
    (void)state;
    for (size_t i = 0; i < SUPPORT_LENGTH(cases); i++) assert_true(fail_each(judge, i) >= 6);
}

static int open_device(void **state)
{
    (void)state;
    return rmcp_device_open("cpu", NULL, &device) != RMCP_OK;
}

static int close_device(void **state)
{
    (void)state;
    rmcp_device_close(device);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_plans),
        cmocka_unit_test(test_the_judge),
    };
    return cmocka_run_group_tests(tests, open_device, close_device);
}
