/* devices.h: which OpenCL devices there are, and what they say about themselves. */
#ifndef RMCP_DRIVER_OPENCL_DEVICES_H
#define RMCP_DRIVER_OPENCL_DEVICES_H

#include "engine/core/device.h"
#include "engine/driver/opencl/api.h"

enum { RMCP_CL_MOST_DEVICES = 64 };

/* All devices of all platforms: GPUs and accelerators first, processors last, else in the order of
 * the library. Returns how many; 0 with the reason in `why`. */
int rmcp_cl_devices_find(const struct rmcp_cl *cl, cl_device_id devices[RMCP_CL_MOST_DEVICES],
                         char *why, size_t why_size);

/* Fill what rmcp_device_info tells about `device`. Fails when it cannot be used, with as much
 * filled in as there is. */
rmcp_status rmcp_cl_device_describe(const struct rmcp_cl *cl, cl_device_id device,
                                    rmcp_device_info *info);

/* The figures that algorithms go by. */
rmcp_status rmcp_cl_device_caps(const struct rmcp_cl *cl, cl_device_id device,
                                struct rmcp_caps *caps);

/* What makes binaries of one device useless to another: platform, device and driver, with their
 * versions, one per line. False when the driver does not tell. */
bool rmcp_cl_device_identity(const struct rmcp_cl *cl, cl_device_id device, char *text,
                             size_t size);

#endif
