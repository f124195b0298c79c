/* api.h: the HIP library, found at run time; only what ROCm 5.2 to 7.x have in common. */
#ifndef RMCP_DRIVER_HIP_API_H
#define RMCP_DRIVER_HIP_API_H

#include "base/error.h"

#include <stdatomic.h>
#include <stdbool.h>

/* Every function that is used, with its parameters. All return a hipError_t, which is an int.
 * Needed(…) or Optional(…). No struct of HIP's is used: their layout changed between releases. */
/* clang-format off */
#define RMCP_HIP_FUNCTIONS(Needed, Optional) \
    Needed(hipGetDeviceCount, (int *count)) \
    Needed(hipGetDevice, (int *device)) \
    Needed(hipSetDevice, (int device)) \
    Needed(hipDeviceGetName, (char *name, int size, int device)) \
    Needed(hipDeviceTotalMem, (size_t *bytes, int device)) \
    Needed(hipDeviceGetAttribute, (int *value, int attribute, int device)) \
    Needed(hipDeviceGetPCIBusId, (char *address, int size, int device)) \
    Needed(hipRuntimeGetVersion, (int *version)) \
    Needed(hipMalloc, (void **pointer, size_t bytes)) \
    Needed(hipFree, (void *pointer)) \
    Needed(hipMemcpyAsync, (void *target, const void *source, size_t bytes, int kind, \
        void *stream)) \
    Needed(hipStreamSynchronize, (void *stream)) \
    Needed(hipStreamCreateWithFlags, (void **stream, unsigned flags)) \
    Needed(hipStreamDestroy, (void *stream)) \
    Needed(hipModuleLoadData, (void **module, const void *image)) \
    Needed(hipModuleUnload, (void *module)) \
    Needed(hipModuleGetFunction, (void **function, void *module, const char *name)) \
    Needed(hipModuleLaunchKernel, (void *function, unsigned grid_x, unsigned grid_y, \
        unsigned grid_z, unsigned block_x, unsigned block_y, unsigned block_z, \
        unsigned local_bytes, void *stream, void **parameters, void **extra)) \
    Needed(hipEventCreate, (void **event)) \
    Needed(hipEventRecord, (void *event, void *stream)) \
    Needed(hipEventSynchronize, (void *event)) \
    Needed(hipEventElapsedTime, (float *milliseconds, void *first, void *last)) \
    Needed(hipEventDestroy, (void *event)) \
    Needed(hipGetLastError, (void)) \
    Optional(hipGetDevicePropertiesR0600, (void *properties, int device)) \
    Optional(hipGetDeviceProperties, (void *properties, int device)) \
    Optional(hipThreadExchangeStreamCaptureMode, (int *mode)) \
    Optional(hipStreamIsCapturing, (void *stream, int *status))
/* clang-format on */

struct rmcp_hip {
#define F(name, parameters) int(*name) parameters;
    RMCP_HIP_FUNCTIONS(F, F)
#undef F
    const char *(*hipGetErrorName)(int code);
};

/* hipError_t: the same numbers in all releases. */
enum {
    RMCP_HIP_OK = 0,
    RMCP_HIP_INVALID_VALUE = 1,
    RMCP_HIP_OUT_OF_MEMORY = 2,
    RMCP_HIP_NOT_INITIALIZED = 3,
    RMCP_HIP_DEINITIALIZED = 4,
    RMCP_HIP_PRIOR_LAUNCH_FAILURE = 53,
    RMCP_HIP_NO_DEVICE = 100,
    RMCP_HIP_ECC = 214,
    RMCP_HIP_ILLEGAL_ADDRESS = 700,
    RMCP_HIP_LAUNCH_TIME_OUT = 702,
    RMCP_HIP_CONTEXT_IS_DESTROYED = 709,
    RMCP_HIP_ASSERT = 710,
    RMCP_HIP_LAUNCH_FAILURE = 719,
    RMCP_HIP_CAPTURE_IMPLICIT = 906,
    RMCP_HIP_RUNTIME_MEMORY = 1052
};

/* hipDeviceAttribute_t: numbers that releases 5.2 to 7 share. */
enum {
    RMCP_HIP_CLOCK_RATE = 5, /* kHz   */
    RMCP_HIP_MAX_THREADS_PER_BLOCK = 56,
    RMCP_HIP_MEMORY_BUS_WIDTH = 59,  /* bits  */
    RMCP_HIP_MEMORY_CLOCK_RATE = 60, /* kHz   */
    RMCP_HIP_MULTIPROCESSOR_COUNT = 63,
    RMCP_HIP_MAX_SHARED_MEMORY_PER_BLOCK = 74 /* bytes */
};

enum { RMCP_HIP_HOST_TO_DEVICE = 1, RMCP_HIP_DEVICE_TO_HOST = 2 }; /* hipMemcpyKind      */
enum { RMCP_HIP_CAPTURE_RELAXED = 2 };                             /* hipStreamCaptureMode */
enum { RMCP_HIP_STREAM_NON_BLOCKING = 1 };

/* The library: one that the process has already, else the newest that can be loaded, else NULL with
 * the reason in `why`. RMCP_HIP_LIBRARY in the environment names another one. Stays loaded. */
const struct rmcp_hip *rmcp_hip_get(char *why, size_t why_size);

/* Set how this thread's calls get on with captures in progress; returns how it was before. Does
 * nothing with a library that cannot. */
int rmcp_hip_exchange_capture(const struct rmcp_hip *hip, int mode);

/* Whether this error means that the device is of no more use to the process. */
bool rmcp_hip_is_lost(int code);

/* Set the message "WHAT: hipErrorName (code)", take the error off HIP's own record, so that nobody
 * else in the process stumbles over it, and return the fitting status. Sets `*lost`, which may be
 * NULL, when the device is gone. */
#if defined(__GNUC__)
__attribute__((format(printf, 4, 5)))
#endif
rmcp_status
rmcp_hip_fail(const struct rmcp_hip *hip, atomic_bool *lost, int code, const char *format, ...);

#endif
