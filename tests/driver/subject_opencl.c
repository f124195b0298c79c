/* subject_opencl.c: the OpenCL device for the conformance test: on the driver that is installed,
 * and on a fake one. */
#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>

#include "conformance.h"
#include "fake_opencl.h"
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

/* ---- what is installed ---- */

static bool begin_real(const char *library, char *why, size_t size)
{
    rmcp_device *device = NULL;
    (void)library;
    if (!conformance_make_cache()) return false;
    const rmcp_status status = rmcp_device_open("opencl", NULL, &device);
    if (status) snprintf(why, size, "%s", rmcp_last_error());
    rmcp_device_close(device);
    return !status;
}

struct subject subject_opencl = {
    .name = "opencl",
    .spec = "opencl",
    .tells_limit = true,
    .begin = begin_real,
    .end = conformance_remove_cache,
    .forget = conformance_forget,
};

/* ---- the fake ---- */

static void *handle;
static struct fake_opencl *fake;

static bool begin(const char *library, char *why, size_t size)
{
    handle = dlopen(library, RTLD_NOW | RTLD_LOCAL);
    fake = handle ? dlsym(handle, FAKE_OPENCL_SYMBOL) : NULL;
    if (!fake || !conformance_make_cache()) {
        fprintf(stderr, "%s is not the fake OpenCL library\n", library);
        exit(99);
    }
    (void)why, (void)size;
    setenv("RMCP_OPENCL_LIBRARY", library, 1);
    struct faults *f = &subject_fake_opencl.faults;
    f->fail_at = &fake->fail_at;
    f->code = &fake->code;
    f->sticky = &fake->sticky;
    f->calls = &fake->calls;
    f->live = &fake->live;
    f->failed = &fake->failed;
    return true;
}

static void end(void)
{
    conformance_remove_cache();
    dlclose(handle);
}

static void calm(void)
{
    const long live = fake->live;
    *fake = (struct fake_opencl){ .live = live };
}

static void judge(int code, rmcp_status status)
{
    char number[32];
    snprintf(number, sizeof number, "(%d)", code);
    /* A driver that cannot list its devices leaves fewer of them. */
    if (code == CL_OUT_OF_HOST_MEMORY && strcmp(fake->failed, "clGetDeviceIDs"))
        assert_true(status == RMCP_E_NOMEM || status == RMCP_E_DEVICE);
    if (!strcmp(fake->failed, "clEnqueueNDRangeKernel") && status != RMCP_E_LOST)
        life_contains(rmcp_last_error(), number);
    if (code == CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST &&
        !strcmp(fake->failed, "clWaitForEvents") && !fake->sticky)
        life_contains(rmcp_last_error(), "CL_OUT_OF_RESOURCES"); /* the kernel's own error */
}

static const int codes[] = { CL_OUT_OF_HOST_MEMORY,
                             CL_OUT_OF_RESOURCES,
                             CL_DEVICE_NOT_AVAILABLE,
                             CL_INVALID_COMMAND_QUEUE,
                             CL_INVALID_VALUE,
                             CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST,
                             -12345,
                             0 };

struct subject subject_fake_opencl = {
    .name = "fake-opencl",
    .spec = "opencl:1",
    .algorithm = "direct",
    .tells_limit = true,
    .begin = begin,
    .end = end,
    .calm = calm,
    .forget = conformance_forget,
    .faults = { .codes = codes,
                .no_memory = CL_OUT_OF_HOST_MEMORY,
                .lost = CL_DEVICE_NOT_AVAILABLE,
                .least = 40,
                .keeps = true,
                .judge = judge },
};
