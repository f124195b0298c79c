/* test_opencl_faults.c: the OpenCL device on a library that fails: each call in turn, and in the
 * ways that real drivers are known for. Usage: test_opencl_faults libfake_opencl.so */
#define _XOPEN_SOURCE 700 /* nftw */

#include "fake_opencl.h"
#include "driver/opencl/api.h"
#include "opencl_case.h"

#include <dlfcn.h>
#include <ftw.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

static struct fake_opencl *fake;
static char folder[] = "/tmp/rmcp-test-faults-XXXXXX";

static const rmcp_plan_options plan_options = { .struct_size = sizeof plan_options,
                                                .max_workspace = RMCP_NO_WORKSPACE };

static int remove_file(const char *path, const struct stat *stat, int kind, struct FTW *where)
{
    (void)stat, (void)kind, (void)where;
    return remove(path);
}

static void empty_cache(void)
{
    char path[128];
    snprintf(path, sizeof path, "%s/rmcp", folder);
    nftw(path, remove_file, 8, FTW_DEPTH | FTW_PHYS);
}

/* Back to a library where all goes well. */
static void calm(void)
{
    const long live = fake->live;
    *fake = (struct fake_opencl){ .live = live };
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

/* Once lost, all is refused without a call to the driver. */
static void check_lost(rmcp_device *device, rmcp_memory memory)
{
    const long calls = fake->calls;
    rmcp_memory more;
    rmcp_plan *plan = NULL;
    char byte = 0;
    assert_int_equal(rmcp_device_wait(device, NULL), RMCP_E_LOST);
    assert_int_equal(rmcp_buffer_create(device, 16, &more), RMCP_E_LOST);
    if (memory.base)
        assert_int_equal(rmcp_copy_to_device(device, NULL, memory, &byte, 1), RMCP_E_LOST);
    assert_int_equal(rmcp_plan_create(device, &case_problem, RMCP_FORWARD, &plan_options, &plan),
                     RMCP_E_LOST);
    assert_null(plan);
    contains("was lost");
    assert_int_equal(fake->calls, calls);
}

/* All that a program does, until something fails. */
static rmcp_status live(void)
{
    enum { BYTES = 4 * (CASE_X + CASE_W + CASE_Y) };
    static const char zeros[BYTES];
    static char result[BYTES];
    rmcp_device *device = NULL;
    rmcp_plan *plan = NULL;
    rmcp_memory memory = { 0 };
    double seconds = 0;
    rmcp_status status = rmcp_device_open("opencl:1", NULL, &device);
    const rmcp_status opened = status;
    if (!status) status = rmcp_buffer_create(device, BYTES, &memory);
    if (!status) status = rmcp_copy_to_device(device, NULL, memory, zeros, BYTES);
    if (!status)
        status = rmcp_plan_create(device, &case_problem, RMCP_FORWARD, &plan_options, &plan);
    const rmcp_tensors tensors = { .struct_size = sizeof tensors,
                                   .x = memory,
                                   .w = { memory.base, 4 * CASE_X },
                                   .y = { memory.base, 4 * (CASE_X + CASE_W) } };
    if (!status) status = rmcp_execute(plan, NULL, &tensors);
    if (!status) status = rmcp_execute_timed(plan, NULL, &tensors, &seconds);
    if (!status) assert_true(seconds > 0);
    if (!status) status = rmcp_device_wait(device, NULL);
    if (!status) status = rmcp_copy_to_host(device, NULL, result, memory, BYTES);
    if (!opened && status == RMCP_E_LOST) {
        contains(rmcp_cl_error_name(fake->code));
        check_lost(device, memory);
    }
    rmcp_plan_destroy(plan);
    rmcp_buffer_destroy(device, memory);
    rmcp_device_close(device);
    return status;
}

/* Fail each call with `code`, with an empty or a full cache. */
static void fail_each(cl_int code, bool keep_cache)
{
    calm();
    assert_int_equal(live(), RMCP_OK);
    const long n_calls = fake->calls;
    int n_failures = 0;
    for (long at = 1;; at++) {
        if (!keep_cache) empty_cache();
        calm();
        fake->fail_at = at;
        fake->code = code;
        mark_message();
        const rmcp_status status = live();
        if (fake->live) fail_msg("%s fails, and %ld objects leak", fake->failed, fake->live);
        if (!fake->failed) break;
        if (status == RMCP_OK) {
            assert_string_equal(rmcp_last_error(), mark); /* not needed, then not spoken of */
            continue;
        }
        n_failures++;
        if (!strcmp(rmcp_last_error(), mark)) fail_msg("%s fails without a word", fake->failed);
        /* A driver that cannot list its devices leaves fewer of them. */
        if (code == CL_OUT_OF_HOST_MEMORY && strcmp(fake->failed, "clGetDeviceIDs"))
            assert_true(status == RMCP_E_NOMEM || status == RMCP_E_DEVICE);
        if (status != RMCP_E_LOST && !strcmp(fake->failed, "clEnqueueNDRangeKernel"))
            contains(rmcp_cl_error_name(code));
        if (code == CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST &&
            !strcmp(fake->failed, "clWaitForEvents"))
            contains("CL_OUT_OF_RESOURCES"); /* the kernel's own error, not the waiting's */
    }
    assert_true(n_failures > 20 && n_failures <= n_calls + 20);
    calm();
}

/* ---- tests ---- */

static void reports_a_missing_library_and_tries_again(void **state)
{
    char *path = *state, why[256] = "";
    rmcp_device *device = NULL;
    setenv("RMCP_OPENCL_LIBRARY", "/nonexistent/libOpenCL.so", 1);
    assert_int_equal(rmcp_device_open("opencl", NULL, &device), RMCP_E_DEVICE);
    contains("/nonexistent/libOpenCL.so");
    setenv("RMCP_OPENCL_LIBRARY", "libm.so.6", 1);
    assert_int_equal(rmcp_device_open("opencl", NULL, &device), RMCP_E_DEVICE);
    contains("clGetPlatformIDs");
    setenv("RMCP_OPENCL_LIBRARY", path, 1);
    assert_non_null(rmcp_cl_get(why, sizeof why));
    calm();
    fake->no_platform = 1;
    assert_int_equal(rmcp_device_open("opencl", NULL, &device), RMCP_E_DEVICE);
    contains("no driver");
    calm();
}

static void lists_gpus_before_processors(void **state)
{
    (void)state;
    rmcp_device_info list[16];
    size_t n = 16;
    list[0].struct_size = sizeof *list;
    assert_int_equal(rmcp_device_list(list, &n), RMCP_OK);
    const rmcp_device_info *first = list;
    while (first < list + n && strncmp(first->spec, "opencl", 6)) first++;
    assert_true(first + 2 < list + n);
    assert_string_equal(first[0].spec, "opencl:0");
    assert_string_equal(first[0].chip, "gfx1010");
    assert_string_equal(first[0].driver, "Fake Graphics 1.0, OpenCL 1.2");
    assert_string_equal(first[1].chip, "gfx1030");
    assert_string_equal(first[2].name, "fake processor");
    assert_true(!first[0].is_cpu && first[2].is_cpu);
}

static void fails_cleanly_wherever_a_call_fails(void **state)
{
    (void)state;
    const cl_int codes[] = { CL_OUT_OF_HOST_MEMORY,    CL_OUT_OF_RESOURCES, CL_DEVICE_NOT_AVAILABLE,
                             CL_INVALID_COMMAND_QUEUE, CL_INVALID_VALUE,    -12345 };
    for (size_t i = 0; i < sizeof codes / sizeof *codes; i++) {
        fail_each(codes[i], false);
        fail_each(codes[i], true);
    }
}

static void reports_lazy_allocation_early(void **state)
{
    (void)state;
    rmcp_device *device = NULL;
    rmcp_memory memory;
    assert_int_equal(rmcp_device_open("opencl", NULL, &device), RMCP_OK);
    fake->lazy = 1;
    assert_int_equal(rmcp_buffer_create(device, 4096, &memory), RMCP_E_NOMEM);
    contains("4096 bytes: CL_MEM_OBJECT_ALLOCATION_FAILURE (-4)");
    fake->lazy = 0;
    assert_int_equal(rmcp_buffer_create(device, FAKE_OPENCL_MEMORY + 1, &memory), RMCP_E_NOMEM);
    contains("1048577 bytes");
    contains("1048576");
    calm();
    fake->fail_at = 1;
    fake->code = CL_OUT_OF_RESOURCES; /* some drivers' word for it */
    assert_int_equal(rmcp_buffer_create(device, 4096, &memory), RMCP_E_NOMEM);
    rmcp_device_close(device);
    assert_int_equal(fake->live, 0);
    calm();
}

static void tells_why_a_kernel_does_not_build(void **state)
{
    (void)state;
    empty_cache();
    fake->no_build = 1;
    assert_int_equal(live(), RMCP_E_DEVICE);
    contains("CL_BUILD_PROGRAM_FAILURE (-11): file.cl:7: error: no such thing");
    contains("kernel ");
    fake->no_build = 0;
    fake->small_blocks = 1;
    assert_int_equal(live(), RMCP_E_DEVICE);
    contains("here it can have 1");
    assert_int_equal(fake->live, 0);
    calm();
}

static void keeps_binaries(void **state)
{
    (void)state;
    empty_cache();
    calm();
    assert_int_equal(live(), RMCP_OK);
    const long built = fake->builds;
    assert_true(built > 0 && fake->binaries == 0);
    calm();
    assert_int_equal(live(), RMCP_OK);
    assert_true(fake->builds == 0 && fake->binaries == built);
    calm();
    fake->refuse_binaries = 1;
    assert_int_equal(live(), RMCP_OK);
    assert_true(fake->builds == built && fake->binaries == 0);
    calm();
}

static void times_without_timestamps(void **state)
{
    (void)state;
    fake->no_profiling = 1;
    assert_int_equal(live(), RMCP_OK);
    calm();
}

static void orders_out_of_order_queues(void **state)
{
    (void)state;
    char why[256];
    const struct rmcp_cl *cl = rmcp_cl_get(why, sizeof why);
    cl_platform_id platforms[2];
    cl_device_id id;
    assert_int_equal(cl->clGetPlatformIDs(2, platforms, NULL), 0);
    assert_int_equal(cl->clGetDeviceIDs(platforms[1], CL_DEVICE_TYPE_GPU, 1, &id, NULL), 0);
    cl_context context = cl->clCreateContext(NULL, 1, &id, NULL, NULL, NULL);
    cl_command_queue queues[] = {
        cl->clCreateCommandQueue(context, id, CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE, NULL),
        cl->clCreateCommandQueue(context, id, 0, NULL),
    };
    rmcp_device *device = NULL;
    const rmcp_device_options options = { .struct_size = sizeof options,
                                          .native_context = context };
    assert_int_equal(rmcp_device_open("opencl:7", &options, &device), RMCP_OK);
    rmcp_device_info info = { .struct_size = sizeof info };
    assert_int_equal(rmcp_device_describe(device, &info), RMCP_OK);
    assert_string_equal(info.spec, "opencl:0"); /* as it is, not as it was called */
    rmcp_memory memory;
    assert_int_equal(rmcp_buffer_create(device, 4096, &memory), RMCP_OK);
    rmcp_plan *plan = NULL;
    assert_int_equal(rmcp_plan_create(device, &case_problem, RMCP_FORWARD, &plan_options, &plan),
                     RMCP_OK);
    const rmcp_tensors tensors = {
        .struct_size = sizeof tensors, .x = memory, .w = memory, .y = memory
    };
    for (int i = 0; i < 2; i++) {
        fake->barriers = 0;
        assert_int_equal(rmcp_execute(plan, queues[i], &tensors), RMCP_OK);
        if (i == 0)
            assert_true(fake->barriers >= 2); /* before each record, and after the last */
        else
            assert_int_equal(fake->barriers, 0);
        cl->clReleaseCommandQueue(queues[i]);
    }
    rmcp_plan_destroy(plan);
    rmcp_buffer_destroy(device, memory);
    rmcp_device_close(device);
    cl->clReleaseContext(context);
    assert_int_equal(fake->live, 0);
}

int main(int argc, char **argv)
{
    void *handle = argc > 1 ? dlopen(argv[1], RTLD_NOW | RTLD_LOCAL) : NULL;
    fake = handle ? dlsym(handle, FAKE_OPENCL_SYMBOL) : NULL;
    if (!fake || !mkdtemp(folder)) {
        fprintf(stderr, "usage: test_opencl_faults libfake_opencl.so\n");
        return 99;
    }
    setenv("XDG_CACHE_HOME", folder, 1);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_prestate(reports_a_missing_library_and_tries_again, argv[1]),
        cmocka_unit_test(lists_gpus_before_processors),
        cmocka_unit_test(fails_cleanly_wherever_a_call_fails),
        cmocka_unit_test(reports_lazy_allocation_early),
        cmocka_unit_test(tells_why_a_kernel_does_not_build),
        cmocka_unit_test(keeps_binaries),
        cmocka_unit_test(times_without_timestamps),
        cmocka_unit_test(orders_out_of_order_queues),
    };
    int failures = cmocka_run_group_tests(tests, NULL, NULL);
    nftw(folder, remove_file, 8, FTW_DEPTH | FTW_PHYS);
    dlclose(handle);
    return failures;
}
