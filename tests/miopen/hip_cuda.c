/* hip_cuda.c: a libamdhip64 on NVIDIA's driver, so that programs written for HIP run on their GPUs.
 *
 * It has what test programs and the MIOpen drop-in call; kernels are the engine's own affair
 * (RMCP_DEVICE=cuda:0). Everything happens in the primary context, which the engine uses, too. CUDA
 * and HIP number their errors, copies and capture modes alike. libcuda is found at run time and
 * nothing of NVIDIA's is needed to build. */
#include "engine/driver/cuda/api.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#pragma GCC diagnostic ignored "-Wmissing-prototypes" /* HIP's headers are not here */
#define API __attribute__((visibility("default")))

/* ---- the driver ---- */

/* Beyond what the engine uses. name, symbol, parameters */
#define MORE_FUNCTIONS(F)                                                                          \
    F(CtxSetCurrent, cuCtxSetCurrent, (void *context))                                             \
    F(CtxSynchronize, cuCtxSynchronize, (void))                                                    \
    F(MemGetInfo, cuMemGetInfo_v2, (size_t * free_bytes, size_t * total))                          \
    F(HostAlloc, cuMemHostAlloc, (void **pointer, size_t bytes, unsigned flags))                   \
    F(HostFree, cuMemFreeHost, (void *pointer))                                                    \
    F(Copy, cuMemcpy, (void *target, const void *source, size_t bytes))                            \
    F(CopyAsync, cuMemcpyAsync, (void *target, const void *source, size_t bytes, void *stream))    \
    F(Fill, cuMemsetD8_v2, (void *target, unsigned char value, size_t bytes))                      \
    F(FillAsync, cuMemsetD8Async, (void *target, unsigned char value, size_t bytes, void *stream)) \
    F(StreamQuery, cuStreamQuery, (void *stream))                                                  \
    F(StreamWaitEvent, cuStreamWaitEvent, (void *stream, void *event, unsigned flags))             \
    F(StreamIsCapturing, cuStreamIsCapturing, (void *stream, int *status))                         \
    F(StreamBeginCapture, cuStreamBeginCapture_v2, (void *stream, int mode))                       \
    F(StreamEndCapture, cuStreamEndCapture, (void *stream, void **graph))                          \
    F(ExchangeCaptureMode, cuThreadExchangeStreamCaptureMode, (int *mode))                         \
    F(GraphInstantiate, cuGraphInstantiateWithFlags,                                               \
      (void **exec, void *graph, unsigned long long flags))                                        \
    F(GraphLaunch, cuGraphLaunch, (void *exec, void *stream))                                      \
    F(GraphExecDestroy, cuGraphExecDestroy, (void *exec))                                          \
    F(GraphDestroy, cuGraphDestroy, (void *graph))                                                 \
    F(EventQuery, cuEventQuery, (void *event))                                                     \
    F(GetErrorString, cuGetErrorString, (int code, const char **text))

static struct rmcp_cuda cuda;
static struct {
#define F(name, symbol, parameters) int(*name) parameters;
    MORE_FUNCTIONS(F)
#undef F
} more;

enum { MOST_DEVICES = 16, NO_DEVICE = 100, INVALID_DEVICE = 101, INVALID_VALUE = 1 };
static int n_devices;
static int devices[MOST_DEVICES];
static void *contexts[MOST_DEVICES]; /* primary, retained when first needed and never released */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static _Thread_local int current, last;

static bool find(void *library, const char *symbol, void *slot)
{
    void *address = dlsym(library, symbol);
    memcpy(slot, &address, sizeof address);
    if (!address) fprintf(stderr, "hip_cuda: libcuda.so.1 has no %s\n", symbol);
    return address;
}

static void load(void)
{
    int n = 0;
    void *library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
    bool complete = library;
#define F(name, symbol, parameters) complete = complete && find(library, #symbol, &cuda.name);
    RMCP_CUDA_FUNCTIONS(F, F)
#undef F
#define F(name, symbol, parameters) complete = complete && find(library, #symbol, &more.name);
    MORE_FUNCTIONS(F)
#undef F
    if (!complete || cuda.Init(0) || cuda.DeviceGetCount(&n)) return;
    if (n > MOST_DEVICES) n = MOST_DEVICES;
    for (int i = 0; i < n; i++)
        if (cuda.DeviceGet(&devices[i], i)) return;
    n_devices = n;
}

static int done(int code)
{
    if (code) last = code;
    return code;
}

/* What every function begins with: the driver is there and the device's context is this thread's. 0
 * or an error, which is kept. */
static int enter(void)
{
    int code = 0;
    pthread_once(&once, load);
    if (!n_devices) return done(NO_DEVICE);
    pthread_mutex_lock(&lock);
    if (!contexts[current])
        code = cuda.DevicePrimaryCtxRetain(&contexts[current], devices[current]);
    pthread_mutex_unlock(&lock);
    return done(code ? code : more.CtxSetCurrent(contexts[current]));
}

/* The result of a call such as cuda.MemFree(p), if it could be made at all. */
#define CALL(call) (enter() ? last : done(call))

/* ---- devices ---- */

API int hipInit(unsigned flags)
{
    (void)flags;
    return enter();
}

API int hipGetDeviceCount(int *n)
{
    if (!n) return done(INVALID_VALUE);
    const int code = enter();
    *n = n_devices;
    return code;
}

API int hipGetDevice(int *device)
{
    if (!device) return done(INVALID_VALUE);
    *device = current;
    return CALL(0);
}

API int hipSetDevice(int device)
{
    pthread_once(&once, load);
    if (device < 0 || device >= n_devices) return done(n_devices ? INVALID_DEVICE : NO_DEVICE);
    current = device;
    return CALL(0);
}

API int hipDeviceGetName(char *name, int size, int device)
{
    if (device < 0 || device >= MOST_DEVICES) return done(INVALID_DEVICE);
    return CALL(cuda.DeviceGetName(name, size, devices[device]));
}

API int hipDeviceTotalMem(size_t *bytes, int device)
{
    if (device < 0 || device >= MOST_DEVICES) return done(INVALID_DEVICE);
    return CALL(cuda.DeviceTotalMem(bytes, devices[device]));
}

API int hipDeviceGetAttribute(int *value, int attribute, int device)
{
    /* HIP's numbers and CUDA's: threads in a block, multiprocessors, shared memory of a block. */
    static const int known[][2] = { { 56, 1 }, { 63, 16 }, { 74, 8 } };
    if (device < 0 || device >= MOST_DEVICES) return done(INVALID_DEVICE);
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (known[i][0] == attribute)
            return CALL(cuda.DeviceGetAttribute(value, known[i][1], devices[device]));
    return done(INVALID_VALUE);
}

API int hipRuntimeGetVersion(int *version)
{
    if (!version) return done(INVALID_VALUE);
    *version = 60000000; /* 6.0 */
    return CALL(0);
}

API int hipDeviceSynchronize(void)
{
    return CALL(more.CtxSynchronize());
}

/* ---- errors ---- */

API int hipGetLastError(void)
{
    const int code = last;
    last = 0;
    return code;
}

API int hipPeekAtLastError(void)
{
    return last;
}

/* The names are CUDA's: there is none of HIP's behind them. */
API const char *hipGetErrorName(int code)
{
    const char *name = NULL;
    pthread_once(&once, load);
    return n_devices && !cuda.GetErrorName(code, &name) && name ? name : "hipErrorUnknown";
}

API const char *hipGetErrorString(int code)
{
    const char *text = NULL;
    pthread_once(&once, load);
    return n_devices && !more.GetErrorString(code, &text) && text ? text : "unknown error";
}

/* ---- memory ---- */

API int hipMalloc(void **pointer, size_t bytes)
{
    if (!pointer) return done(INVALID_VALUE);
    *pointer = NULL;
    return bytes ? CALL(cuda.MemAlloc(pointer, bytes)) : CALL(0); /* CUDA refuses 0 */
}

API int hipFree(void *pointer)
{
    return pointer ? CALL(cuda.MemFree(pointer)) : CALL(0);
}

API int hipHostMalloc(void **pointer, size_t bytes, unsigned flags)
{
    (void)flags;
    return CALL(more.HostAlloc(pointer, bytes, 0));
}

API int hipHostFree(void *pointer)
{
    return pointer ? CALL(more.HostFree(pointer)) : CALL(0);
}

API int hipMemGetInfo(size_t *free_bytes, size_t *total)
{
    return CALL(more.MemGetInfo(free_bytes, total));
}

/* The kind of a copy is in its addresses. */
API int hipMemcpy(void *target, const void *source, size_t bytes, int kind)
{
    (void)kind;
    return CALL(more.Copy(target, source, bytes));
}

API int hipMemcpyAsync(void *target, const void *source, size_t bytes, int kind, void *stream)
{
    (void)kind;
    return CALL(more.CopyAsync(target, source, bytes, stream));
}

API int hipMemcpyWithStream(void *target, const void *source, size_t bytes, int kind, void *stream)
{
    const int code = hipMemcpyAsync(target, source, bytes, kind, stream);
    return code ? code : CALL(cuda.StreamSynchronize(stream));
}

API int hipMemset(void *target, int value, size_t bytes)
{
    return CALL(more.Fill(target, (unsigned char)value, bytes));
}

API int hipMemsetAsync(void *target, int value, size_t bytes, void *stream)
{
    return CALL(more.FillAsync(target, (unsigned char)value, bytes, stream));
}

/* ---- streams ---- */

API int hipStreamCreateWithFlags(void **stream, unsigned flags)
{
    return CALL(cuda.StreamCreate(stream, flags));
}

API int hipStreamCreate(void **stream)
{
    return hipStreamCreateWithFlags(stream, 0);
}

API int hipStreamDestroy(void *stream)
{
    return CALL(cuda.StreamDestroy(stream));
}

API int hipStreamSynchronize(void *stream)
{
    return CALL(cuda.StreamSynchronize(stream));
}

API int hipStreamQuery(void *stream)
{
    return CALL(more.StreamQuery(stream));
}

API int hipStreamWaitEvent(void *stream, void *event, unsigned flags)
{
    return CALL(more.StreamWaitEvent(stream, event, flags));
}

/* ---- events ---- */

API int hipEventCreateWithFlags(void **event, unsigned flags)
{
    return CALL(cuda.EventCreate(event, flags & 3)); /* waiting, and no time: bits that both have */
}

API int hipEventCreate(void **event)
{
    return hipEventCreateWithFlags(event, 0);
}

API int hipEventDestroy(void *event)
{
    return CALL(cuda.EventDestroy(event));
}

API int hipEventRecord(void *event, void *stream)
{
    return CALL(cuda.EventRecord(event, stream));
}

API int hipEventSynchronize(void *event)
{
    return CALL(cuda.EventSynchronize(event));
}

API int hipEventQuery(void *event)
{
    return CALL(more.EventQuery(event));
}

API int hipEventElapsedTime(float *milliseconds, void *first, void *second)
{
    return CALL(cuda.EventElapsedTime(milliseconds, first, second));
}

/* ---- captures and graphs ---- */

API int hipStreamIsCapturing(void *stream, int *status)
{
    return CALL(more.StreamIsCapturing(stream, status));
}

API int hipStreamBeginCapture(void *stream, int mode)
{
    return CALL(more.StreamBeginCapture(stream, mode));
}

API int hipStreamEndCapture(void *stream, void **graph)
{
    return CALL(more.StreamEndCapture(stream, graph));
}

API int hipThreadExchangeStreamCaptureMode(int *mode)
{
    return CALL(more.ExchangeCaptureMode(mode));
}

API int hipGraphInstantiateWithFlags(void **exec, void *graph, unsigned long long flags)
{
    return CALL(more.GraphInstantiate(exec, graph, flags));
}

API int hipGraphInstantiate(void **exec, void *graph, void **node, char *log, size_t log_bytes)
{
    if (node) *node = NULL;
    if (log && log_bytes) *log = '\0';
    return hipGraphInstantiateWithFlags(exec, graph, 0);
}

API int hipGraphLaunch(void *exec, void *stream)
{
    return CALL(more.GraphLaunch(exec, stream));
}

API int hipGraphExecDestroy(void *exec)
{
    return CALL(more.GraphExecDestroy(exec));
}

API int hipGraphDestroy(void *graph)
{
    return CALL(more.GraphDestroy(graph));
}
