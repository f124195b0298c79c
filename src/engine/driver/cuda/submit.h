/* submit.h: an open CUDA device: its context, its kernels, and how launch records get on streams.
 */
#ifndef RMCP_DRIVER_CUDA_SUBMIT_H
#define RMCP_DRIVER_CUDA_SUBMIT_H

#include "engine/core/device.h"
#include "engine/driver/cuda/api.h"
#include "engine/gpu/modules.h"

/* rmcp_device.state of a CUDA device. */
struct rmcp_cuda_state {
    const struct rmcp_cuda *cuda;
    void *context;
    int device;         /* a CUdevice                                              */
    bool primary;       /* the context is the device's primary one, held by us     */
    const char *target; /* as in kernels/images.h; static                          */
    struct rmcp_gpu_modules modules;
    atomic_bool lost; /* set for good once a call says that the context is gone  */
};

/* Make our context the thread's current one; rmcp_cuda_leave gives back what it had. RMCP_E_LOST
 * without a call to the driver once the device is gone. */
rmcp_status rmcp_cuda_enter(const struct rmcp_device *device);
void rmcp_cuda_leave(const struct rmcp_cuda_state *state);

/* Set how this thread's calls get on with captures in progress; returns how it was before. Loading
 * is forbidden to a thread that captures unless it says that it knows what it does. */
enum { RMCP_CUDA_CAPTURE_RELAXED = 2 };
int rmcp_cuda_exchange_capture(const struct rmcp_cuda *cuda, int mode);

/* struct rmcp_gpu_loader, with the state as context and our context current. */
rmcp_status rmcp_cuda_load(void *context, const struct rmcp_kernel *row,
                           struct rmcp_gpu_kernel *kernel);
void rmcp_cuda_unload(void *context, void *module);

/* rmcp_driver.submit */
rmcp_status rmcp_cuda_submit(struct rmcp_device *device, void *stream,
                             const struct rmcp_launch_list *list, const struct rmcp_given *given,
                             double *seconds);

#endif
