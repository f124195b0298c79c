/* subject_hip.c: the HIP device on a fake library, under the override, for the conformance test. */
#include "conformance.h"
#include "engine/gpu/images.h"
#include "hip_world.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* Out of memory, no device, lost, and a number that nobody knows. */
enum { OUT_OF_MEMORY = 2, NO_DEVICE = 100, ILLEGAL_ADDRESS = 700 };
static const int codes[] = { OUT_OF_MEMORY, NO_DEVICE, ILLEGAL_ADDRESS, 12345, 0 };

/* An RX 5600 XT at 03:00.0 that the runtime takes for gfx1030. */
static void calm(void)
{
    world_calm();
    world_no_sysfs();
    world_node(1, 100100, 3);
    world_devices("gfx1030 0000:03:00.0");
}

static bool begin(const char *library, char *why, size_t size)
{
    if (!library || !world_begin(library)) exit(99);
    if (!rmcp_kernel_target_for("gfx1010")) {
        snprintf(why, size, "this build has no code for gfx1010 (%s)", rmcp_kernel_missing());
        return false;
    }
    struct faults *f = &subject_fake_hip.faults;
    f->fail_at = &fake->fail_at;
    f->code = &fake->code;
    f->sticky = &fake->sticky;
    f->calls = &fake->calls;
    f->live = &fake->live;
    f->failed = &fake->failed;
    if (!strstr(library, "_old")) { /* ROCm 5 cannot be told to relax */
        f->capturing = &fake->capturing;
        f->violations = &fake->violations;
    }
    return true;
}

static void check(void)
{
    if (fake->last) fail_msg("%s fails, and HIP still says so", fake->failed);
}

struct subject subject_fake_hip = {
    .name = "fake-hip",
    .spec = "hip",
    .algorithm = "direct",
    .begin = begin,
    .end = world_end,
    .calm = calm,
    .forget = world_forget,
    .faults = { .codes = codes,
                .no_memory = OUT_OF_MEMORY,
                .lost = ILLEGAL_ADDRESS,
                .least = 30,
                .check = check },
};
