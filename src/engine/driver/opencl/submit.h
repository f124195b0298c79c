/* submit.h: an open OpenCL device: its queues, and how launch records get on them. */
#ifndef RMCP_DRIVER_OPENCL_SUBMIT_H
#define RMCP_DRIVER_OPENCL_SUBMIT_H

#include "engine/core/device.h"
#include "engine/driver/opencl/programs.h"

/* rmcp_device.state of an OpenCL device. */
struct rmcp_cl_state {
    const struct rmcp_cl *cl;
    cl_context context;
    cl_device_id device;
    cl_command_queue queue; /* our own, in order */
    bool profiling;         /* it has timestamps */
    struct rmcp_cl_programs programs;
    atomic_bool lost; /* set for good once a call says that the device is gone */
};

/* RMCP_E_LOST when the device is gone. */
rmcp_status rmcp_cl_check_lost(const struct rmcp_device *device);

struct rmcp_cl_queue {
    cl_command_queue queue;
    bool out_of_order, profiling;
};

/* The queue that `stream` means, the device's own for NULL. A caller's is checked, since a queue of
 * another context would fail later and less clearly. */
rmcp_status rmcp_cl_queue_take(const struct rmcp_device *device, void *stream,
                               struct rmcp_cl_queue *out);

/* What follows on the queue waits for what came before. */
cl_int rmcp_cl_queue_order(const struct rmcp_cl *cl, const struct rmcp_cl_queue *queue);

/* rmcp_driver.submit */
rmcp_status rmcp_cl_submit(struct rmcp_device *device, void *stream,
                           const struct rmcp_launch_list *list, const struct rmcp_given *given,
                           double *seconds);

#endif
