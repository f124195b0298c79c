/* submit.c: loads kernels into a CUDA context and puts launch records on its streams. */
#include "engine/driver/cuda/submit.h"

#include "engine/gpu/images.h"
#include "engine/gpu/params.h"

#include <stdlib.h>
#include <string.h>

rmcp_status rmcp_cuda_enter(const struct rmcp_device *device)
{
    struct rmcp_cuda_state *state = device->state;
    if (atomic_load(&state->lost))
        return rmcp_fail(RMCP_E_LOST, "%s (%s) was lost; close it", device->info.spec,
                         device->info.name);
    const int code = state->cuda->CtxPushCurrent(state->context);
    if (code) return rmcp_cuda_fail(state->cuda, &state->lost, code, "cuCtxPushCurrent");
    return RMCP_OK;
}

void rmcp_cuda_leave(const struct rmcp_cuda_state *state)
{
    void *ours = NULL;
    state->cuda->CtxPopCurrent(&ours);
}

/* ---- kernels ---- */

int rmcp_cuda_exchange_capture(const struct rmcp_cuda *cuda, int mode)
{
    if (cuda->ThreadExchangeStreamCaptureMode) cuda->ThreadExchangeStreamCaptureMode(&mode);
    return mode;
}

static void one_line(char *text)
{
    for (; *text; text++)
        if (*text == '\n' || *text == '\r') *text = ' ';
}

/* The most registers that a variant's work-items may have, so that a second workgroup has room
 * beside the first; 0: as many as the compiler likes. */
static unsigned most_registers(const struct rmcp_kernel *row)
{
    static const char option[] = "-DREGISTERS=";
    const char *at = strstr(row->options, option);
    return at ? (unsigned)strtoul(at + sizeof option - 1, NULL, 10) : 0;
}

/* Compiled by the driver, or taken from where it keeps what it compiled (CUDA_CACHE_PATH). */
static int load_module(const struct rmcp_cuda *cuda, const char *ptx, const struct rmcp_kernel *row,
                       struct rmcp_gpu_kernel *kernel, char *log, size_t log_size,
                       const char **doing)
{
    enum { MAX_REGISTERS = 0, ERROR_LOG_BUFFER = 5, ERROR_LOG_BUFFER_BYTES = 6 };
    enum { MAX_THREADS_PER_BLOCK = 0 };
    const unsigned registers = most_registers(row);
    int options[] = { ERROR_LOG_BUFFER, ERROR_LOG_BUFFER_BYTES, MAX_REGISTERS };
    void *values[] = { log, (void *)(uintptr_t)log_size, (void *)(uintptr_t)registers };
    int most = 0;
    *doing = "cuModuleLoadDataEx";
    int code = cuda->ModuleLoadDataEx(&kernel->module, ptx, registers ? 3 : 2, options, values);
    if (code) {
        kernel->module = NULL;
        return code;
    }
    *doing = "cuModuleGetFunction";
    code = cuda->ModuleGetFunction(&kernel->function, kernel->module, row->entry);
    /* This also makes a driver that loads lazily load it now, and not at the first launch. */
    if (!code) {
        *doing = "cuFuncGetAttribute";
        code = cuda->FuncGetAttribute(&most, MAX_THREADS_PER_BLOCK, kernel->function);
    }
    if (!code && (uint32_t)most < row->block) {
        *doing = "too few registers for its workgroup";
        code = RMCP_CUDA_INVALID_VALUE;
    }
    return code;
}

rmcp_status rmcp_cuda_load(void *context, const struct rmcp_kernel *row,
                           struct rmcp_gpu_kernel *kernel)
{
    struct rmcp_cuda_state *state = context;
    const struct rmcp_cuda *cuda = state->cuda;
    void *ptx = NULL;
    size_t size = 0;
    rmcp_status status = rmcp_kernel_image(state->target, row->name, &ptx, &size);
    if (status) return status;
    char log[400] = "";
    const char *doing = NULL;
    const int mode = rmcp_cuda_exchange_capture(cuda, RMCP_CUDA_CAPTURE_RELAXED);
    const int code = load_module(cuda, ptx, row, kernel, log, sizeof log, &doing);
    rmcp_cuda_exchange_capture(cuda, mode);
    free(ptx);
    if (!code) return RMCP_OK;
    log[sizeof log - 1] = '\0';
    one_line(log);
    return rmcp_cuda_fail(cuda, &state->lost, code, "kernel %s: %s%s%s", row->name, doing,
                          *log ? ": " : "", log);
}

void rmcp_cuda_unload(void *context, void *module)
{
    const struct rmcp_cuda_state *state = context;
    state->cuda->ModuleUnload(module);
}

/* ---- launching ---- */

static rmcp_status launch(struct rmcp_cuda_state *state, void *stream,
                          const struct rmcp_kernel_launch *launch, const struct rmcp_given *given)
{
    const struct rmcp_gpu_kernel *kernel = launch->handle;
    const uint32_t *grid = launch->grid, *block = launch->block;
    struct rmcp_gpu_params params;
    rmcp_gpu_params_fill(&params, launch, given);
    const int code =
        state->cuda->LaunchKernel(kernel->function, grid[0], grid[1], grid[2], block[0], block[1],
                                  block[2], 0, stream, params.pointers, NULL);
    if (!code) return RMCP_OK;
    return rmcp_cuda_fail(state->cuda, &state->lost, code,
                          "kernel %s, %ux%ux%u workgroups of %ux%ux%u", launch->kernel,
                          (unsigned)grid[0], (unsigned)grid[1], (unsigned)grid[2],
                          (unsigned)block[0], (unsigned)block[1], (unsigned)block[2]);
}

static rmcp_status launch_all(struct rmcp_cuda_state *state, void *stream,
                              const struct rmcp_launch_list *list, const struct rmcp_given *given)
{
    rmcp_status status = RMCP_OK;
    for (size_t i = 0; i < list->n_records && !status; i++)
        status = launch(state, stream, &list->records[i].kernel, given);
    return status;
}

/* The same between two events, and wait. */
static rmcp_status launch_timed(struct rmcp_cuda_state *state, void *stream,
                                const struct rmcp_launch_list *list, const struct rmcp_given *given,
                                double *seconds)
{
    const struct rmcp_cuda *cuda = state->cuda;
    void *events[2] = { NULL, NULL };
    float milliseconds = 0;
    rmcp_status status = RMCP_OK;
    int code = cuda->EventCreate(&events[0], 0);
    if (!code) code = cuda->EventCreate(&events[1], 0);
    if (!code) code = cuda->EventRecord(events[0], stream);
    if (!code) status = launch_all(state, stream, list, given);
    if (!code && !status) code = cuda->EventRecord(events[1], stream);
    if (!code && !status) code = cuda->EventSynchronize(events[1]);
    if (!code && !status) code = cuda->EventElapsedTime(&milliseconds, events[0], events[1]);
    if (!status && code) status = rmcp_cuda_fail(cuda, &state->lost, code, "executing a plan");
    for (int i = 0; i < 2; i++)
        if (events[i]) cuda->EventDestroy(events[i]);
    if (!status) *seconds = 1e-3 * milliseconds;
    return status;
}

rmcp_status rmcp_cuda_submit(struct rmcp_device *device, void *stream,
                             const struct rmcp_launch_list *list, const struct rmcp_given *given,
                             double *seconds)
{
    struct rmcp_cuda_state *state = device->state;
    rmcp_status status = rmcp_cuda_enter(device);
    if (status) return status;
    status = seconds ? launch_timed(state, stream, list, given, seconds)
                     : launch_all(state, stream, list, given);
    rmcp_cuda_leave(state);
    return status;
}
