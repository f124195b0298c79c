/* test_cuda_faults.c: what is CUDA's own, on a fake driver: which devices are for us, the words of
 * its compiler, what a capture allows, the caller's context. Usage: test_cuda_faults LIBRARY */
#include "engine/gpu/images.h"
#include "fake_cuda.h"
#include "life.h"

#include <dlfcn.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static struct fake_cuda *fake;

static rmcp_status live(void)
{
    return life_run(&(struct life){ .spec = "cuda:1", .algorithm = "direct" });
}

/* Back to a driver where all goes well. */
static void calm(void)
{
    const long live = fake->live, depth = fake->depth;
    *fake = (struct fake_cuda){ .live = live, .depth = depth, .n_devices = 2, .major = 9 };
}

static void contains(const char *part)
{
    life_contains(rmcp_last_error(), part);
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

static void tells_the_compilers_words(void **state)
{
    (void)state;
    rmcp_device *device = NULL;
    rmcp_plan *plan = NULL;
    calm();
    fake->bad_ptx = 1;
    assert_int_equal(rmcp_device_open("cuda:0", NULL, &device), RMCP_OK);
    assert_int_equal(rmcp_conv_plan(device, &case_problem, RMCP_CONV_FORWARD, NULL, &plan),
                     RMCP_E_DEVICE);
    contains("line 3: no such instruction");
    contains("CUDA_ERROR_INVALID_PTX (218)");
    fake->bad_ptx = 0; /* tried again */
    assert_int_equal(rmcp_conv_plan(device, &case_problem, RMCP_CONV_FORWARD, NULL, &plan),
                     RMCP_OK);
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
    assert_int_equal(rmcp_buffer_create(device, CASE_BYTES, &memory), RMCP_OK);
    const rmcp_conv_tensors tensors = life_tensors(memory.base);
    fake->capturing = 1;
    assert_int_equal(life_plan(device, NULL, &plan), RMCP_OK);
    assert_int_equal(rmcp_conv_execute(plan, &stream, &tensors), RMCP_OK);
    assert_int_equal(fake->violations, 0);
    assert_int_equal(fake->mode, 0);
    assert_true(fake->launches > 0);
    assert_ptr_equal(fake->stream, &stream);
    /* Base and offset of the weights, the first argument of every kernel. */
    assert_int_equal(fake->first[0], (uintptr_t)memory.base);
    assert_int_equal(fake->first[1], AT_W);
    assert_int_equal(rmcp_device_wait(device, &stream), RMCP_E_DEVICE);
    contains("cuStreamSynchronize");
    fake->capturing = 0;

    /* Executing makes two calls beside the launches: the context comes and goes. */
    fake->calls = fake->launches = 0;
    assert_int_equal(rmcp_conv_execute(plan, &stream, &tensors), RMCP_OK);
    assert_int_equal(fake->calls, fake->launches + 2);

    /* The second plan finds its kernel loaded. */
    fake->calls = 0;
    assert_int_equal(life_plan(device, NULL, &other), RMCP_OK);
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
        cmocka_unit_test(tells_the_compilers_words),
        cmocka_unit_test(works_inside_a_capture),
        cmocka_unit_test(takes_the_callers_context),
    };
    int failures = cmocka_run_group_tests(tests, NULL, NULL);
    dlclose(handle);
    return failures;
}
