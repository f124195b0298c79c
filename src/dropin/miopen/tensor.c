/* tensor.c: tensor descriptors: create, set and get in all forms, sizes. */
#include "dropin/miopen/tensor.h"

#include "dropin/miopen/chain.h"
#include "dropin/miopen/log.h"

#include <limits.h>
#include <string.h>

size_t mi_type_bytes(miopenDataType_t type)
{
    switch (type) {
    case miopenHalf:
    case miopenBFloat16: return 2;
    case miopenFloat:
    case miopenInt32: return 4;
    case miopenDouble:
    case miopenInt64: return 8;
    case miopenInt8:
    case miopenFloat8:
    case miopenBFloat8: return 1;
    }
    return 0;
}

bool mi_type(miopenDataType_t type, uint32_t *out)
{
    switch ((int)type) {
    case miopenFloat: *out = RMCP_F32; return true;
    case miopenHalf: *out = RMCP_F16; return true;
    case miopenBFloat16: *out = RMCP_BF16; return true;
    default: return false;
    }
}

const struct mi_tensor *mi_tensor(miopenTensorDescriptor_t name)
{
    const struct mi_tensor *tensor = mi_object(name, MI_TENSOR);
    if (!tensor)
        mi_log(MI_ERROR, "%p is no tensor descriptor", (const void *)name);
    else if (!tensor->dims)
        mi_log(MI_ERROR, "a tensor descriptor was never set");
    return tensor && tensor->dims ? tensor : NULL;
}

int64_t mi_tensor_elements(const struct mi_tensor *tensor)
{
    int64_t n = 1;
    for (int i = 0; i < tensor->dims; i++) n *= tensor->size[i];
    return n;
}

int64_t mi_tensor_span(const struct mi_tensor *tensor)
{
    int64_t last = 0;
    for (int i = 0; i < tensor->dims; i++) last += (tensor->size[i] - 1) * tensor->stride[i];
    return mi_tensor_elements(tensor) ? last + 1 : 0;
}

/* Where the dimension `i` comes in memory, the slowest first. */
static int order_of(int i, int dims, rmcp_layout layout)
{
    if (layout == RMCP_NCHW || i == 0) return i;
    return i == 1 ? dims - 1 : i - 1;
}

struct mi_tensor mi_tensor_packed(const struct mi_tensor *tensor, rmcp_layout layout)
{
    struct mi_tensor packed = *tensor;
    int64_t stride = 1;
    for (int place = tensor->dims - 1; place >= 0; place--)
        for (int i = 0; i < tensor->dims; i++)
            if (order_of(i, tensor->dims, layout) == place) {
                packed.stride[i] = stride;
                stride *= tensor->size[i];
            }
    return packed;
}

bool mi_tensor_is_packed(const struct mi_tensor *tensor, rmcp_layout layout)
{
    struct mi_tensor packed = mi_tensor_packed(tensor, layout);
    for (int i = 0; i < tensor->dims; i++)
        if (tensor->size[i] > 1 && tensor->stride[i] != packed.stride[i]) return false;
    return true;
}

/* Check and set everything at once. NULL strides: packed. */
static miopenStatus_t set(miopenTensorDescriptor_t name, miopenDataType_t type, int dims,
                          const int64_t *size, const int64_t *stride)
{
    struct mi_tensor *tensor = mi_object(name, MI_TENSOR);
    if (!tensor) return mi_fail(miopenStatusBadParm, "%p is no tensor descriptor", (void *)name);
    if (!mi_type_bytes(type)) return mi_fail(miopenStatusBadParm, "no data type %d", (int)type);
    struct mi_tensor fresh = *tensor;
    fresh.type = type;
    fresh.dims = dims;
    fresh.cast_type = -1;
    int64_t elements = 1, last = 0;
    for (int i = dims - 1; i >= 0; i--) {
        if (size[i] < 1 || (stride && (stride[i] < 0 || (stride[i] == 0 && size[i] > 1))))
            return mi_fail(miopenStatusBadParm, "dimension %d has size %lld and stride %lld", i,
                           (long long)size[i], stride ? (long long)stride[i] : 0LL);
        fresh.size[i] = size[i];
        fresh.stride[i] = stride ? stride[i] : elements;
        int64_t reach;
        if (__builtin_mul_overflow(elements, size[i], &elements) ||
            __builtin_mul_overflow(fresh.size[i] - 1, fresh.stride[i], &reach) ||
            __builtin_add_overflow(last, reach, &last) || elements > INT64_MAX / 16 ||
            last > INT64_MAX / 16)
            return mi_fail(miopenStatusBadParm, "a tensor of so many elements cannot be");
    }
    for (int i = dims; i < MI_DIMS; i++) fresh.size[i] = fresh.stride[i] = 0;
    *tensor = fresh;
    return mi_chain_tensor(tensor);
}

static bool good_dims(int dims)
{
    if (dims >= 1 && dims <= MI_DIMS) return true;
    mi_log(MI_ERROR, "a tensor of %d dimensions; 1 to %d are possible", dims, (int)MI_DIMS);
    return false;
}

miopenStatus_t miopenCreateTensorDescriptor(miopenTensorDescriptor_t *out)
{
    if (!out) return mi_fail(miopenStatusBadParm, "miopenCreateTensorDescriptor: NULL");
    struct mi_tensor *tensor = mi_object_new(MI_TENSOR, sizeof *tensor);
    if (!tensor) return mi_fail(miopenStatusAllocFailed, "out of memory");
    tensor->type = miopenFloat;
    tensor->cast_type = -1;
    return mi_chain_descriptor(&tensor->object, MI_TENSOR, out);
}

miopenStatus_t miopenDestroyTensorDescriptor(miopenTensorDescriptor_t name)
{
    if (!name) return miopenStatusSuccess;
    struct mi_tensor *tensor = mi_object(name, MI_TENSOR);
    if (!tensor) return mi_fail(miopenStatusBadParm, "%p is no tensor descriptor", (void *)name);
    mi_chain_destroy(&tensor->object, MI_TENSOR);
    mi_object_delete(tensor);
    return miopenStatusSuccess;
}

miopenStatus_t miopenSet4dTensorDescriptor(miopenTensorDescriptor_t name, miopenDataType_t type,
                                           int n, int c, int h, int w)
{
    return set(name, type, 4, (int64_t[]){ n, c, h, w }, NULL);
}

miopenStatus_t miopenSet4dTensorDescriptorEx(miopenTensorDescriptor_t name, miopenDataType_t type,
                                             int n, int c, int h, int w, int n_stride, int c_stride,
                                             int h_stride, int w_stride)
{
    return set(name, type, 4, (int64_t[]){ n, c, h, w },
               (int64_t[]){ n_stride, c_stride, h_stride, w_stride });
}

miopenStatus_t miopenSetTensorDescriptor(miopenTensorDescriptor_t name, miopenDataType_t type,
                                         int dims, const int *sizes, const int *strides)
{
    int64_t size[MI_DIMS] = { 0 }, stride[MI_DIMS] = { 0 };
    if (!good_dims(dims) || !sizes) return miopenStatusInvalidValue;
    for (int i = 0; i < dims; i++) {
        size[i] = sizes[i];
        stride[i] = strides ? strides[i] : 0;
    }
    return set(name, type, dims, size, strides ? stride : NULL);
}

miopenStatus_t miopenSetTensorDescriptorV2(miopenTensorDescriptor_t name, miopenDataType_t type,
                                           int dims, const size_t *sizes, const size_t *strides)
{
    int64_t size[MI_DIMS] = { 0 }, stride[MI_DIMS] = { 0 };
    if (!good_dims(dims) || !sizes) return miopenStatusInvalidValue;
    for (int i = 0; i < dims; i++) {
        /* Beyond what fits it is refused as a negative one is. */
        size[i] = sizes[i] <= INT64_MAX ? (int64_t)sizes[i] : -1;
        stride[i] = !strides ? 0 : strides[i] <= INT64_MAX ? (int64_t)strides[i] : -1;
    }
    return set(name, type, dims, size, strides ? stride : NULL);
}

miopenStatus_t miopenSetNdTensorDescriptorWithLayout(miopenTensorDescriptor_t name,
                                                     miopenDataType_t type,
                                                     miopenTensorLayout_t layout, const int *sizes,
                                                     int dims)
{
    bool last = layout == miopenTensorNHWC || layout == miopenTensorNDHWC;
    bool first = layout == miopenTensorNCHW || layout == miopenTensorNCDHW;
    if (!good_dims(dims) || !sizes) return miopenStatusInvalidValue;
    if (!first && !last) return mi_fail(miopenStatusBadParm, "no tensor layout %d", (int)layout);
    if (dims != (layout == miopenTensorNCDHW || layout == miopenTensorNDHWC ? 5 : 4))
        return mi_fail(miopenStatusBadParm, "tensor layout %d with %d dimensions", (int)layout,
                       dims);
    struct mi_tensor plain = { .type = type, .dims = dims };
    for (int i = 0; i < dims; i++) plain.size[i] = sizes[i];
    for (int i = 0; i < dims; i++)
        if (sizes[i] < 1)
            return mi_fail(miopenStatusBadParm, "dimension %d has size %d", i, sizes[i]);
    /* Checked for overflow before strides are computed. */
    miopenStatus_t status = set(name, type, dims, plain.size, NULL);
    if (status != miopenStatusSuccess || first) return status;
    plain = mi_tensor_packed(&plain, RMCP_NHWC);
    return set(name, type, dims, plain.size, plain.stride);
}

miopenStatus_t miopenSetTensorCastType(miopenTensorDescriptor_t name, miopenDataType_t type)
{
    struct mi_tensor *tensor = mi_object(name, MI_TENSOR);
    if (!tensor || !mi_type_bytes(type))
        return mi_fail(miopenStatusBadParm, "no tensor descriptor, or no data type %d", (int)type);
    tensor->cast_type = type;
    return mi_chain_tensor(tensor);
}

miopenStatus_t miopenGetTensorCastType(miopenTensorDescriptor_t name, miopenDataType_t *type)
{
    const struct mi_tensor *tensor = mi_object(name, MI_TENSOR);
    if (!tensor || !type)
        return mi_fail(miopenStatusBadParm, "miopenGetTensorCastType: bad argument");
    *type = tensor->cast_type >= 0 ? (miopenDataType_t)tensor->cast_type : tensor->type;
    return miopenStatusSuccess;
}

static int as_int(int64_t value)
{
    return value > INT_MAX ? INT_MAX : (int)value;
}

miopenStatus_t miopenGet4dTensorDescriptor(miopenTensorDescriptor_t name, miopenDataType_t *type,
                                           int *n, int *c, int *h, int *w, int *n_stride,
                                           int *c_stride, int *h_stride, int *w_stride)
{
    const struct mi_tensor *tensor = mi_object(name, MI_TENSOR);
    if (!tensor || !type)
        return mi_fail(miopenStatusBadParm, "miopenGet4dTensorDescriptor: bad argument");
    if (tensor->dims != 4)
        return mi_fail(miopenStatusBadParm, "the tensor has %d dimensions, not 4", tensor->dims);
    *type = tensor->type;
    int *const sizes[] = { n, c, h, w }, *const strides[] = { n_stride, c_stride, h_stride,
                                                              w_stride };
    for (int i = 0; i < 4; i++) {
        if (sizes[i]) *sizes[i] = as_int(tensor->size[i]);
        if (strides[i]) *strides[i] = as_int(tensor->stride[i]);
    }
    return miopenStatusSuccess;
}

miopenStatus_t miopenGetTensorDescriptorSize(miopenTensorDescriptor_t name, int *dims)
{
    const struct mi_tensor *tensor = mi_object(name, MI_TENSOR);
    if (!tensor || !dims)
        return mi_fail(miopenStatusBadParm, "miopenGetTensorDescriptorSize: bad argument");
    *dims = tensor->dims;
    return miopenStatusSuccess;
}

miopenStatus_t miopenGetTensorDescriptor(miopenTensorDescriptor_t name, miopenDataType_t *type,
                                         int *sizes, int *strides)
{
    const struct mi_tensor *tensor = mi_object(name, MI_TENSOR);
    if (!tensor) return mi_fail(miopenStatusBadParm, "%p is no tensor descriptor", (void *)name);
    if (type) *type = tensor->type;
    for (int i = 0; i < tensor->dims; i++) {
        if (sizes) sizes[i] = as_int(tensor->size[i]);
        if (strides) strides[i] = as_int(tensor->stride[i]);
    }
    return miopenStatusSuccess;
}

miopenStatus_t miopenGetTensorNumBytes(miopenTensorDescriptor_t name, size_t *bytes)
{
    const struct mi_tensor *tensor = mi_object(name, MI_TENSOR);
    if (!tensor || !bytes)
        return mi_fail(miopenStatusBadParm, "miopenGetTensorNumBytes: bad argument");
    *bytes = tensor->dims ? (size_t)mi_tensor_span(tensor) * mi_type_bytes(tensor->type) : 0;
    return miopenStatusSuccess;
}
