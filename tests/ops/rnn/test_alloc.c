/* test_alloc.c: every allocation of recurrent networks fails in turn: the call reports it and leaks
 * nothing. */
#include "allocations.h"
#include "support.h"

#include "core/judge.h"
#include "ops/rnn/rnn.h"

#include <stdlib.h>

static rmcp_device *device;
static const char *text;

static rmcp_status read_case(void)
{
    const struct rmcp_operation *operation;
    struct rmcp_any_problem problems[RMCP_MOST_PASSES];
    size_t count = 0;
    return rmcp_case_parse(text, &operation, problems, &count);
}

static rmcp_status judge(void)
{
    const struct rmcp_operation *operation;
    struct rmcp_any_problem problems[RMCP_MOST_PASSES];
    size_t count = 0;
    rmcp_status status = rmcp_case_parse(text, &operation, problems, &count);
    struct rmcp_judgement j;
    if (!status)
        status = rmcp_judge_problem(device, operation, &problems[0], "reference", RMCP_DATA_REALS,
                                    1, 0, &j);
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
    static const char *const texts[] = {
        "rnn:t3n2i3h4l2:lstm:train:bi:bias:hx:cx:hy:cy:drop0.5:batches2x1,1x2",
        "rnn:t3n2i3h4l2:gru:bwd:bi:bias:hx:hy:dhx:batches2x1,1x2",
        "rnn:t3n2i3h4:tanh:wrw:bias:batches2x1,1x2",
    };
    device = support_open();
    for (size_t i = 0; i < SUPPORT_LENGTH(texts); i++) {
        text = texts[i];
        assert_int_equal(judge(), RMCP_OK); /* threads and what a device makes once */
        fail_each(read_case);
        fail_each(judge);
    }
    rmcp_device_close(device);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(test_each) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
