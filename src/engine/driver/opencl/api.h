/* api.h: the OpenCL library, loaded at run time: one list of its functions, and its error names.
 *
 * Only what OpenCL 1.2 has, so that any installed driver will do. */
#ifndef RMCP_DRIVER_OPENCL_API_H
#define RMCP_DRIVER_OPENCL_API_H

#include "base/error.h"

#include <stdatomic.h>
#include <stdbool.h>

#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>

#define RMCP_CL_FUNCTIONS(F)                                                                       \
    F(clGetPlatformIDs)                                                                            \
    F(clGetPlatformInfo)                                                                           \
    F(clGetDeviceIDs)                                                                              \
    F(clGetDeviceInfo)                                                                             \
    F(clCreateContext)                                                                             \
    F(clRetainContext)                                                                             \
    F(clReleaseContext)                                                                            \
    F(clGetContextInfo)                                                                            \
    F(clCreateCommandQueue)                                                                        \
    F(clReleaseCommandQueue)                                                                       \
    F(clGetCommandQueueInfo)                                                                       \
    F(clCreateBuffer)                                                                              \
    F(clReleaseMemObject)                                                                          \
    F(clGetMemObjectInfo)                                                                          \
    F(clEnqueueReadBuffer)                                                                         \
    F(clEnqueueWriteBuffer)                                                                        \
    F(clCreateProgramWithSource)                                                                   \
    F(clCreateProgramWithBinary)                                                                   \
    F(clBuildProgram)                                                                              \
    F(clGetProgramInfo)                                                                            \
    F(clGetProgramBuildInfo)                                                                       \
    F(clReleaseProgram)                                                                            \
    F(clCreateKernel)                                                                              \
    F(clReleaseKernel)                                                                             \
    F(clGetKernelWorkGroupInfo)                                                                    \
    F(clSetKernelArg)                                                                              \
    F(clEnqueueNDRangeKernel)                                                                      \
    F(clEnqueueBarrierWithWaitList)                                                                \
    F(clFlush)                                                                                     \
    F(clFinish)                                                                                    \
    F(clWaitForEvents)                                                                             \
    F(clGetEventInfo)                                                                              \
    F(clGetEventProfilingInfo)                                                                     \
    F(clReleaseEvent)

struct rmcp_cl {
#define F(name) __typeof__(name) *name;
    RMCP_CL_FUNCTIONS(F)
#undef F
};

/* The library, loaded on first use and then kept, since OpenCL drivers do not survive unloading.
 * NULL with the reason in `why`; a later call tries again. RMCP_OPENCL_LIBRARY names another
 * library than the usual ones. Thread-safe. */
const struct rmcp_cl *rmcp_cl_get(char *why, size_t why_size);

/* "CL_OUT_OF_RESOURCES", or "unknown error"; static storage. */
const char *rmcp_cl_error_name(cl_int code);

/* RMCP_E_NOMEM, RMCP_E_LOST or RMCP_E_DEVICE. A queue that was valid and no longer is counts as
 * lost: that is how some drivers tell that the device was reset. */
rmcp_status rmcp_cl_status(cl_int code);

/* Fail with "<what>: CL_SOMETHING (-5)", and set `*lost` when the device is gone. `lost` may be
 * NULL. */
#if defined(__GNUC__)
__attribute__((format(printf, 3, 4)))
#endif
rmcp_status
rmcp_cl_fail(atomic_bool *lost, cl_int code, const char *format, ...);

#endif
