/* pool.h: pooling descriptors. */
#ifndef RMCP_MIOPEN_POOL_H
#define RMCP_MIOPEN_POOL_H

#include "dropin/miopen/tensor.h"

enum { MI_POOL_DIMS = 3 };

struct mi_pool {
    struct mi_object object;
    int dims; /* spatial; 0: not set yet */
    miopenPoolingMode_t mode;
    miopenIndexType_t index_type;
    miopenPoolingWorkspaceIndexMode_t index_mode;
    int window[MI_POOL_DIMS], pad[MI_POOL_DIMS], stride[MI_POOL_DIMS];
};

/* The descriptor, or NULL: none, destroyed; of those that can be used also: never set. */
struct mi_pool *mi_pool(miopenPoolingDescriptor_t name);
const struct mi_pool *mi_pool_set(miopenPoolingDescriptor_t name);

/* Bytes of one index; 0 for a type that there is not. */
size_t mi_pool_index_bytes(const struct mi_pool *pool);

#endif
