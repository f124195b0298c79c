/* test_alloc.c: every allocation of the library fails in turn: the call reports it and leaks
 * nothing. */
#include "allocations.h"
#include "support.h"

#include "engine/ops/conv/conv.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* One thing to try: run() returns its status, and whatever it made is in here. */
struct trial {
    rmcp_status (*run)(struct trial *);
    const char *name;
    const char *spec;
    rmcp_device *device, *opened;
    rmcp_conv problem;
    rmcp_conv_pass pass;
    rmcp_plan_options options;
    rmcp_plan *plan;
    rmcp_memory buffer;
};

/* Runs it with the first, the second, … allocation failing, until nothing fails any more. Returns
 * how many allocations it makes. */
static long fail_each(struct trial *t, bool rest)
{
    for (long first = 1; first < 1000; first++) {
        const long live = allocations_live();
        t->plan = (rmcp_plan *)t, t->opened = (rmcp_device *)t, t->buffer.base = t;
        allocations_arm(first, rest);
        const rmcp_status status = t->run(t);
        const long calls = allocations_calls();
        allocations_arm(0, false);
        if (status) {
            if (status != RMCP_E_NOMEM)
                fail_msg("%s, allocation %ld: %s, %s", t->name, first, rmcp_status_name(status),
                         rmcp_last_error());
            support_assert_failed(status, RMCP_E_NOMEM, "memory");
            assert_true(t->plan == NULL || t->plan == (rmcp_plan *)t);
            assert_true(t->opened == NULL || t->opened == (rmcp_device *)t);
            assert_true(t->buffer.base == NULL || t->buffer.base == t);
        } else {
            if (t->plan != (rmcp_plan *)t) rmcp_plan_destroy(t->plan);
            if (t->opened != (rmcp_device *)t) rmcp_device_close(t->opened);
            if (t->buffer.base != t) rmcp_buffer_destroy(t->device, t->buffer);
        }
        if (allocations_live() != live)
            fail_msg("%s, allocation %ld: %ld blocks leak", t->name, first,
                     allocations_live() - live);
        if (calls < first) {
            assert_int_equal(status, RMCP_OK);
            return first - 1;
        }
    }
    fail_msg("%s never succeeds", t->name);
    return 0;
}

static long fail_both_ways(struct trial *t)
{
    fail_each(t, false);
    return fail_each(t, true);
}

static rmcp_status run_open(struct trial *t)
{
    return rmcp_device_open(t->spec, NULL, &t->opened);
}

static rmcp_status run_plan(struct trial *t)
{
    return rmcp_conv_plan(t->device, &t->problem, t->pass, &t->options, &t->plan);
}

/* A limit that is new each time, so that no remembered choice fits. */
static rmcp_status run_measure(struct trial *t)
{
    static uint64_t limit = UINT64_C(1) << 40;
    t->options.max_workspace = limit++;
    return run_plan(t);
}

static rmcp_status run_candidates(struct trial *t)
{
    rmcp_candidate list[RMCP_MOST_ALGOS] = { { .struct_size = sizeof *list } };
    size_t n = RMCP_MOST_ALGOS;
    return rmcp_conv_candidates(t->device, &t->problem, t->pass, &t->options, list, &n);
}

static rmcp_status run_buffer(struct trial *t)
{
    return rmcp_buffer_create(t->device, 1000, &t->buffer);
}

static rmcp_status run_verify(struct trial *t)
{
    struct rmcp_judgement result;
    rmcp_status status = rmcp_conv_judge(t->device, &t->problem, t->pass, t->options.algorithm,
                                         RMCP_DATA_REALS, 1, 0, &result);
    if (!status) assert_true(result.passed);
    return status;
}

static rmcp_status run_text(struct trial *t)
{
    char text[RMCP_CASE_MAX];
    rmcp_conv_info shape = { .struct_size = sizeof shape };
    rmcp_conv problem = { .struct_size = sizeof problem };
    int pass;
    rmcp_status status = rmcp_conv_parse("n1c2h5w5k3r3s3:leaky0.1", &problem, &pass);
    if (!status) status = rmcp_conv_print(&problem, pass, text, sizeof text);
    if (!status) status = rmcp_conv_describe(&t->problem, &shape);
    return status;
}

static rmcp_status run_list(struct trial *t)
{
    (void)t;
    size_t n = 0;
    return rmcp_device_list(NULL, &n);
}

/* Measured choices are remembered for the life of the process: one table, made beforehand. */
enum { REMEMBERED = 1 };

static int open_device(void **state)
{
    /* no cache on disk, so that measuring is not left out */
    setenv("XDG_CACHE_HOME", "", 1);
    setenv("HOME", "", 1);
    rmcp_device *device = NULL;
    if (rmcp_device_open("cpu", NULL, &device)) return 1;
    *state = device;
    const rmcp_conv problem = support_case("n1c2h5w5k3r3s3", NULL);
    const rmcp_plan_options options = { .struct_size = sizeof options, .effort = RMCP_MEASURE };
    rmcp_plan *plan = NULL;
    rmcp_status status = rmcp_conv_plan(device, &problem, RMCP_CONV_FORWARD, &options, &plan);
    rmcp_plan_destroy(plan);
    return status != RMCP_OK;
}

static int close_device(void **state)
{
    rmcp_device_close(*state);
    return allocations_live() > REMEMBERED; /* nothing else is left of all the tests */
}

static void test_opening_a_device(void **state)
{
    struct trial t = { .run = run_open, .name = "open cpu", .device = *state, .spec = "cpu" };
    assert_true(fail_both_ways(&t) >= 1);
    setenv("RMCP_DEVICE", "auto", 1);
    t.spec = NULL, t.name = "open auto";
    assert_true(fail_each(&t, true) >= 1);
}

static void test_strings_shapes_and_lists_need_no_memory(void **state)
{
    struct trial t = { .run = run_text, .name = "text", .device = *state };
    t.problem = support_case("n1c2h5w5k3r3s3", NULL);
    assert_int_equal(fail_both_ways(&t), 0);
    t.run = run_list, t.name = "list";
    fail_both_ways(&t);
}

static void test_buffers(void **state)
{
    struct trial t = { .run = run_buffer, .name = "buffer", .device = *state };
    assert_true(fail_both_ways(&t) >= 1);
}

static const char *const cases[] = {
    "n1c8h9w9k8r3s3p1:bias:relu", /* the formats are oneDNN's own: reorders */
    "n1c8h9w9k8r3s3p1:f16:nhwc",  /* conversions                            */
    "n1c3h9w9k5r3s3p1u2:bf16",
};

/* Every algorithm, case and pass; returns the most allocations that one of them made. */
static long for_each_plan(struct trial *t)
{
    long most = 0;
    for (size_t c = 0; c < SUPPORT_LENGTH(cases); c++)
        for (int pass = 0; pass < RMCP_CONV_PASSES; pass++)
            for (size_t a = 0; rmcp_algos_conv[a]; a++) {
                if (!(rmcp_algos_conv[a]->kind & t->device->caps.kinds)) continue;
                if (t->options.fixed_weights.base && pass == RMCP_CONV_BACKWARD_WEIGHTS) continue;
                char name[160];
                snprintf(name, sizeof name, "%s pass %d, %s", cases[c], pass,
                         rmcp_algos_conv[a]->name);
                t->name = name;
                t->problem = support_case(cases[c], NULL);
                t->pass = (rmcp_conv_pass)pass;
                t->options.algorithm = rmcp_algos_conv[a]->name;
                const long n = fail_both_ways(t);
                if (n > most) most = n;
            }
    return most;
}

static void test_plans(void **state)
{
    struct trial t = { .run = run_plan,
                       .device = *state,
                       .options.struct_size = sizeof(rmcp_plan_options) };
    assert_true(for_each_plan(&t) >= 3); /* plan, state, records */
}

static void test_plans_with_fixed_weights(void **state)
{
    static float weights[8 * 8 * 3 * 3];
    struct trial t = { .run = run_plan,
                       .device = *state,
                       .options = { .struct_size = sizeof(rmcp_plan_options),
                                    .fixed_weights = { weights, 0 } } };
    assert_true(for_each_plan(&t) >= 3);
}

static void test_candidates(void **state)
{
    struct trial t = { .run = run_candidates,
                       .device = *state,
                       .options.struct_size = sizeof(rmcp_plan_options) };
    for_each_plan(&t);
}

static void test_measuring(void **state)
{
    struct trial t = { .run = run_measure,
                       .name = "measure",
                       .device = *state,
                       .options = { .struct_size = sizeof(rmcp_plan_options),
                                    .effort = RMCP_MEASURE } };
    for (size_t c = 0; c < SUPPORT_LENGTH(cases); c++) {
        t.problem = support_case(cases[c], NULL);
        assert_true(fail_both_ways(&t) >= 5); /* tensors, and a plan of each algorithm */
    }
}

static void test_the_judge(void **state)
{
    struct trial t = { .run = run_verify,
                       .device = *state,
                       .options.struct_size = sizeof(rmcp_plan_options) };
    assert_true(for_each_plan(&t) >= 6);
}

static void test_execution_needs_no_memory(void **state)
{
    for (size_t c = 0; c < SUPPORT_LENGTH(cases); c++)
        for (int pass = 0; pass < RMCP_CONV_PASSES; pass++) {
            rmcp_device *device = *state;
            const rmcp_conv problem = support_case(cases[c], NULL);
            rmcp_conv_info shape = { .struct_size = sizeof shape };
            rmcp_plan *plan = NULL;
            rmcp_memory memory[RMCP_MOST_SLOTS] = { { 0 } };
            assert_int_equal(rmcp_conv_describe(&problem, &shape), RMCP_OK);
            assert_int_equal(rmcp_conv_plan(device, &problem, (rmcp_conv_pass)pass, NULL, &plan),
                             RMCP_OK);
            const uint64_t bytes[] = { shape.x_bytes, shape.w_bytes, shape.y_bytes,
                                       shape.bias_bytes, rmcp_plan_workspace(plan) };
            for (size_t slot = 0; slot < SUPPORT_LENGTH(bytes); slot++) {
                if (!bytes[slot]) continue;
                assert_int_equal(rmcp_buffer_create(device, bytes[slot], &memory[slot]), RMCP_OK);
                memset(memory[slot].base, 0, bytes[slot]);
            }
            const rmcp_conv_tensors tensors = {
                .struct_size = sizeof tensors,
                .x = memory[0],
                .w = memory[1],
                .y = memory[2],
                .bias = memory[3],
                .workspace = memory[4],
                .workspace_bytes = bytes[4],
            };
            allocations_arm(1, true);
            for (int i = 0; i < 3; i++)
                assert_int_equal(rmcp_conv_execute(plan, NULL, &tensors), RMCP_OK);
            assert_int_equal(allocations_calls(), 0);
            allocations_arm(0, false);
            for (int slot = 0; slot < RMCP_MOST_SLOTS; slot++)
                rmcp_buffer_destroy(device, memory[slot]);
            rmcp_plan_destroy(plan);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_opening_a_device),
        cmocka_unit_test(test_strings_shapes_and_lists_need_no_memory),
        cmocka_unit_test(test_buffers),
        cmocka_unit_test(test_plans),
        cmocka_unit_test(test_plans_with_fixed_weights),
        cmocka_unit_test(test_candidates),
        cmocka_unit_test(test_measuring),
        cmocka_unit_test(test_the_judge),
        cmocka_unit_test(test_execution_needs_no_memory),
    };
    return cmocka_run_group_tests(tests, open_device, close_device);
}
