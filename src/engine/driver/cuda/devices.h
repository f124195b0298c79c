/* devices.h: which CUDA devices there are, and what they say about themselves. */
#ifndef RMCP_DRIVER_CUDA_DEVICES_H
#define RMCP_DRIVER_CUDA_DEVICES_H

#include "engine/core/device.h"
#include "engine/driver/cuda/api.h"

/* How many devices there are; 0 with the reason in `why`. */
int rmcp_cuda_count(const struct rmcp_cuda *cuda, char *why, size_t why_size);

/* Fill name, chip, driver, memory … of a CUdevice. What could be found out is filled in also on
 * error: RMCP_E_UNSUPPORTED when this build has no code for the chip. */
rmcp_status rmcp_cuda_describe(const struct rmcp_cuda *cuda, int device, rmcp_device_info *info);

/* What algorithms may know. */
rmcp_status rmcp_cuda_caps(const struct rmcp_cuda *cuda, int device, struct rmcp_caps *caps);

#endif
