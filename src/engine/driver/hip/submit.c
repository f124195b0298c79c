/* submit.c: puts launch records on HIP streams. */
#include "engine/driver/hip/submit.h"

#include "base/clock.h"
#include "engine/gpu/params.h"

static int take(const struct rmcp_hip_state *state, int *previous)
{
    int code = state->hip->hipGetDevice(previous);
    if (!code && *previous != state->index) code = state->hip->hipSetDevice(state->index);
    return code;
}

rmcp_status rmcp_hip_enter(struct rmcp_device *device, int *previous)
{
    struct rmcp_hip_state *state = device->state;
    if (atomic_load(&state->lost))
        return rmcp_fail(RMCP_E_LOST, "%s (%s) was lost; close it", device->info.spec,
                         device->info.name);
    const int code = take(state, previous);
    if (!code) return RMCP_OK;
    return rmcp_hip_fail(state->hip, &state->lost, code, "taking %s", device->info.spec);
}

void rmcp_hip_enter_last(struct rmcp_device *device, int *previous)
{
    struct rmcp_hip_state *state = device->state;
    if (!take(state, previous)) return;
    state->hip->hipGetLastError();
    *previous = state->index;
}

void rmcp_hip_leave(struct rmcp_device *device, int previous)
{
    struct rmcp_hip_state *state = device->state;
    if (previous != state->index && state->hip->hipSetDevice(previous))
        state->hip->hipGetLastError();
}

static rmcp_status launch(struct rmcp_hip_state *state, void *stream,
                          const struct rmcp_kernel_launch *launch, const struct rmcp_given *given)
{
    const struct rmcp_gpu_kernel *kernel = launch->handle;
    const uint32_t *grid = launch->grid, *block = launch->block;
    struct rmcp_gpu_params params;
    rmcp_gpu_params_fill(&params, launch, given);
    int code =
        state->hip->hipModuleLaunchKernel(kernel->function, grid[0], grid[1], grid[2], block[0],
                                          block[1], block[2], 0, stream, params.pointers, NULL);
    if (!code) return RMCP_OK;
    return rmcp_hip_fail(state->hip, &state->lost, code,
                         "kernel %s, %ux%ux%u workgroups of %ux%ux%u", launch->kernel,
                         (unsigned)grid[0], (unsigned)grid[1], (unsigned)grid[2],
                         (unsigned)block[0], (unsigned)block[1], (unsigned)block[2]);
}

static rmcp_status launch_all(struct rmcp_hip_state *state, void *stream,
                              const struct rmcp_launch_list *list, const struct rmcp_given *given)
{
    rmcp_status status = RMCP_OK;
    for (size_t i = 0; i < list->n_records && !status; i++)
        status = launch(state, stream, &list->records[i].kernel, given);
    return status;
}

/* The same between two events, and wait. */
static rmcp_status launch_timed(struct rmcp_hip_state *state, void *stream,
                                const struct rmcp_launch_list *list, const struct rmcp_given *given,
                                double *seconds)
{
    const struct rmcp_hip *hip = state->hip;
    void *events[2] = { NULL, NULL };
    float milliseconds = 0;
    rmcp_status status = RMCP_OK;
    int code = hip->hipEventCreate(&events[0]);
    if (!code) code = hip->hipEventCreate(&events[1]);
    if (!code) code = hip->hipEventRecord(events[0], stream);
    const double start = rmcp_clock();
    if (!code) status = launch_all(state, stream, list, given);
    if (!code && !status) code = hip->hipEventRecord(events[1], stream);
    if (!code && !status) code = hip->hipEventSynchronize(events[1]);
    const double wall = rmcp_clock() - start;
    if (!code && !status) code = hip->hipEventElapsedTime(&milliseconds, events[0], events[1]);
    if (!status && code) status = rmcp_hip_fail(hip, &state->lost, code, "executing a plan");
    for (int i = 0; i < 2; i++)
        if (events[i] && hip->hipEventDestroy(events[i])) hip->hipGetLastError();
    if (!status) *seconds = milliseconds > 0 ? 1e-3 * milliseconds : wall;
    return status;
}

rmcp_status rmcp_hip_submit(struct rmcp_device *device, void *stream,
                            const struct rmcp_launch_list *list, const struct rmcp_given *given,
                            double *seconds)
{
    struct rmcp_hip_state *state = device->state;
    int previous = 0;
    rmcp_status status = rmcp_hip_enter(device, &previous);
    if (status) return status;
    status = seconds ? launch_timed(state, stream, list, given, seconds)
                     : launch_all(state, stream, list, given);
    rmcp_hip_leave(device, previous);
    return status;
}
