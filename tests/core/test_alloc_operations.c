/* test_alloc_operations.c: every allocation of every operation fails in turn, in reading its case
 * strings, planning, and judging each of its algorithms on the CPU: the call reports it and leaks
 * nothing. What executes allocates nothing, but for references. */
#include "allocations.h"
#include "support.h"

#include "engine/core/judge.h"
#include "engine/core/plan.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static rmcp_device *device;

/* What is tried. */
static struct {
    char text[RMCP_CASE_MAX];
    const struct rmcp_operation *operation;
    struct rmcp_any_problem problem;
    const struct rmcp_algo *algo;
} now;

static rmcp_status read_case(void)
{
    const struct rmcp_operation *operation;
    struct rmcp_any_problem problems[RMCP_MOST_PASSES];
    size_t count = 0;
    return rmcp_case_parse(now.text, &operation, problems, &count);
}

static rmcp_status plan_and_destroy(void)
{
    const rmcp_plan_options options = { .struct_size = sizeof options,
                                        .algorithm = now.algo->name };
    rmcp_plan *plan = (rmcp_plan *)&now;
    rmcp_status status = rmcp_plan_make(device, now.operation, now.problem.bytes, &options, &plan);
    if (status) assert_null(plan);
    rmcp_plan_destroy(plan);
    return status;
}

static rmcp_status ask(void)
{
    rmcp_candidate list[RMCP_MOST_ALGOS] = { { .struct_size = sizeof *list } };
    size_t n = RMCP_MOST_ALGOS;
    return rmcp_plan_ask(device, now.operation, now.problem.bytes, NULL, list, &n);
}

static rmcp_status judge(void)
{
    struct rmcp_judgement j;
    rmcp_status status = rmcp_judge_problem(device, now.operation, now.problem.bytes,
                                            now.algo->name, RMCP_DATA_REALS, 1, 0, &j);
    if (!status && !j.passed) fail_msg("%s, %s: %s", now.text, now.algo->name, j.why);
    return status;
}

/* With the first, the second, … allocation failing, alone or with all that follow, until nothing
 * fails any more. Returns how many there are. */
static long fail_each(rmcp_status (*call)(void), bool rest)
{
    for (long first = 1; first < 2000; first++) {
        const long live = allocations_live();
        allocations_arm(first, rest);
        const rmcp_status status = call();
        const long calls = allocations_calls();
        allocations_arm(0, false);
        if (status) support_assert_failed(status, RMCP_E_NOMEM, "memory");
        if (allocations_live() != live)
            fail_msg("%s, %s, allocation %ld: %ld blocks leak", now.text, now.algo->name, first,
                     allocations_live() - live);
        if (calls < first) {
            assert_int_equal(status, RMCP_OK);
            return first - 1;
        }
    }
    fail_msg("%s, %s never succeeds", now.text, now.algo->name);
    return 0;
}

/* Executing a plan whose algorithm is no reference. */
static void needs_no_memory(void)
{
    rmcp_plan *plan = NULL;
    const rmcp_plan_options options = { .struct_size = sizeof options,
                                        .algorithm = now.algo->name };
    assert_int_equal(rmcp_plan_make(device, now.operation, now.problem.bytes, &options, &plan),
                     RMCP_OK);
    rmcp_memory memory[RMCP_MOST_SLOTS] = { { NULL, 0 } };
    rmcp_slots slots = { .struct_size = sizeof slots,
                         .count = now.operation->n_slots,
                         .memory = memory,
                         .workspace_bytes = rmcp_plan_workspace(plan) };
    for (unsigned i = 0; i < now.operation->n_slots; i++) {
        rmcp_slot_info info = { .struct_size = sizeof info };
        assert_int_equal(rmcp_plan_slot(plan, i, &info), RMCP_OK);
        if (!info.bytes) continue;
        assert_int_equal(rmcp_buffer_create(device, info.bytes, &memory[i]), RMCP_OK);
        if (info.read)
            now.operation->fill(now.problem.bytes, i, RMCP_DATA_REALS, 1, memory[i].base);
    }
    if (slots.workspace_bytes)
        assert_int_equal(rmcp_buffer_create(device, slots.workspace_bytes, &slots.workspace),
                         RMCP_OK);
    assert_int_equal(rmcp_plan_run(plan, NULL, &slots), RMCP_OK); /* threads */
    allocations_arm(1, true);
    for (int i = 0; i < 3; i++) assert_int_equal(rmcp_plan_run(plan, NULL, &slots), RMCP_OK);
    if (allocations_calls()) fail_msg("%s, %s allocates in execution", now.text, now.algo->name);
    allocations_arm(0, false);
    for (unsigned i = 0; i < now.operation->n_slots; i++) rmcp_buffer_destroy(device, memory[i]);
    rmcp_buffer_destroy(device, slots.workspace);
    rmcp_plan_destroy(plan);
}

/* Every algorithm of ours that takes a problem; oneDNN's allocations are not ours. Returns how many
 * do. */
static int try_problem(void)
{
    int tried = 0;
    for (size_t a = 0; now.operation->algos[a]; a++) {
        now.algo = now.operation->algos[a];
        if (now.algo->kind != RMCP_LAUNCH_HOST_CALL || !strcmp(now.algo->name, "onednn")) continue;
        if (judge() == RMCP_E_UNSUPPORTED) continue; /* and makes what a device makes once */
        for (int rest = 0; rest < 2; rest++) {
            assert_true(fail_each(plan_and_destroy, rest) >= 3); /* plan, state, records */
            assert_true(fail_each(judge, rest) >= 6);
        }
        if (!now.algo->judge) needs_no_memory();
        tried++;
    }
    fail_each(read_case, false);
    fail_each(ask, true);
    return tried;
}

static int try_text(const char *text)
{
    struct rmcp_any_problem problems[RMCP_MOST_PASSES];
    size_t count = 0;
    int tried = 0;
    snprintf(now.text, sizeof now.text, "%s", text);
    if (rmcp_case_parse(now.text, &now.operation, problems, &count))
        fail_msg("%s: %s", text, rmcp_last_error());
    for (size_t i = 0; i < count; i++) {
        now.problem = problems[i];
        tried += try_problem();
    }
    return tried;
}

/* The first problem that each operation is tried with on a GPU. */
static void test_trials(void **state)
{
    (void)state;
    for (size_t o = 0; rmcp_operations[o]; o++) {
        const struct rmcp_operation *operation = rmcp_operations[o];
        char text[RMCP_CASE_MAX];
        const char *pattern = operation->trials[0], *hole = strstr(pattern, "%s");
        snprintf(text, sizeof text, "%s%s%.*s%s%s", operation->nameless ? "" : operation->name,
                 operation->nameless ? "" : ":", (int)(hole ? hole - pattern : 255), pattern,
                 hole ? "f16" : "", hole ? hole + 2 : "");
        assert_true(try_text(text) > 0);
    }
}

/* What has allocations of its own beside. */
static void test_others(void **state)
{
    (void)state;
    static const char *const texts[] = {
        "tensor:40x1000:sum:c1x1000",
        "tensor:200000:sum:c1",
        "tensor:3x5:copy:c/1x3",
        "gemm:m5n7k9:tn:b2:c/9",
        "batchnorm:n2c3h4w5:bwd:nhwc:relu",
        "rnn:t3n2i3h4l2:lstm:train:bi:bias:hx:cx:hy:cy:drop0.5:batches2x1,1x2",
        "rnn:t3n2i3h4l2:gru:bwd:bi:bias:hx:hy:dhx:batches2x1,1x2",
    };
    for (size_t i = 0; i < SUPPORT_LENGTH(texts); i++) assert_true(try_text(texts[i]) > 0);
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
        cmocka_unit_test(test_trials),
        cmocka_unit_test(test_others),
    };
    return cmocka_run_group_tests(tests, open_device, close_device);
}
