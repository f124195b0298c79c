/* submit.c: puts launch records on OpenCL queues. */
#include "engine/driver/opencl/submit.h"

#include "base/clock.h"

rmcp_status rmcp_cl_check_lost(const struct rmcp_device *device)
{
    struct rmcp_cl_state *state = device->state;
    if (!atomic_load(&state->lost)) return RMCP_OK;
    return rmcp_fail(RMCP_E_LOST, "%s (%s) was lost; close it", device->info.spec,
                     device->info.name);
}

rmcp_status rmcp_cl_queue_take(const struct rmcp_device *device, void *stream,
                               struct rmcp_cl_queue *out)
{
    struct rmcp_cl_state *state = device->state;
    const struct rmcp_cl *cl = state->cl;
    rmcp_status status = rmcp_cl_check_lost(device);
    if (status) return status;
    if (!stream) {
        *out = (struct rmcp_cl_queue){ .queue = state->queue, .profiling = state->profiling };
        return RMCP_OK;
    }

    cl_command_queue queue = stream;
    cl_context context = NULL;
    cl_device_id id = NULL;
    cl_command_queue_properties properties = 0;
    cl_int code =
        cl->clGetCommandQueueInfo(queue, CL_QUEUE_CONTEXT, sizeof context, &context, NULL);
    if (!code) code = cl->clGetCommandQueueInfo(queue, CL_QUEUE_DEVICE, sizeof id, &id, NULL);
    if (!code)
        code = cl->clGetCommandQueueInfo(queue, CL_QUEUE_PROPERTIES, sizeof properties, &properties,
                                         NULL);
    if (code == CL_INVALID_COMMAND_QUEUE)
        return rmcp_fail(RMCP_E_ARG, "the stream is no cl_command_queue: %s (%d)",
                         rmcp_cl_error_name(code), (int)code);
    if (code) return rmcp_cl_fail(&state->lost, code, "clGetCommandQueueInfo");
    if (context != state->context)
        return rmcp_fail(RMCP_E_ARG, "the stream belongs to another cl_context than the device; "
                                     "open the device with native_context");
    if (id != state->device)
        return rmcp_fail(RMCP_E_ARG, "the stream belongs to another device of the context");
    *out = (struct rmcp_cl_queue){
        .queue = queue,
        .out_of_order = properties & CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE,
        .profiling = properties & CL_QUEUE_PROFILING_ENABLE,
    };
    return RMCP_OK;
}

cl_int rmcp_cl_queue_order(const struct rmcp_cl *cl, const struct rmcp_cl_queue *queue)
{
    if (!queue->out_of_order) return CL_SUCCESS;
    return cl->clEnqueueBarrierWithWaitList(queue->queue, 0, NULL, NULL);
}

/* Memory of another context would crash some drivers and go unnoticed by others. */
static rmcp_status check_memory(struct rmcp_cl_state *state, const struct rmcp_launch_list *list,
                                const rmcp_memory *memory)
{
    for (int slot = 0; slot < RMCP_MOST_SLOTS; slot++) {
        cl_mem base = memory[slot].base;
        if (!base) continue;
        cl_context context = NULL;
        cl_int code =
            state->cl->clGetMemObjectInfo(base, CL_MEM_CONTEXT, sizeof context, &context, NULL);
        if (code == CL_INVALID_MEM_OBJECT || (!code && context != state->context))
            return rmcp_fail(RMCP_E_ARG, "tensors.%s is no cl_mem of the device's cl_context",
                             list->names[slot] ? list->names[slot] : "memory");
        if (code) return rmcp_cl_fail(&state->lost, code, "clGetMemObjectInfo");
    }
    return RMCP_OK;
}

static cl_int set_arguments(const struct rmcp_cl *cl, cl_kernel kernel,
                            const struct rmcp_kernel_launch *launch, const struct rmcp_given *given,
                            cl_uint *at)
{
    struct rmcp_made made;
    cl_int code = CL_SUCCESS;
    *at = 0;
    for (uint32_t i = 0; i < launch->n_args && !code; i++) {
        const struct rmcp_arg *arg = &launch->args[i];
        if (arg->kind == RMCP_ARG_VALUE) {
            code = cl->clSetKernelArg(kernel, (*at)++, arg->bytes,
                                      rmcp_arg_bytes(arg, given->scalars, &made));
            continue;
        }
        cl_mem base = given->memory[arg->slot].base;
        const cl_ulong offset = given->memory[arg->slot].offset + arg->offset;
        code = cl->clSetKernelArg(kernel, (*at)++, sizeof base, &base);
        if (!code) code = cl->clSetKernelArg(kernel, (*at)++, sizeof offset, &offset);
    }
    return code;
}

static rmcp_status enqueue(struct rmcp_cl_state *state, const struct rmcp_cl_queue *queue,
                           const struct rmcp_kernel_launch *launch, const struct rmcp_given *given,
                           cl_event *event)
{
    const struct rmcp_cl *cl = state->cl;
    struct rmcp_cl_kernel *kernel = launch->handle;
    size_t global[3], local[3];
    for (int i = 0; i < 3; i++) {
        local[i] = launch->block[i];
        global[i] = (size_t)launch->grid[i] * launch->block[i];
    }
    cl_int code = rmcp_cl_queue_order(cl, queue);
    if (code) return rmcp_cl_fail(&state->lost, code, "clEnqueueBarrierWithWaitList");

    cl_uint n_set = 0;
    pthread_mutex_lock(&kernel->lock);
    code = set_arguments(cl, kernel->kernel, launch, given, &n_set);
    const bool set = !code;
    if (set)
        code = cl->clEnqueueNDRangeKernel(queue->queue, kernel->kernel, 3, NULL, global, local, 0,
                                          NULL, event);
    pthread_mutex_unlock(&kernel->lock);
    if (!code) return RMCP_OK;

    if (!set)
        return rmcp_cl_fail(&state->lost, code, "kernel %s, parameter %u", launch->kernel,
                            (unsigned)(n_set - 1));
    return rmcp_cl_fail(&state->lost, code,
                        "kernel %s, %zux%zux%zu work-items in blocks of "
                        "%zux%zux%zu",
                        launch->kernel, global[0], global[1], global[2], local[0], local[1],
                        local[2]);
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

rmcp_status rmcp_cl_submit(struct rmcp_device *device, void *stream,
                           const struct rmcp_launch_list *list, const struct rmcp_given *given,
                           double *seconds)
{
    struct rmcp_cl_state *state = device->state;
    const struct rmcp_cl *cl = state->cl;
    struct rmcp_cl_queue queue;
    cl_event first = NULL, last = NULL;
    rmcp_status status = rmcp_cl_queue_take(device, stream, &queue);
    if (!status) status = check_memory(state, list, given->memory);
    if (status) return status;

    cl_int code = CL_SUCCESS;
    if (seconds && !queue.profiling) code = cl->clFinish(queue.queue);
    if (code) return rmcp_cl_fail(&state->lost, code, "clFinish");
    const double start = seconds ? rmcp_clock() : 0;
    for (size_t i = 0; i < list->n_records && !status; i++) {
        cl_event *event = !seconds                   ? NULL
                          : i == 0                   ? &first
                          : i + 1 == list->n_records ? &last
                                                     : NULL;
        status = enqueue(state, &queue, &list->records[i].kernel, given, event);
    }
    if (!status) code = rmcp_cl_queue_order(cl, &queue);
    if (!status && !code) code = cl->clFlush(queue.queue);
    if (!status && !code && first) code = wait_event(cl, last ? last : first);
    if (!status && code) status = rmcp_cl_fail(&state->lost, code, "executing a plan");
    if (!status && seconds) {
        const double wall = rmcp_clock() - start;
        const double device_time =
            queue.profiling && first ? span(cl, first, last ? last : first) : 0;
        *seconds = device_time > 0 ? device_time : wall;
    }
    if (first) cl->clReleaseEvent(first);
    if (last) cl->clReleaseEvent(last);
    return status;
}
