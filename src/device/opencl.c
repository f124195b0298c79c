/* opencl: any device with an OpenCL 1.2 driver. Builds kernels from source, on the user's machine.
 *
 * Memory is a cl_mem and a byte offset, and offsets are as fine as an element, finer than
 * sub-buffers allow. So each memory argument of a launch record is two parameters of the kernel:
 * `__global T *base, ulong offset_bytes`. A stream is a cl_command_queue; one that runs out of
 * order is used as if in order, with barriers. */
#include "core/device.h"
#include "opencl/devices.h"
#include "opencl/programs.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

struct state {
    const struct rmcp_cl *cl;
    cl_context context;
    cl_device_id device;
    cl_command_queue queue; /* our own, in order */
    struct rmcp_cl_programs programs;
    atomic_bool lost;
};

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
static rmcp_status take_context(struct state *state, const rmcp_device_options *options)
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

static rmcp_status make_context(struct state *state, int index, const rmcp_device_options *options)
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
static void correct_spec(const struct state *state, rmcp_device_info *info)
{
    char why[256];
    cl_device_id devices[RMCP_CL_MOST_DEVICES];
    const int n = rmcp_cl_devices_find(state->cl, devices, why, sizeof why);
    for (int i = 0; i < n; i++)
        if (devices[i] == state->device)
            snprintf(info->spec, sizeof info->spec, n > 1 ? "opencl:%d" : "opencl", i);
}

/* With timestamps where the driver has them. */
static rmcp_status make_queue(struct state *state)
{
    cl_int code = CL_SUCCESS;
    state->queue = state->cl->clCreateCommandQueue(state->context, state->device,
                                                   CL_QUEUE_PROFILING_ENABLE, &code);
    if (!state->queue && (code == CL_INVALID_QUEUE_PROPERTIES || code == CL_INVALID_VALUE))
        state->queue = state->cl->clCreateCommandQueue(state->context, state->device, 0, &code);
    if (!state->queue) return rmcp_cl_fail(NULL, code, "clCreateCommandQueue");
    return RMCP_OK;
}

static void destroy(struct state *state)
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
    struct state *state = calloc(1, sizeof *state);
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

static rmcp_status check_lost(const struct rmcp_device *device)
{
    struct state *state = device->state;
    if (!atomic_load(&state->lost)) return RMCP_OK;
    return rmcp_fail(RMCP_E_LOST, "%s (%s) was lost; close it", device->info.spec,
                     device->info.name);
}

/* ---- queues ---- */

struct queue {
    cl_command_queue queue;
    bool out_of_order, profiling;
};

/* The queue that `stream` means. A caller's is checked, since a queue of another context would fail
 * later and less clearly. */
static rmcp_status take_queue(const struct rmcp_device *device, void *stream, struct queue *out)
{
    struct state *state = device->state;
    const struct rmcp_cl *cl = state->cl;
    rmcp_status status = check_lost(device);
    if (status) return status;

    cl_command_queue queue = stream ? stream : state->queue;
    cl_context context = NULL;
    cl_device_id id = NULL;
    cl_command_queue_properties properties = 0;
    cl_int code =
        cl->clGetCommandQueueInfo(queue, CL_QUEUE_CONTEXT, sizeof context, &context, NULL);
    if (!code) code = cl->clGetCommandQueueInfo(queue, CL_QUEUE_DEVICE, sizeof id, &id, NULL);
    if (!code)
        code = cl->clGetCommandQueueInfo(queue, CL_QUEUE_PROPERTIES, sizeof properties, &properties,
                                         NULL);
    if (stream && code == CL_INVALID_COMMAND_QUEUE)
        return rmcp_fail(RMCP_E_ARG, "the stream is no cl_command_queue: %s (%d)",
                         rmcp_cl_error_name(code), (int)code);
    if (code) return rmcp_cl_fail(&state->lost, code, "clGetCommandQueueInfo");
    if (context != state->context)
        return rmcp_fail(RMCP_E_ARG, "the stream belongs to another cl_context than the device; "
                                     "open the device with native_context");
    if (id != state->device)
        return rmcp_fail(RMCP_E_ARG, "the stream belongs to another device of the context");
    *out = (struct queue){
        .queue = queue,
        .out_of_order = properties & CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE,
        .profiling = properties & CL_QUEUE_PROFILING_ENABLE,
    };
    return RMCP_OK;
}

/* What follows on the queue waits for what came before. */
static cl_int order(const struct rmcp_cl *cl, const struct queue *queue)
{
    if (!queue->out_of_order) return CL_SUCCESS;
    return cl->clEnqueueBarrierWithWaitList(queue->queue, 0, NULL, NULL);
}

static rmcp_status wait_opencl(struct rmcp_device *device, void *stream)
{
    struct state *state = device->state;
    struct queue queue;
    rmcp_status status = take_queue(device, stream, &queue);
    if (status) return status;
    cl_int code = state->cl->clFinish(queue.queue);
    return code ? rmcp_cl_fail(&state->lost, code, "clFinish") : RMCP_OK;
}

/* ---- memory ---- */

static rmcp_status fail_allocation(struct state *state, cl_int code, uint64_t bytes)
{
    rmcp_status status = rmcp_cl_fail(&state->lost, code, "a buffer of %" PRIu64 " bytes", bytes);
    /* Many drivers have no better word for it. */
    return code == CL_OUT_OF_RESOURCES || code == CL_INVALID_BUFFER_SIZE ? RMCP_E_NOMEM : status;
}

static rmcp_status allocate(struct rmcp_device *device, uint64_t bytes, void **base)
{
    struct state *state = device->state;
    const struct rmcp_cl *cl = state->cl;
    rmcp_status status = check_lost(device);
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
     * memory shows here and not in the middle of an execution. */
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
    struct state *state = device->state;
    state->cl->clReleaseMemObject(base);
}

static rmcp_status fail_copy(struct state *state, cl_int code, rmcp_memory memory, uint64_t bytes)
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
    struct state *state = device->state;
    struct queue queue;
    rmcp_status status = take_queue(device, stream, &queue);
    if (status) return status;
    cl_int code = order(state->cl, &queue);
    if (!code)
        code = state->cl->clEnqueueWriteBuffer(queue.queue, target.base, CL_TRUE,
                                               (size_t)target.offset, (size_t)bytes, source, 0,
                                               NULL, NULL);
    return code ? fail_copy(state, code, target, bytes) : RMCP_OK;
}

static rmcp_status read_memory(struct rmcp_device *device, void *stream, void *target,
                               rmcp_memory source, uint64_t bytes)
{
    struct state *state = device->state;
    struct queue queue;
    rmcp_status status = take_queue(device, stream, &queue);
    if (status) return status;
    cl_int code = order(state->cl, &queue);
    if (!code)
        code =
            state->cl->clEnqueueReadBuffer(queue.queue, source.base, CL_TRUE, (size_t)source.offset,
                                           (size_t)bytes, target, 0, NULL, NULL);
    return code ? fail_copy(state, code, source, bytes) : RMCP_OK;
}

/* ---- kernels ---- */

static rmcp_status load_kernel(struct rmcp_device *device, const char *kernel, void **handle)
{
    struct state *state = device->state;
    struct rmcp_cl_kernel *loaded = NULL;
    rmcp_status status = check_lost(device);
    if (!status) status = rmcp_cl_programs_load(&state->programs, kernel, &loaded);
    *handle = loaded;
    return status;
}

static cl_int set_arguments(const struct rmcp_cl *cl, cl_kernel kernel,
                            const struct rmcp_kernel_launch *launch, const rmcp_memory *memory,
                            cl_uint *at)
{
    cl_int code = CL_SUCCESS;
    *at = 0;
    for (uint32_t i = 0; i < launch->n_args && !code; i++) {
        const struct rmcp_arg *arg = &launch->args[i];
        if (arg->kind == RMCP_ARG_VALUE) {
            code = cl->clSetKernelArg(kernel, (*at)++, arg->bytes, arg->value);
            continue;
        }
        cl_mem base = memory[arg->slot].base;
        const cl_ulong offset = memory[arg->slot].offset + arg->offset;
        code = cl->clSetKernelArg(kernel, (*at)++, sizeof base, &base);
        if (!code) code = cl->clSetKernelArg(kernel, (*at)++, sizeof offset, &offset);
    }
    return code;
}

static rmcp_status enqueue(struct state *state, const struct queue *queue,
                           const struct rmcp_kernel_launch *launch, const rmcp_memory *memory,
                           cl_event *event)
{
    const struct rmcp_cl *cl = state->cl;
    struct rmcp_cl_kernel *kernel = launch->handle;
    size_t global[3], local[3];
    for (int i = 0; i < 3; i++) {
        local[i] = launch->block[i];
        global[i] = (size_t)launch->grid[i] * launch->block[i];
    }
    cl_int code = order(cl, queue);
    if (code) return rmcp_cl_fail(&state->lost, code, "clEnqueueBarrierWithWaitList");

    cl_uint n_set = 0;
    pthread_mutex_lock(&kernel->lock);
    code = set_arguments(cl, kernel->kernel, launch, memory, &n_set);
    const bool set = !code;
    if (set)
        code = cl->clEnqueueNDRangeKernel(queue->queue, kernel->kernel, 3, NULL, global, local, 0,
                                          NULL, event);
    pthread_mutex_unlock(&kernel->lock);
    if (!code) return RMCP_OK;

    rmcp_status status = set ? rmcp_cl_fail(&state->lost, code,
                                            "kernel %s, %zux%zux%zu work-items in blocks of "
                                            "%zux%zux%zu",
                                            launch->kernel, global[0], global[1], global[2],
                                            local[0], local[1], local[2])
                             : rmcp_cl_fail(&state->lost, code, "kernel %s, parameter %u",
                                            launch->kernel, (unsigned)(n_set - 1));
    /* Only memory comes from the caller. */
    return code == CL_INVALID_MEM_OBJECT || code == CL_INVALID_CONTEXT ? RMCP_E_ARG : status;
}

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* Seconds from the start of `first` to the end of `last` by the device's clock; 0 when it has
 * none. */
static double span(const struct rmcp_cl *cl, cl_event first, cl_event last)
{
    cl_ulong start = 0, end = 0;
    if (cl->clGetEventProfilingInfo(first, CL_PROFILING_COMMAND_START, sizeof start, &start,
                                    NULL) ||
        cl->clGetEventProfilingInfo(last, CL_PROFILING_COMMAND_END, sizeof end, &end, NULL))
        return 0;
    return end > start ? 1e-9 * (double)(end - start) : 0;
}

/* Wait for an event; when its command failed, that command's own error. */
static cl_int wait_event(const struct rmcp_cl *cl, cl_event event)
{
    cl_int code = cl->clWaitForEvents(1, &event), result = CL_COMPLETE;
    if (code == CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST &&
        !cl->clGetEventInfo(event, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof result, &result,
                            NULL) &&
        result < 0)
        return result;
    return code;
}

static rmcp_status submit(struct rmcp_device *device, void *stream,
                          const struct rmcp_launch_list *list, const rmcp_memory *memory,
                          double *seconds)
{
    struct state *state = device->state;
    const struct rmcp_cl *cl = state->cl;
    struct queue queue;
    cl_event first = NULL, last = NULL;
    rmcp_status status = take_queue(device, stream, &queue);
    if (status) return status;

    cl_int code = CL_SUCCESS;
    if (seconds && !queue.profiling) code = cl->clFinish(queue.queue);
    if (code) return rmcp_cl_fail(&state->lost, code, "clFinish");
    const double start = seconds ? now() : 0;
    for (size_t i = 0; i < list->n_records && !status; i++) {
        cl_event *event = !seconds                   ? NULL
                          : i == 0                   ? &first
                          : i + 1 == list->n_records ? &last
                                                     : NULL;
        status = enqueue(state, &queue, &list->records[i].kernel, memory, event);
    }
    if (!status) code = order(cl, &queue);
    if (!status && !code) code = cl->clFlush(queue.queue);
    if (!status && !code && first) code = wait_event(cl, last ? last : first);
    if (!status && code) status = rmcp_cl_fail(&state->lost, code, "executing a plan");
    if (!status && seconds) {
        const double wall = now() - start;
        const double device_time = queue.profiling ? span(cl, first, last ? last : first) : 0;
        *seconds = device_time > 0 ? device_time : wall;
    }
    if (first) cl->clReleaseEvent(first);
    if (last) cl->clReleaseEvent(last);
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
    .submit = submit,
};
