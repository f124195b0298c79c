/* test_tensor_alloc.c: every allocation of a tensor operation fails in turn: the call reports it
 * and leaks nothing. Executing allocates nothing. */
#include "allocations.h"
#include "core/judge.h"
#include "ops/tensor/tensor.h"
#include "support.h"

#include <stdlib.h>

static rmcp_device *device;

static rmcp_status make_plan(const rmcp_tensor *tensor, const char *algorithm)
{
    const rmcp_plan_options options = { .struct_size = sizeof options, .algorithm = algorithm };
    rmcp_plan *plan = (rmcp_plan *)&options;
    rmcp_status status = rmcp_tensor_plan(device, tensor, &options, &plan);
    if (status) assert_null(plan);
    rmcp_plan_destroy(plan);
    return status;
}

static rmcp_status ask(const rmcp_tensor *tensor, const char *algorithm)
{
    (void)algorithm;
    rmcp_candidate list[16] = { { .struct_size = sizeof *list } };
    size_t n = 16;
    return rmcp_tensor_candidates(device, tensor, NULL, list, &n);
}

static rmcp_status judge(const rmcp_tensor *tensor, const char *algorithm)
{
    struct rmcp_tensor_form form;
    struct rmcp_judgement judgement;
    rmcp_status status = rmcp_tensor_init(&form, tensor);
    if (!status)
        status = rmcp_judge_problem(device, &rmcp_operation_tensor, &form, algorithm,
                                    RMCP_DATA_REALS, 1, 0, &judgement);
    if (!status) assert_true(judgement.passed);
    return status;
}

static const char *const cases[][2] = {
    { "3x5:add:f16:b3x1", "loops" },
    { "3x5:copy:c/1x3", "reference" },
    { "40x1000:sum:c1x1000", "loops_sum" },
    { "200000:sum:c1", "loops_sum" },
};

/* Fails the first, the second … allocation, alone and with all that follow. Returns how many. */
static long fail_each(rmcp_status (*call)(const rmcp_tensor *, const char *), size_t which)
{
    rmcp_tensor tensor = { .struct_size = sizeof tensor };
    assert_int_equal(rmcp_tensor_parse(cases[which][0], &tensor), RMCP_OK);
    long most = 0;
    for (int rest = 0; rest < 2; rest++)
        for (long first = 1;; first++) {
            const long live = allocations_live();
            allocations_arm(first, rest);
            const rmcp_status status = call(&tensor, cases[which][1]);
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

static void test_candidates(void **state)
{
    (void)state;
    for (size_t i = 0; i < SUPPORT_LENGTH(cases); i++) fail_each(ask, i);
}

static void test_the_judge(void **state)
{
    (void)state;
    for (size_t i = 0; i < SUPPORT_LENGTH(cases); i++) assert_true(fail_each(judge, i) >= 6);
}

static void test_execution_needs_no_memory(void **state)
{
    (void)state;
    for (size_t i = 0; i < SUPPORT_LENGTH(cases); i++) {
        rmcp_tensor tensor = { .struct_size = sizeof tensor };
        rmcp_plan *plan = NULL;
        assert_int_equal(rmcp_tensor_parse(cases[i][0], &tensor), RMCP_OK);
        assert_int_equal(rmcp_tensor_plan(device, &tensor, NULL, &plan), RMCP_OK);
        rmcp_tensor_operands o = { .struct_size = sizeof o,
                                   .workspace_bytes = rmcp_plan_workspace(plan) };
        rmcp_memory *const memory[] = { &o.a, &o.b, &o.c, &o.workspace };
        for (int k = 0; k < 4; k++)
            assert_int_equal(rmcp_buffer_create(device, 1 << 20, memory[k]), RMCP_OK);
        allocations_arm(1, true);
        for (int k = 0; k < 3; k++) assert_int_equal(rmcp_tensor_execute(plan, NULL, &o), RMCP_OK);
        assert_int_equal(allocations_calls(), 0);
        allocations_arm(0, false);
        for (int k = 0; k < 4; k++) rmcp_buffer_destroy(device, *memory[k]);
        rmcp_plan_destroy(plan);
    }
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
        cmocka_unit_test(test_candidates),
        cmocka_unit_test(test_the_judge),
        cmocka_unit_test(test_execution_needs_no_memory),
    };
    return cmocka_run_group_tests(tests, open_device, close_device);
}
