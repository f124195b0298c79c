/* modules.c: the kernels of one open HIP device: native code, retagged where the runtime wants
 * another name on it. */
#include "hip/modules.h"

#include "codeobj/codeobj.h"
#include "kernels/images.h"
#include "kernels/kernels.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

rmcp_status rmcp_hip_modules_init(struct rmcp_hip_modules *modules, const struct rmcp_hip *hip,
                                  const struct rmcp_hip_chip *chip,
                                  const struct rmcp_hip_code *code, atomic_bool *lost)
{
    size_t n = 0;
    while (rmcp_kernels[n].name) n++;
    *modules = (struct rmcp_hip_modules){ .hip = hip, .lost = lost, .code = *code };
    snprintf(modules->believed, sizeof modules->believed, "%s", chip->believed);
    modules->kernels = calloc(n, sizeof *modules->kernels);
    if (!modules->kernels) return rmcp_fail_memory("HIP kernels", n * sizeof *modules->kernels);
    modules->n_kernels = n;
    for (size_t i = 0; i < n; i++) pthread_mutex_init(&modules->kernels[i].lock, NULL);
    return RMCP_OK;
}

static void unload(const struct rmcp_hip *hip, struct rmcp_hip_kernel *kernel)
{
    if (kernel->module && hip->hipModuleUnload(kernel->module)) hip->hipGetLastError();
    free(kernel->image);
    kernel->module = kernel->function = kernel->image = NULL;
}

void rmcp_hip_modules_deinit(struct rmcp_hip_modules *modules)
{
    for (size_t i = 0; i < modules->n_kernels; i++) {
        unload(modules->hip, &modules->kernels[i]);
        pthread_mutex_destroy(&modules->kernels[i].lock);
    }
    free(modules->kernels);
    *modules = (struct rmcp_hip_modules){ 0 };
}

/* The code object as the loader wants it; the caller's to free. */
static rmcp_status make_image(const struct rmcp_hip_modules *modules, const char *name, void **out)
{
    void *native = NULL;
    size_t size = 0;
    rmcp_status status = rmcp_kernel_image(modules->code.target, name, &native, &size);
    *out = native;
    if (status || !modules->code.retag) return status;
    uint8_t *retagged = NULL;
    size_t retagged_size = 0;
    status = codeobj_retag(native, size, modules->believed, &retagged, &retagged_size);
    free(native);
    *out = retagged;
    return status;
}

static rmcp_status load(struct rmcp_hip_modules *modules, const struct rmcp_kernel *row,
                        struct rmcp_hip_kernel *kernel)
{
    const struct rmcp_hip *hip = modules->hip;
    rmcp_status status = make_image(modules, row->name, &kernel->image);
    if (status) return status;
    /* Loading must not end a capture that the caller has begun on some stream. */
    const int mode = rmcp_hip_exchange_capture(hip, RMCP_HIP_CAPTURE_RELAXED);
    const char *doing = "hipModuleLoadData";
    int code = hip->hipModuleLoadData(&kernel->module, kernel->image);
    if (code) kernel->module = NULL;
    if (!code) {
        doing = "hipModuleGetFunction";
        code = hip->hipModuleGetFunction(&kernel->function, kernel->module, row->entry);
        if (code) kernel->function = NULL;
    }
    rmcp_hip_exchange_capture(hip, mode);
    if (!code) return RMCP_OK;
    status = rmcp_hip_fail(hip, modules->lost, code, "kernel %s, code for %s called %s: %s",
                           row->name, modules->code.target, modules->believed, doing);
    unload(hip, kernel);
    return status;
}

rmcp_status rmcp_hip_modules_load(struct rmcp_hip_modules *modules, const char *name,
                                  struct rmcp_hip_kernel **out)
{
    *out = NULL;
    const struct rmcp_kernel *row = rmcp_kernel_find(name);
    if (!row) return rmcp_fail(RMCP_E_INTERNAL, "there is no kernel %s", name);
    struct rmcp_hip_kernel *kernel = &modules->kernels[row - rmcp_kernels];
    pthread_mutex_lock(&kernel->lock);
    rmcp_status status = kernel->function ? RMCP_OK : load(modules, row, kernel);
    pthread_mutex_unlock(&kernel->lock);
    if (!status) *out = kernel;
    return status;
}
