/* test_hip.c: what is HIP's own, on a fake library: which chip it is, which code it gets, how it
 * uses HIP. Usage: test_hip libfake_hip.so */
#include "code/codeobj/codeobj.h"
#include "engine/core/device.h"
#include "engine/gpu/images.h"
#include "hip_world.h"
#include "life.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* One RX 5600 XT at 03:00.0 that the runtime takes for `chip`. */
static void one_card(const char *chip)
{
    char devices[64];
    world_calm();
    world_no_sysfs();
    world_node(1, 100100, 3);
    snprintf(devices, sizeof devices, "%s 0000:03:00.0", chip);
    world_devices(devices);
}

static rmcp_status live(const char *spec)
{
    return life_run(&(struct life){ .spec = spec, .algorithm = "direct", .calls = &fake->calls });
}

static void open_fails_with(const char *part)
{
    rmcp_device *device = NULL;
    fake->launches = 0;
    assert_int_equal(rmcp_device_open("hip:0", NULL, &device), RMCP_E_UNSUPPORTED);
    life_contains(rmcp_last_error(), part);
    assert_null(device);
    assert_int_equal(fake->launches, 0);
}

static rmcp_device_info describe(const char *spec)
{
    rmcp_device *device = NULL;
    rmcp_device_info info = { .struct_size = sizeof info };
    if (rmcp_device_open(spec, NULL, &device)) fail_msg("%s: %s", spec, rmcp_last_error());
    assert_int_equal(rmcp_device_describe(device, &info), RMCP_OK);
    rmcp_device_close(device);
    return info;
}

/* ---- which device ---- */

static void reports_a_missing_library_and_tries_again(void **state)
{
    rmcp_device *device = NULL;
    setenv("RMCP_HIP_LIBRARY", "/nonexistent/libamdhip64.so", 1);
    assert_int_equal(rmcp_device_open("hip", NULL, &device), RMCP_E_DEVICE);
    life_contains(rmcp_last_error(), "/nonexistent/libamdhip64.so");
    setenv("RMCP_HIP_LIBRARY", "libm.so.6", 1);
    assert_int_equal(rmcp_device_open("hip", NULL, &device), RMCP_E_DEVICE);
    life_contains(rmcp_last_error(), "hipGetDeviceCount");
    setenv("RMCP_HIP_LIBRARY", *state, 1);
    world_devices("");
    assert_int_equal(rmcp_device_open("hip", NULL, &device), RMCP_E_DEVICE);
    life_contains(rmcp_last_error(), "sees no GPU");
    assert_int_equal(rmcp_device_open("auto", NULL, &device), RMCP_OK);
    life_contains(rmcp_device_note(device), "hip: HIP is installed and sees no GPU");
    rmcp_device_close(device);
    assert_int_equal(fake->last, 0); /* HIP's record of errors is the caller's */
}

static void takes_native_code(void **state)
{
    (void)state;
    one_card("gfx1010");
    const rmcp_device_info info = describe("hip");
    assert_string_equal(info.chip, "gfx1010");
    assert_string_equal(info.driver, "HIP 5.2.21153");
    assert_string_equal(info.why, "");
    assert_int_equal(info.compute_units, 36);
    assert_int_equal(live("hip"), RMCP_OK);
    assert_int_equal(fake->mach, 0x33);
    assert_int_equal(fake->live, 0);
}

static void estimates_by_its_figures(void **state)
{
    (void)state;
    rmcp_device *device = NULL;
    one_card("gfx1010");
    assert_int_equal(rmcp_device_open("hip", NULL, &device), RMCP_OK);
    assert_int_equal(device->caps.family, RMCP_FAMILY_RDNA);
    rmcp_device_close(device);
}

static void takes_native_code_under_the_override(void **state)
{
    (void)state;
    one_card("gfx1030");
    const rmcp_device_info info = describe("hip");
    assert_string_equal(info.chip, "gfx1010");
    life_contains(info.driver, "taking it for gfx1030");
    life_contains(info.why, "code for gfx1010 is used");
    assert_int_equal(live("hip"), RMCP_OK);
    assert_int_equal(fake->mach, 0x36); /* so it is called … */

    /* … and gfx1010's it is: the same code as in the library, except for the name. */
    rmcp_device *device = NULL;
    rmcp_plan *plan = NULL;
    void *bytes = NULL;
    size_t size = 0;
    struct codeobj *native = NULL, *loaded = NULL;
    assert_int_equal(rmcp_device_open("hip", NULL, &device), RMCP_OK);
    assert_int_equal(life_plan(device, "direct", &plan), RMCP_OK);
    assert_int_equal(rmcp_kernel_image("gfx1010", "direct_f32", &bytes, &size), RMCP_OK);
    assert_int_equal(codeobj_open(bytes, size, &native), RMCP_OK);
    assert_int_equal(codeobj_open(fake->image, size, &loaded), RMCP_OK);
    assert_string_equal(loaded->target.text, "gfx1030");
    assert_string_equal(loaded->note_target, "amdgcn-amd-amdhsa--gfx1030");
    assert_string_equal(native->target.text, "gfx1010");
    const struct codeobj_function *theirs = codeobj_find_kernel(native, "direct")->function;
    const struct codeobj_function *ours = codeobj_find_kernel(loaded, "direct")->function;
    assert_int_equal(ours->size, theirs->size);
    assert_memory_equal(ours->code, theirs->code, theirs->size);
    codeobj_close(loaded);
    codeobj_close(native);
    free(bytes);
    rmcp_plan_destroy(plan);
    rmcp_device_close(device);
}

static void serves_a_family_with_one_code(void **state)
{
    (void)state;
    one_card("gfx1012");
    world_node(1, 100102, 3);
    assert_string_equal(describe("hip").chip, "gfx1012");
    assert_int_equal(live("hip"), RMCP_OK);
    assert_int_equal(fake->mach, 0x35);
}

static void refuses_what_no_code_is_right_for(void **state)
{
    (void)state;
    one_card("gfx1030");
    world_node(1, 130000, 3);
    open_fails_with("gfx1300");
    one_card("gfx1100"); /* an override into another generation */
    open_fails_with("the chip is gfx1010, but the HIP runtime takes it for gfx1100");
    rmcp_device *device = NULL;
    assert_int_equal(rmcp_device_open("auto", NULL, &device), RMCP_OK);
    life_contains(rmcp_device_note(device), "takes it for gfx1100");
    rmcp_device_close(device);
    assert_int_equal(fake->last, 0);
}

static void does_without_the_topology(void **state)
{
    (void)state;
    one_card("gfx1030");
    world_no_sysfs();
    assert_string_equal(describe("hip").chip, "gfx1030");
    life_contains(describe("hip").why, "by the runtime's word only");
    setenv("HSA_OVERRIDE_GFX_VERSION", "10.3.0", 1);
    open_fails_with("HSA_OVERRIDE_GFX_VERSION is set (10.3.0)");
    world_file("bus/pci/devices/0000:03:00.0/vendor", "0x1002\n");
    world_file("bus/pci/devices/0000:03:00.0/device", "0x731f\n");
    assert_string_equal(describe("hip").chip, "gfx1010");
    assert_int_equal(live("hip"), RMCP_OK);
    assert_int_equal(fake->mach, 0x36);
    world_file("bus/pci/devices/0000:03:00.0/device", "0x13fe\n");
    assert_string_equal(describe("hip").chip, "gfx1013");
    life_contains(describe("hip").why, "code for gfx1010 is used");
    /* A topology without our card in it is no better. */
    world_file("bus/pci/devices/0000:03:00.0/device", "0x9999\n");
    world_node(1, 100100, 7);
    open_fails_with("lists no GPU at '0000:03:00.0'");
    fake->no_pci = 1;
    open_fails_with("lists no GPU at ''");
    unsetenv("HSA_OVERRIDE_GFX_VERSION");
}

static void tells_two_cards_apart(void **state)
{
    (void)state;
    world_calm();
    world_no_sysfs();
    world_node(1, 100100, 0x03);
    world_node(2, 100300, 0x0a);
    /* Under the override both are believed to be gfx1030. */
    world_devices("gfx1030 0000:03:00.0;gfx1030 0000:0a:00.0");
    assert_string_equal(describe("hip:0").chip, "gfx1010");
    assert_string_equal(describe("hip:1").chip, "gfx1030");
    setenv("HIP_VISIBLE_DEVICES", "1,0", 1);
    assert_string_equal(describe("hip:0").chip, "gfx1030");
    assert_string_equal(describe("hip:1").chip, "gfx1010");
    assert_int_equal(live("hip:0"), RMCP_OK);
    assert_int_equal(live("hip:1"), RMCP_OK);
    setenv("HIP_VISIBLE_DEVICES", "1", 1);
    assert_string_equal(describe("hip").chip, "gfx1030");
    unsetenv("HIP_VISIBLE_DEVICES");
    assert_int_equal(fake->live, 0);
}

/* ---- how it uses HIP ---- */

static void leaves_the_callers_device_and_does_not_wait(void **state)
{
    (void)state;
    enum { BYTES = 1 << 16 };
    world_calm();
    world_no_sysfs();
    world_node(1, 100100, 0x03);
    world_node(2, 100300, 0x0a);
    world_devices("gfx1010 0000:03:00.0;gfx1030 0000:0a:00.0");
    rmcp_device *device = NULL;
    rmcp_plan *plan = NULL;
    rmcp_memory memory;
    assert_int_equal(rmcp_device_open("hip:1", NULL, &device), RMCP_OK);
    assert_int_equal(rmcp_buffer_create(device, BYTES, &memory), RMCP_OK);
    assert_int_equal(life_plan(device, "direct", &plan), RMCP_OK);
    const rmcp_conv_tensors tensors = { .struct_size = sizeof tensors,
                                        .x = memory,
                                        .w = { memory.base, 8192 },
                                        .y = { memory.base, 16384 } };
    const long objects = fake->live;
    fake->calls = fake->waits = fake->launches = 0;
    assert_int_equal(rmcp_conv_execute(plan, NULL, &tensors), RMCP_OK);
    assert_int_equal(fake->launches, 1);
    assert_int_equal(fake->calls, 4); /* which device, ours, the launch, theirs again */
    assert_int_equal(fake->waits, 0);
    assert_int_equal(fake->live, objects);
    assert_int_equal(rmcp_device_wait(device, NULL), RMCP_OK);
    rmcp_plan_destroy(plan);
    rmcp_buffer_destroy(device, memory);
    rmcp_device_close(device);
    assert_int_equal(live("hip:0"), RMCP_OK); /* on this thread's device, which is still 0 */
    assert_int_equal(fake->current, 0);
    assert_int_equal(fake->live, 0);
}

static void tells_why_it_fails(void **state)
{
    (void)state;
    one_card("gfx1030");
    const int refusals[] = { 209, 303, 200, 1 };
    for (size_t i = 0; i < sizeof refusals / sizeof *refusals; i++) {
        fake->refuse_module = refusals[i];
        assert_int_equal(live("hip"), RMCP_E_DEVICE);
        life_contains(rmcp_last_error(), "kernel direct_f32, code for gfx1010 called gfx1030");
    }
    fake->refuse_module = 0;
    fake->fail_launch = 701; /* too many resources: the device is well */
    setenv("RMCP_GUARD", "0", 1);
    assert_int_equal(live("hip"), RMCP_E_DEVICE);
    life_contains(rmcp_last_error(), "kernel direct_f32, 11x1x1 workgroups of 64x1x1");
    life_contains(rmcp_last_error(), "(701)");
    fake->fail_launch = 700;
    assert_int_equal(live("hip"), RMCP_E_LOST);
    unsetenv("RMCP_GUARD");
    fake->fail_launch = 0;
    rmcp_device *device = NULL;
    rmcp_memory memory;
    assert_int_equal(rmcp_device_open("hip", NULL, &device), RMCP_OK);
    assert_int_equal(rmcp_buffer_create(device, FAKE_HIP_MEMORY + 1, &memory), RMCP_E_NOMEM);
    life_contains(rmcp_last_error(), "67108865 bytes: hipErrorOutOfMemory (2)");
    rmcp_device_close(device);
    const rmcp_device_options native = { .struct_size = sizeof native, .native_device = &device };
    assert_int_equal(rmcp_device_open("hip", &native, &device), RMCP_E_ARG);
    assert_int_equal(fake->live, 0);
    assert_int_equal(fake->last, 0);
}

int main(int argc, char **argv)
{
    if (argc < 2 || !world_begin(argv[1])) return 99;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_prestate(reports_a_missing_library_and_tries_again, argv[1]),
        cmocka_unit_test(takes_native_code),
        cmocka_unit_test(estimates_by_its_figures),
        cmocka_unit_test(takes_native_code_under_the_override),
        cmocka_unit_test(serves_a_family_with_one_code),
        cmocka_unit_test(refuses_what_no_code_is_right_for),
        cmocka_unit_test(does_without_the_topology),
        cmocka_unit_test(tells_two_cards_apart),
        cmocka_unit_test(leaves_the_callers_device_and_does_not_wait),
        cmocka_unit_test(tells_why_it_fails),
    };
    const int failures = cmocka_run_group_tests(tests, NULL, NULL);
    world_end();
    return failures;
}
