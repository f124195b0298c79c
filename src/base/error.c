/* error.c: the per-thread message behind every failing status, and the versioned structs. */
#include "base/error.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static _Thread_local char last_error[512];

rmcp_status rmcp_fail(rmcp_status status, const char *format, ...)
{
    /* Formatted aside first: the arguments may point into the old message. */
    char text[sizeof last_error];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    /* One line, whatever names and driver texts it is made of. */
    for (char *c = text; *c; c++)
        if ((unsigned char)*c < 32 || *c == 127) *c = ' ';
    memcpy(last_error, text, sizeof text);
    return status;
}

rmcp_status rmcp_fail_memory(const char *what, size_t bytes)
{
    return rmcp_fail(RMCP_E_NOMEM, "out of memory: %s, %zu bytes", what, bytes);
}

const char *rmcp_last_error(void)
{
    return last_error;
}

const char *rmcp_status_name(rmcp_status status)
{
    static const char *const names[] = {
        [RMCP_OK] = "RMCP_OK",
        [RMCP_E_ARG] = "RMCP_E_ARG",
        [RMCP_E_UNSUPPORTED] = "RMCP_E_UNSUPPORTED",
        [RMCP_E_NOMEM] = "RMCP_E_NOMEM",
        [RMCP_E_DEVICE] = "RMCP_E_DEVICE",
        [RMCP_E_LOST] = "RMCP_E_LOST",
        [RMCP_E_IO] = "RMCP_E_IO",
        [RMCP_E_INTERNAL] = "RMCP_E_INTERNAL",
    };
    size_t i = (size_t)status;
    return i < sizeof names / sizeof *names ? names[i] : "unknown rmcp_status";
}

#define TEXT(x) #x
#define VERSION(major, minor, patch) TEXT(major) "." TEXT(minor) "." TEXT(patch)

const char *rmcp_version(void)
{
    return VERSION(RMCP_VERSION_MAJOR, RMCP_VERSION_MINOR, RMCP_VERSION_PATCH);
}

/* A struct_size beyond this is a struct that was never initialised. */
enum { LARGEST_STRUCT = 4096 };

static rmcp_status check_size(const void *caller, size_t size, size_t least, const char *name,
                              size_t *theirs)
{
    if (!caller) return rmcp_fail(RMCP_E_ARG, "%s is NULL", name);
    uint32_t given;
    memcpy(&given, caller, sizeof given);
    if (given < least || given > LARGEST_STRUCT)
        return rmcp_fail(RMCP_E_ARG, "%s.struct_size is %u; set it to sizeof(%s), %zu", name,
                         (unsigned)given, name, size);
    *theirs = given;
    return RMCP_OK;
}

rmcp_status rmcp_struct_read(const void *in, void *out, size_t size, size_t least, const char *name)
{
    size_t theirs = 0;
    rmcp_status status = check_size(in, size, least, name, &theirs);
    if (status) return status;

    const unsigned char *bytes = in;
    for (size_t i = size; i < theirs; i++)
        if (bytes[i])
            return rmcp_fail(RMCP_E_UNSUPPORTED,
                             "%s uses a field of a newer release (byte %zu of %zu)", name, i,
                             theirs);
    uint32_t ours = (uint32_t)size;
    memset(out, 0, size);
    memcpy(out, in, theirs < size ? theirs : size);
    memcpy(out, &ours, sizeof ours);
    return RMCP_OK;
}

rmcp_status rmcp_struct_write(const void *ours, size_t size, void *out, size_t least,
                              const char *name)
{
    size_t theirs = 0;
    rmcp_status status = check_size(out, size, least, name, &theirs);
    if (status) return status;

    const size_t skip = sizeof(uint32_t); /* struct_size stays the caller's */
    memset((char *)out + skip, 0, theirs - skip);
    memcpy((char *)out + skip, (const char *)ours + skip, (theirs < size ? theirs : size) - skip);
    return RMCP_OK;
}
