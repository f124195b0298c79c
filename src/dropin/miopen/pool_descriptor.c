/* pool_descriptor.c: pooling descriptors, and the sizes that follow from them. */
#include "dropin/miopen/chain.h"
#include "dropin/miopen/log.h"
#include "dropin/miopen/pool.h"

#include <limits.h>

struct mi_pool *mi_pool(miopenPoolingDescriptor_t name)
{
    struct mi_pool *pool = mi_object(name, MI_POOL);
    if (!pool) mi_log(MI_ERROR, "%p is no pooling descriptor", (const void *)name);
    return pool;
}

const struct mi_pool *mi_pool_set(miopenPoolingDescriptor_t name)
{
    struct mi_pool *pool = mi_pool(name);
    if (!pool || pool->dims || mi_chain_adopt_pool(pool)) return pool;
    mi_log(MI_ERROR, "a pooling descriptor was never set");
    return NULL;
}

size_t mi_pool_index_bytes(const struct mi_pool *pool)
{
    return (unsigned)pool->index_type <= miopenIndexUint64 ? (size_t)1 << pool->index_type : 0;
}

miopenStatus_t miopenCreatePoolingDescriptor(miopenPoolingDescriptor_t *out)
{
    if (!out) return mi_fail(miopenStatusBadParm, "miopenCreatePoolingDescriptor: NULL");
    struct mi_pool *pool = mi_object_new(MI_POOL, sizeof *pool);
    if (!pool) return mi_fail(miopenStatusAllocFailed, "out of memory");
    return mi_chain_descriptor(&pool->object, MI_POOL, out);
}

miopenStatus_t miopenDestroyPoolingDescriptor(miopenPoolingDescriptor_t name)
{
    if (!name) return miopenStatusSuccess;
    struct mi_pool *pool = mi_pool(name);
    if (!pool) return miopenStatusBadParm;
    mi_chain_destroy(&pool->object, MI_POOL);
    mi_object_delete(pool);
    return miopenStatusSuccess;
}

/* ---- indices ---- */

miopenStatus_t miopenSetPoolingIndexType(miopenPoolingDescriptor_t name, miopenIndexType_t type)
{
    struct mi_pool *pool = mi_pool(name);
    if (!pool) return miopenStatusBadParm;
    pool->index_type = type;
    return mi_chain_pool(pool);
}

miopenStatus_t miopenGetPoolingIndexType(miopenPoolingDescriptor_t name, miopenIndexType_t *type)
{
    const struct mi_pool *pool = mi_pool(name);
    if (!pool || !type) return miopenStatusBadParm;
    *type = pool->index_type;
    return miopenStatusSuccess;
}

miopenStatus_t miopenSetPoolingWorkSpaceIndexMode(miopenPoolingDescriptor_t name,
                                                  miopenPoolingWorkspaceIndexMode_t mode)
{
    struct mi_pool *pool = mi_pool(name);
    if (!pool) return miopenStatusBadParm;
    pool->index_mode = mode;
    return mi_chain_pool(pool);
}

miopenStatus_t miopenGetPoolingWorkSpaceIndexMode(miopenPoolingDescriptor_t name,
                                                  miopenPoolingWorkspaceIndexMode_t *mode)
{
    const struct mi_pool *pool = mi_pool(name);
    if (!pool || !mode) return miopenStatusBadParm;
    *mode = pool->index_mode;
    return miopenStatusSuccess;
}

/* ---- windows ---- */

/* Which also sets how indices are kept, as the original does. */
miopenStatus_t miopenSetNdPoolingDescriptor(miopenPoolingDescriptor_t name,
                                            miopenPoolingMode_t mode, int dims, const int *window,
                                            const int *pad, const int *stride)
{
    struct mi_pool *pool = mi_pool(name);
    if (!pool || !window || !pad || !stride) return miopenStatusBadParm;
    if (dims < 1 || dims > MI_POOL_DIMS)
        return mi_fail(miopenStatusBadParm, "pooling in %d dimensions", dims);
    if ((unsigned)mode > miopenPoolingAverageInclusive)
        return mi_fail(miopenStatusBadParm, "no pooling mode %d", (int)mode);
    pool->dims = dims;
    pool->mode = mode;
    pool->index_type = miopenIndexUint8;
    pool->index_mode =
        dims == 3 ? miopenPoolingWorkspaceIndexImage : miopenPoolingWorkspaceIndexMask;
    for (int d = 0; d < dims; d++) {
        pool->window[d] = window[d];
        pool->pad[d] = pad[d];
        pool->stride[d] = stride[d];
    }
    return mi_chain_pool(pool);
}

miopenStatus_t miopenSet2dPoolingDescriptor(miopenPoolingDescriptor_t name,
                                            miopenPoolingMode_t mode, int window_h, int window_w,
                                            int pad_h, int pad_w, int stride_h, int stride_w)
{
    return miopenSetNdPoolingDescriptor(name, mode, 2, (int[]){ window_h, window_w },
                                        (int[]){ pad_h, pad_w }, (int[]){ stride_h, stride_w });
}

miopenStatus_t miopenGet2dPoolingDescriptor(miopenPoolingDescriptor_t name,
                                            miopenPoolingMode_t *mode, int *window_h, int *window_w,
                                            int *pad_h, int *pad_w, int *stride_h, int *stride_w)
{
    const struct mi_pool *pool = mi_pool_set(name);
    if (!pool || !mode || !window_h || !window_w || !pad_h || !pad_w || !stride_h || !stride_w)
        return miopenStatusBadParm;
    if (pool->dims != 2)
        return mi_fail(miopenStatusBadParm, "pooling in %d dimensions, not 2", pool->dims);
    *mode = pool->mode;
    *window_h = pool->window[0], *window_w = pool->window[1];
    *pad_h = pool->pad[0], *pad_w = pool->pad[1];
    *stride_h = pool->stride[0], *stride_w = pool->stride[1];
    return miopenStatusSuccess;
}

miopenStatus_t miopenGetNdPoolingDescriptor(miopenPoolingDescriptor_t name, int room,
                                            miopenPoolingMode_t *mode, int *dims, int *window,
                                            int *pad, int *stride)
{
    const struct mi_pool *pool = mi_pool_set(name);
    if (!pool) return miopenStatusBadParm;
    if (room < 0 || room > pool->dims)
        return mi_fail(miopenStatusBadParm, "%d of %d dimensions", room, pool->dims);
    if (mode) *mode = pool->mode;
    if (dims) *dims = pool->dims;
    for (int d = 0; d < room; d++) {
        if (window) window[d] = pool->window[d];
        if (pad) pad[d] = pool->pad[d];
        if (stride) stride[d] = pool->stride[d];
    }
    return miopenStatusSuccess;
}

/* ---- sizes ---- */

static miopenStatus_t output_sizes(miopenPoolingDescriptor_t name, miopenTensorDescriptor_t x_name,
                                   int dims, int *out)
{
    const struct mi_pool *pool = mi_pool_set(name);
    const struct mi_tensor *x = mi_tensor(x_name);
    if (!pool || !x) return miopenStatusBadParm;
    if (x->dims != dims || pool->dims + 2 != dims)
        return mi_fail(miopenStatusBadParm, "pooling in %d dimensions of a tensor of %d, %d asked",
                       pool->dims, x->dims, dims);
    for (int i = 0; i < dims; i++) {
        int64_t size = x->size[i];
        if (i > 1) {
            const int d = i - 2;
            if (pool->stride[d] < 1)
                return mi_fail(miopenStatusBadParm, "a stride of %d", pool->stride[d]);
            const int64_t room = size + 2 * (int64_t)pool->pad[d] - pool->window[d];
            size = room < 0 ? 1 : room / pool->stride[d] + 1;
        }
        if (size > INT_MAX) return mi_fail(miopenStatusBadParm, "a size beyond 2^31");
        out[i] = (int)size;
    }
    return miopenStatusSuccess;
}

miopenStatus_t miopenGetPoolingNdForwardOutputDim(miopenPoolingDescriptor_t name,
                                                  miopenTensorDescriptor_t x, int dims, int *out)
{
    if (!out) return miopenStatusBadParm;
    return output_sizes(name, x, dims, out);
}

miopenStatus_t miopenGetPoolingForwardOutputDim(miopenPoolingDescriptor_t name,
                                                miopenTensorDescriptor_t x, int *n, int *c, int *h,
                                                int *w)
{
    int size[4];
    if (!n || !c || !h || !w) return miopenStatusBadParm;
    miopenStatus_t status = output_sizes(name, x, 4, size);
    if (status != miopenStatusSuccess) return status;
    *n = size[0], *c = size[1], *h = size[2], *w = size[3];
    return miopenStatusSuccess;
}

miopenStatus_t miopenPoolingGetWorkSpaceSize(miopenTensorDescriptor_t y_name, size_t *bytes)
{
    const struct mi_tensor *y = mi_tensor(y_name);
    if (!y || !bytes) return miopenStatusBadParm;
    *bytes = (size_t)mi_tensor_elements(y);
    return miopenStatusSuccess;
}

/* As much as the original asks for, which turns other orders than NCHW: three tensors more. */
miopenStatus_t miopenPoolingGetWorkSpaceSizeV2(miopenPoolingDescriptor_t name,
                                               miopenTensorDescriptor_t y_name, size_t *bytes)
{
    const struct mi_pool *pool = mi_pool_set(name);
    const struct mi_tensor *y = mi_tensor(y_name);
    if (!pool || !y || !bytes) return miopenStatusBadParm;
    const size_t elements = (size_t)mi_tensor_elements(y), index = mi_pool_index_bytes(pool);
    if (!index) return mi_fail(miopenStatusBadParm, "no index type %d", (int)pool->index_type);
    *bytes = pool->mode == miopenPoolingMax ? elements * index : 0;
    if (!mi_tensor_is_packed(y, RMCP_NCHW) && mi_tensor_is_packed(y, RMCP_NHWC))
        *bytes += 3 * elements * mi_type_bytes(y->type);
    return miopenStatusSuccess;
}
