/* support.c: what the tests share: a device, cases, and running a plan on host arrays. */
#include "support.h"

#include "base/convert.h"
#include "base/random.h"

#include <stdlib.h>
#include <string.h>

rmcp_device *support_open(void)
{
    const char *spec = getenv("RMCP_TEST_DEVICE");
    rmcp_device *device = NULL;
    if (rmcp_device_open(spec && *spec ? spec : "cpu", NULL, &device))
        fail_msg("%s", rmcp_last_error());
    assert_non_null(device);
    return device;
}

rmcp_conv support_case(const char *text, int *pass)
{
    rmcp_conv problem = { .struct_size = sizeof problem };
    if (rmcp_conv_parse(text, &problem, pass)) fail_msg("%s", rmcp_last_error());
    return problem;
}

struct rmcp_convolution support_conv(const rmcp_conv *problem, rmcp_conv_pass pass)
{
    struct rmcp_convolution conv;
    if (rmcp_conv_init(&conv, problem, (int)pass)) fail_msg("%s", rmcp_last_error());
    return conv;
}

void support_assert_one_line(const char *text)
{
    assert_non_null(text);
    assert_true(*text);
    for (const char *c = text; *c; c++)
        if ((unsigned char)*c < 32 || *c == 127)
            fail_msg("byte %d at %zu of the message '%s'", *c, (size_t)(c - text), text);
}

void support_assert_failed(rmcp_status status, rmcp_status expected, const char *part)
{
    const char *message = rmcp_last_error();
    if (status != expected)
        fail_msg("%s instead of %s; the last message is '%s'", rmcp_status_name(status),
                 rmcp_status_name(expected), message);
    support_assert_one_line(message);
    if (!strstr(message, part)) fail_msg("'%s' is not in the message '%s'", part, message);
}

void support_tensors_init(struct support_tensors *t, const struct rmcp_convolution *conv,
                          int64_t most, uint64_t seed)
{
    struct rmcp_random r = { seed };
    for (int slot = 0; slot < SUPPORT_N_TENSORS; slot++) {
        t->n[slot] = rmcp_conv_elements(conv, (unsigned)slot);
        t->of[slot] = malloc((size_t)(t->n[slot] + 1) * sizeof(float));
        assert_non_null(t->of[slot]);
        for (int64_t i = 0; i < t->n[slot]; i++)
            t->of[slot][i] = (float)rmcp_random_between(&r, -most, most);
    }
}

void support_tensors_deinit(struct support_tensors *t)
{
    for (int slot = 0; slot < SUPPORT_N_TENSORS; slot++) free(t->of[slot]);
}

void support_execute(rmcp_device *device, const rmcp_plan *plan, struct support_tensors *t)
{
    const struct rmcp_convolution *conv = plan->request.problem;
    const uint64_t element = rmcp_type_bytes(conv->type);
    const int out = (int)rmcp_conv_output_slot(conv);
    rmcp_memory memory[RMCP_MOST_SLOTS] = { { 0 } };
    void *staging[SUPPORT_N_TENSORS] = { 0 };
    for (int slot = 0; slot < SUPPORT_N_TENSORS; slot++) {
        const uint64_t bytes = (uint64_t)rmcp_conv_elements(conv, (unsigned)slot) * element;
        if (!bytes) continue;
        staging[slot] = malloc(bytes);
        assert_non_null(staging[slot]);
        for (int64_t i = 0; i < (int64_t)(bytes / element); i++)
            rmcp_store(staging[slot], conv->type, i, t->of[slot][i]);
        assert_int_equal(rmcp_buffer_create(device, bytes, &memory[slot]), RMCP_OK);
        assert_int_equal(rmcp_copy_to_device(device, NULL, memory[slot], staging[slot], bytes),
                         RMCP_OK);
    }
    const uint64_t workspace = rmcp_plan_workspace(plan);
    if (workspace)
        assert_int_equal(rmcp_buffer_create(device, workspace, &memory[RMCP_SLOT_WORKSPACE]),
                         RMCP_OK);
    const rmcp_conv_tensors tensors = {
        .struct_size = sizeof tensors,
        .x = memory[RMCP_CONV_X],
        .w = memory[RMCP_CONV_W],
        .y = memory[RMCP_CONV_Y],
        .bias = memory[RMCP_CONV_BIAS],
        .workspace = memory[RMCP_SLOT_WORKSPACE],
        .workspace_bytes = workspace,
    };
    if (rmcp_conv_execute(plan, NULL, &tensors)) fail_msg("%s", rmcp_last_error());
    const uint64_t bytes = (uint64_t)rmcp_conv_elements(conv, (unsigned)out) * element;
    assert_int_equal(rmcp_copy_to_host(device, NULL, staging[out], memory[out], bytes), RMCP_OK);
    for (int64_t i = 0; i < (int64_t)(bytes / element); i++)
        t->of[out][i] = rmcp_load(staging[out], conv->type, i);
    for (int slot = 0; slot < RMCP_MOST_SLOTS; slot++) rmcp_buffer_destroy(device, memory[slot]);
    for (int slot = 0; slot < SUPPORT_N_TENSORS; slot++) free(staging[slot]);
}

void support_run(rmcp_device *device, const rmcp_conv *problem, rmcp_conv_pass pass,
                 const rmcp_plan_options *options, struct support_tensors *t)
{
    rmcp_plan *plan = NULL;
    if (rmcp_conv_plan(device, problem, pass, options, &plan)) fail_msg("%s", rmcp_last_error());
    support_execute(device, plan, t);
    rmcp_plan_destroy(plan);
}
