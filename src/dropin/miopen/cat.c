/* cat.c: tensors one behind the other: each is copied to its place in the result. */
#include "dropin/miopen/log.h"
#include "dropin/miopen/tensor.h"

/* Whether x is y but for dimension `dim`. */
static bool fits(const struct mi_tensor *x, const struct mi_tensor *y, int dim)
{
    if (x->type != y->type || x->dims != y->dims) return false;
    for (int i = 0; i < y->dims; i++)
        if (i != dim && x->size[i] != y->size[i]) return false;
    return true;
}

/* Integers of 32 bits are copied as they are, which copying of f32 does. */
static struct mi_tensor as_bits(const struct mi_tensor *tensor)
{
    struct mi_tensor bits = *tensor;
    if (bits.type == miopenInt32) bits.type = miopenFloat;
    return bits;
}

miopenStatus_t miopenCatForward(miopenHandle_t name, const int32_t count,
                                const miopenTensorDescriptor_t *x_names, const void *const *xs,
                                const miopenTensorDescriptor_t y_name, void *y, const int32_t dim)
{
    const struct mi_tensor *y_tensor = mi_tensor(y_name);
    if (!y_tensor || count < 1 || !x_names || !xs || !y) return miopenStatusBadParm;
    if (dim < 0 || dim >= y_tensor->dims)
        return mi_fail(miopenStatusBadParm, "no dimension %d", (int)dim);
    int64_t end = 0;
    for (int32_t i = 0; i < count; i++) {
        const struct mi_tensor *x = mi_tensor(x_names[i]);
        if (!x || !xs[i]) return miopenStatusBadParm;
        if (!fits(x, y_tensor, dim))
            return mi_fail(miopenStatusBadParm, "tensor %d does not fit the result", (int)i);
        end += x->size[dim];
        if (end > y_tensor->size[dim]) break;
    }
    if (end != y_tensor->size[dim])
        return mi_fail(miopenStatusBadParm, "the tensors do not add up to the result");
    struct mi_handle *handle = mi_handle_enter(name);
    if (!handle) return miopenStatusBadParm;
    handle->kernel_ms = 0;
    miopenStatus_t status = miopenStatusSuccess;
    int64_t begin = 0;
    for (int32_t i = 0; i < count && status == miopenStatusSuccess; i++) {
        const struct mi_tensor x = as_bits(mi_tensor(x_names[i]));
        struct mi_tensor part = as_bits(y_tensor);
        part.size[dim] = x.size[dim];
        const rmcp_memory from = { (void *)(uintptr_t)xs[i], 0 };
        const rmcp_memory to = { y,
                                 (uint64_t)(begin * part.stride[dim]) * mi_type_bytes(part.type) };
        status = mi_tensor_copy(handle, 1, &x, from, 0, &part, to);
        begin += x.size[dim];
    }
    mi_handle_leave(handle);
    return status;
}
