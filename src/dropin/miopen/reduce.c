/* reduce.c: reductions of tensors over any dimensions; their descriptors. */
#include "dropin/miopen/reduce.h"

#include "dropin/miopen/case.h"
#include "dropin/miopen/log.h"

struct mi_reduce {
    struct mi_object object;
    miopenReduceTensorOp_t op;
    miopenDataType_t type; /* to compute with: f32 here, whatever it is */
    miopenNanPropagation_t nan;
    miopenReduceTensorIndices_t indices;
    miopenIndicesType_t indices_type;
};

static const struct mi_reduce *reduce_of(miopenReduceTensorDescriptor_t name)
{
    const struct mi_reduce *reduce = mi_object(name, MI_REDUCE);
    if (!reduce) mi_log(MI_ERROR, "%p is no reduction descriptor", (const void *)name);
    return reduce;
}

/* ---- descriptors ---- */

miopenStatus_t miopenCreateReduceTensorDescriptor(miopenReduceTensorDescriptor_t *out)
{
    if (!out) return mi_fail(miopenStatusBadParm, "miopenCreateReduceTensorDescriptor: NULL");
    struct mi_reduce *reduce = mi_object_new(MI_REDUCE, sizeof *reduce);
    if (!reduce) return mi_fail(miopenStatusAllocFailed, "out of memory");
    reduce->type = miopenFloat;
    *out = mi_object_name(reduce);
    return miopenStatusSuccess;
}

miopenStatus_t miopenDestroyReduceTensorDescriptor(miopenReduceTensorDescriptor_t name)
{
    if (!name) return miopenStatusSuccess;
    struct mi_reduce *reduce = (struct mi_reduce *)reduce_of(name);
    if (!reduce) return miopenStatusBadParm;
    mi_object_delete(reduce);
    return miopenStatusSuccess;
}

miopenStatus_t miopenSetReduceTensorDescriptor(miopenReduceTensorDescriptor_t name,
                                               miopenReduceTensorOp_t op, miopenDataType_t type,
                                               miopenNanPropagation_t nan,
                                               miopenReduceTensorIndices_t indices,
                                               miopenIndicesType_t indices_type)
{
    struct mi_reduce *reduce = (struct mi_reduce *)reduce_of(name);
    if (!reduce) return miopenStatusBadParm;
    if (indices == MIOPEN_REDUCE_TENSOR_FLATTENED_INDICES && indices_type != MIOPEN_32BIT_INDICES)
        return mi_fail(miopenStatusUnknownError, "indices of a reduction have 32 bits");
    reduce->op = op;
    reduce->type = type;
    reduce->nan = nan;
    reduce->indices = indices;
    reduce->indices_type = indices_type;
    return miopenStatusSuccess;
}

miopenStatus_t miopenGetReduceTensorDescriptor(const miopenReduceTensorDescriptor_t name,
                                               miopenReduceTensorOp_t *op, miopenDataType_t *type,
                                               miopenNanPropagation_t *nan,
                                               miopenReduceTensorIndices_t *indices,
                                               miopenIndicesType_t *indices_type)
{
    const struct mi_reduce *reduce = reduce_of(name);
    if (!reduce || !op || !type || !nan || !indices || !indices_type) return miopenStatusBadParm;
    *op = reduce->op;
    *type = reduce->type;
    *nan = reduce->nan;
    *indices = reduce->indices;
    *indices_type = reduce->indices_type;
    return miopenStatusSuccess;
}

/* ---- the operation ---- */

static bool is_extreme(const struct mi_reduce *reduce)
{
    return reduce->op == MIOPEN_REDUCE_TENSOR_MIN || reduce->op == MIOPEN_REDUCE_TENSOR_MAX ||
           reduce->op == MIOPEN_REDUCE_TENSOR_AMAX;
}

static bool has_indices(const struct mi_reduce *reduce)
{
    return is_extreme(reduce) && reduce->indices == MIOPEN_REDUCE_TENSOR_FLATTENED_INDICES;
}

static miopenStatus_t check_sizes(const struct mi_tensor *a, const struct mi_tensor *c)
{
    bool fits = a->dims == c->dims;
    for (int i = 0; fits && i < a->dims; i++) fits = c->size[i] == 1 || c->size[i] == a->size[i];
    return fits ? miopenStatusSuccess
                : mi_fail(miopenStatusUnknownError, "the result does not fit the tensor");
}

miopenStatus_t miopenGetReductionIndicesSize(miopenHandle_t handle,
                                             const miopenReduceTensorDescriptor_t name,
                                             const miopenTensorDescriptor_t a_name,
                                             const miopenTensorDescriptor_t c_name, size_t *bytes)
{
    (void)handle;
    const struct mi_reduce *reduce = reduce_of(name);
    const struct mi_tensor *a = mi_tensor(a_name), *c = mi_tensor(c_name);
    if (!reduce || !a || !c || !bytes) return miopenStatusBadParm;
    miopenStatus_t status = check_sizes(a, c);
    if (status == miopenStatusSuccess)
        *bytes = has_indices(reduce) ? (size_t)mi_tensor_elements(c) * sizeof(int32_t) : 0;
    return status;
}

/* None: the handle has memory of its own. */
miopenStatus_t miopenGetReductionWorkspaceSize(miopenHandle_t handle,
                                               const miopenReduceTensorDescriptor_t name,
                                               const miopenTensorDescriptor_t a_name,
                                               const miopenTensorDescriptor_t c_name, size_t *bytes)
{
    (void)handle;
    const struct mi_tensor *a = mi_tensor(a_name), *c = mi_tensor(c_name);
    if (!reduce_of(name) || !a || !c || !bytes) return miopenStatusBadParm;
    miopenStatus_t status = check_sizes(a, c);
    if (status == miopenStatusSuccess) *bytes = 0;
    return status;
}

miopenStatus_t miopenReduceTensor(miopenHandle_t handle, const miopenReduceTensorDescriptor_t name,
                                  void *indices, size_t indices_bytes, void *workspace,
                                  size_t workspace_bytes, const void *alpha,
                                  const miopenTensorDescriptor_t a_name, const void *a,
                                  const void *beta, const miopenTensorDescriptor_t c_name, void *c)
{
    static const char *const words[] = { "add", "mul",   "min",   "max",        "amax",
                                         "avg", "norm1", "norm2", "mul_nonzero" };
    (void)workspace, (void)workspace_bytes;
    const struct mi_reduce *reduce = reduce_of(name);
    const struct mi_tensor *a_tensor = mi_tensor(a_name), *c_tensor = mi_tensor(c_name);
    if (!reduce || !a_tensor || !c_tensor || !alpha || !beta || !a || !c)
        return miopenStatusBadParm;
    miopenStatus_t status = check_sizes(a_tensor, c_tensor);
    if (status != miopenStatusSuccess) return status;
    if ((unsigned)reduce->op >= sizeof words / sizeof *words)
        return mi_fail(miopenStatusUnknownError, "no reduction %d", (int)reduce->op);
    if (a_tensor->type != c_tensor->type)
        return mi_fail(miopenStatusNotImplemented, "a reduction to another type");
    if (has_indices(reduce) &&
        (!indices || indices_bytes < (size_t)mi_tensor_elements(c_tensor) * sizeof(int32_t)))
        return mi_fail(miopenStatusUnknownError, "%zu bytes for the indices of a reduction",
                       indices_bytes);

    /* Dimensions of one element say nothing. */
    struct mi_tensor from = { .type = a_tensor->type }, to = { .type = c_tensor->type };
    int64_t over[MI_DIMS];
    int n_over = 0, n_reduced = 0;
    for (int i = 0; i < a_tensor->dims; i++) {
        n_reduced += c_tensor->size[i] == 1;
        if (a_tensor->size[i] == 1) continue;
        if (c_tensor->size[i] == 1) over[n_over++] = from.dims;
        from.size[from.dims] = a_tensor->size[i];
        to.size[from.dims] = c_tensor->size[i];
        from.stride[from.dims] = a_tensor->stride[i];
        to.stride[from.dims++] = c_tensor->stride[i];
    }
    to.dims = from.dims;
    if (!n_reduced) return mi_fail(miopenStatusUnknownError, "a reduction over no dimension");
    if (!n_over) { /* over one of those without extent: here it is the last */
        over[n_over++] = from.dims;
        from.size[from.dims] = to.size[from.dims] = 1;
        from.stride[from.dims] = to.stride[from.dims] = 1;
        to.dims = ++from.dims;
    }

    struct mi_case call;
    mi_case_begin(&call, "reduce", &from);
    mi_case_put(&call, ":%s%s%s", words[reduce->op],
                is_extreme(reduce) && reduce->nan == MIOPEN_NOT_PROPAGATE_NAN ? ":ignore" : "",
                has_indices(reduce) ? ":indexed" : "");
    mi_case_list(&call, "over", over, n_over);
    mi_case_number(&call, "alpha", (double)*(const float *)alpha);
    mi_case_number(&call, "beta", (double)*(const float *)beta);
    mi_case_tensor(&call, MI_A, &from, a);
    mi_case_tensor(&call, MI_C, &to, c);
    if (has_indices(reduce)) mi_case_memory(&call, MI_INDICES, indices);
    return mi_case_call(handle, &call);
}

/* ---- along one dimension ---- */

bool mi_reduce_put_back(const struct mi_tensor *x, int dim, const struct mi_tensor *result,
                        struct mi_tensor *out)
{
    *out = *x;
    out->type = result->type;
    int at = 0;
    for (int i = 0; i < x->dims; i++) {
        out->size[i] = out->stride[i] = 1;
        if (i == dim) continue;
        if (at >= result->dims || result->size[at] != x->size[i]) return false;
        out->size[i] = result->size[at];
        out->stride[i] = result->stride[at++];
    }
    /* A whole vector becomes one number. */
    return at == result->dims || (x->dims == 1 && mi_tensor_elements(result) == 1);
}

/* None: the handle has memory of its own. */
miopenStatus_t miopenGetReduceCalculationWorkspaceSize(
    miopenHandle_t handle, const miopenTensorDescriptor_t x_name, const int32_t dim,
    const miopenReduceCalculationOp_t op, const miopenTensorDescriptor_t y_name, size_t *bytes)
{
    (void)handle, (void)op;
    struct mi_tensor y;
    const struct mi_tensor *x_tensor = mi_tensor(x_name), *y_tensor = mi_tensor(y_name);
    if (!x_tensor || !y_tensor || !bytes || dim < 0 || dim >= x_tensor->dims)
        return miopenStatusBadParm;
    if (!mi_reduce_put_back(x_tensor, dim, y_tensor, &y))
        return mi_fail(miopenStatusBadParm, "the result does not fit");
    *bytes = 0;
    return miopenStatusSuccess;
}

/* "Propagate" takes NaN out of the sum, as with the original. */
miopenStatus_t miopenReduceCalculationForward(
    miopenHandle_t handle, miopenReduceCalculationNanPropagation_t nan, void *workspace,
    size_t workspace_bytes, const miopenTensorDescriptor_t x_name, const void *x, const int32_t dim,
    const miopenReduceCalculationOp_t op, const miopenTensorDescriptor_t y_name, void *y)
{
    (void)workspace, (void)workspace_bytes;
    struct mi_tensor result;
    const struct mi_tensor *x_tensor = mi_tensor(x_name), *y_tensor = mi_tensor(y_name);
    if (!x_tensor || !y_tensor || !x || !y || dim < 0 || dim >= x_tensor->dims)
        return miopenStatusBadParm;
    if (op != MIOPEN_REDUCE_CALCULATION_SUM && op != MIOPEN_REDUCE_CALCULATION_PROD)
        return mi_fail(miopenStatusUnsupportedOp, "no reduction %d", (int)op);
    if (x_tensor->type != y_tensor->type || !mi_reduce_put_back(x_tensor, dim, y_tensor, &result))
        return mi_fail(miopenStatusBadParm, "the result does not fit the tensor");
    struct mi_case c;
    mi_case_begin(&c, "reduce", x_tensor);
    mi_case_put(&c, ":%s:over%d%s", op == MIOPEN_REDUCE_CALCULATION_SUM ? "add" : "mul", (int)dim,
                nan == MIOPEN_REDUCE_CALCULATION_PROPAGATE_NAN ? ":ignore" : "");
    mi_case_tensor(&c, MI_A, x_tensor, x);
    mi_case_tensor(&c, MI_C, &result, y);
    return mi_case_call(handle, &c);
}

miopenStatus_t miopenReduceExtremeForward(miopenHandle_t handle,
                                          const miopenTensorDescriptor_t x_name, const void *x,
                                          const int32_t dim, const miopenReduceExtremeOp_t op,
                                          const miopenTensorDescriptor_t y_name, void *y,
                                          const miopenTensorDescriptor_t indices_name,
                                          void *indices)
{
    static const char *const words[] = { [MIOPEN_REDUCE_EXTREME_ARGMIN] = "argmin",
                                         [MIOPEN_REDUCE_EXTREME_ARGMAX] = "argmax",
                                         [MIOPEN_REDUCE_EXTREME_MIN] = "min:indexed",
                                         [MIOPEN_REDUCE_EXTREME_MAX] = "max:indexed" };
    if (op < MIOPEN_REDUCE_EXTREME_ARGMIN || op > MIOPEN_REDUCE_EXTREME_MAX)
        return mi_fail(miopenStatusUnsupportedOp, "no reduction %d", (int)op);
    const bool values = op == MIOPEN_REDUCE_EXTREME_MIN || op == MIOPEN_REDUCE_EXTREME_MAX;
    const struct mi_tensor *x_tensor = mi_tensor(x_name), *indices_tensor = mi_tensor(indices_name),
                           *y_tensor = values ? mi_tensor(y_name) : NULL;
    if (!x_tensor || !indices_tensor || !x || !indices || dim < 0 || dim >= x_tensor->dims)
        return miopenStatusBadParm;
    if (values && (!y_tensor || !y)) return miopenStatusBadParm;
    if (indices_tensor->type != miopenInt32)
        return mi_fail(miopenStatusBadParm, "indices must be integers of 32 bits");
    struct mi_tensor result, places;
    if (!mi_reduce_put_back(x_tensor, dim, indices_tensor, &places) ||
        (values && (y_tensor->type != x_tensor->type ||
                    !mi_reduce_put_back(x_tensor, dim, y_tensor, &result))))
        return mi_fail(miopenStatusBadParm, "the result does not fit the tensor");
    struct mi_case c;
    mi_case_begin(&c, "reduce", x_tensor);
    mi_case_put(&c, ":%s:ignore:over%d", words[op], (int)dim);
    mi_case_tensor(&c, MI_A, x_tensor, x);
    if (values) mi_case_tensor(&c, MI_C, &result, y);
    mi_case_tensor(&c, MI_INDICES, &places, indices);
    return mi_case_call(handle, &c);
}
