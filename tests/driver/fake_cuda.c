/* fake_cuda.c: an NVIDIA driver without a GPU that fails on demand, for the tests only.
 *
 * Device memory is the host's. Of the kernels it runs `direct` in f32; others do nothing. Every
 * call is counted and the chosen one fails; objects are counted, so that a leak shows. Releasing
 * always releases, even when it says that it failed. */
#include "fake_cuda.h"
#include "fake_direct.h"

#include <pthread.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define API __attribute__((visibility("default"))) int

__attribute__((visibility("default"))) struct fake_cuda fake_cuda;

enum {
    OK = 0,
    INVALID_VALUE = 1,
    OUT_OF_MEMORY = 2,
    NO_DEVICE = 100,
    INVALID_CONTEXT = 201,
    INVALID_PTX = 218,
    CAPTURE_UNSUPPORTED = 900
};
enum { RELAXED = 2 };

static _Thread_local int depth, mode; /* of this thread: contexts pushed, rules of capture */

static int gate(const char *name)
{
    const long call = ++fake_cuda.calls;
    if (!fake_cuda.fail_at || call < fake_cuda.fail_at) return OK;
    if (call > fake_cuda.fail_at && !fake_cuda.sticky) return OK;
    if (call == fake_cuda.fail_at) fake_cuda.failed = name;
    return fake_cuda.code;
}

/* With a context, and not while a stream captures unless the thread relaxed its rules. */
static int gate_used(const char *name, int forbidden, int always)
{
    int code = gate(name);
    if (!code && depth < 1) code = INVALID_CONTEXT;
    if (!code && fake_cuda.capturing && forbidden && (always || mode != RELAXED)) {
        fake_cuda.violations++;
        code = CAPTURE_UNSUPPORTED;
    }
    return code;
}

static int create(int code, void **out, size_t bytes)
{
    if (code) return code;
    if (bytes > FAKE_CUDA_MEMORY) return OUT_OF_MEMORY;
    *out = calloc(1, bytes);
    if (!*out) abort();
    fake_cuda.live++;
    return OK;
}

static int release(int code, void *object)
{
    free(object);
    fake_cuda.live--;
    return code;
}

/* ---- devices and contexts ---- */

API cuInit(unsigned flags);
API cuInit(unsigned flags)
{
    int code = gate("cuInit");
    (void)flags;
    return code ? code : fake_cuda.n_devices ? OK : NO_DEVICE;
}

API cuDriverGetVersion(int *version);
API cuDriverGetVersion(int *version)
{
    *version = 12040;
    return gate("cuDriverGetVersion");
}

API cuGetErrorName(int code, const char **name);
API cuGetErrorName(int code, const char **name)
{
    *name = code == OUT_OF_MEMORY ? "CUDA_ERROR_OUT_OF_MEMORY"
            : code == 700         ? "CUDA_ERROR_ILLEGAL_ADDRESS"
            : code == INVALID_PTX ? "CUDA_ERROR_INVALID_PTX"
                                  : NULL;
    return *name ? OK : INVALID_VALUE;
}

API cuDeviceGetCount(int *count);
API cuDeviceGetCount(int *count)
{
    *count = fake_cuda.n_devices;
    return gate("cuDeviceGetCount");
}

API cuDeviceGet(int *device, int index);
API cuDeviceGet(int *device, int index)
{
    int code = gate("cuDeviceGet");
    *device = index;
    return code ? code : index < fake_cuda.n_devices ? OK : 101;
}

API cuDeviceGetName(char *name, int size, int device);
API cuDeviceGetName(char *name, int size, int device)
{
    snprintf(name, (size_t)size, "fake GPU %d", device);
    return gate("cuDeviceGetName");
}

API cuDeviceTotalMem_v2(size_t *bytes, int device);
API cuDeviceTotalMem_v2(size_t *bytes, int device)
{
    (void)device;
    *bytes = FAKE_CUDA_MEMORY;
    return gate("cuDeviceTotalMem");
}

API cuDeviceGetAttribute(int *value, int attribute, int device);
API cuDeviceGetAttribute(int *value, int attribute, int device)
{
    (void)device;
    *value = attribute == 75 ? fake_cuda.major : attribute == 76 ? 0 : 1024;
    return gate("cuDeviceGetAttribute");
}

API cuDevicePrimaryCtxRetain(void **context, int device);
API cuDevicePrimaryCtxRetain(void **context, int device)
{
    static int primary;
    int code = gate("cuDevicePrimaryCtxRetain");
    (void)device;
    if (code) return code;
    fake_cuda.live++;
    *context = &primary;
    return OK;
}

API cuDevicePrimaryCtxRelease(int device);
API cuDevicePrimaryCtxRelease(int device)
{
    (void)device;
    fake_cuda.live--;
    return gate("cuDevicePrimaryCtxRelease");
}

API cuCtxPushCurrent_v2(void *context);
API cuCtxPushCurrent_v2(void *context)
{
    int code = gate("cuCtxPushCurrent");
    if (code) return code;
    if (!context) return INVALID_CONTEXT;
    depth++;
    fake_cuda.depth++;
    return OK;
}

API cuCtxPopCurrent_v2(void **context);
API cuCtxPopCurrent_v2(void **context)
{
    *context = NULL;
    if (depth < 1) return INVALID_CONTEXT;
    depth--;
    fake_cuda.depth--;
    return gate("cuCtxPopCurrent");
}

API cuCtxGetDevice(int *device);
API cuCtxGetDevice(int *device)
{
    *device = 1;
    return gate_used("cuCtxGetDevice", 0, 0);
}

API cuThreadExchangeStreamCaptureMode(int *exchanged);
API cuThreadExchangeStreamCaptureMode(int *exchanged)
{
    const int old = mode;
    fake_cuda.mode = mode = *exchanged;
    *exchanged = old;
    return OK;
}

/* The default stream cannot be asked while another one captures. */
API cuStreamIsCapturing(void *stream, int *status);
API cuStreamIsCapturing(void *stream, int *status)
{
    enum { CAPTURE_IMPLICIT = 906 };
    *status = fake_cuda.capturing;
    const int code = gate_used("cuStreamIsCapturing", 0, 0);
    return code ? code : fake_cuda.capturing && !stream ? CAPTURE_IMPLICIT : OK;
}

/* ---- streams ---- */

/* Those that were made here: they capture nothing, so waiting for them is always legal. */
enum { MOST_STREAMS = 64 };
static void *streams[MOST_STREAMS];
static pthread_mutex_t streams_lock = PTHREAD_MUTEX_INITIALIZER;

/* Put `new` in the place of `old`; false when `old` is not there. */
static int exchange_stream(void *old, void *new)
{
    int at = 0;
    pthread_mutex_lock(&streams_lock);
    while (at < MOST_STREAMS && streams[at] != old) at++;
    if (at < MOST_STREAMS) streams[at] = new;
    pthread_mutex_unlock(&streams_lock);
    return at < MOST_STREAMS;
}

API cuStreamCreate(void **stream, unsigned flags);
API cuStreamCreate(void **stream, unsigned flags)
{
    (void)flags;
    const int code = create(gate_used("cuStreamCreate", 0, 0), stream, 16);
    if (!code && !exchange_stream(NULL, *stream)) abort();
    return code;
}

API cuStreamDestroy_v2(void *stream);
API cuStreamDestroy_v2(void *stream)
{
    if (!exchange_stream(stream, NULL)) abort();
    return release(gate_used("cuStreamDestroy", 0, 0), stream);
}

API cuStreamSynchronize(void *stream);
API cuStreamSynchronize(void *stream)
{
    const int ours = stream && exchange_stream(stream, stream);
    return gate_used("cuStreamSynchronize", !ours, 1);
}

/* ---- memory ---- */

API cuMemAlloc_v2(void **pointer, size_t bytes);
API cuMemAlloc_v2(void **pointer, size_t bytes)
{
    return create(gate_used("cuMemAlloc", 1, 0), pointer, bytes);
}

API cuMemFree_v2(void *pointer);
API cuMemFree_v2(void *pointer)
{
    return release(gate_used("cuMemFree", 1, 0), pointer);
}

API cuMemcpyHtoDAsync_v2(void *target, const void *source, size_t bytes, void *stream);
API cuMemcpyHtoDAsync_v2(void *target, const void *source, size_t bytes, void *stream)
{
    int code = gate_used("cuMemcpyHtoDAsync", 1, 0);
    (void)stream;
    if (!code) memcpy(target, source, bytes);
    return code;
}

API cuMemcpyDtoHAsync_v2(void *target, const void *source, size_t bytes, void *stream);
API cuMemcpyDtoHAsync_v2(void *target, const void *source, size_t bytes, void *stream)
{
    int code = gate_used("cuMemcpyDtoHAsync", 1, 0);
    (void)stream;
    if (!code) memcpy(target, source, bytes);
    return code;
}

/* ---- kernels ---- */

struct module {
    char name[32]; /* of its one kernel */
};

API cuModuleLoadDataEx(void **module, const void *image, unsigned n, int *options, void **values);
API cuModuleLoadDataEx(void **module, const void *image, unsigned n, int *options, void **values)
{
    int code = gate_used("cuModuleLoadDataEx", 1, 0);
    if (!code && (fake_cuda.bad_ptx || !strstr(image, ".version 6.0"))) {
        code = INVALID_PTX;
        if (n >= 2 && options[0] == 5 && options[1] == 6)
            snprintf(values[0], (size_t)(uintptr_t)values[1], "line 3: no such\ninstruction");
    }
    return create(code, module, sizeof(struct module));
}

API cuModuleUnload(void *module);
API cuModuleUnload(void *module)
{
    return release(gate_used("cuModuleUnload", 1, 0), module);
}

API cuModuleGetFunction(void **function, void *module, const char *name);
API cuModuleGetFunction(void **function, void *module, const char *name)
{
    const int code = gate_used("cuModuleGetFunction", 0, 0);
    if (code) return code;
    snprintf(((struct module *)module)->name, sizeof(struct module), "%s", name);
    *function = module;
    return OK;
}

API cuFuncGetAttribute(int *value, int attribute, void *function);
API cuFuncGetAttribute(int *value, int attribute, void *function)
{
    (void)function;
    *value = attribute == 0 ? 1024 : 0;
    return gate_used("cuFuncGetAttribute", 0, 0);
}

API cuLaunchKernel(void *function, unsigned grid_x, unsigned grid_y, unsigned grid_z,
                   unsigned block_x, unsigned block_y, unsigned block_z, unsigned local_bytes,
                   void *stream, void **parameters, void **extra);
API cuLaunchKernel(void *function, unsigned grid_x, unsigned grid_y, unsigned grid_z,
                   unsigned block_x, unsigned block_y, unsigned block_z, unsigned local_bytes,
                   void *stream, void **parameters, void **extra)
{
    int code = gate_used("cuLaunchKernel", 0, 0);
    if (code) return code;
    if (!function || !grid_x || !grid_y || !grid_z || grid_y > 65535 || grid_z > 65535 ||
        block_x * block_y * block_z > 1024 || local_bytes || extra)
        return INVALID_VALUE;
    fake_cuda.launches++;
    fake_cuda.stream = stream;
    for (int i = 0; i < 2; i++) {
        uint64_t value;
        memcpy(&value, parameters[i], sizeof value);
        fake_cuda.first[i] = value;
    }
    if (!strcmp(((struct module *)function)->name, "direct")) run_direct(grid_x, parameters);
    return OK;
}

/* ---- events ---- */

API cuEventCreate(void **event, unsigned flags);
API cuEventCreate(void **event, unsigned flags)
{
    (void)flags;
    return create(gate_used("cuEventCreate", 0, 0), event, 16);
}

API cuEventRecord(void *event, void *stream);
API cuEventRecord(void *event, void *stream)
{
    (void)event, (void)stream;
    return gate_used("cuEventRecord", 0, 0);
}

API cuEventSynchronize(void *event);
API cuEventSynchronize(void *event)
{
    (void)event;
    return gate_used("cuEventSynchronize", 1, 1);
}

API cuEventElapsedTime(float *milliseconds, void *first, void *last);
API cuEventElapsedTime(float *milliseconds, void *first, void *last)
{
    *milliseconds = first != last ? 2 : 0;
    return gate_used("cuEventElapsedTime", 0, 0);
}

API cuEventDestroy_v2(void *event);
API cuEventDestroy_v2(void *event)
{
    return release(gate_used("cuEventDestroy", 0, 0), event);
}
