/* opencl: any device with an OpenCL 1.2 driver. Builds kernels from source, on the user's machine.
 *
 * Memory is a cl_mem and a byte offset, and offsets are as fine as an element, finer than
 * sub-buffers allow. So each memory argument of a launch record is two parameters of the kernel:
 * `__global T *base, ulong offset_bytes`. A stream is a cl_command_queue; one that runs out of
 * order is used as if in order, with barriers. */
#include "engine/core/device.h"
#include "engine/driver/opencl/devices.h"
#include "engine/driver/opencl/submit.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- finding and opening ---- */

static int count(char *why, size_t why_size)
{
    cl_device_id devices[RMCP_CL_MOST_DEVICES];
    const struct rmcp_cl *cl = rmcp_cl_get(why, why_size);
    return cl ? rmcp_cl_devices_find(cl, devices, why, why_size) : 0;
}

static rmcp_status find(int index, const struct rmcp_cl **cl, cl_device_id *device)
{
    char why[256] = "";
    cl_device_id devices[RMCP_CL_MOST_DEVICES];
    *cl = rmcp_cl_get(why, sizeof why);
    const int n = *cl ? rmcp_cl_devices_find(*cl, devices, why, sizeof why) : 0;
    if (n == 0) return rmcp_fail(RMCP_E_DEVICE, "%s", why);
    if (index >= n) return rmcp_fail(RMCP_E_ARG, "no device opencl:%d; there are %d", index, n);
    *device = devices[index];
    return RMCP_OK;
}

static rmcp_status describe(int index, rmcp_device_info *info)
{
    const struct rmcp_cl *cl = NULL;
    cl_device_id device = NULL;
    rmcp_status status = find(index, &cl, &device);
    return status ? status : rmcp_cl_device_describe(cl, device, info);
}

/* The caller's context, and the device of it that he means. */
static rmcp_status take_context(struct rmcp_cl_state *state, const rmcp_device_options *options)
{
    const struct rmcp_cl *cl = state->cl;
    cl_context context = options->native_context;
    cl_device_id devices[RMCP_CL_MOST_DEVICES], wanted = options->native_device;
    size_t bytes = 0;
    cl_int code =
        cl->clGetContextInfo(context, CL_CONTEXT_DEVICES, sizeof devices, devices, &bytes);
    if (code == CL_INVALID_CONTEXT)
        return rmcp_fail(RMCP_E_ARG, "native_context is no cl_context: %s (%d)",
                         rmcp_cl_error_name(code), (int)code);
    if (code) return rmcp_cl_fail(NULL, code, "the devices of native_context");
    const size_t n = bytes / sizeof *devices;
    if (!wanted && n != 1)
        return rmcp_fail(RMCP_E_ARG, "native_context has %zu devices; native_device must tell one",
                         n);
    size_t at = 0;
    while (at < n && wanted && devices[at] != wanted) at++;
    if (at == n)
        return rmcp_fail(RMCP_E_ARG, "native_device is none of the %zu devices of native_context",
                         n);
    code = cl->clRetainContext(context);
    if (code) return rmcp_cl_fail(NULL, code, "clRetainContext");
    state->context = context;
    state->device = devices[at];
    return RMCP_OK;
}

static rmcp_status make_context(struct rmcp_cl_state *state, int index,
                                const rmcp_device_options *options)
{
    if (options->native_device)
        state->device = options->native_device;
    else {
        rmcp_status status = find(index, &state->cl, &state->device);
        if (status) return status;
    }
    cl_int code = CL_SUCCESS;
    state->context = state->cl->clCreateContext(NULL, 1, &state->device, NULL, NULL, &code);
    if (!state->context) return rmcp_cl_fail(NULL, code, "clCreateContext");
    return RMCP_OK;
}

/* A caller's device is called by its own number, whatever number was asked for. */
static void correct_spec(const struct rmcp_cl_state *state, rmcp_device_info *info)
{
    char why[256];
    cl_device_id devices[RMCP_CL_MOST_DEVICES];
    const int n = rmcp_cl_devices_find(state->cl, devices, why, sizeof why);
    for (int i = 0; i < n; i++)
        if (devices[i] == state->device)
            snprintf(info->spec, sizeof info->spec, n > 1 ? "opencl:%d" : "opencl", i);
}

/* With timestamps where the driver has them. */
static rmcp_status make_queue(struct rmcp_cl_state *state)
{
    cl_int code = CL_SUCCESS;
    state->queue = state->cl->clCreateCommandQueue(state->context, state->device,
                                                   CL_QUEUE_PROFILING_ENABLE, &code);
    state->profiling = state->queue != NULL;
    if (!state->queue && (code == CL_INVALID_QUEUE_PROPERTIES || code == CL_INVALID_VALUE))
        state->queue = state->cl->clCreateCommandQueue(state->context, state->device, 0, &code);
    if (!state->queue) return rmcp_cl_fail(NULL, code, "clCreateCommandQueue");
    return RMCP_OK;
}

static void destroy(struct rmcp_cl_state *state)
{
    if (!state) return;
    const struct rmcp_cl *cl = state->cl;
    if (state->queue) {
        if (!atomic_load(&state->lost)) cl->clFinish(state->queue);
        cl->clReleaseCommandQueue(state->queue);
    }
    rmcp_cl_programs_deinit(&state->programs);
    if (state->context) cl->clReleaseContext(state->context);
    free(state);
}

static rmcp_status open_opencl(int index, const rmcp_device_options *options,
                               struct rmcp_device *device)
{
    char why[256] = "";
    const struct rmcp_cl *cl = rmcp_cl_get(why, sizeof why);
    if (!cl) return rmcp_fail(RMCP_E_DEVICE, "%s", why);
    struct rmcp_cl_state *state = calloc(1, sizeof *state);
    if (!state) return rmcp_fail_memory("OpenCL device", sizeof *state);
    state->cl = cl;

    rmcp_status status = options->native_context ? take_context(state, options)
                                                 : make_context(state, index, options);
    if (!status) status = rmcp_cl_device_describe(cl, state->device, &device->info);
    if (!status) status = rmcp_cl_device_caps(cl, state->device, &device->caps);
    if (!status) status = make_queue(state);
    if (!status)
        status = rmcp_cl_programs_init(&state->programs, cl, state->context, state->device,
                                       &state->lost);
    if (status) {
        destroy(state);
        return status;
    }
    if (options->native_context || options->native_device) correct_spec(state, &device->info);
    device->state = state;
    return RMCP_OK;
}

static void close_opencl(struct rmcp_device *device)
{
    destroy(device->state);
}

/* ---- waiting ---- */

static rmcp_status wait_opencl(struct rmcp_device *device, void *stream)
{
    struct rmcp_cl_state *state = device->state;
    struct rmcp_cl_queue queue;
    rmcp_status status = rmcp_cl_queue_take(device, stream, &queue);
    if (status) return status;
    cl_int code = state->cl->clFinish(queue.queue);
    return code ? rmcp_cl_fail(&state->lost, code, "clFinish") : RMCP_OK;
}

/* ---- memory ---- */

static rmcp_status fail_allocation(struct rmcp_cl_state *state, cl_int code, uint64_t bytes)
{
    rmcp_status status = rmcp_cl_fail(&state->lost, code, "a buffer of %" PRIu64 " bytes", bytes);
    /* Many drivers have no better word for it. */
    return code == CL_OUT_OF_RESOURCES || code == CL_INVALID_BUFFER_SIZE ? RMCP_E_NOMEM : status;
}

static rmcp_status allocate(struct rmcp_device *device, uint64_t bytes, void **base)
{
    struct rmcp_cl_state *state = device->state;
    const struct rmcp_cl *cl = state->cl;
    rmcp_status status = rmcp_cl_check_lost(device);
    if (status) return status;
    if (bytes > device->caps.max_buffer_bytes || bytes > SIZE_MAX)
        return rmcp_fail(RMCP_E_NOMEM,
                         "a buffer of %" PRIu64 " bytes; the largest that %s allows has %" PRIu64,
                         bytes, device->info.spec, device->caps.max_buffer_bytes);
    cl_int code = CL_SUCCESS;
    cl_mem memory =
        cl->clCreateBuffer(state->context, CL_MEM_READ_WRITE, (size_t)bytes, NULL, &code);
    if (!memory) return fail_allocation(state, code, bytes);

    /* Drivers may put off the allocation to the first use: use the last byte, so that a lack of
     * memory shows here and not in the middle of an execution. That waits for what our own queue
     * still has to do. */
    static const char zero = 0;
    code = cl->clEnqueueWriteBuffer(state->queue, memory, CL_TRUE, (size_t)bytes - 1, 1, &zero, 0,
                                    NULL, NULL);
    if (code) {
        cl->clReleaseMemObject(memory);
        return fail_allocation(state, code, bytes);
    }
    *base = memory;
    return RMCP_OK;
}

static void release(struct rmcp_device *device, void *base)
{
    struct rmcp_cl_state *state = device->state;
    state->cl->clReleaseMemObject(base);
}

static rmcp_status fail_copy(struct rmcp_cl_state *state, cl_int code, rmcp_memory memory,
                             uint64_t bytes)
{
    rmcp_status status = rmcp_cl_fail(
        &state->lost, code, "a copy of %" PRIu64 " bytes at offset %" PRIu64, bytes, memory.offset);
    const bool argument =
        code == CL_INVALID_VALUE || code == CL_INVALID_MEM_OBJECT || code == CL_INVALID_CONTEXT;
    return argument ? RMCP_E_ARG : status;
}

static rmcp_status write_memory(struct rmcp_device *device, void *stream, rmcp_memory target,
                                const void *source, uint64_t bytes)
{
    struct rmcp_cl_state *state = device->state;
    struct rmcp_cl_queue queue;
    rmcp_status status = rmcp_cl_queue_take(device, stream, &queue);
    if (status) return status;
    cl_int code = rmcp_cl_queue_order(state->cl, &queue);
    if (!code)
        code = state->cl->clEnqueueWriteBuffer(queue.queue, target.base, CL_TRUE,
                                               (size_t)target.offset, (size_t)bytes, source, 0,
                                               NULL, NULL);
    return code ? fail_copy(state, code, target, bytes) : RMCP_OK;
}

static rmcp_status read_memory(struct rmcp_device *device, void *stream, void *target,
                               rmcp_memory source, uint64_t bytes)
{
    struct rmcp_cl_state *state = device->state;
    struct rmcp_cl_queue queue;
    rmcp_status status = rmcp_cl_queue_take(device, stream, &queue);
    if (status) return status;
    cl_int code = rmcp_cl_queue_order(state->cl, &queue);
    if (!code)
        code =
            state->cl->clEnqueueReadBuffer(queue.queue, source.base, CL_TRUE, (size_t)source.offset,
                                           (size_t)bytes, target, 0, NULL, NULL);
    return code ? fail_copy(state, code, source, bytes) : RMCP_OK;
}

/* ---- kernels ---- */

static rmcp_status load_kernel(struct rmcp_device *device, const char *kernel, void **handle)
{
    struct rmcp_cl_state *state = device->state;
    struct rmcp_cl_kernel *loaded = NULL;
    rmcp_status status = rmcp_cl_check_lost(device);
    if (!status) status = rmcp_cl_programs_load(&state->programs, kernel, &loaded);
    *handle = loaded;
    return status;
}

const struct rmcp_driver rmcp_driver_opencl = {
    .name = "opencl",
    .rank = 40,
    .count = count,
    .describe = describe,
    .open = open_opencl,
    .close = close_opencl,
    .allocate = allocate,
    .release = release,
    .write = write_memory,
    .read = read_memory,
    .wait = wait_opencl,
    .load_kernel = load_kernel,
    .submit = rmcp_cl_submit,
};
