/* modules.h: the kernels of one open HIP or CUDA device, each loaded when first asked for. */
#ifndef RMCP_GPU_MODULES_H
#define RMCP_GPU_MODULES_H

#include "engine/gpu/kernels.h"

#include "base/error.h"

#include <pthread.h>

/* A loaded kernel; its address is the handle in launch records. */
struct rmcp_gpu_kernel {
    pthread_mutex_t lock; /* held while it is loaded     */
    void *module;
    void *function; /* NULL until loaded; written once */
    void *image;    /* freed with the module; NULL where the driver has its own copy */
};

/* How a driver loads: sets module and function (and image) of `kernel`, or fails and leaves what
 * `unload` then gives back. */
struct rmcp_gpu_loader {
    rmcp_status (*load)(void *context, const struct rmcp_kernel *row,
                        struct rmcp_gpu_kernel *kernel);
    void (*unload)(void *context, void *module);
    void *context;
};

/* One kernel for each row of rmcp_kernels. */
struct rmcp_gpu_modules {
    struct rmcp_gpu_loader loader;
    struct rmcp_gpu_kernel *kernels;
    size_t n_kernels;
};

rmcp_status rmcp_gpu_modules_init(struct rmcp_gpu_modules *modules, struct rmcp_gpu_loader loader);
void rmcp_gpu_modules_deinit(struct rmcp_gpu_modules *modules); /* all zero is fine */

/* Make the kernel called `name` ready. `*out` lives as long as `modules`. Of many threads that ask
 * for one kernel, one loads it; a load that failed is tried again by the next. */
rmcp_status rmcp_gpu_modules_load(struct rmcp_gpu_modules *modules, const char *name,
                                  struct rmcp_gpu_kernel **out);

#endif
