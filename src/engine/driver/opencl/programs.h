/* programs.h: the kernels of one open OpenCL device, each made when first asked for: from a binary
 * kept on disk, else from source. */
#ifndef RMCP_DRIVER_OPENCL_PROGRAMS_H
#define RMCP_DRIVER_OPENCL_PROGRAMS_H

#include "engine/driver/opencl/api.h"
#include "engine/gpu/kernels.h"

#include <pthread.h>

/* Handle of a loaded kernel. The lock is held while it is built, and from its first argument to its
 * launch, since a cl_kernel holds one set of arguments for all threads. */
struct rmcp_cl_kernel {
    pthread_mutex_t lock;
    cl_program program;
    cl_kernel kernel; /* NULL until loaded */
};

/* Borrows the context, the device and the flag; one kernel per row of rmcp_kernels. */
struct rmcp_cl_programs {
    const struct rmcp_cl *cl;
    cl_context context;
    cl_device_id device;
    atomic_bool *lost;
    char identity[1024]; /* rmcp_cl_device_identity; "": binaries are not kept */
    struct rmcp_cl_kernel *kernels;
    size_t n_kernels;
};

rmcp_status rmcp_cl_programs_init(struct rmcp_cl_programs *programs, const struct rmcp_cl *cl,
                                  cl_context context, cl_device_id device, atomic_bool *lost);
void rmcp_cl_programs_deinit(struct rmcp_cl_programs *programs); /* all zero is fine */

/* Make the kernel called `name` ready. `*out` lives as long as `programs`. Of many threads that ask
 * for one kernel, one builds it; a build that failed is tried again by the next. */
rmcp_status rmcp_cl_programs_load(struct rmcp_cl_programs *programs, const char *name,
                                  struct rmcp_cl_kernel **out);

#endif
