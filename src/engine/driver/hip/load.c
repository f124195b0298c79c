/* load.c: loads kernels into a HIP device: native code, retagged where the runtime wants another
 * name on it. */
#include "engine/driver/hip/load.h"

#include "code/codeobj/codeobj.h"
#include "engine/gpu/images.h"

#include <stdlib.h>

/* The code object as the loader wants it; the caller's to free. */
static rmcp_status make_image(const struct rmcp_hip_state *state, const char *name, void **out)
{
    void *native = NULL;
    size_t size = 0;
    rmcp_status status = rmcp_kernel_image(state->code.target, name, &native, &size);
    *out = native;
    if (status || !state->code.retag) return status;
    uint8_t *retagged = NULL;
    size_t retagged_size = 0;
    status = codeobj_retag(native, size, state->chip.believed, &retagged, &retagged_size);
    free(native);
    *out = retagged;
    return status;
}

/* Load kernel->image, which HIP reads as long as the module lives. */
static int load_image(const struct rmcp_hip *hip, const char *entry, struct rmcp_gpu_kernel *kernel,
                      const char **doing)
{
    /* Loading must not end a capture that the caller has begun on some stream. */
    const int mode = rmcp_hip_exchange_capture(hip, RMCP_HIP_CAPTURE_RELAXED);
    *doing = "hipModuleLoadData";
    int code = hip->hipModuleLoadData(&kernel->module, kernel->image);
    if (code) {
        kernel->module = NULL;
    } else {
        *doing = "hipModuleGetFunction";
        code = hip->hipModuleGetFunction(&kernel->function, kernel->module, entry);
        if (code) kernel->function = NULL;
    }
    rmcp_hip_exchange_capture(hip, mode);
    return code;
}

rmcp_status rmcp_hip_load(void *context, const struct rmcp_kernel *row,
                          struct rmcp_gpu_kernel *kernel)
{
    struct rmcp_hip_state *state = context;
    rmcp_status status = make_image(state, row->name, &kernel->image);
    if (status) return status;
    const char *doing;
    int code = load_image(state->hip, row->entry, kernel, &doing);
    if (!code) return RMCP_OK;
    return rmcp_hip_fail(state->hip, &state->lost, code, "kernel %s, code for %s called %s: %s",
                         row->name, state->code.target, state->chip.believed, doing);
}

rmcp_status rmcp_hip_load_foreign(struct rmcp_hip_state *state, const void *object, size_t bytes,
                                  const char *kernel, void **handle)
{
    struct rmcp_hip_foreign *foreign = calloc(1, sizeof *foreign);
    if (!foreign) return rmcp_fail_memory("a kernel", sizeof *foreign);
    uint8_t *image = NULL;
    size_t size;
    rmcp_status status = codeobj_retag(object, bytes, state->chip.believed, &image, &size);
    foreign->kernel.image = image;
    foreign->next = atomic_load(&state->foreign);
    while (!atomic_compare_exchange_weak(&state->foreign, &foreign->next, foreign)) continue;
    /* From here on it is freed with the device. */
    if (status) return status;
    const char *doing;
    int code = load_image(state->hip, kernel, &foreign->kernel, &doing);
    *handle = &foreign->kernel;
    if (!code) return RMCP_OK;
    return rmcp_hip_fail(state->hip, &state->lost, code, "kernel %.60s called %s: %s", kernel,
                         state->chip.believed, doing);
}

void rmcp_hip_unload_foreign(struct rmcp_hip_state *state)
{
    struct rmcp_hip_foreign *next = atomic_load(&state->foreign);
    atomic_store(&state->foreign, NULL);
    while (next) {
        struct rmcp_hip_foreign *foreign = next;
        next = foreign->next;
        if (foreign->kernel.module) rmcp_hip_unload(state, foreign->kernel.module);
        free(foreign->kernel.image);
        free(foreign);
    }
}

void rmcp_hip_unload(void *context, void *module)
{
    const struct rmcp_hip *hip = ((const struct rmcp_hip_state *)context)->hip;
    if (hip->hipModuleUnload(module)) hip->hipGetLastError();
}
