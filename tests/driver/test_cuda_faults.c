/* test_cuda_faults.c: the CUDA device on a driver that fails: each call in turn, for once and for
 * good; devices that are not for us; planning inside a capture. Usage: test_cuda_faults LIBRARY */
#include "driver/cuda/api.h"
#include "fake_cuda.h"
#include "gpu/images.h"
#include "opencl_case.h"

#include <dlfcn.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static struct fake_cuda *fake;

static const rmcp_plan_options plan_options = { .struct_size = sizeof plan_options,
                                                .max_workspace = RMCP_NO_WORKSPACE };
enum { BYTES = 4 * (CASE_X + CASE_W + CASE_Y) };

/* Back to a driver where all goes well. */
static void calm(void)
{
    const long live = fake->live, depth = fake->depth;
    *fake = (struct fake_cuda){ .live = live, .depth = depth, .n_devices = 2, .major = 9 };
}

static void contains(const char *part)
{
    if (!strstr(rmcp_last_error(), part)) fail_msg("'%s' is not in '%s'", part, rmcp_last_error());
}

/* A message that no failure under test writes. */
static void mark_message(void)
{
    assert_int_equal(rmcp_device_open(NULL, NULL, NULL), RMCP_E_ARG);
}
static const char mark[] = "out is NULL";

static rmcp_tensors tensors_in(rmcp_memory memory)
{
    return (rmcp_tensors){ .struct_size = sizeof(rmcp_tensors),
                           .x = memory,
                           .w = { memory.base, 4 * CASE_X },
                           .y = { memory.base, 4 * (CASE_X + CASE_W) } };
}

/* Once lost, all is refused without a call to the driver. */
static void check_lost(rmcp_device *device, rmcp_memory memory, const rmcp_plan *plan)
{
    const long calls = fake->calls;
    const rmcp_tensors tensors = tensors_in(memory);
    rmcp_memory more;
    rmcp_plan *another = NULL;
    char byte = 0;
    assert_int_equal(rmcp_device_wait(device, NULL), RMCP_E_LOST);
    assert_int_equal(rmcp_buffer_create(device, 16, &more), RMCP_E_LOST);
    if (memory.base)
        assert_int_equal(rmcp_copy_to_device(device, NULL, memory, &byte, 1), RMCP_E_LOST);
    if (plan) assert_int_equal(rmcp_execute(plan, NULL, &tensors), RMCP_E_LOST);
    assert_int_equal(rmcp_plan_create(device, &case_problem, RMCP_FORWARD, &plan_options, &another),
                     RMCP_E_LOST);
    assert_null(another);
    contains("was lost");
    assert_int_equal(fake->calls, calls);
}

/* All that a program does, until something fails. */
static rmcp_status live(void)
{
    static const char zeros[BYTES];
    static char result[BYTES];
    rmcp_device *device = NULL;
    rmcp_plan *plan = NULL;
    rmcp_memory memory = { 0 };
    double seconds = 0;
    rmcp_status status = rmcp_device_open("cuda:1", NULL, &device);
    const rmcp_status opened = status;
    if (!status) status = rmcp_buffer_create(device, BYTES, &memory);
    if (!status) status = rmcp_copy_to_device(device, NULL, memory, zeros, BYTES);
    if (!status)
        status = rmcp_plan_create(device, &case_problem, RMCP_FORWARD, &plan_options, &plan);
    const rmcp_tensors tensors = tensors_in(memory);
    if (!status) status = rmcp_execute(plan, NULL, &tensors);
    if (!status) status = rmcp_execute_timed(plan, NULL, &tensors, &seconds);
    if (!status) assert_true(seconds > 0);
    if (!status) status = rmcp_device_wait(device, NULL);
    if (!status) status = rmcp_copy_to_host(device, NULL, result, memory, BYTES);
    if (!opened && status == RMCP_E_LOST) check_lost(device, memory, plan);
    rmcp_plan_destroy(plan);
    rmcp_buffer_destroy(device, memory);
    rmcp_device_close(device);
    return status;
}

/* ---- tests ---- */

static void reports_a_missing_driver_and_tries_again(void **state)
{
    char *path = *state;
    rmcp_device *device = NULL;
    setenv("RMCP_CUDA_LIBRARY", "/nonexistent/libcuda.so", 1);
    assert_int_equal(rmcp_device_open("cuda", NULL, &device), RMCP_E_DEVICE);
    contains("/nonexistent/libcuda.so");
    /* "auto" passes it over and says why. */
    unsetenv("RMCP_DEVICE");
    assert_int_equal(rmcp_device_open("auto", NULL, &device), RMCP_OK);
    rmcp_device_info info = { .struct_size = sizeof info };
    assert_int_equal(rmcp_device_describe(device, &info), RMCP_OK);
    if (strncmp(info.spec, "hip", 3) &&
        !strstr(rmcp_device_note(device), "/nonexistent/libcuda.so"))
        fail_msg("no reason in '%s'", rmcp_device_note(device));
    rmcp_device_close(device);
    setenv("RMCP_CUDA_LIBRARY", "libm.so.6", 1);
    assert_int_equal(rmcp_device_open("cuda", NULL, &device), RMCP_E_DEVICE);
    contains("cuInit");
    setenv("RMCP_CUDA_LIBRARY", path, 1);
    calm();
    fake->n_devices = 0;
    assert_int_equal(rmcp_device_open("cuda", NULL, &device), RMCP_E_DEVICE);
    contains("finds no device");
    calm();
    fake->fail_at = 1;
    fake->code = 999;
    assert_int_equal(rmcp_device_open("cuda", NULL, &device), RMCP_E_DEVICE);
    contains("does not start: unknown error (999)");
    calm();
    assert_int_equal(live(), RMCP_OK);
    assert_int_equal(fake->live, 0);
    fake->n_devices = 0;
    assert_int_equal(rmcp_device_open("cuda", NULL, &device), RMCP_E_DEVICE);
    contains("finds no device");
    calm();
}

static void describes(void **state)
{
    (void)state;
    rmcp_device_info list[16];
    size_t n = 16;
    calm();
    list[0].struct_size = sizeof *list;
    assert_int_equal(rmcp_device_list(list, &n), RMCP_OK);
    const rmcp_device_info *first = list;
    while (first < list + n && strncmp(first->spec, "cuda", 4)) first++;
    assert_true(first + 1 < list + n);
    assert_string_equal(first[0].spec, "cuda:0");
    assert_string_equal(first[1].name, "fake GPU 1");
    assert_string_equal(first[1].chip, "sm_90");
    assert_string_equal(first[1].driver, "CUDA 12.4");
    assert_int_equal(first[1].usable, 1);
    /* A chip older than our PTX. */
    rmcp_device *device = NULL;
    fake->major = 5;
    assert_int_equal(rmcp_device_open("cuda:0", NULL, &device), RMCP_E_UNSUPPORTED);
    contains("sm_50");
    calm();
    assert_int_equal(rmcp_device_open("cuda:2", NULL, &device), RMCP_E_ARG);
    assert_int_equal(fake->live, 0);
    assert_int_equal(fake->depth, 0);
}

/* Fail each call once, or from there on. */
static void fail_each(int code, bool sticky)
{
    calm();
    assert_int_equal(live(), RMCP_OK);
    const long n_calls = fake->calls;
    int n_failures = 0;
    assert_true(n_calls > 40);
    for (long at = 1; at <= n_calls; at++) {
        calm();
        fake->fail_at = at;
        fake->code = code;
        fake->sticky = sticky;
        mark_message();
        const rmcp_status status = live();
        if (fake->live) fail_msg("%s fails, and %ld objects leak", fake->failed, fake->live);
        if (fake->depth) fail_msg("%s fails, and a context stays", fake->failed);
        if (fake->mode) fail_msg("%s fails, and the capture mode stays", fake->failed);
        assert_non_null(fake->failed);
        if (status == RMCP_OK) {
            assert_string_equal(rmcp_last_error(), mark); /* not needed, then not spoken of */
            continue;
        }
        n_failures++;
        if (!strcmp(rmcp_last_error(), mark)) fail_msg("%s fails without a word", fake->failed);
        if (code == RMCP_CUDA_OUT_OF_MEMORY && !strcmp(fake->failed, "cuMemAlloc")) {
            assert_int_equal(status, RMCP_E_NOMEM);
            contains("CUDA_ERROR_OUT_OF_MEMORY (2)");
        }
        if (code == RMCP_CUDA_ILLEGAL_ADDRESS && !strcmp(fake->failed, "cuLaunchKernel"))
            assert_int_equal(status, RMCP_E_LOST);
    }
    assert_true(n_failures > 20);
    calm();
}

static void fails_cleanly_wherever_a_call_fails(void **state)
{
    (void)state;
    const int codes[] = { RMCP_CUDA_OUT_OF_MEMORY, RMCP_CUDA_ILLEGAL_ADDRESS,
                          RMCP_CUDA_ECC_UNCORRECTABLE, RMCP_CUDA_INVALID_VALUE, 999 };
    for (size_t i = 0; i < sizeof codes / sizeof *codes; i++) {
        fail_each(codes[i], false);
        fail_each(codes[i], true);
    }
}

static void tells_the_compilers_words(void **state)
{
    (void)state;
    rmcp_device *device = NULL;
    rmcp_plan *plan = NULL;
    calm();
    fake->bad_ptx = 1;
    assert_int_equal(rmcp_device_open("cuda:0", NULL, &device), RMCP_OK);
    assert_int_equal(rmcp_plan_create(device, &case_problem, RMCP_FORWARD, NULL, &plan),
                     RMCP_E_DEVICE);
    contains("line 3: no such instruction");
    contains("CUDA_ERROR_INVALID_PTX (218)");
    fake->bad_ptx = 0; /* tried again */
    assert_int_equal(rmcp_plan_create(device, &case_problem, RMCP_FORWARD, NULL, &plan), RMCP_OK);
    rmcp_plan_destroy(plan);
    rmcp_device_close(device);
    assert_int_equal(fake->live, 0);
}

/* Planning by estimate and executing are legal in a capture; measuring and waiting are not. */
static void works_inside_a_capture(void **state)
{
    (void)state;
    rmcp_device *device = NULL;
    rmcp_plan *plan = NULL, *other = NULL;
    rmcp_memory memory = { 0 };
    int stream = 0;
    calm();
    assert_int_equal(rmcp_device_open("cuda:0", NULL, &device), RMCP_OK);
    assert_int_equal(rmcp_buffer_create(device, BYTES, &memory), RMCP_OK);
    const rmcp_tensors tensors = tensors_in(memory);
    fake->capturing = 1;
    assert_int_equal(rmcp_plan_create(device, &case_problem, RMCP_FORWARD, &plan_options, &plan),
                     RMCP_OK);
    assert_int_equal(rmcp_execute(plan, &stream, &tensors), RMCP_OK);
    assert_int_equal(fake->violations, 0);
    assert_int_equal(fake->mode, 0);
    assert_true(fake->launches > 0);
    assert_ptr_equal(fake->stream, &stream);
    /* Base and offset of the weights, the first argument of every kernel. */
    assert_int_equal(fake->first[0], (uintptr_t)memory.base);
    assert_int_equal(fake->first[1], 4 * CASE_X);
    assert_int_equal(rmcp_device_wait(device, &stream), RMCP_E_DEVICE);
    contains("cuStreamSynchronize");
    fake->capturing = 0;

    /* Executing makes two calls beside the launches: the context comes and goes. */
    fake->calls = fake->launches = 0;
    assert_int_equal(rmcp_execute(plan, &stream, &tensors), RMCP_OK);
    assert_int_equal(fake->calls, fake->launches + 2);

    /* The second plan finds its kernel loaded. */
    fake->calls = 0;
    assert_int_equal(rmcp_plan_create(device, &case_problem, RMCP_FORWARD, &plan_options, &other),
                     RMCP_OK);
    assert_int_equal(fake->calls, 2);
    rmcp_plan_destroy(other);
    rmcp_plan_destroy(plan);
    rmcp_buffer_destroy(device, memory);
    rmcp_device_close(device);
    assert_int_equal(fake->live, 0);
}

static void takes_the_callers_context(void **state)
{
    (void)state;
    int context = 0;
    const rmcp_device_options options = { .struct_size = sizeof options,
                                          .native_context = &context };
    rmcp_device *device = NULL;
    rmcp_device_info info = { .struct_size = sizeof info };
    calm();
    assert_int_equal(rmcp_device_open("cuda", &options, &device), RMCP_OK);
    assert_int_equal(fake->live, 0); /* nothing is held */
    assert_int_equal(rmcp_device_describe(device, &info), RMCP_OK);
    assert_string_equal(info.spec, "cuda:1");
    rmcp_device_close(device);
    assert_int_equal(fake->depth, 0);
}

int main(int argc, char **argv)
{
    void *handle = argc > 1 ? dlopen(argv[1], RTLD_NOW | RTLD_LOCAL) : NULL;
    fake = handle ? dlsym(handle, FAKE_CUDA_SYMBOL) : NULL;
    if (!fake) {
        fprintf(stderr, "usage: test_cuda_faults libfake_cuda.so\n");
        return 99;
    }
    if (!rmcp_kernel_target_for("sm_90")) {
        printf("skipped: this build has no PTX (%s)\n", rmcp_kernel_missing());
        return 77;
    }
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_prestate(reports_a_missing_driver_and_tries_again, argv[1]),
        cmocka_unit_test(describes),
        cmocka_unit_test(fails_cleanly_wherever_a_call_fails),
        cmocka_unit_test(tells_the_compilers_words),
        cmocka_unit_test(works_inside_a_capture),
        cmocka_unit_test(takes_the_callers_context),
    };
    int failures = cmocka_run_group_tests(tests, NULL, NULL);
    dlclose(handle);
    return failures;
}
