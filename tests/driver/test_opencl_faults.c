/* test_opencl_faults.c: the OpenCL device on a library that fails in the ways that real drivers are
 * known for. Usage: test_opencl_faults libfake_opencl.so */
#define _XOPEN_SOURCE 700 /* nftw */

#include "engine/core/device.h"
#include "engine/driver/opencl/api.h"
#include "fake_opencl.h"
#include "life.h"

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

static rmcp_status live(void)
{
    return life_run(&(struct life){ .spec = "opencl:1", .algorithm = "direct" });
}

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
    life_contains(rmcp_last_error(), part);
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

/* Estimates go by the chip, however the driver calls it. */
static void goes_by_the_figures_of_the_chip(void **state)
{
    (void)state;
    static const struct {
        unsigned vendor;
        const char *name;
        enum rmcp_family family;
    } rows[] = {
        { 0x1002, "gfx1010:xnack-", RMCP_FAMILY_RDNA },
        { 0x1002, "AMD Radeon RX 5600 XT (radeonsi, navi10, LLVM 19.1.7, DRM 3.61, 6.12.43)",
          RMCP_FAMILY_RDNA },
        { 0x1002, "gfx1100", RMCP_FAMILY_RDNA },
        { 0x1002, "gfx906:sramecc+:xnack-", RMCP_FAMILY_GENERIC },
        { 0x1002, "AMD Radeon RX 580 Series (radeonsi, polaris10, LLVM 15.0.6)",
          RMCP_FAMILY_GENERIC },
        { 0x1002, "a card that nobody knows", RMCP_FAMILY_GENERIC },
        { 0x10de, "NVIDIA H200", RMCP_FAMILY_NVIDIA },
        { 0x8086, "Intel(R) Arc(TM) A770 Graphics", RMCP_FAMILY_INTEL },
        { 0x13b5, "Mali-G610 r0p0", RMCP_FAMILY_GENERIC },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        rmcp_device *device = NULL;
        fake->gpu_vendor = rows[i].vendor;
        fake->gpu_name = rows[i].name;
        assert_int_equal(rmcp_device_open("opencl:0", NULL, &device), RMCP_OK);
        if (device->caps.family != rows[i].family)
            fail_msg("%s: family %u", rows[i].name, (unsigned)device->caps.family);
        rmcp_device_close(device);
    }
    fake->gpu_vendor = 0;
    fake->gpu_name = NULL;
    rmcp_device *device = NULL;
    assert_int_equal(rmcp_device_open("opencl:2", NULL, &device), RMCP_OK);
    assert_int_equal(device->caps.family, RMCP_FAMILY_HOST);
    rmcp_device_close(device);
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
    assert_int_equal(life_plan(device, NULL, &plan), RMCP_OK);
    const rmcp_conv_tensors tensors = {
        .struct_size = sizeof tensors, .x = memory, .w = memory, .y = memory
    };
    for (int i = 0; i < 2; i++) {
        fake->barriers = 0;
        assert_int_equal(rmcp_conv_execute(plan, queues[i], &tensors), RMCP_OK);
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
        cmocka_unit_test(goes_by_the_figures_of_the_chip),
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
