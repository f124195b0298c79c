/* load.h: an open HIP device, and how its kernels get into it. */
#ifndef RMCP_DRIVER_HIP_LOAD_H
#define RMCP_DRIVER_HIP_LOAD_H

#include "engine/driver/hip/api.h"
#include "engine/driver/hip/chip.h"
#include "engine/gpu/modules.h"

/* A kernel of a code object that the caller brought. */
struct rmcp_hip_foreign {
    struct rmcp_hip_foreign *next;
    struct rmcp_gpu_kernel kernel;
};

/* rmcp_device.state of a HIP device. */
struct rmcp_hip_state {
    const struct rmcp_hip *hip;
    int index;
    struct rmcp_hip_chip chip;
    struct rmcp_hip_code code;
    struct rmcp_gpu_modules modules;
    _Atomic(struct rmcp_hip_foreign *) foreign; /* a list that only grows until close */
    atomic_bool lost; /* set for good once a call says that the device is gone */
};

/* struct rmcp_gpu_loader, with the state as context and our device current. */
rmcp_status rmcp_hip_load(void *context, const struct rmcp_kernel *row,
                          struct rmcp_gpu_kernel *kernel);
void rmcp_hip_unload(void *context, void *module);

/* Load a kernel of a code object that the caller brings, of whatever chip of the believed one's
 * generation, and put it on the list of foreign ones; and unload all of these. */
rmcp_status rmcp_hip_load_foreign(struct rmcp_hip_state *state, const void *object, size_t bytes,
                                  const char *kernel, void **handle);
void rmcp_hip_unload_foreign(struct rmcp_hip_state *state);

#endif
