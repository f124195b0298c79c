/* api.c: NVIDIA's driver library, found at run time. */
#include "engine/driver/cuda/api.h"

#include "base/dynlib.h"

#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

static const struct rmcp_symbol symbols[] = {
#define N(name, symbol, parameters) { #symbol, offsetof(struct rmcp_cuda, name), false },
#define O(name, symbol, parameters) { #symbol, offsetof(struct rmcp_cuda, name), true },
    RMCP_CUDA_FUNCTIONS(N, O)
#undef N
#undef O
        { NULL, 0, false },
};

const struct rmcp_cuda *rmcp_cuda_get(char *why, size_t why_size)
{
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    static struct rmcp_cuda cuda;
    static void *library;
    static bool ready;
    const char *const other = getenv("RMCP_CUDA_LIBRARY");
    const char *const names[] = { other && *other ? other : "libcuda.so.1", NULL };
    char reason[192];

    pthread_mutex_lock(&lock);
    if (!library) {
        library = rmcp_dynlib_open(names, symbols, &cuda, reason, sizeof reason);
        if (!library) snprintf(why, why_size, "NVIDIA's driver cannot be loaded: %s", reason);
    }
    if (library && !ready) {
        const int code = cuda.Init(0);
        ready = !code;
        if (code == RMCP_CUDA_NO_DEVICE)
            snprintf(why, why_size, "NVIDIA's driver finds no device");
        else if (code)
            snprintf(why, why_size, "NVIDIA's driver does not start: %s (%d)",
                     rmcp_cuda_error_name(&cuda, code), code);
    }
    const struct rmcp_cuda *result = ready ? &cuda : NULL;
    pthread_mutex_unlock(&lock);
    return result;
}

const char *rmcp_cuda_error_name(const struct rmcp_cuda *cuda, int code)
{
    const char *name = NULL;
    return !cuda->GetErrorName(code, &name) && name ? name : "unknown error";
}

static rmcp_status status_of(int code)
{
    switch (code) {
    case RMCP_CUDA_OUT_OF_MEMORY: return RMCP_E_NOMEM;
    case RMCP_CUDA_DEINITIALIZED:
    case RMCP_CUDA_ECC_UNCORRECTABLE:
    case RMCP_CUDA_NVLINK_UNCORRECTABLE:
    case RMCP_CUDA_ILLEGAL_ADDRESS:
    case RMCP_CUDA_LAUNCH_TIMEOUT:
    case RMCP_CUDA_CONTEXT_IS_DESTROYED:
    case RMCP_CUDA_ASSERT: return RMCP_E_LOST;
    default:
        return code >= RMCP_CUDA_HARDWARE_STACK_ERROR && code <= RMCP_CUDA_LAUNCH_FAILED
                   ? RMCP_E_LOST
                   : RMCP_E_DEVICE;
    }
}

rmcp_status rmcp_cuda_fail(const struct rmcp_cuda *cuda, atomic_bool *lost, int code,
                           const char *format, ...)
{
    char what[512];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(what, sizeof what, format, arguments);
    va_end(arguments);
    const rmcp_status status = status_of(code);
    if (lost && status == RMCP_E_LOST) atomic_store(lost, true);
    return rmcp_fail(status, "%s: %s (%d)", what, rmcp_cuda_error_name(cuda, code), code);
}
