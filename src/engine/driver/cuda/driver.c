/* cuda: NVIDIA's GPUs from compute capability 6.0 on, through the driver library and our PTX.
 *
 * Works in the device's primary context, which programs on CUDA's runtime and PyTorch share, or in
 * the caller's. A stream is a CUstream of it; NULL is the legacy default stream, as everywhere in
 * CUDA. The thread's current context is left as it was. */
#include "engine/core/device.h"
#include "engine/driver/cuda/devices.h"
#include "engine/driver/cuda/submit.h"
#include "engine/gpu/images.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

static int count(char *why, size_t why_size)
{
    const struct rmcp_cuda *cuda = rmcp_cuda_get(why, why_size);
    return cuda ? rmcp_cuda_count(cuda, why, why_size) : 0;
}

static rmcp_status find(int index, const struct rmcp_cuda **cuda, int *device)
{
    char why[256] = "";
    *cuda = rmcp_cuda_get(why, sizeof why);
    if (!*cuda) return rmcp_fail(RMCP_E_DEVICE, "%s", why);
    const int code = (*cuda)->DeviceGet(device, index);
    return code ? rmcp_cuda_fail(*cuda, NULL, code, "CUDA device %d", index) : RMCP_OK;
}

static rmcp_status describe(int index, rmcp_device_info *info)
{
    const struct rmcp_cuda *cuda = NULL;
    int device = 0;
    rmcp_status status = find(index, &cuda, &device);
    return status ? status : rmcp_cuda_describe(cuda, device, info);
}

/* ---- opening ---- */

/* The device that the caller's context is on. */
static rmcp_status take_context(struct rmcp_cuda_state *state, void *context)
{
    const struct rmcp_cuda *cuda = state->cuda;
    state->context = context;
    int code = cuda->CtxPushCurrent(context);
    if (code) return rmcp_cuda_fail(cuda, NULL, code, "native_context is no CUcontext");
    code = cuda->CtxGetDevice(&state->device);
    rmcp_cuda_leave(state);
    return code ? rmcp_cuda_fail(cuda, NULL, code, "the device of native_context") : RMCP_OK;
}

static rmcp_status take_primary(struct rmcp_cuda_state *state, int index)
{
    const struct rmcp_cuda *cuda = state->cuda;
    int code = cuda->DeviceGet(&state->device, index);
    if (code) return rmcp_cuda_fail(cuda, NULL, code, "CUDA device %d", index);
    code = cuda->DevicePrimaryCtxRetain(&state->context, state->device);
    if (code) return rmcp_cuda_fail(cuda, NULL, code, "cuDevicePrimaryCtxRetain");
    state->primary = true;
    return RMCP_OK;
}

/* Gives everything back; on a lost device too, where the driver refuses and frees all the same when
 * the context goes. */
static void destroy(struct rmcp_cuda_state *state)
{
    if (!state) return;
    if (state->modules.n_kernels) {
        const bool entered = !state->cuda->CtxPushCurrent(state->context);
        rmcp_gpu_modules_deinit(&state->modules);
        if (entered) rmcp_cuda_leave(state);
    }
    if (state->primary) state->cuda->DevicePrimaryCtxRelease(state->device);
    free(state);
}

static rmcp_status open_cuda(int index, const rmcp_device_options *options,
                             struct rmcp_device *device)
{
    const struct rmcp_cuda *cuda = NULL;
    char why[256] = "";
    cuda = rmcp_cuda_get(why, sizeof why);
    if (!cuda) return rmcp_fail(RMCP_E_DEVICE, "%s", why);
    struct rmcp_cuda_state *state = calloc(1, sizeof *state);
    if (!state) return rmcp_fail_memory("CUDA device", sizeof *state);
    state->cuda = cuda;

    rmcp_status status = options->native_context ? take_context(state, options->native_context)
                                                 : take_primary(state, index);
    if (!status) status = rmcp_cuda_describe(cuda, state->device, &device->info);
    if (!status) status = rmcp_cuda_caps(cuda, state->device, &device->caps);
    if (!status) status = rmcp_kernel_target_find(device->info.chip, &state->target);
    if (!status)
        status = rmcp_gpu_modules_init(
            &state->modules, (struct rmcp_gpu_loader){ rmcp_cuda_load, rmcp_cuda_unload, state });
    if (status) {
        destroy(state);
        return status;
    }
    /* A caller's context is called by the number of its device, whatever number was asked for. */
    if (options->native_context)
        snprintf(device->info.spec, sizeof device->info.spec, "cuda:%d", state->device);
    device->state = state;
    return RMCP_OK;
}

static void close_cuda(struct rmcp_device *device)
{
    destroy(device->state);
}

/* ---- memory and waiting ---- */

static rmcp_status wait_cuda(struct rmcp_device *device, void *stream)
{
    struct rmcp_cuda_state *state = device->state;
    rmcp_status status = rmcp_cuda_enter(device);
    if (status) return status;
    const int code = state->cuda->StreamSynchronize(stream);
    rmcp_cuda_leave(state);
    return code ? rmcp_cuda_fail(state->cuda, &state->lost, code, "cuStreamSynchronize") : RMCP_OK;
}

static rmcp_status capturing(struct rmcp_device *device, void *stream, bool *active)
{
    struct rmcp_cuda_state *state = device->state;
    int now = 0;
    *active = false;
    if (!state->cuda->StreamIsCapturing) return RMCP_OK;
    rmcp_status status = rmcp_cuda_enter(device);
    if (status) return status;
    const int code = state->cuda->StreamIsCapturing(stream, &now);
    rmcp_cuda_leave(state);
    /* The default stream cannot be asked, nor waited for, while one that it waits for captures. */
    *active = now || code == RMCP_CUDA_CAPTURE_IMPLICIT;
    if (!code || code == RMCP_CUDA_CAPTURE_IMPLICIT) return RMCP_OK;
    return rmcp_cuda_fail(state->cuda, &state->lost, code, "cuStreamIsCapturing");
}

static rmcp_status allocate(struct rmcp_device *device, uint64_t bytes, void **base)
{
    struct rmcp_cuda_state *state = device->state;
    rmcp_status status = rmcp_cuda_enter(device);
    if (status) return status;
    void *pointer = NULL;
    /* Legal while this thread captures a stream: nothing of this goes into the graph. */
    const int mode = rmcp_cuda_exchange_capture(state->cuda, RMCP_CUDA_CAPTURE_RELAXED);
    const int code =
        bytes > SIZE_MAX ? RMCP_CUDA_OUT_OF_MEMORY : state->cuda->MemAlloc(&pointer, (size_t)bytes);
    rmcp_cuda_exchange_capture(state->cuda, mode);
    rmcp_cuda_leave(state);
    if (code)
        return rmcp_cuda_fail(state->cuda, &state->lost, code,
                              "a buffer of %" PRIu64 " bytes on %s", bytes, device->info.spec);
    *base = pointer;
    return RMCP_OK;
}

static void release(struct rmcp_device *device, void *base)
{
    struct rmcp_cuda_state *state = device->state;
    const bool entered = !state->cuda->CtxPushCurrent(state->context);
    state->cuda->MemFree(base);
    if (entered) rmcp_cuda_leave(state);
}

/* A copy that the driver refuses for its arguments is the caller's mistake. */
static rmcp_status finish_copy(struct rmcp_cuda_state *state, void *stream, int code,
                               rmcp_memory memory, uint64_t bytes)
{
    if (!code) code = state->cuda->StreamSynchronize(stream);
    rmcp_cuda_leave(state);
    if (!code) return RMCP_OK;
    rmcp_status status =
        rmcp_cuda_fail(state->cuda, &state->lost, code,
                       "a copy of %" PRIu64 " bytes at offset %" PRIu64, bytes, memory.offset);
    return code == RMCP_CUDA_INVALID_VALUE ? RMCP_E_ARG : status;
}

static rmcp_status write_memory(struct rmcp_device *device, void *stream, rmcp_memory target,
                                const void *source, uint64_t bytes)
{
    struct rmcp_cuda_state *state = device->state;
    rmcp_status status = rmcp_cuda_enter(device);
    if (status) return status;
    const int code = state->cuda->MemcpyHtoDAsync((char *)target.base + target.offset, source,
                                                  (size_t)bytes, stream);
    return finish_copy(state, stream, code, target, bytes);
}

static rmcp_status read_memory(struct rmcp_device *device, void *stream, void *target,
                               rmcp_memory source, uint64_t bytes)
{
    struct rmcp_cuda_state *state = device->state;
    rmcp_status status = rmcp_cuda_enter(device);
    if (status) return status;
    const int code = state->cuda->MemcpyDtoHAsync(target, (const char *)source.base + source.offset,
                                                  (size_t)bytes, stream);
    return finish_copy(state, stream, code, source, bytes);
}

/* ---- kernels ---- */

static rmcp_status load_kernel(struct rmcp_device *device, const char *kernel, void **handle)
{
    struct rmcp_cuda_state *state = device->state;
    struct rmcp_gpu_kernel *loaded = NULL;
    rmcp_status status = rmcp_cuda_enter(device);
    if (status) return status;
    status = rmcp_gpu_modules_load(&state->modules, kernel, &loaded);
    rmcp_cuda_leave(state);
    *handle = loaded;
    return status;
}

/* ---- beside the caller's work ---- */

static rmcp_status side_begin(struct rmcp_device *device, struct rmcp_side *side)
{
    enum { NON_BLOCKING = 1 };
    struct rmcp_cuda_state *state = device->state;
    rmcp_status status = rmcp_cuda_enter(device);
    if (status) return status;
    side->mode = rmcp_cuda_exchange_capture(state->cuda, RMCP_CUDA_CAPTURE_RELAXED);
    const int code = state->cuda->StreamCreate(&side->stream, NON_BLOCKING);
    if (code) rmcp_cuda_exchange_capture(state->cuda, side->mode);
    rmcp_cuda_leave(state);
    return code ? rmcp_cuda_fail(state->cuda, &state->lost, code, "cuStreamCreate") : RMCP_OK;
}

static void side_end(struct rmcp_device *device, struct rmcp_side *side)
{
    struct rmcp_cuda_state *state = device->state;
    const bool entered = !state->cuda->CtxPushCurrent(state->context);
    state->cuda->StreamDestroy(side->stream);
    rmcp_cuda_exchange_capture(state->cuda, side->mode);
    if (entered) rmcp_cuda_leave(state);
}

const struct rmcp_driver rmcp_driver_cuda = {
    .name = "cuda",
    .rank = 30,
    .count = count,
    .describe = describe,
    .open = open_cuda,
    .close = close_cuda,
    .allocate = allocate,
    .release = release,
    .write = write_memory,
    .read = read_memory,
    .wait = wait_cuda,
    .capturing = capturing,
    .load_kernel = load_kernel,
    .submit = rmcp_cuda_submit,
    .guarded = true,
    .side_begin = side_begin,
    .side_end = side_end,
};
