/* handle.c: handles: create, destroy, stream, allocator, profiling, version, error strings. */
#include "dropin/miopen/handle.h"

#include "dropin/miopen/chain.h"
#include "dropin/miopen/log.h"
#include "dropin/miopen/plans.h"

#include <stdlib.h>

/* The release whose interface this is. */
enum { VERSION_MAJOR = 3, VERSION_MINOR = 5, VERSION_PATCH = 1 };

const char *miopenGetErrorString(miopenStatus_t error)
{
    static const char *const names[] = {
        "miopenStatusSuccess",         "miopenStatusNotInitialized",
        "miopenStatusInvalidValue",    "miopenStatusBadParm",
        "miopenStatusAllocFailed",     "miopenStatusInternalError",
        "miopenStatusNotImplemented",  "miopenStatusUnknownError",
        "miopenStatusUnsupportedOp",   "miopenStatusGpuOperationsSkipped",
        "miopenStatusVersionMismatch",
    };
    return (unsigned)error < sizeof names / sizeof *names ? names[error] : "Unknown error status";
}

miopenStatus_t miopenGetVersion(size_t *major, size_t *minor, size_t *patch)
{
    if (major) *major = VERSION_MAJOR;
    if (minor) *minor = VERSION_MINOR;
    if (patch) *patch = VERSION_PATCH;
    return miopenStatusSuccess;
}

static void destroy_scratch(struct mi_handle *handle)
{
    while (handle->scratch) {
        struct mi_scratch *scratch = handle->scratch;
        handle->scratch = scratch->next;
        if (scratch->theirs)
            handle->release(handle->allocator_context, scratch->memory.base);
        else
            handle->engine->rmcp_buffer_destroy(handle->device, scratch->memory);
        free(scratch);
    }
}

miopenStatus_t miopenCreateWithStream(miopenHandle_t *out, miopenAcceleratorQueue_t stream)
{
    if (!out) return mi_fail(miopenStatusBadParm, "miopenCreate: handle is NULL");
    rmcp_device *device;
    miopenStatus_t status = mi_device(&device);
    if (status != miopenStatusSuccess) return status;
    struct mi_handle *handle = mi_object_new(MI_HANDLE, sizeof *handle);
    struct mi_plan_table *plans = mi_plans_create();
    if (!handle || !plans || pthread_mutex_init(&handle->lock, NULL) != 0) {
        if (handle) mi_object_delete(handle);
        mi_plans_destroy(NULL, plans);
        return mi_fail(miopenStatusAllocFailed, "miopenCreate: out of memory");
    }
    handle->engine = mi_engine();
    handle->device = device;
    handle->stream = stream;
    handle->plans = plans;
    handle->tuning_policy = miopenTuningPolicyNone;
    status = mi_chain_handle(handle);
    if (status != miopenStatusSuccess) {
        mi_plans_destroy(handle->engine, plans);
        pthread_mutex_destroy(&handle->lock);
        mi_object_delete(handle);
        return status;
    }
    *out = mi_object_name(handle);
    return miopenStatusSuccess;
}

miopenStatus_t miopenCreate(miopenHandle_t *out)
{
    return miopenCreateWithStream(out, NULL);
}

struct mi_handle *mi_handle_enter(miopenHandle_t name)
{
    struct mi_handle *handle = mi_object(name, MI_HANDLE);
    if (!handle) {
        mi_log(MI_ERROR, "%p is no handle", (void *)name);
        return NULL;
    }
    pthread_mutex_lock(&handle->lock);
    return handle;
}

void mi_handle_leave(struct mi_handle *handle)
{
    pthread_mutex_unlock(&handle->lock);
}

miopenStatus_t miopenDestroy(miopenHandle_t name)
{
    if (!name) return miopenStatusSuccess;
    struct mi_handle *handle = mi_handle_enter(name);
    if (!handle) return miopenStatusBadParm;
    /* Work that still runs may use the handle's memory. */
    if (handle->scratch) {
        for (struct mi_scratch *s = handle->scratch; s; s = s->next)
            handle->engine->rmcp_device_wait(handle->device, s->stream);
        destroy_scratch(handle);
    }
    mi_plans_destroy(handle->engine, handle->plans);
    handle->plans = NULL;
    mi_chain_destroy(&handle->object, MI_HANDLE);
    mi_handle_leave(handle);
    pthread_mutex_destroy(&handle->lock);
    mi_object_delete(handle);
    return miopenStatusSuccess;
}

/* Nearly free: PyTorch calls it before every operation. */
miopenStatus_t miopenSetStream(miopenHandle_t name, miopenAcceleratorQueue_t stream)
{
    struct mi_handle *handle = mi_handle_enter(name);
    if (!handle) return miopenStatusBadParm;
    handle->stream = stream;
    miopenStatus_t status = mi_chain_stream(handle);
    mi_handle_leave(handle);
    return status;
}

miopenStatus_t miopenGetStream(miopenHandle_t name, miopenAcceleratorQueue_t *stream)
{
    struct mi_handle *handle = stream ? mi_handle_enter(name) : NULL;
    if (!handle) return miopenStatusBadParm;
    *stream = handle->stream;
    mi_handle_leave(handle);
    return miopenStatusSuccess;
}

miopenStatus_t miopenSetAllocator(miopenHandle_t name, miopenAllocatorFunction allocate,
                                  miopenDeallocatorFunction release, void *context)
{
    struct mi_handle *handle = mi_handle_enter(name);
    if (!handle) return miopenStatusBadParm;
    miopenStatus_t status = miopenStatusSuccess;
    if (!allocate != !release) {
        status = mi_fail(miopenStatusBadParm, "an allocator needs both functions");
    } else {
        /* What came from the old allocator goes back to it. */
        for (struct mi_scratch *s = handle->scratch; s; s = s->next)
            handle->engine->rmcp_device_wait(handle->device, s->stream);
        destroy_scratch(handle);
        handle->allocate = allocate;
        handle->release = release;
        handle->allocator_context = context;
        status = mi_chain_allocator(handle);
    }
    mi_handle_leave(handle);
    return status;
}

miopenStatus_t miopenEnableProfiling(miopenHandle_t name, bool enable)
{
    struct mi_handle *handle = mi_handle_enter(name);
    if (!handle) return miopenStatusBadParm;
    handle->profiling = enable;
    handle->kernel_ms = 0;
    mi_handle_leave(handle);
    return miopenStatusSuccess;
}

miopenStatus_t miopenGetKernelTime(miopenHandle_t name, float *milliseconds)
{
    struct mi_handle *handle = milliseconds ? mi_handle_enter(name) : NULL;
    if (!handle) return miopenStatusBadParm;
    *milliseconds = handle->kernel_ms;
    mi_handle_leave(handle);
    return miopenStatusSuccess;
}

/* There is nothing to be tuned here; what was set is remembered. */
miopenStatus_t miopenSetTuningPolicy(miopenHandle_t name, miopenTuningPolicy_t policy)
{
    if ((int)policy < miopenTuningPolicyNone || (int)policy > miopenTuningPolicyDbClean)
        return mi_fail(miopenStatusBadParm, "no tuning policy %d", (int)policy);
    struct mi_handle *handle = mi_handle_enter(name);
    if (!handle) return miopenStatusBadParm;
    handle->tuning_policy = policy;
    mi_handle_leave(handle);
    return miopenStatusSuccess;
}

miopenStatus_t miopenGetTuningPolicy(miopenHandle_t name, miopenTuningPolicy_t *policy)
{
    struct mi_handle *handle = policy ? mi_handle_enter(name) : NULL;
    if (!handle) return miopenStatusBadParm;
    *policy = (miopenTuningPolicy_t)handle->tuning_policy;
    mi_handle_leave(handle);
    return miopenStatusSuccess;
}

static miopenStatus_t piece(struct mi_handle *handle, enum mi_use use, uint64_t bytes,
                            rmcp_memory *out)
{
    *out = (rmcp_memory){ NULL, 0 };
    if (!bytes) return miopenStatusSuccess;
    struct mi_scratch *mine = NULL;
    for (struct mi_scratch *s = handle->scratch; s && !mine; s = s->next)
        if (s->stream == handle->stream && s->use == use && !s->retired) mine = s;
    if (mine && mine->bytes >= bytes) {
        *out = mine->memory;
        return miopenStatusSuccess;
    }
    /* Twice as much as before, so that few pieces are ever retired. */
    uint64_t wanted = mine && mine->bytes * 2 > bytes ? mine->bytes * 2 : bytes;
    struct mi_scratch *fresh = calloc(1, sizeof *fresh);
    if (!fresh) return mi_fail(miopenStatusAllocFailed, "out of memory");
    if (handle->allocate) {
        fresh->theirs = true;
        fresh->memory.base = handle->allocate(handle->allocator_context, wanted);
        if (fresh->memory.base && (uintptr_t)fresh->memory.base % 256) {
            handle->release(handle->allocator_context, fresh->memory.base);
            fresh->memory.base = NULL;
        }
    }
    if (!fresh->memory.base) {
        fresh->theirs = false;
        miopenStatus_t status = mi_status(
            handle->engine->rmcp_buffer_create(handle->device, wanted, &fresh->memory), "scratch");
        if (status != miopenStatusSuccess) {
            free(fresh);
            return status;
        }
    }
    if (mine) mine->retired = true;
    fresh->stream = handle->stream;
    fresh->use = use;
    fresh->bytes = wanted;
    fresh->next = handle->scratch;
    handle->scratch = fresh;
    *out = fresh->memory;
    return miopenStatusSuccess;
}

miopenStatus_t mi_handle_scratch(struct mi_handle *handle, uint64_t bytes, rmcp_memory *out)
{
    return piece(handle, MI_USE_SCRATCH, bytes, out);
}

miopenStatus_t mi_handle_between(struct mi_handle *handle, uint64_t bytes, rmcp_memory *out)
{
    return piece(handle, MI_USE_BETWEEN, bytes, out);
}
