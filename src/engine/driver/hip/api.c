/* api.c: the HIP library, found at run time, and its errors. */
#include "engine/driver/hip/api.h"

#include "base/dynlib.h"
#include "engine/gpu/clash.h"

#include <limits.h>
#include <pthread.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct rmcp_symbol symbols[] = {
#define NEEDED(name, parameters) { #name, offsetof(struct rmcp_hip, name), false },
#define OPTIONAL(name, parameters) { #name, offsetof(struct rmcp_hip, name), true },
    RMCP_HIP_FUNCTIONS(NEEDED, OPTIONAL)
#undef OPTIONAL
#undef NEEDED
        { "hipGetErrorName", offsetof(struct rmcp_hip, hipGetErrorName), false },
    { NULL, 0, false },
};

static void *find(struct rmcp_hip *hip, char *why, size_t why_size)
{
    char loaded[PATH_MAX] = "";
    const char *named = getenv("RMCP_HIP_LIBRARY");
    if (named && *named) {
        const char *names[] = { named, NULL };
        return rmcp_dynlib_open(names, symbols, hip, why, why_size);
    }
    /* Two copies of HIP in one process do not know each other's memory and streams, and wheels ship
     * theirs under names of their own: take what is loaded. */
    if (rmcp_dynlib_loaded("libamdhip64", loaded, sizeof loaded)) {
        const char *names[] = { loaded, NULL };
        return rmcp_dynlib_open(names, symbols, hip, why, why_size);
    }
    const char *names[] = { "libamdhip64.so", "libamdhip64.so.7", "libamdhip64.so.6",
                            "libamdhip64.so.5", NULL };
    return rmcp_dynlib_open(names, symbols, hip, why, why_size);
}

const struct rmcp_hip *rmcp_hip_get(char *why, size_t why_size)
{
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    static struct rmcp_hip library;
    static void *handle;
    static bool asked; /* whether somebody has gone on to ask HIP something */
    char reason[192];
    pthread_mutex_lock(&lock);
    if (!handle) {
        handle = find(&library, reason, sizeof reason);
        if (!handle) snprintf(why, why_size, "HIP cannot be loaded: %s", reason);
    }
    const struct rmcp_hip *hip = handle ? &library : NULL;
    void *function = NULL;
    if (hip) memcpy(&function, &hip->hipGetDeviceCount, sizeof function);
    if (hip && !asked && rmcp_clash_hip(function, why, why_size))
        hip = NULL;
    else if (hip)
        asked = true;
    pthread_mutex_unlock(&lock);
    return hip;
}

int rmcp_hip_exchange_capture(const struct rmcp_hip *hip, int mode)
{
    if (hip->hipThreadExchangeStreamCaptureMode && hip->hipThreadExchangeStreamCaptureMode(&mode))
        hip->hipGetLastError();
    return mode;
}

bool rmcp_hip_is_lost(int code)
{
    switch (code) {
    case RMCP_HIP_NOT_INITIALIZED: /* only asked after a success: somebody shut HIP down */
    case RMCP_HIP_DEINITIALIZED:
    case RMCP_HIP_PRIOR_LAUNCH_FAILURE:
    case RMCP_HIP_NO_DEVICE:
    case RMCP_HIP_ECC:
    case RMCP_HIP_ILLEGAL_ADDRESS:
    case RMCP_HIP_LAUNCH_TIME_OUT:
    case RMCP_HIP_CONTEXT_IS_DESTROYED:
    case RMCP_HIP_ASSERT:
    case RMCP_HIP_LAUNCH_FAILURE: return true;
    default: return false;
    }
}

rmcp_status rmcp_hip_fail(const struct rmcp_hip *hip, atomic_bool *lost, int code,
                          const char *format, ...)
{
    char what[256];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(what, sizeof what, format, arguments);
    va_end(arguments);
    const char *name = hip->hipGetErrorName(code);
    hip->hipGetLastError();
    rmcp_status status = RMCP_E_DEVICE;
    if (code == RMCP_HIP_OUT_OF_MEMORY || code == RMCP_HIP_RUNTIME_MEMORY) status = RMCP_E_NOMEM;
    if (lost && rmcp_hip_is_lost(code)) {
        atomic_store(lost, true);
        status = RMCP_E_LOST;
    }
    return rmcp_fail(status, "%s: %s (%d)", what, name ? name : "unknown error", code);
}
