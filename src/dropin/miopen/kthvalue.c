/* kthvalue.c: the k-th smallest elements along a dimension, with their places. */
#include "dropin/miopen/case.h"
#include "dropin/miopen/log.h"
#include "dropin/miopen/reduce.h"

/* The result with all dimensions of the input; false when it does not fit. */
static bool result_of(const struct mi_tensor *x, int dim, bool keeps,
                      const struct mi_tensor *result, struct mi_tensor *out)
{
    if (!keeps || result->dims != x->dims) return mi_reduce_put_back(x, dim, result, out);
    *out = *result;
    for (int i = 0; i < x->dims; i++)
        if (result->size[i] != (i == dim ? 1 : x->size[i])) return false;
    return true;
}

miopenStatus_t miopenKthvalueForward(miopenHandle_t handle, miopenTensorDescriptor_t x_name,
                                     const void *x, miopenTensorDescriptor_t y_name, void *y,
                                     miopenTensorDescriptor_t indices_name, size_t *indices,
                                     size_t k, int32_t dim, bool keeps)
{
    const struct mi_tensor *x_tensor = mi_tensor(x_name), *y_tensor = mi_tensor(y_name),
                           *indices_tensor = mi_tensor(indices_name);
    if (!x_tensor || !y_tensor || !indices_tensor || !x || !y || !indices)
        return miopenStatusBadParm;
    const int along = dim < 0 ? (int)dim + x_tensor->dims : (int)dim;
    if (along < 0 || along >= x_tensor->dims)
        return mi_fail(miopenStatusBadParm, "no dimension %d", (int)dim);
    if (k < 1 || k > (uint64_t)x_tensor->size[along])
        return mi_fail(miopenStatusBadParm, "no element number %zu", k);
    struct mi_tensor result, places;
    if (x_tensor->type != y_tensor->type || !result_of(x_tensor, along, keeps, y_tensor, &result) ||
        !result_of(x_tensor, along, keeps, indices_tensor, &places))
        return mi_fail(miopenStatusBadParm, "the result does not fit the tensor");
    struct mi_case c;
    mi_case_begin(&c, "kth", x_tensor);
    mi_case_put(&c, ":over%d:k%zu", along, k);
    mi_case_tensor(&c, MI_X, x_tensor, x);
    mi_case_tensor(&c, MI_Y, &result, y);
    mi_case_tensor(&c, MI_INDICES, &places, indices);
    return mi_case_call(handle, &c);
}
