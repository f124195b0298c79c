/* engine.c: librmcp, found at run time, its devices, and the little that is asked of HIP. */
#define _GNU_SOURCE /* dladdr, dl_iterate_phdr */
#include "dropin/miopen/engine.h"

#include "dropin/miopen/log.h"

#include <dlfcn.h>
#include <link.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define ENGINE_NAME "librmcp.so.0"
#define TEXT_OF(x) #x
#define TEXT(x) TEXT_OF(x)
#define OUR_VERSION                                                                                \
    TEXT(RMCP_VERSION_MAJOR) "." TEXT(RMCP_VERSION_MINOR) "." TEXT(RMCP_VERSION_PATCH)

static struct mi_engine engine;
static struct {
    char path[4096];
    const char *version; /* the library's own words, which stay loaded */
} found;
static pthread_once_t engine_once = PTHREAD_ONCE_INIT;
static enum { NOWHERE, MISFIT, THERE } engine_is;

miopenStatus_t mi_misfit(const char *why, ...)
{
    static atomic_flag told = ATOMIC_FLAG_INIT;
    char reason[RMCP_CASE_MAX + 100], line[sizeof reason + sizeof found.path + 300];
    va_list arguments;
    va_start(arguments, why);
    vsnprintf(reason, sizeof reason, why, arguments);
    va_end(arguments);
    snprintf(line, sizeof line,
             "MIOpen: %s is version %s and %s; this libMIOpen needs version %s: install both from "
             "one release, or let RMCP_LIBRARY name the librmcp that belongs to it",
             found.path, found.version, reason, OUR_VERSION);
    if (!atomic_flag_test_and_set(&told)) mi_log_notice(line, NULL);
    return miopenStatusVersionMismatch;
}

static bool fits(const char *version)
{
    int major = -1, minor = -1, patch = -1;
    return sscanf(version, "%d.%d.%d", &major, &minor, &patch) == 3 &&
           major == RMCP_VERSION_MAJOR && minor == RMCP_VERSION_MINOR &&
           patch >= RMCP_VERSION_PATCH;
}

/* Take the functions of a library that is loaded, if it is the engine that is needed. */
static bool take(void *library)
{
#define F(name) { #name, offsetof(struct mi_engine, name) },
    static const struct {
        const char *name;
        size_t offset;
    } symbols[] = { MI_ENGINE(F) };
#undef F
    const char *missing = NULL;
    for (size_t i = 0; i < sizeof symbols / sizeof *symbols; i++) {
        void *function = dlsym(library, symbols[i].name);
        if (!function && !missing) missing = symbols[i].name;
        memcpy((char *)&engine + symbols[i].offset, &function, sizeof function);
    }
    struct link_map *map = NULL;
    const bool named = !dlinfo(library, RTLD_DI_LINKMAP, &map) && map->l_name[0];
    snprintf(found.path, sizeof found.path, "%s", named ? map->l_name : ENGINE_NAME);
    found.version = engine.rmcp_version ? engine.rmcp_version() : "unknown";
    if (!fits(found.version))
        mi_misfit("does not fit");
    else if (missing)
        mi_misfit("has no %s", missing);
    else
        return true;
    return false;
}

/* Try one file; `flags` beyond those that are always wanted. True: it is there, whether it fits or
 * not; it stays loaded. */
static bool try_engine(const char *path, int flags)
{
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL | flags);
    if (!library) {
        const char *error = dlerror();
        if (!(flags & RTLD_NOLOAD))
            mi_log(MI_INFO2, "no engine at %s: %s", path, error ? error : "");
        return false;
    }
    engine_is = take(library) ? THERE : MISFIT;
    if (engine_is == THERE) mi_log(MI_INFO, "engine %s %s", path, found.version);
    return true;
}

static bool find_engine(void)
{
    if (try_engine(ENGINE_NAME, RTLD_NOLOAD)) return true;
    const char *named = getenv("RMCP_LIBRARY");
    if (named && *named && try_engine(named, 0)) return true;
    Dl_info here;
    static const int anchor = 0;
    if (dladdr(&anchor, &here) && here.dli_fname) {
        /* The file itself, not a link to it: the engine stands beside that. */
        char *real = realpath(here.dli_fname, NULL);
        const char *file = real ? real : here.dli_fname;
        const char *slash = strrchr(file, '/');
        static const char *const places[] = { "",       "rmcp/",     "../",
                                              "../../", "../../../", "../../../../" };
        for (size_t i = 0; slash && i < sizeof places / sizeof *places; i++) {
            char path[4096];
            int length = snprintf(path, sizeof path, "%.*s/%s" ENGINE_NAME, (int)(slash - file),
                                  file, places[i]);
            if (length > 0 && (size_t)length < sizeof path && access(path, R_OK) == 0 &&
                try_engine(path, 0)) {
                free(real);
                return true;
            }
        }
        free(real);
    }
    return try_engine(ENGINE_NAME, 0);
}

static void load_engine(void)
{
    if (!find_engine())
        mi_log(MI_ERROR, ENGINE_NAME " was not found; RMCP_LIBRARY can name it");
    else if (engine_is == THERE)
        engine.rmcp_on_notice(mi_log_notice, NULL);
}

const struct mi_engine *mi_engine(void)
{
    pthread_once(&engine_once, load_engine);
    return engine_is == THERE ? &engine : NULL;
}

/* ---- HIP ---- */

static struct {
    int (*hipGetDevice)(int *device);
    int (*hipStreamIsCapturing)(void *stream, int *status);
    int (*hipGetLastError)(void);
    int (*hipPointerGetAttributes)(void *attributes, const void *pointer);
} hip;
static pthread_once_t hip_once = PTHREAD_ONCE_INIT;

static int note_hip(struct dl_phdr_info *info, size_t size, void *data)
{
    (void)size;
    const char *name = info->dlpi_name ? strrchr(info->dlpi_name, '/') : NULL;
    if (!name || strncmp(name + 1, "libamdhip64.so", 14) != 0) return 0;
    snprintf(data, 4096, "%s", info->dlpi_name);
    return 1;
}

/* In the process: a program may have HIP in a place where the usual search does not look. */
static void *find_hip(const char *symbol)
{
    void *function = dlsym(RTLD_DEFAULT, symbol);
    char path[4096] = "";
    if (!function && dl_iterate_phdr(note_hip, path)) {
        void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL | RTLD_NOLOAD);
        function = library ? dlsym(library, symbol) : NULL;
    }
    return function;
}

static void load_hip(void)
{
    void *function = find_hip("hipGetDevice");
    memcpy(&hip.hipGetDevice, &function, sizeof function);
    function = find_hip("hipStreamIsCapturing");
    memcpy(&hip.hipStreamIsCapturing, &function, sizeof function);
    function = find_hip("hipGetLastError");
    memcpy(&hip.hipGetLastError, &function, sizeof function);
    function = find_hip("hipPointerGetAttributes");
    memcpy(&hip.hipPointerGetAttributes, &function, sizeof function);
}

/* Whether a call of HIP's went well. A failure is taken off HIP's record: nobody else shall stumble
 * over it. */
static bool hip_well(int code)
{
    if (code && hip.hipGetLastError) hip.hipGetLastError();
    return !code;
}

bool mi_is_capturing(void *stream)
{
    pthread_once(&hip_once, load_hip);
    int status = 0;
    return hip.hipStreamIsCapturing && hip_well(hip.hipStreamIsCapturing(stream, &status)) &&
           status == 1;
}

/* The kinds of memory have other numbers in HIP 5 and 6; these fields have the same places in both.
 * HIP 5 fails for memory that it does not know, HIP 6 says so. */
bool mi_is_device_memory(const void *pointer)
{
    struct {
        int kind, device;
        void *on_device, *on_host;
        char more[128];
    } a = { 0 };
    pthread_once(&hip_once, load_hip);
    return hip.hipPointerGetAttributes && hip_well(hip.hipPointerGetAttributes(&a, pointer)) &&
           a.on_device && !a.on_host;
}

/* ---- devices ---- */

enum { DEVICES = 64 };
static struct {
    pthread_mutex_t lock;
    struct {
        char spec[32];
        rmcp_device *device;
    } open[DEVICES];
    int n;
} devices = { .lock = PTHREAD_MUTEX_INITIALIZER };
static atomic_int owner; /* the process that first opened a device */

miopenStatus_t mi_device(rmcp_device **out)
{
    *out = NULL;
    int nobody = 0;
    if (!atomic_compare_exchange_strong(&owner, &nobody, (int)getpid()) && nobody != (int)getpid())
        return mi_fail(miopenStatusInternalError,
                       "the device was opened before fork(); a child cannot use it");
    const struct mi_engine *e = mi_engine();
    if (!e) return engine_is == MISFIT ? miopenStatusVersionMismatch : miopenStatusInternalError;
    char spec[32] = "";
    const char *named = getenv("RMCP_DEVICE");
    if (named && *named && strcmp(named, "auto") != 0) {
        if ((size_t)snprintf(spec, sizeof spec, "%s", named) >= sizeof spec)
            return mi_fail(miopenStatusBadParm, "RMCP_DEVICE=%s is no device", named);
    } else {
        pthread_once(&hip_once, load_hip);
        int number = 0;
        if (hip.hipGetDevice && !hip_well(hip.hipGetDevice(&number)))
            return mi_fail(miopenStatusInternalError, "hipGetDevice failed");
        snprintf(spec, sizeof spec, "hip:%d", number);
    }
    pthread_mutex_lock(&devices.lock);
    for (int i = 0; i < devices.n && !*out; i++)
        if (!strcmp(devices.open[i].spec, spec)) *out = devices.open[i].device;
    miopenStatus_t status = miopenStatusSuccess;
    if (!*out && devices.n == DEVICES) {
        status = mi_fail(miopenStatusInternalError, "more than %d devices", DEVICES);
    } else if (!*out) {
        rmcp_device *device = NULL;
        status = mi_status(e->rmcp_device_open(spec, NULL, &device), spec);
        if (status == miopenStatusSuccess) {
            snprintf(devices.open[devices.n].spec, sizeof spec, "%s", spec);
            devices.open[devices.n++].device = *out = device;
            mi_log(MI_INFO, "device %s", spec);
        }
    }
    pthread_mutex_unlock(&devices.lock);
    return status;
}

miopenStatus_t mi_status(rmcp_status status, const char *what)
{
    static const miopenStatus_t theirs[] = {
        [RMCP_OK] = miopenStatusSuccess,
        [RMCP_E_ARG] = miopenStatusBadParm,
        [RMCP_E_UNSUPPORTED] = miopenStatusNotImplemented,
        [RMCP_E_NOMEM] = miopenStatusAllocFailed,
        [RMCP_E_DEVICE] = miopenStatusInternalError,
        [RMCP_E_LOST] = miopenStatusInternalError,
        [RMCP_E_IO] = miopenStatusInternalError,
        [RMCP_E_INTERNAL] = miopenStatusInternalError,
    };
    if (status == RMCP_OK) return miopenStatusSuccess;
    mi_log(MI_ERROR, "%s: %s", what, engine.rmcp_last_error());
    return (size_t)status < sizeof theirs / sizeof *theirs ? theirs[status]
                                                           : miopenStatusUnknownError;
}
