/* hip: AMD GPUs through ROCm's HIP runtime, with native code for the chip that is really there.
 *
 * Memory is a device pointer, coarse-grained (hipMalloc). A stream is a hipStream_t; NULL is the
 * device's default stream. Each call makes the device current and gives the thread back the one
 * that it had. */
#include "engine/core/device.h"
#include "engine/driver/hip/devices.h"
#include "engine/driver/hip/submit.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

/* ---- finding and opening ---- */

static int count(char *why, size_t why_size)
{
    const struct rmcp_hip *hip = rmcp_hip_get(why, why_size);
    return hip ? rmcp_hip_count(hip, why, why_size) : 0;
}

static rmcp_status describe(int index, rmcp_device_info *info)
{
    char why[256] = "";
    struct rmcp_hip_chip chip;
    struct rmcp_hip_code code;
    const struct rmcp_hip *hip = rmcp_hip_get(why, sizeof why);
    if (!hip) return rmcp_fail(RMCP_E_DEVICE, "%s", why);
    return rmcp_hip_describe(hip, index, info, &chip, &code);
}

static rmcp_status open_hip(int index, const rmcp_device_options *options,
                            struct rmcp_device *device)
{
    char why[256] = "";
    if (options->native_context || options->native_device)
        return rmcp_fail(RMCP_E_ARG, "the hip device has no native_context or native_device; its "
                                     "number is that of hipSetDevice");
    const struct rmcp_hip *hip = rmcp_hip_get(why, sizeof why);
    if (!hip) return rmcp_fail(RMCP_E_DEVICE, "%s", why);
    struct rmcp_hip_state *state = calloc(1, sizeof *state);
    if (!state) return rmcp_fail_memory("HIP device", sizeof *state);
    state->hip = hip;
    state->index = index;
    rmcp_status status = rmcp_hip_describe(hip, index, &device->info, &state->chip, &state->code);
    if (!status) status = rmcp_hip_caps(hip, index, &device->info, &state->chip, &device->caps);
    if (!status)
        status = rmcp_gpu_modules_init(
            &state->modules, (struct rmcp_gpu_loader){ rmcp_hip_load, rmcp_hip_unload, state });
    if (status) {
        free(state);
        return status;
    }
    device->state = state;
    return RMCP_OK;
}

static void close_hip(struct rmcp_device *device)
{
    struct rmcp_hip_state *state = device->state;
    int previous = 0;
    rmcp_hip_enter_last(device, &previous);
    rmcp_hip_unload_foreign(state);
    rmcp_gpu_modules_deinit(&state->modules);
    rmcp_hip_leave(device, previous);
    free(state);
}

/* ---- waiting ---- */

static rmcp_status wait_hip(struct rmcp_device *device, void *stream)
{
    struct rmcp_hip_state *state = device->state;
    int previous = 0;
    rmcp_status status = rmcp_hip_enter(device, &previous);
    if (status) return status;
    int code = state->hip->hipStreamSynchronize(stream);
    if (code) status = rmcp_hip_fail(state->hip, &state->lost, code, "hipStreamSynchronize");
    rmcp_hip_leave(device, previous);
    return status;
}

static rmcp_status capturing(struct rmcp_device *device, void *stream, bool *active)
{
    struct rmcp_hip_state *state = device->state;
    const struct rmcp_hip *hip = state->hip;
    int previous = 0, now = 0;
    *active = false;
    if (!hip->hipStreamIsCapturing) return RMCP_OK;
    rmcp_status status = rmcp_hip_enter(device, &previous);
    if (status) return status;
    const int code = hip->hipStreamIsCapturing(stream, &now);
    /* The default stream cannot be asked, nor waited for, while one that it waits for captures. */
    *active = now || code == RMCP_HIP_CAPTURE_IMPLICIT;
    if (code) status = rmcp_hip_fail(hip, &state->lost, code, "hipStreamIsCapturing");
    rmcp_hip_leave(device, previous);
    return code == RMCP_HIP_CAPTURE_IMPLICIT ? RMCP_OK : status;
}

/* ---- memory ---- */

static rmcp_status allocate(struct rmcp_device *device, uint64_t bytes, void **base)
{
    struct rmcp_hip_state *state = device->state;
    int previous = 0;
    rmcp_status status = rmcp_hip_enter(device, &previous);
    if (status) return status;
    void *pointer = NULL;
    /* Legal while this thread captures a stream: nothing of this goes into the graph. */
    const int mode = rmcp_hip_exchange_capture(state->hip, RMCP_HIP_CAPTURE_RELAXED);
    int code =
        bytes > SIZE_MAX ? RMCP_HIP_OUT_OF_MEMORY : state->hip->hipMalloc(&pointer, (size_t)bytes);
    rmcp_hip_exchange_capture(state->hip, mode);
    if (code)
        status =
            rmcp_hip_fail(state->hip, &state->lost, code, "a buffer of %" PRIu64 " bytes", bytes);
    else
        *base = pointer;
    rmcp_hip_leave(device, previous);
    return status;
}

static void release(struct rmcp_device *device, void *base)
{
    struct rmcp_hip_state *state = device->state;
    int previous = 0;
    rmcp_hip_enter_last(device, &previous);
    if (state->hip->hipFree(base)) state->hip->hipGetLastError();
    rmcp_hip_leave(device, previous);
}

static rmcp_status copy(struct rmcp_device *device, void *stream, void *target, const void *source,
                        uint64_t bytes, int kind)
{
    struct rmcp_hip_state *state = device->state;
    const struct rmcp_hip *hip = state->hip;
    int previous = 0;
    rmcp_status status = rmcp_hip_enter(device, &previous);
    if (status) return status;
    int code = hip->hipMemcpyAsync(target, source, (size_t)bytes, kind, stream);
    if (!code) code = hip->hipStreamSynchronize(stream);
    if (code) status = rmcp_hip_fail(hip, &state->lost, code, "a copy of %" PRIu64 " bytes", bytes);
    rmcp_hip_leave(device, previous);
    return status;
}

static rmcp_status write_memory(struct rmcp_device *device, void *stream, rmcp_memory target,
                                const void *source, uint64_t bytes)
{
    return copy(device, stream, (char *)target.base + target.offset, source, bytes,
                RMCP_HIP_HOST_TO_DEVICE);
}

static rmcp_status read_memory(struct rmcp_device *device, void *stream, void *target,
                               rmcp_memory source, uint64_t bytes)
{
    return copy(device, stream, target, (const char *)source.base + source.offset, bytes,
                RMCP_HIP_DEVICE_TO_HOST);
}

/* ---- kernels ---- */

static rmcp_status load_kernel(struct rmcp_device *device, const char *kernel, void **handle)
{
    struct rmcp_hip_state *state = device->state;
    struct rmcp_gpu_kernel *loaded = NULL;
    int previous = 0;
    rmcp_status status = rmcp_hip_enter(device, &previous);
    if (status) return status;
    status = rmcp_gpu_modules_load(&state->modules, kernel, &loaded);
    rmcp_hip_leave(device, previous);
    *handle = loaded;
    return status;
}

static rmcp_status load_object(struct rmcp_device *device, const void *object, size_t bytes,
                               const char *kernel, void **handle)
{
    int previous = 0;
    rmcp_status status = rmcp_hip_enter(device, &previous);
    if (status) return status;
    status = rmcp_hip_load_foreign(device->state, object, bytes, kernel, handle);
    rmcp_hip_leave(device, previous);
    return status;
}

/* ---- beside the caller's work ---- */

static rmcp_status side_begin(struct rmcp_device *device, struct rmcp_side *side)
{
    struct rmcp_hip_state *state = device->state;
    int previous = 0;
    rmcp_status status = rmcp_hip_enter(device, &previous);
    if (status) return status;
    side->mode = rmcp_hip_exchange_capture(state->hip, RMCP_HIP_CAPTURE_RELAXED);
    int code = state->hip->hipStreamCreateWithFlags(&side->stream, RMCP_HIP_STREAM_NON_BLOCKING);
    if (code) {
        rmcp_hip_exchange_capture(state->hip, side->mode);
        status = rmcp_hip_fail(state->hip, &state->lost, code, "hipStreamCreateWithFlags");
    }
    rmcp_hip_leave(device, previous);
    return status;
}

static void side_end(struct rmcp_device *device, struct rmcp_side *side)
{
    struct rmcp_hip_state *state = device->state;
    if (state->hip->hipStreamDestroy(side->stream)) state->hip->hipGetLastError();
    rmcp_hip_exchange_capture(state->hip, side->mode);
}

const struct rmcp_driver rmcp_driver_hip = {
    .name = "hip",
    .rank = 10,
    .count = count,
    .describe = describe,
    .open = open_hip,
    .close = close_hip,
    .allocate = allocate,
    .release = release,
    .write = write_memory,
    .read = read_memory,
    .wait = wait_hip,
    .capturing = capturing,
    .load_kernel = load_kernel,
    .load_object = load_object,
    .submit = rmcp_hip_submit,
    .guarded = true,
    .side_begin = side_begin,
    .side_end = side_end,
};
