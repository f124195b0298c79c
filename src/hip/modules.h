/* modules.h: the kernels of one open HIP device, each loaded when first asked for. */
#ifndef RMCP_HIP_MODULES_H
#define RMCP_HIP_MODULES_H

#include "hip/api.h"
#include "hip/chip.h"

#include <pthread.h>

/* A loaded kernel; its address is the handle in launch records. */
struct rmcp_hip_kernel {
    pthread_mutex_t lock; /* held while it is loaded */
    void *module;
    void *function; /* NULL until loaded; written once */
    void *image;    /* the code object: HIP reads it as long as the module lives */
};

/* One kernel per row of rmcp_kernels. */
struct rmcp_hip_modules {
    const struct rmcp_hip *hip;
    atomic_bool *lost;
    struct rmcp_hip_code code;
    char believed[RMCP_HIP_NAME];
    struct rmcp_hip_kernel *kernels;
    size_t n_kernels;
};

/* Borrows library and flag. */
rmcp_status rmcp_hip_modules_init(struct rmcp_hip_modules *modules, const struct rmcp_hip *hip,
                                  const struct rmcp_hip_chip *chip,
                                  const struct rmcp_hip_code *code, atomic_bool *lost);
void rmcp_hip_modules_deinit(struct rmcp_hip_modules *modules); /* all zero is fine */

/* Make the kernel called `name` ready on the current device. `*out` lives as long as `modules`. */
rmcp_status rmcp_hip_modules_load(struct rmcp_hip_modules *modules, const char *name,
                                  struct rmcp_hip_kernel **out);

#endif
