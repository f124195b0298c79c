/* life.c: all that a program does on a device, from opening to closing. */
#include "life.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

void life_contains(const char *text, const char *part)
{
    if (!strstr(text, part)) fail_msg("'%s' is not in '%s'", part, text);
}

void life_mark_message(void)
{
    assert_int_equal(rmcp_device_open(NULL, NULL, NULL), RMCP_E_ARG);
}

bool life_is_marked(void)
{
    return !strcmp(rmcp_last_error(), "out is NULL");
}

rmcp_conv_tensors life_tensors(void *base)
{
    return (rmcp_conv_tensors){ .struct_size = sizeof(rmcp_conv_tensors),
                                .x = { base, AT_X },
                                .w = { base, AT_W },
                                .y = { base, AT_Y } };
}

rmcp_status life_plan(rmcp_device *device, const char *algorithm, rmcp_plan **out)
{
    const rmcp_plan_options options = { .struct_size = sizeof options,
                                        .max_workspace = RMCP_NO_WORKSPACE,
                                        .algorithm = algorithm };
    return rmcp_conv_plan(device, &case_problem, RMCP_CONV_FORWARD, &options, out);
}

rmcp_status life_execute(rmcp_device *device, const rmcp_plan *plan, void *stream, void *base,
                         unsigned seed, double *seconds, bool *right)
{
    float x[CASE_X], w[CASE_W], y[CASE_Y];
    unsigned char before[CASE_BYTES], after[CASE_BYTES];
    case_fill(seed, x, w, y);
    memset(before, 0xff, sizeof before); /* NaN */
    memcpy(before + AT_X, x, sizeof x);
    memcpy(before + AT_W, w, sizeof w);
    const rmcp_memory all = { base, 0 };
    const rmcp_conv_tensors tensors = life_tensors(base);
    *right = false;
    rmcp_status status = rmcp_copy_to_device(device, stream, all, before, sizeof before);
    if (!status)
        status = seconds ? rmcp_conv_execute_timed(plan, stream, &tensors, seconds)
                         : rmcp_conv_execute(plan, stream, &tensors);
    if (!status) status = rmcp_copy_to_host(device, stream, after, all, sizeof after);
    if (status) return status;
    memcpy(before + AT_Y, y, sizeof y);
    *right = !memcmp(before, after, sizeof after);
    return RMCP_OK;
}

/* Once lost, all is refused without a call to the driver. */
static void check_lost(const struct life *life, rmcp_device *device, rmcp_memory memory,
                       const rmcp_plan *plan)
{
    const long calls = life->calls ? *life->calls : 0;
    rmcp_memory more;
    rmcp_plan *another = NULL;
    char byte = 0;
    if (life->code) {
        char text[32];
        snprintf(text, sizeof text, "(%d)", *life->code);
        life_contains(rmcp_last_error(), text);
    }
    assert_int_equal(rmcp_device_wait(device, NULL), RMCP_E_LOST);
    assert_int_equal(rmcp_buffer_create(device, 16, &more), RMCP_E_LOST);
    assert_null(more.base);
    if (memory.base) {
        assert_int_equal(rmcp_copy_to_device(device, NULL, memory, &byte, 1), RMCP_E_LOST);
        assert_int_equal(rmcp_copy_to_host(device, NULL, &byte, memory, 1), RMCP_E_LOST);
    }
    if (plan) {
        const rmcp_conv_tensors tensors = life_tensors(memory.base);
        double seconds = 0;
        assert_int_equal(rmcp_conv_execute(plan, NULL, &tensors), RMCP_E_LOST);
        assert_int_equal(rmcp_conv_execute_timed(plan, NULL, &tensors, &seconds), RMCP_E_LOST);
    }
    assert_int_equal(life_plan(device, life->algorithm, &another), RMCP_E_LOST);
    assert_null(another);
    life_contains(rmcp_last_error(), "was lost");
    if (life->calls) assert_int_equal(*life->calls, calls);
}

rmcp_status life_run(const struct life *life)
{
    rmcp_device *device = NULL;
    rmcp_plan *plan = NULL;
    rmcp_memory memory = { 0 };
    double seconds = 0;
    bool right = true;
    rmcp_status status = rmcp_device_open(life->spec, NULL, &device);
    if (!status) status = rmcp_buffer_create(device, CASE_BYTES, &memory);
    if (!status) status = life_plan(device, life->algorithm, &plan);
    if (!status) status = life_execute(device, plan, NULL, memory.base, 1, NULL, &right);
    if (!status) assert_true(right);
    if (!status) status = life_execute(device, plan, NULL, memory.base, 2, &seconds, &right);
    if (!status) assert_true(right && seconds > 0);
    if (!status) status = rmcp_device_wait(device, NULL);
    if (device && status == RMCP_E_LOST) check_lost(life, device, memory, plan);
    rmcp_plan_destroy(plan);
    rmcp_buffer_destroy(device, memory);
    rmcp_device_close(device);
    return status;
}
