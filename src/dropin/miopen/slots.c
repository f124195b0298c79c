/* slots.c: where each exported function leads, and the original library behind them. */
#define _GNU_SOURCE /* dladdr, RTLD_DEEPBIND */
#include "dropin/miopen/chain.h"
#include "dropin/miopen/log.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

/* The thunks and the stubs know these by name. */
extern void *mi_slots[];
miopenStatus_t mi_not_implemented(const char *name);

#define F(name, number, implemented) void rmcp_##name(void);
#include "slots.inc"
#undef F

static const struct {
    const char *name;
    bool implemented;
} functions[] = {
#define F(name, number, implemented) { #name, implemented },
#include "slots.inc"
#undef F
};
enum { FUNCTIONS = sizeof functions / sizeof *functions };

/* A function as a plain pointer, which ISO C does not know but POSIX does. */
#define F(name, number, implemented) [number] = (void *)&rmcp_##name,
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wpedantic"
__attribute__((visibility("hidden"))) void *mi_slots[] = {
#include "slots.inc"
};
#pragma GCC diagnostic pop
#undef F

static void *original;
static bool chained;

miopenStatus_t mi_not_implemented(const char *name)
{
    return mi_fail(miopenStatusNotImplemented,
                   "%s is not implemented here (RMCP_MIOPEN_CHAIN=1 hands it to the original)",
                   name);
}

/* In place of every function when the original was asked for and is not there. */
static miopenStatus_t no_original(void)
{
    return miopenStatusNotInitialized;
}

bool mi_chaining(void)
{
    return chained;
}

void *mi_original(const char *name)
{
    return original ? dlsym(original, name) : NULL;
}

static bool is_on(const char *name)
{
    const char *text = getenv(name);
    return text && *text && strcmp(text, "0") != 0 && strcasecmp(text, "no") != 0 &&
           strcasecmp(text, "off") != 0 && strcasecmp(text, "false") != 0;
}

static bool try_original(const char *path)
{
    int flags = RTLD_NOW | RTLD_LOCAL;
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
    flags |= RTLD_DEEPBIND; /* its calls to itself stay its own */
#endif
    if (access(path, R_OK) == 0) original = dlopen(path, flags);
    if (original && dlsym(original, "miopenCreate") == (void *)mi_slots[0]) {
        dlclose(original);
        original = NULL;
    }
    return original != NULL;
}

/* RMCP_MIOPEN_ORIGINAL, else the backup that an installation made: rmcp/libMIOpen.so.original
 * beside this file. */
static bool find_original(void)
{
    const char *named = getenv("RMCP_MIOPEN_ORIGINAL");
    if (named && *named) return try_original(named);
    Dl_info here;
    if (!dladdr(&functions, &here) || !here.dli_fname) return false;
    char path[4096];
    const char *slash = strrchr(here.dli_fname, '/');
    const int folder = slash ? (int)(slash - here.dli_fname) : 0;
    if (!slash) return false;
    const int length =
        snprintf(path, sizeof path, "%.*s/rmcp/libMIOpen.so.original", folder, here.dli_fname);
    return length > 0 && (size_t)length < sizeof path && try_original(path);
}

__attribute__((constructor)) static void choose(void)
{
    bool disabled = is_on("RMCP_DISABLE"), chain = is_on("RMCP_MIOPEN_CHAIN");
    if (!disabled && !chain) return;
    if (!find_original()) {
        const char *error = dlerror();
        char line[768];
        snprintf(line, sizeof line,
                 "MIOpen: the original library was not found (RMCP_MIOPEN_ORIGINAL names it)%s%s",
                 error ? ": " : "", error ? error : "");
        mi_log_notice(line, NULL);
    }
    for (int i = 0; i < FUNCTIONS; i++) {
        if (!disabled && functions[i].implemented) continue;
        void *theirs = mi_original(functions[i].name);
        if (theirs)
            mi_slots[i] = theirs;
        else if (disabled && !original && strcmp(functions[i].name, "miopenGetErrorString") != 0)
            memcpy(&mi_slots[i], &(miopenStatus_t(*)(void)){ no_original }, sizeof(void *));
    }
    chained = chain && !disabled && original;
}
