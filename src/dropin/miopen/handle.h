/* handle.h: a handle: a stream of a device, the plans it has made, memory of its own. */
#ifndef RMCP_MIOPEN_HANDLE_H
#define RMCP_MIOPEN_HANDLE_H

#include "dropin/miopen/engine.h"
#include "dropin/miopen/object.h"

#include <pthread.h>

struct mi_plan_table;

/* Memory for what no caller gives memory for, one piece for each stream, so that streams do not
 * wait for each other. A piece that was too small is kept until the handle goes: a graph may refer
 * to it. */
enum mi_use { MI_USE_SCRATCH, MI_USE_BETWEEN };
struct mi_scratch {
    void *stream;
    enum mi_use use;
    rmcp_memory memory;
    uint64_t bytes;
    bool retired, theirs; /* theirs: from the caller's allocator */
    struct mi_scratch *next;
};

struct mi_handle {
    struct mi_object object;
    pthread_mutex_t lock; /* held during every operation */
    const struct mi_engine *engine;
    rmcp_device *device;
    void *stream;
    miopenAllocatorFunction allocate;
    miopenDeallocatorFunction release;
    void *allocator_context;
    bool profiling;
    float kernel_ms; /* of the last operation while profiling */
    int tuning_policy;
    struct mi_plan_table *plans;
    struct mi_scratch *scratch;
};

/* The handle, locked, or NULL. */
struct mi_handle *mi_handle_enter(miopenHandle_t handle);
void mi_handle_leave(struct mi_handle *handle);

/* At least `bytes` of device memory for work on the handle's stream. The next call for the same
 * stream may give the same memory. */
miopenStatus_t mi_handle_scratch(struct mi_handle *handle, uint64_t bytes, rmcp_memory *out);

/* The same for what one operation leaves to the next, each of which may use the former. */
miopenStatus_t mi_handle_between(struct mi_handle *handle, uint64_t bytes, rmcp_memory *out);

#endif
