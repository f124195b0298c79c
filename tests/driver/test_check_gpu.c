/* test_check_gpu.c: RMCP_CHECK on a fake GPU, which computes `direct` and leaves all other results
 * unwritten, and whose streams may capture. Usage: test_check_gpu hip|cuda LIBRARY */
#include "engine/core/device.h"
#include "fake_cuda.h"
#include "fake_hip.h"
#include "life.h"

#include <dlfcn.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static const char *spec;
static int *capturing;
static atomic_long *violations;
static atomic_int *last; /* the error on HIP's record */
static rmcp_device *device;
static rmcp_memory buffer;

static rmcp_check_info counts(void)
{
    rmcp_check_info info = { .struct_size = sizeof info };
    assert_int_equal(rmcp_check_describe(&info), RMCP_OK);
    return info;
}

static rmcp_plan *plan(const char *algorithm)
{
    rmcp_plan *made = NULL;
    if (life_plan(device, algorithm, &made)) fail_msg("%s", rmcp_last_error());
    return made;
}

static void compares(void **state)
{
    (void)state;
    bool right = false;
    rmcp_plan *good = plan("direct"), *bad = plan("implicit_gemm");
    assert_int_equal(life_execute(device, good, NULL, buffer.base, 3, NULL, &right), RMCP_OK);
    assert_true(right);
    assert_int_equal(counts().checked, 1);
    assert_int_equal(counts().wrong, 0);
    assert_int_equal(life_execute(device, bad, NULL, buffer.base, 4, NULL, &right), RMCP_OK);
    assert_int_equal(counts().checked, 2);
    assert_int_equal(counts().wrong, 1);
    char line[200];
    snprintf(line, sizeof line,
             "n2c3h9w9k4r3s3p1:f32:nchw:fwd on %s, algorithm implicit_gemm: y element 0: never "
             "written, expected ",
             device->info.spec);
    life_contains(counts().first, line);
    double seconds = -1;
    assert_int_equal(life_execute(device, good, NULL, buffer.base, 5, &seconds, &right), RMCP_OK);
    assert_true(right && seconds >= 0);
    rmcp_plan_destroy(good);
    rmcp_plan_destroy(bad);
}

static void skips_captures(void **state)
{
    (void)state;
    rmcp_plan *made = plan("direct");
    const rmcp_conv_tensors tensors = life_tensors(buffer.base);
    const rmcp_check_info before = counts();
    int stream; /* its address is one */
    *capturing = 1;
    assert_int_equal(rmcp_conv_execute(made, &stream, &tensors), RMCP_OK);
    assert_int_equal(rmcp_conv_execute(made, NULL, &tensors), RMCP_OK);
    *capturing = 0;
    assert_int_equal(*violations, 0);
    if (last) assert_int_equal(*last, 0);
    assert_int_equal(counts().checked, before.checked);
    assert_int_equal(counts().skipped, before.skipped + 2);
    assert_int_equal(rmcp_conv_execute(made, NULL, &tensors), RMCP_OK);
    assert_int_equal(counts().checked, before.checked + 1);
    rmcp_plan_destroy(made);
}

static bool begin(const char *kind, const char *library)
{
    void *handle = dlopen(library, RTLD_NOW | RTLD_LOCAL);
    if (!handle) return false;
    setenv("RMCP_CHECK", "1", 1);
    setenv("RMCP_GUARD", "0", 1);
    setenv("FAKE_HIP_DEVICES", "gfx1010 0000:03:00.0", 1);
    setenv("RMCP_SYSFS_ROOT", "/nowhere", 1);
    spec = kind;
    if (!strcmp(kind, "cuda")) {
        struct fake_cuda *fake = dlsym(handle, FAKE_CUDA_SYMBOL);
        setenv("RMCP_CUDA_LIBRARY", library, 1);
        if (!fake) return false;
        fake->n_devices = 1;
        fake->major = 9;
        capturing = &fake->capturing;
        violations = &fake->violations;
    } else {
        struct fake_hip *fake = dlsym(handle, FAKE_HIP_SYMBOL);
        setenv("RMCP_HIP_LIBRARY", library, 1);
        if (!fake) return false;
        capturing = &fake->capturing;
        violations = &fake->violations;
        last = &fake->last;
    }
    return true;
}

int main(int argc, char **argv)
{
    if (argc < 3 || !begin(argv[1], argv[2])) return 99;
    if (rmcp_device_open(spec, NULL, &device)) {
        printf("skipped: %s\n", rmcp_last_error()); /* a build without kernels for it */
        return 77;
    }
    if (rmcp_buffer_create(device, CASE_BYTES, &buffer)) return 99;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(compares),
        cmocka_unit_test(skips_captures),
    };
    const int failures = cmocka_run_group_tests(tests, NULL, NULL);
    rmcp_buffer_destroy(device, buffer);
    rmcp_device_close(device);
    return failures;
}
