/* api.h: NVIDIA's driver library, found at run time: one list of its functions, and its errors.
 *
 * Nothing of NVIDIA's is needed to build: handles are pointers, results and devices are ints. */
#ifndef RMCP_DRIVER_CUDA_API_H
#define RMCP_DRIVER_CUDA_API_H

#include "base/error.h"

#include <stdatomic.h>
#include <stdbool.h>

/* N: needed, O: optional. name, symbol, parameters. All return a CUresult. */
#define RMCP_CUDA_FUNCTIONS(N, O)                                                                  \
    N(Init, cuInit, (unsigned flags))                                                              \
    N(DriverGetVersion, cuDriverGetVersion, (int *version))                                        \
    N(GetErrorName, cuGetErrorName, (int code, const char **name))                                 \
    N(DeviceGetCount, cuDeviceGetCount, (int *count))                                              \
    N(DeviceGet, cuDeviceGet, (int *device, int index))                                            \
    N(DeviceGetName, cuDeviceGetName, (char *name, int size, int device))                          \
    N(DeviceTotalMem, cuDeviceTotalMem_v2, (size_t * bytes, int device))                           \
    N(DeviceGetAttribute, cuDeviceGetAttribute, (int *value, int attribute, int device))           \
    N(DevicePrimaryCtxRetain, cuDevicePrimaryCtxRetain, (void **context, int device))              \
    N(DevicePrimaryCtxRelease, cuDevicePrimaryCtxRelease, (int device))                            \
    N(CtxPushCurrent, cuCtxPushCurrent_v2, (void *context))                                        \
    N(CtxPopCurrent, cuCtxPopCurrent_v2, (void **context))                                         \
    N(CtxGetDevice, cuCtxGetDevice, (int *device))                                                 \
    N(MemAlloc, cuMemAlloc_v2, (void **pointer, size_t bytes))                                     \
    N(MemFree, cuMemFree_v2, (void *pointer))                                                      \
    N(MemcpyHtoDAsync, cuMemcpyHtoDAsync_v2,                                                       \
      (void *target, const void *source, size_t bytes, void *stream))                              \
    N(MemcpyDtoHAsync, cuMemcpyDtoHAsync_v2,                                                       \
      (void *target, const void *source, size_t bytes, void *stream))                              \
    N(StreamSynchronize, cuStreamSynchronize, (void *stream))                                      \
    N(StreamCreate, cuStreamCreate, (void **stream, unsigned flags))                               \
    N(StreamDestroy, cuStreamDestroy_v2, (void *stream))                                           \
    N(ModuleLoadDataEx, cuModuleLoadDataEx,                                                        \
      (void **module, const void *image, unsigned n_options, int *options, void **values))         \
    N(ModuleUnload, cuModuleUnload, (void *module))                                                \
    N(ModuleGetFunction, cuModuleGetFunction, (void **function, void *module, const char *name))   \
    N(FuncGetAttribute, cuFuncGetAttribute, (int *value, int attribute, void *function))           \
    N(LaunchKernel, cuLaunchKernel,                                                                \
      (void *function, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x,        \
       unsigned block_y, unsigned block_z, unsigned local_bytes, void *stream, void **parameters,  \
       void **extra))                                                                              \
    N(EventCreate, cuEventCreate, (void **event, unsigned flags))                                  \
    N(EventRecord, cuEventRecord, (void *event, void *stream))                                     \
    N(EventSynchronize, cuEventSynchronize, (void *event))                                         \
    N(EventElapsedTime, cuEventElapsedTime, (float *milliseconds, void *first, void *last))        \
    N(EventDestroy, cuEventDestroy_v2, (void *event))                                              \
    O(ThreadExchangeStreamCaptureMode, cuThreadExchangeStreamCaptureMode, (int *mode))             \
    O(StreamIsCapturing, cuStreamIsCapturing, (void *stream, int *status))

struct rmcp_cuda {
#define F(name, symbol, parameters) int(*name) parameters;
    RMCP_CUDA_FUNCTIONS(F, F)
#undef F
};

/* CUresult, as far as it is told apart. */
enum {
    RMCP_CUDA_OK = 0,
    RMCP_CUDA_INVALID_VALUE = 1,
    RMCP_CUDA_OUT_OF_MEMORY = 2,
    RMCP_CUDA_DEINITIALIZED = 4,
    RMCP_CUDA_NO_DEVICE = 100,
    RMCP_CUDA_INVALID_CONTEXT = 201,
    RMCP_CUDA_ECC_UNCORRECTABLE = 214,
    RMCP_CUDA_NVLINK_UNCORRECTABLE = 220,
    RMCP_CUDA_INVALID_HANDLE = 400,
    RMCP_CUDA_ILLEGAL_ADDRESS = 700,
    RMCP_CUDA_LAUNCH_TIMEOUT = 702,
    RMCP_CUDA_CONTEXT_IS_DESTROYED = 709,
    RMCP_CUDA_ASSERT = 710,
    RMCP_CUDA_HARDWARE_STACK_ERROR = 714,
    RMCP_CUDA_LAUNCH_FAILED = 719, /* 714 to 719 are all errors of a kernel */
    RMCP_CUDA_CAPTURE_IMPLICIT = 906
};

/* The library, loaded and initialized on first use and then kept. NULL with the reason in `why`; a
 * later call tries again. RMCP_CUDA_LIBRARY names another one than libcuda.so.1. Thread-safe. */
const struct rmcp_cuda *rmcp_cuda_get(char *why, size_t why_size);

/* "CUDA_ERROR_OUT_OF_MEMORY"; static storage. */
const char *rmcp_cuda_error_name(const struct rmcp_cuda *cuda, int code);

/* Fail with "<what>: CUDA_ERROR_SOMETHING (700)", and set `*lost` when the context is gone for
 * good: after an error inside a kernel every later call fails. `lost` may be NULL. */
#if defined(__GNUC__)
__attribute__((format(printf, 4, 5)))
#endif
rmcp_status
rmcp_cuda_fail(const struct rmcp_cuda *cuda, atomic_bool *lost, int code, const char *format, ...);

#endif
