/* api.c: the OpenCL library, loaded at run time, and the names of its errors. */
#include "engine/driver/opencl/api.h"

#include "base/dynlib.h"
#include "engine/gpu/clash.h"

#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

static const struct rmcp_symbol symbols[] = {
#define F(name) { #name, offsetof(struct rmcp_cl, name), false },
    RMCP_CL_FUNCTIONS(F)
#undef F
        { NULL, 0, false },
};

const struct rmcp_cl *rmcp_cl_get(char *why, size_t why_size)
{
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    static struct rmcp_cl library;
    static void *handle;

    const char *usual[] = { "libOpenCL.so.1", "libOpenCL.so", NULL };
    const char *named[] = { getenv("RMCP_OPENCL_LIBRARY"), NULL };
    const char *const *names = named[0] && *named[0] ? named : usual;
    char reason[192];
    pthread_mutex_lock(&lock);
    if (!handle) {
        handle = rmcp_dynlib_open(names, symbols, &library, reason, sizeof reason);
        if (!handle) snprintf(why, why_size, "OpenCL cannot be loaded: %s", reason);
    }
    const struct rmcp_cl *cl = handle ? &library : NULL;
    if (cl && names == usual && rmcp_clash_opencl(why, why_size)) cl = NULL;
    pthread_mutex_unlock(&lock);
    return cl;
}

static const struct {
    cl_int code;
    const char *name;
} error_names[] = {
#define E(name)                                                                                    \
    {                                                                                              \
        name, #name                                                                                \
    }
    E(CL_DEVICE_NOT_FOUND),
    E(CL_DEVICE_NOT_AVAILABLE),
    E(CL_COMPILER_NOT_AVAILABLE),
    E(CL_MEM_OBJECT_ALLOCATION_FAILURE),
    E(CL_OUT_OF_RESOURCES),
    E(CL_OUT_OF_HOST_MEMORY),
    E(CL_PROFILING_INFO_NOT_AVAILABLE),
    E(CL_MEM_COPY_OVERLAP),
    E(CL_IMAGE_FORMAT_MISMATCH),
    E(CL_IMAGE_FORMAT_NOT_SUPPORTED),
    E(CL_BUILD_PROGRAM_FAILURE),
    E(CL_MAP_FAILURE),
    E(CL_MISALIGNED_SUB_BUFFER_OFFSET),
    E(CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST),
    E(CL_COMPILE_PROGRAM_FAILURE),
    E(CL_LINKER_NOT_AVAILABLE),
    E(CL_LINK_PROGRAM_FAILURE),
    E(CL_DEVICE_PARTITION_FAILED),
    E(CL_KERNEL_ARG_INFO_NOT_AVAILABLE),
    E(CL_INVALID_VALUE),
    E(CL_INVALID_DEVICE_TYPE),
    E(CL_INVALID_PLATFORM),
    E(CL_INVALID_DEVICE),
    E(CL_INVALID_CONTEXT),
    E(CL_INVALID_QUEUE_PROPERTIES),
    E(CL_INVALID_COMMAND_QUEUE),
    E(CL_INVALID_HOST_PTR),
    E(CL_INVALID_MEM_OBJECT),
    E(CL_INVALID_IMAGE_FORMAT_DESCRIPTOR),
    E(CL_INVALID_IMAGE_SIZE),
    E(CL_INVALID_SAMPLER),
    E(CL_INVALID_BINARY),
    E(CL_INVALID_BUILD_OPTIONS),
    E(CL_INVALID_PROGRAM),
    E(CL_INVALID_PROGRAM_EXECUTABLE),
    E(CL_INVALID_KERNEL_NAME),
    E(CL_INVALID_KERNEL_DEFINITION),
    E(CL_INVALID_KERNEL),
    E(CL_INVALID_ARG_INDEX),
    E(CL_INVALID_ARG_VALUE),
    E(CL_INVALID_ARG_SIZE),
    E(CL_INVALID_KERNEL_ARGS),
    E(CL_INVALID_WORK_DIMENSION),
    E(CL_INVALID_WORK_GROUP_SIZE),
    E(CL_INVALID_WORK_ITEM_SIZE),
    E(CL_INVALID_GLOBAL_OFFSET),
    E(CL_INVALID_EVENT_WAIT_LIST),
    E(CL_INVALID_EVENT),
    E(CL_INVALID_OPERATION),
    E(CL_INVALID_GL_OBJECT),
    E(CL_INVALID_BUFFER_SIZE),
    E(CL_INVALID_MIP_LEVEL),
    E(CL_INVALID_GLOBAL_WORK_SIZE),
    E(CL_INVALID_PROPERTY),
    E(CL_INVALID_IMAGE_DESCRIPTOR),
    E(CL_INVALID_COMPILER_OPTIONS),
    E(CL_INVALID_LINKER_OPTIONS),
    E(CL_INVALID_DEVICE_PARTITION_COUNT),
#undef E
    { -1001, "CL_PLATFORM_NOT_FOUND_KHR" },
    { -9999, "illegal access to device memory" }, /* NVIDIA's, in no header */
};

const char *rmcp_cl_error_name(cl_int code)
{
    for (size_t i = 0; i < sizeof error_names / sizeof *error_names; i++)
        if (error_names[i].code == code) return error_names[i].name;
    return "unknown error";
}

rmcp_status rmcp_cl_status(cl_int code)
{
    switch (code) {
    case CL_SUCCESS: return RMCP_OK;
    case CL_MEM_OBJECT_ALLOCATION_FAILURE:
    case CL_OUT_OF_HOST_MEMORY: return RMCP_E_NOMEM;
    case CL_DEVICE_NOT_AVAILABLE:
    case CL_INVALID_COMMAND_QUEUE:
    case -9999: return RMCP_E_LOST;
    default: return RMCP_E_DEVICE;
    }
}

rmcp_status rmcp_cl_fail(atomic_bool *lost, cl_int code, const char *format, ...)
{
    char what[256];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(what, sizeof what, format, arguments);
    va_end(arguments);
    const rmcp_status status = rmcp_cl_status(code);
    if (lost && status == RMCP_E_LOST) atomic_store(lost, true);
    return rmcp_fail(status, "%s: %s (%d)", what, rmcp_cl_error_name(code), (int)code);
}
