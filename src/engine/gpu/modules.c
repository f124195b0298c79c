/* modules.c: the kernels of one open HIP or CUDA device, each loaded when first asked for. */
#include "engine/gpu/modules.h"

#include <stdlib.h>

rmcp_status rmcp_gpu_modules_init(struct rmcp_gpu_modules *modules, struct rmcp_gpu_loader loader)
{
    size_t n = 0;
    while (rmcp_kernels[n].name) n++;
    *modules = (struct rmcp_gpu_modules){ .loader = loader };
    modules->kernels = calloc(n, sizeof *modules->kernels);
    if (!modules->kernels) return rmcp_fail_memory("kernels", n * sizeof *modules->kernels);
    for (; modules->n_kernels < n; modules->n_kernels++)
        if (pthread_mutex_init(&modules->kernels[modules->n_kernels].lock, NULL)) {
            rmcp_gpu_modules_deinit(modules);
            return rmcp_fail(RMCP_E_NOMEM, "no lock could be made for a kernel");
        }
    return RMCP_OK;
}

static void unload(const struct rmcp_gpu_modules *modules, struct rmcp_gpu_kernel *kernel)
{
    if (kernel->module) modules->loader.unload(modules->loader.context, kernel->module);
    free(kernel->image);
    kernel->module = kernel->function = kernel->image = NULL;
}

void rmcp_gpu_modules_deinit(struct rmcp_gpu_modules *modules)
{
    for (size_t i = 0; i < modules->n_kernels; i++) {
        unload(modules, &modules->kernels[i]);
        pthread_mutex_destroy(&modules->kernels[i].lock);
    }
    free(modules->kernels);
    *modules = (struct rmcp_gpu_modules){ .kernels = NULL };
}

rmcp_status rmcp_gpu_modules_load(struct rmcp_gpu_modules *modules, const char *name,
                                  struct rmcp_gpu_kernel **out)
{
    *out = NULL;
    const struct rmcp_kernel *row = rmcp_kernel_find(name);
    if (!row) return rmcp_fail(RMCP_E_INTERNAL, "there is no kernel %s", name);
    struct rmcp_gpu_kernel *kernel = &modules->kernels[row - rmcp_kernels];
    rmcp_status status = RMCP_OK;
    pthread_mutex_lock(&kernel->lock);
    if (!kernel->function) {
        status = modules->loader.load(modules->loader.context, row, kernel);
        if (status) unload(modules, kernel);
    }
    pthread_mutex_unlock(&kernel->lock);
    if (!status) *out = kernel;
    return status;
}
