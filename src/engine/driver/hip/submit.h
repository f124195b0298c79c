/* submit.h: how launch records get on the streams of a HIP device. */
#ifndef RMCP_DRIVER_HIP_SUBMIT_H
#define RMCP_DRIVER_HIP_SUBMIT_H

#include "engine/core/device.h"
#include "engine/driver/hip/load.h"

/* Make our device the thread's current one; `*previous` is for rmcp_hip_leave. RMCP_E_LOST without
 * a call to the driver once the device is gone. */
rmcp_status rmcp_hip_enter(struct rmcp_device *device, int *previous);

/* The same to give things back: whatever the driver says, also on a lost device. */
void rmcp_hip_enter_last(struct rmcp_device *device, int *previous);

/* Give the thread back the device that it had. */
void rmcp_hip_leave(struct rmcp_device *device, int previous);

/* rmcp_driver.submit */
rmcp_status rmcp_hip_submit(struct rmcp_device *device, void *stream,
                            const struct rmcp_launch_list *list, const struct rmcp_given *given,
                            double *seconds);

#endif
