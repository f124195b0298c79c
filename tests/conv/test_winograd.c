/* test_winograd.c: what Winograd promises beside its results, on the OpenCL driver that is
 * installed; skipped without one: the same bits each time, whatever the workspace held, and no part
 * in strict plans. */
#include "rmcp.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { REPETITIONS = 1000 };

#define assert_ok(call)                                                                            \
    do {                                                                                           \
        if ((call) != RMCP_OK) fail_msg("%s: %s", #call, rmcp_last_error());                       \
    } while (0)

static rmcp_device *device;

/* One problem with its memory: x, w, y and the workspace. */
struct life {
    rmcp_conv problem;
    rmcp_conv_pass pass;
    rmcp_plan *plan;
    rmcp_memory memory[4];
    uint64_t bytes[4];
    unsigned output;
};

static void fill(rmcp_memory memory, uint64_t bytes, uint32_t seed, uint32_t repeated)
{
    uint32_t *words = malloc(bytes + 4);
    assert_non_null(words);
    for (uint64_t i = 0; i < bytes / 4; i++) {
        seed = seed * 1664525u + 1013904223u;
        const float value = (float)(seed >> 8) * 0x1p-23f - 1;
        if (repeated)
            words[i] = repeated;
        else
            memcpy(&words[i], &value, 4);
    }
    if (bytes) assert_ok(rmcp_copy_to_device(device, NULL, memory, words, bytes));
    free(words);
}

static void begin(struct life *life, const char *text, const char *algorithm)
{
    int pass = -1;
    *life = (struct life){ .problem = { .struct_size = sizeof life->problem } };
    assert_ok(rmcp_conv_parse(text, &life->problem, &pass));
    life->pass = (rmcp_conv_pass)pass;
    life->output = pass == RMCP_CONV_FORWARD ? 2 : pass == RMCP_CONV_BACKWARD_DATA ? 0 : 1;
    const rmcp_plan_options options = { .struct_size = sizeof options, .algorithm = algorithm };
    assert_ok(rmcp_conv_plan(device, &life->problem, life->pass, &options, &life->plan));
    assert_string_equal(rmcp_plan_algorithm(life->plan), algorithm);
    rmcp_conv_info info = { .struct_size = sizeof info };
    assert_ok(rmcp_conv_describe(&life->problem, &info));
    life->bytes[0] = info.x_bytes;
    life->bytes[1] = info.w_bytes;
    life->bytes[2] = info.y_bytes;
    life->bytes[3] = rmcp_plan_workspace(life->plan);
    for (unsigned i = 0; i < 4; i++) {
        assert_ok(
            rmcp_buffer_create(device, life->bytes[i] ? life->bytes[i] : 4, &life->memory[i]));
        fill(life->memory[i], life->bytes[i], i + 1, 0);
    }
}

static void end(struct life *life)
{
    for (unsigned i = 0; i < 4; i++) rmcp_buffer_destroy(device, life->memory[i]);
    rmcp_plan_destroy(life->plan);
}

static void execute(const struct life *life, float *result)
{
    const rmcp_conv_tensors tensors = {
        .struct_size = sizeof tensors,
        .x = life->memory[0],
        .w = life->memory[1],
        .y = life->memory[2],
        .workspace = life->memory[3],
        .workspace_bytes = life->bytes[3],
    };
    assert_ok(rmcp_conv_execute(life->plan, NULL, &tensors));
    assert_ok(rmcp_copy_to_host(device, NULL, result, life->memory[life->output],
                                life->bytes[life->output]));
}

/* ---- tests ---- */

/* NaN in the workspace and in the output before the first execution must not be seen either. */
static void same_bits(const char *text, const char *algorithm)
{
    struct life life;
    begin(&life, text, algorithm);
    const uint64_t bytes = life.bytes[life.output];
    float *first = malloc(bytes), *again = malloc(bytes);
    assert_non_null(first);
    assert_non_null(again);
    fill(life.memory[3], life.bytes[3], 0, 0x7fc00001);
    fill(life.memory[life.output], bytes, 0, 0x7fc00001);
    execute(&life, first);
    for (uint64_t i = 0; i < bytes / sizeof(float); i++) assert_true(isfinite(first[i]));
    for (int i = 0; i < REPETITIONS; i++) {
        if (i == REPETITIONS / 2) fill(life.memory[3], life.bytes[3], 0, 0xffffffff);
        execute(&life, again);
        if (memcmp(first, again, bytes))
            fail_msg("%s: %s: other bits in run %d", text, algorithm, i);
    }
    free(first);
    free(again);
    end(&life);
}

static void same_bits_each_time(void **state)
{
    (void)state;
    same_bits("n1c40h5w6k18r3s3p1:f32:nchw:fwd", "winograd");
    same_bits("n1c20h5w6k40r3s3p1:f32:nhwc:bwd_data", "winograd");
    same_bits("n1c42h5w6k18r3s3p1:f32:nhwc:fwd", "winograd_fused");
    same_bits("n1c20h5w6k40r3s3p1:f32:nchw:bwd_data", "winograd_fused");
    same_bits("n1c40h5w6k18r3s3p1:f32:nhwc:fwd", "winograd_4x4");
    same_bits("n2c20h7w6k40r3s3p1:f32:nchw:bwd_weights", "winograd_4x4");
}

/* By name it fails; else another algorithm takes the problem and keeps one NaN to the outputs that
 * see it. */
static void strict_plans_go_without(void **state)
{
    (void)state;
    static const char *const names[] = { "winograd", "winograd_4x4", "winograd_fused" };
    rmcp_conv problem = { .struct_size = sizeof problem };
    int pass = -1;
    assert_ok(rmcp_conv_parse("n8c64h28w28k64r3s3p1:f32:nchw:fwd", &problem, &pass));
    for (int i = 0; i < 3; i++) {
        rmcp_plan_options options = { .struct_size = sizeof options,
                                      .accuracy = RMCP_STRICT,
                                      .algorithm = names[i] };
        rmcp_plan *plan = NULL;
        assert_int_equal(rmcp_conv_plan(device, &problem, pass, &options, &plan),
                         RMCP_E_UNSUPPORTED);
        assert_null(plan);
        assert_non_null(strstr(rmcp_last_error(), "NaN"));
        options.algorithm = NULL;
        assert_ok(rmcp_conv_plan(device, &problem, pass, &options, &plan));
        assert_int_not_equal(strncmp(rmcp_plan_algorithm(plan), "winograd", 8), 0);
        rmcp_plan_destroy(plan);
    }
}

int main(void)
{
    rmcp_device *opened = NULL;
    if (rmcp_device_open("opencl", NULL, &opened)) {
        printf("skipped: %s\n", rmcp_last_error());
        return 77;
    }
    device = opened;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(same_bits_each_time),
        cmocka_unit_test(strict_plans_go_without),
    };
    const int failures = cmocka_run_group_tests(tests, NULL, NULL);
    rmcp_device_close(device);
    return failures;
}
