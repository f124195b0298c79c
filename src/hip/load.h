/* load.h: an open HIP device, and how its kernels get into it. */
#ifndef RMCP_HIP_LOAD_H
#define RMCP_HIP_LOAD_H

#include "gpu/modules.h"
#include "hip/api.h"
#include "hip/chip.h"

/* rmcp_device.state of a HIP device. */
struct rmcp_hip_state {
    const struct rmcp_hip *hip;
    int index;
    struct rmcp_hip_chip chip;
    struct rmcp_hip_code code;
    struct rmcp_gpu_modules modules;
    atomic_bool lost; /* set for good once a call says that the device is gone */
};

/* struct rmcp_gpu_loader, with the state as context and our device current. */
rmcp_status rmcp_hip_load(void *context, const struct rmcp_kernel *row,
                          struct rmcp_gpu_kernel *kernel);
void rmcp_hip_unload(void *context, void *module);

#endif
