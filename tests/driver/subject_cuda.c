/* subject_cuda.c: the CUDA device on a fake driver, for the conformance test. */
#include "conformance.h"
#include "engine/gpu/images.h"
#include "fake_cuda.h"
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

enum { INVALID_VALUE = 1, OUT_OF_MEMORY = 2, ECC_UNCORRECTABLE = 214, ILLEGAL_ADDRESS = 700 };
static const int codes[] = {
    OUT_OF_MEMORY, ILLEGAL_ADDRESS, ECC_UNCORRECTABLE, INVALID_VALUE, 999, 0
};

static void *handle;
static struct fake_cuda *fake;

static bool begin(const char *library, char *why, size_t size)
{
    handle = dlopen(library, RTLD_NOW | RTLD_LOCAL);
    fake = handle ? dlsym(handle, FAKE_CUDA_SYMBOL) : NULL;
    if (!fake || !conformance_make_cache()) {
        fprintf(stderr, "%s is not the fake CUDA driver\n", library);
        exit(99);
    }
    if (!rmcp_kernel_target_for("sm_90")) {
        snprintf(why, size, "this build has no PTX (%s)", rmcp_kernel_missing());
        return false;
    }
    setenv("RMCP_CUDA_LIBRARY", library, 1);
    struct faults *f = &subject_fake_cuda.faults;
    f->fail_at = &fake->fail_at;
    f->code = &fake->code;
    f->sticky = &fake->sticky;
    f->calls = &fake->calls;
    f->live = &fake->live;
    f->failed = &fake->failed;
    f->capturing = &fake->capturing;
    f->violations = &fake->violations;
    return true;
}

static void end(void)
{
    conformance_remove_cache();
    dlclose(handle);
}

static void calm(void)
{
    const long live = fake->live, depth = fake->depth;
    *fake = (struct fake_cuda){ .live = live, .depth = depth, .n_devices = 2, .major = 9 };
}

static void check(void)
{
    if (fake->depth) fail_msg("%s fails, and a context stays", fake->failed);
    if (fake->mode) fail_msg("%s fails, and the capture mode stays", fake->failed);
}

static void judge(int code, rmcp_status status)
{
    if (code == OUT_OF_MEMORY && !strcmp(fake->failed, "cuMemAlloc")) {
        assert_int_equal(status, RMCP_E_NOMEM);
        life_contains(rmcp_last_error(), "CUDA_ERROR_OUT_OF_MEMORY (2)");
    }
    if (code == ILLEGAL_ADDRESS && !strcmp(fake->failed, "cuLaunchKernel"))
        assert_int_equal(status, RMCP_E_LOST);
}

struct subject subject_fake_cuda = {
    .name = "fake-cuda",
    .spec = "cuda:1",
    .algorithm = "direct",
    .begin = begin,
    .end = end,
    .calm = calm,
    .forget = conformance_forget,
    .faults = { .codes = codes,
                .no_memory = OUT_OF_MEMORY,
                .lost = ILLEGAL_ADDRESS,
                .least = 35,
                .check = check,
                .judge = judge },
};
