/* getitem.c: the gradient of indexing: dy is added to dx where vectors of indices lead to. */
#include "dropin/miopen/case.h"
#include "dropin/miopen/log.h"

enum { MOST_INDICES = MI_I4 - MI_I0 + 1 }; /* as many as dimensions */

/* None: the handle has memory of its own. */
miopenStatus_t miopenGetGetitemWorkspaceSize(miopenHandle_t handle, uint32_t count,
                                             const miopenTensorDescriptor_t *names, size_t *bytes)
{
    (void)handle;
    if (!bytes || (count && !names)) return miopenStatusBadParm;
    for (uint32_t i = 0; i < count; i++)
        if (!mi_tensor(names[i])) return miopenStatusBadParm;
    *bytes = 0;
    return miopenStatusSuccess;
}

/* dx as the slices leave it: {dimension, begin, end, step} each. */
static miopenStatus_t cut(struct mi_tensor *dx, uint32_t count, const int32_t *slices)
{
    for (uint32_t i = 0; i < count; i++) {
        const int32_t dim = slices[4 * i], begin = slices[4 * i + 1], step = slices[4 * i + 3];
        int64_t end = slices[4 * i + 2];
        if (dim < 0 || dim >= dx->dims || step < 1)
            return mi_fail(miopenStatusBadParm, "slice %u", i);
        if (begin) return mi_fail(miopenStatusNotImplemented, "a slice that does not begin at 0");
        if (end > dx->size[dim]) end = dx->size[dim];
        if (end < 1) return mi_fail(miopenStatusBadParm, "slice %u is empty", i);
        dx->size[dim] = (end + step - 1) / step;
        dx->stride[dim] *= step;
    }
    return miopenStatusSuccess;
}

/* Without indices dy is added as it is. */
static miopenStatus_t add(miopenHandle_t name, const struct mi_tensor *dy_tensor, const void *dy,
                          const struct mi_tensor *dx_tensor, void *dx)
{
    bool fits = dy_tensor->dims == dx_tensor->dims;
    for (int i = 0; fits && i < dx_tensor->dims; i++)
        fits = dy_tensor->size[i] == dx_tensor->size[i];
    if (!fits) return mi_fail(miopenStatusBadParm, "the gradients do not fit each other");
    struct mi_handle *handle = mi_handle_enter(name);
    if (!handle) return miopenStatusBadParm;
    handle->kernel_ms = 0;
    const rmcp_tensor problem = { .kind = RMCP_TENSOR_ADD, .alpha = 1, .alpha_b = 1 };
    const rmcp_memory from = { (void *)(uintptr_t)dy, 0 }, to = { dx, 0 };
    miopenStatus_t status =
        mi_tensor_run(handle, problem, dx_tensor, to, dy_tensor, from, dx_tensor, to);
    mi_handle_leave(handle);
    return status;
}

/* Whether dy is dx with its indexed dimensions replaced by one of `length`. */
static bool fits(const struct mi_tensor *dy, const struct mi_tensor *dx, int begin, int count,
                 int64_t length)
{
    if (dy->dims != dx->dims - count + 1) return false;
    for (int i = 0; i < dy->dims; i++)
        if (dy->size[i] != (i == begin ? length : dx->size[i < begin ? i : i + count - 1]))
            return false;
    return true;
}

miopenStatus_t miopenGetitemBackward(miopenHandle_t handle, void *workspace, size_t workspace_bytes,
                                     const miopenTensorDescriptor_t dy_name, const void *dy,
                                     uint32_t count, const miopenTensorDescriptor_t *index_names,
                                     const void *const *indices,
                                     const miopenTensorDescriptor_t dx_name, void *dx,
                                     const miopenTensorDescriptor_t error_name, void *error,
                                     uint32_t n_dims, const int32_t *dims, uint32_t n_slices,
                                     const int32_t *slices, uint32_t offset)
{
    (void)workspace, (void)workspace_bytes;
    const struct mi_tensor *dy_tensor = mi_tensor(dy_name), *whole = mi_tensor(dx_name);
    if (!dy_tensor || !whole || !dy || !dx || (n_slices && !slices)) return miopenStatusBadParm;
    if (count && (!index_names || !indices || !dims || !error || !mi_tensor(error_name)))
        return miopenStatusBadParm;
    if (dy_tensor->type != whole->type)
        return mi_fail(miopenStatusBadParm, "gradients of different types");
    if (offset) return mi_fail(miopenStatusNotImplemented, "an offset of %u", offset);
    if (count > MOST_INDICES || n_dims < count)
        return mi_fail(miopenStatusBadParm, "%u indices", count);
    struct mi_tensor dx_tensor = *whole;
    miopenStatus_t status = cut(&dx_tensor, n_slices, slices);
    if (status != miopenStatusSuccess) return status;
    if (!count) return add(handle, dy_tensor, dy, &dx_tensor, dx);

    const struct mi_tensor *first = mi_tensor(index_names[0]);
    const int64_t length = first ? mi_tensor_elements(first) : 0;
    int64_t indexed[MOST_INDICES];
    for (uint32_t i = 0; i < count; i++) {
        const struct mi_tensor *index = mi_tensor(index_names[i]);
        if (!index || !indices[i]) return miopenStatusBadParm;
        if (index->type != miopenInt32)
            return mi_fail(miopenStatusNotImplemented, "indices of data type %d", (int)index->type);
        if (mi_tensor_elements(index) != length || !mi_tensor_is_packed(index, RMCP_NCHW))
            return mi_fail(miopenStatusBadParm, "indices of different lengths, or with gaps");
        indexed[i] = dims[i];
        if (dims[i] < 0 || dims[i] >= whole->dims ||
            dx_tensor.size[dims[i]] != whole->size[dims[i]])
            return mi_fail(miopenStatusBadParm,
                           "index %u of a dimension that is sliced or not there", i);
        if (dims[i] != dims[0] + (int32_t)i)
            return mi_fail(miopenStatusNotImplemented,
                           "indices of dimensions that do not follow each other");
    }
    if (!fits(dy_tensor, &dx_tensor, dims[0], (int)count, length))
        return mi_fail(miopenStatusBadParm, "the gradients do not fit each other");
    if (mi_tensor_elements(mi_tensor(error_name)) < (int64_t)count ||
        mi_tensor(error_name)->type != miopenInt32)
        return mi_fail(miopenStatusBadParm, "there must be an error of 32 bits for each index");

    struct mi_case c;
    mi_case_begin(&c, "getitem", &dx_tensor);
    mi_case_list(&c, "dims", indexed, (int)count);
    mi_case_list(&c, "take", &length, 1);
    mi_case_tensor(&c, MI_DY, dy_tensor, dy);
    mi_case_tensor(&c, MI_DX, &dx_tensor, dx);
    mi_case_memory(&c, MI_ERRORS, error);
    for (uint32_t i = 0; i < count; i++) mi_case_memory(&c, MI_I0 + i, indices[i]);
    return mi_case_call(handle, &c);
}
