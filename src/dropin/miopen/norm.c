/* norm.c: layer, T5 and group normalisation. */
#include "dropin/miopen/case.h"
#include "dropin/miopen/log.h"

#include <math.h>

/* A tensor of a call. `count` elements are expected of it, or as many as x has (0). */
struct operand {
    enum mi_slot slot;
    miopenTensorDescriptor_t name;
    const void *memory;
    int64_t count;
    bool wanted; /* whether the engine is given it; else only its descriptor is checked */
};

/* The original knows packed tensors of one type; it has no solver for others. */
static miopenStatus_t check(const struct operand *operands, size_t n, const struct mi_tensor *x)
{
    for (size_t i = 0; i < n; i++) {
        const struct mi_tensor *t = mi_tensor(operands[i].name);
        if (!t) return mi_fail(miopenStatusBadParm, "normalisation: no tensor descriptor");
        if (!operands[i].wanted) continue;
        if (!operands[i].memory) return mi_fail(miopenStatusBadParm, "normalisation: NULL");
        if (t->type != x->type)
            return mi_fail(miopenStatusNotImplemented, "normalisation: tensors of several types");
        if (!mi_tensor_is_packed(t, RMCP_NCHW))
            return mi_fail(miopenStatusNotImplemented, "normalisation: a tensor is not packed");
        bool same = t->dims == x->dims;
        for (int d = 0; same && d < x->dims; d++) same = t->size[d] == x->size[d];
        if (operands[i].count ? mi_tensor_elements(t) != operands[i].count : !same)
            return mi_fail(operands[i].count ? miopenStatusBadParm : miopenStatusNotImplemented,
                           "normalisation: a tensor has another size than it should");
    }
    return miopenStatusSuccess;
}

/* Run `c` on the operands. One of two results that the caller does not want goes to memory of the
 * handle: forward needs no workspace. */
static miopenStatus_t run(miopenHandle_t name, struct mi_case *c, const struct operand *operands,
                          size_t n, enum mi_slot unwanted, uint64_t unwanted_bytes)
{
    struct mi_handle *handle = mi_handle_enter(name);
    if (!handle) return miopenStatusBadParm;
    handle->kernel_ms = 0;
    miopenStatus_t status = miopenStatusSuccess;
    for (size_t i = 0; i < n; i++)
        if (operands[i].wanted) mi_case_memory(c, operands[i].slot, operands[i].memory);
    if (unwanted_bytes) {
        rmcp_memory scratch;
        status = mi_handle_scratch(handle, unwanted_bytes, &scratch);
        if (!status) mi_case_memory_at(c, unwanted, scratch);
    }
    if (!status) status = mi_case_run(handle, c);
    mi_handle_leave(handle);
    return status;
}

static void begin(struct mi_case *c, const struct mi_tensor *x, int64_t rows, int64_t inner)
{
    mi_case_begin_sizes(c, "norm", (int64_t[]){ rows, inner }, 2, x->type);
}

static miopenStatus_t split(const struct mi_tensor *x, int32_t normalized_dim, int64_t *rows,
                            int64_t *inner)
{
    if (normalized_dim < 0 || normalized_dim > x->dims)
        return mi_fail(miopenStatusNotImplemented, "normalisation from dimension %d on",
                       (int)normalized_dim);
    *rows = 1;
    for (int d = 0; d < normalized_dim; d++) *rows *= x->size[d];
    *inner = mi_tensor_elements(x) / *rows;
    return miopenStatusSuccess;
}

static void put_epsilon(struct mi_case *c, float epsilon)
{
    if (!(epsilon >= 0) || isinf(epsilon))
        c->status = mi_fail(miopenStatusBadParm, "normalisation with epsilon %g", (double)epsilon);
    mi_case_number(c, "eps", (double)epsilon);
}

/* ---- forward ---- */

/* x is operand 0; mean and rstd are the last two. */
static miopenStatus_t forward(miopenHandle_t handle, struct mi_case *c, const struct mi_tensor *x,
                              struct operand *operands, size_t n, float epsilon, bool affine)
{
    struct operand *mean = &operands[n - 2], *rstd = &operands[n - 1];
    const bool saved = mean->memory || rstd->memory;
    const bool one = saved && (!mean->memory || !rstd->memory);
    const uint64_t bytes = one ? (uint64_t)rstd->count * mi_type_bytes(x->type) : 0;
    mean->wanted = mean->memory, rstd->wanted = rstd->memory;
    miopenStatus_t status = check(operands, n, x);
    if (status) return status;
    mi_case_put(c, ":fwd:%s:%s", affine ? "affine" : "bare", saved ? "saved" : "unsaved");
    put_epsilon(c, epsilon);
    return run(handle, c, operands, n, mean->memory ? MI_RSTD : MI_MEAN, bytes);
}

static miopenStatus_t layer(miopenHandle_t handle, bool affine, struct operand *operands, size_t n,
                            bool add, float epsilon, int32_t normalized_dim)
{
    const struct mi_tensor *x = mi_tensor(operands[0].name);
    int64_t rows = 0, inner = 0;
    struct mi_case c;
    if (!x) return mi_fail(miopenStatusBadParm, "normalisation: no tensor descriptor");
    miopenStatus_t status = split(x, normalized_dim, &rows, &inner);
    if (status) return status;
    for (size_t i = 1; i < n; i++) {
        if (operands[i].slot == MI_WEIGHT || operands[i].slot == MI_BIAS) operands[i].count = inner;
        if (operands[i].slot == MI_MEAN || operands[i].slot == MI_RSTD) operands[i].count = rows;
    }
    begin(&c, x, rows, inner);
    mi_case_put(&c, ":layer:%s", add ? "add" : "single");
    return forward(handle, &c, x, operands, n, epsilon, affine);
}

miopenStatus_t miopenLayerNormForward(miopenHandle_t handle, miopenNormMode_t mode,
                                      const miopenTensorDescriptor_t x_name, const void *x,
                                      const miopenTensorDescriptor_t weight_name,
                                      const void *weight, const miopenTensorDescriptor_t bias_name,
                                      const void *bias, const float epsilon,
                                      const int32_t normalized_dim,
                                      const miopenTensorDescriptor_t y_name, void *y,
                                      const miopenTensorDescriptor_t mean_name, void *mean,
                                      const miopenTensorDescriptor_t rstd_name, void *rstd)
{
    const bool affine = mode != MIOPEN_ELEMENTWISE_AFFINE;
    struct operand operands[] = {
        { MI_X, x_name, x, 0, true },
        { MI_WEIGHT, weight_name, weight, 0, affine },
        { MI_BIAS, bias_name, bias, 0, affine },
        { MI_Y, y_name, y, 0, true },
        { MI_MEAN, mean_name, mean, 0, true },
        { MI_RSTD, rstd_name, rstd, 0, true },
    };
    return layer(handle, affine, operands, 6, false, epsilon, normalized_dim);
}

miopenStatus_t miopenAddLayerNormForward(miopenHandle_t handle, miopenNormMode_t mode,
                                         const miopenTensorDescriptor_t x_name, const void *x,
                                         const miopenTensorDescriptor_t x2_name, const void *x2,
                                         const miopenTensorDescriptor_t weight_name,
                                         const void *weight,
                                         const miopenTensorDescriptor_t bias_name, const void *bias,
                                         const float epsilon, const int32_t normalized_dim,
                                         const miopenTensorDescriptor_t y_name, void *y,
                                         const miopenTensorDescriptor_t mean_name, void *mean,
                                         const miopenTensorDescriptor_t rstd_name, void *rstd)
{
    const bool affine = mode != MIOPEN_ELEMENTWISE_AFFINE_FUSED_ADD;
    struct operand operands[] = {
        { MI_X, x_name, x, 0, true },
        { MI_X2, x2_name, x2, 0, true },
        { MI_WEIGHT, weight_name, weight, 0, affine },
        { MI_BIAS, bias_name, bias, 0, affine },
        { MI_Y, y_name, y, 0, true },
        { MI_MEAN, mean_name, mean, 0, true },
        { MI_RSTD, rstd_name, rstd, 0, true },
    };
    return layer(handle, affine, operands, 7, true, epsilon, normalized_dim);
}

miopenStatus_t miopenGroupNormForward(miopenHandle_t handle, miopenNormMode_t mode,
                                      const miopenTensorDescriptor_t x_name, const void *x_memory,
                                      const miopenTensorDescriptor_t weight_name,
                                      const void *weight, const miopenTensorDescriptor_t bias_name,
                                      const void *bias, const uint64_t groups, const float epsilon,
                                      const miopenTensorDescriptor_t y_name, void *y,
                                      const miopenTensorDescriptor_t mean_name, void *mean,
                                      const miopenTensorDescriptor_t rstd_name, void *rstd)
{
    const bool affine = mode != MIOPEN_ELEMENTWISE_AFFINE;
    const struct mi_tensor *x = mi_tensor(x_name);
    if (!x) return mi_fail(miopenStatusBadParm, "group normalisation: no tensor descriptor");
    if (x->dims < 3 || !groups || groups > INT32_MAX || x->size[1] % (int64_t)groups)
        return mi_fail(miopenStatusBadParm,
                       "group normalisation: %llu groups do not divide the channels",
                       (unsigned long long)groups);
    const int64_t channels = x->size[1], rows = x->size[0] * (int64_t)groups;
    struct operand operands[] = {
        { MI_X, x_name, x_memory, 0, true },
        { MI_WEIGHT, weight_name, weight, channels, affine },
        { MI_BIAS, bias_name, bias, channels, affine },
        { MI_Y, y_name, y, 0, true },
        { MI_MEAN, mean_name, mean, rows, true },
        { MI_RSTD, rstd_name, rstd, rows, true },
    };
    struct mi_case c;
    const int64_t space = mi_tensor_elements(x) / x->size[0] / channels;
    mi_case_begin_sizes(&c, "norm", (int64_t[]){ x->size[0], channels, space }, 3, x->type);
    mi_case_put(&c, ":group:groups%llu", (unsigned long long)groups);
    return forward(handle, &c, x, operands, 6, epsilon, affine);
}

miopenStatus_t miopenT5LayerNormForward(miopenHandle_t handle, miopenNormMode_t mode,
                                        const miopenTensorDescriptor_t x_name, const void *x_memory,
                                        const miopenTensorDescriptor_t weight_name,
                                        const void *weight, const float epsilon,
                                        const miopenTensorDescriptor_t y_name, void *y,
                                        const miopenTensorDescriptor_t rstd_name, void *rstd)
{
    const bool affine = mode != MIOPEN_ELEMENTWISE_AFFINE_T5;
    const struct mi_tensor *x = mi_tensor(x_name);
    if (!x) return mi_fail(miopenStatusBadParm, "T5 normalisation: no tensor descriptor");
    int64_t rows = 0, inner = 0;
    miopenStatus_t status = split(x, x->dims - 1, &rows, &inner);
    if (status) return status;
    const struct operand operands[] = {
        { MI_X, x_name, x_memory, 0, true },
        { MI_WEIGHT, weight_name, weight, inner, affine },
        { MI_Y, y_name, y, 0, true },
        { MI_RSTD, rstd_name, rstd, rows, rstd },
    };
    status = check(operands, 4, x);
    if (status) return status;
    struct mi_case c;
    begin(&c, x, rows, inner);
    mi_case_put(&c, ":t5:fwd:%s:%s", affine ? "affine" : "bare", rstd ? "saved" : "unsaved");
    put_epsilon(&c, epsilon);
    return run(handle, &c, operands, 4, 0, 0);
}

/* ---- backward ---- */

static miopenStatus_t no_workspace(miopenHandle_t name, const miopenTensorDescriptor_t *tensors,
                                   size_t n, size_t *bytes)
{
    for (size_t i = 0; i < n; i++)
        if (!mi_tensor(tensors[i]))
            return mi_fail(miopenStatusBadParm, "normalisation: no tensor descriptor");
    struct mi_handle *handle = bytes ? mi_handle_enter(name) : NULL;
    if (!handle) return mi_fail(miopenStatusBadParm, "normalisation: bad argument");
    *bytes = 0; /* the handle has its own */
    mi_handle_leave(handle);
    return miopenStatusSuccess;
}

miopenStatus_t miopenGetT5LayerNormBackwardWorkspaceSize(
    miopenHandle_t handle, miopenNormMode_t mode, const miopenTensorDescriptor_t dy,
    const miopenTensorDescriptor_t x, const miopenTensorDescriptor_t weight,
    const miopenTensorDescriptor_t rstd, const miopenTensorDescriptor_t dx,
    const miopenTensorDescriptor_t dw, size_t *bytes)
{
    (void)mode;
    return no_workspace(handle, (miopenTensorDescriptor_t[]){ dy, x, weight, rstd, dx, dw }, 6,
                        bytes);
}

miopenStatus_t
miopenT5LayerNormBackward(miopenHandle_t handle, miopenNormMode_t mode, void *workspace,
                          size_t workspace_bytes, const miopenTensorDescriptor_t dy_name,
                          const void *dy, const miopenTensorDescriptor_t x_name,
                          const void *x_memory, const miopenTensorDescriptor_t weight_name,
                          const void *weight, const miopenTensorDescriptor_t rstd_name,
                          const void *rstd, const miopenTensorDescriptor_t dx_name, void *dx,
                          const miopenTensorDescriptor_t dw_name, void *dw)
{
    (void)workspace, (void)workspace_bytes;
    const bool affine = mode != MIOPEN_ELEMENTWISE_AFFINE_T5;
    const struct mi_tensor *x = mi_tensor(x_name);
    if (!x) return mi_fail(miopenStatusBadParm, "T5 normalisation: no tensor descriptor");
    int64_t rows = 0, inner = 0;
    miopenStatus_t status = split(x, x->dims - 1, &rows, &inner);
    if (status) return status;
    const struct operand operands[] = {
        { MI_X, x_name, x_memory, 0, true },
        { MI_DY, dy_name, dy, 0, true },
        { MI_WEIGHT, weight_name, weight, inner, affine },
        { MI_RSTD, rstd_name, rstd, rows, true },
        { MI_DX, dx_name, dx, 0, true },
        { MI_DWEIGHT, dw_name, dw, inner, dw },
    };
    status = check(operands, 6, x);
    if (status) return status;
    struct mi_case c;
    begin(&c, x, rows, inner);
    mi_case_put(&c, ":t5:bwd:%s:%s", affine ? "affine" : "bare", dw ? "all" : "data");
    return run(handle, &c, operands, 6, 0, 0);
}

miopenStatus_t miopenGetLayerNormBackwardWorkspaceSize(
    miopenHandle_t handle, miopenNormMode_t mode, const miopenTensorDescriptor_t dy,
    const miopenTensorDescriptor_t x, const miopenTensorDescriptor_t weight,
    const miopenTensorDescriptor_t mean, const miopenTensorDescriptor_t rstd,
    const int32_t normalized_dim, const miopenTensorDescriptor_t dx,
    const miopenTensorDescriptor_t dw, const miopenTensorDescriptor_t db, size_t *bytes)
{
    (void)mode, (void)normalized_dim;
    return no_workspace(
        handle, (miopenTensorDescriptor_t[]){ dy, x, weight, mean, rstd, dx, dw, db }, 8, bytes);
}

miopenStatus_t miopenLayerNormBackward(
    miopenHandle_t handle, miopenNormMode_t mode, void *workspace, size_t workspace_bytes,
    const miopenTensorDescriptor_t dy_name, const void *dy, const miopenTensorDescriptor_t x_name,
    const void *x_memory, const miopenTensorDescriptor_t weight_name, const void *weight,
    const miopenTensorDescriptor_t mean_name, const void *mean,
    const miopenTensorDescriptor_t rstd_name, const void *rstd, const int32_t normalized_dim,
    const miopenTensorDescriptor_t dx_name, void *dx, const miopenTensorDescriptor_t dw_name,
    void *dw, const miopenTensorDescriptor_t db_name, void *db)
{
    (void)workspace, (void)workspace_bytes;
    const bool affine = mode != MIOPEN_ELEMENTWISE_AFFINE;
    const struct mi_tensor *x = mi_tensor(x_name);
    if (!x) return mi_fail(miopenStatusBadParm, "layer normalisation: no tensor descriptor");
    int64_t rows = 0, inner = 0;
    miopenStatus_t status = split(x, normalized_dim, &rows, &inner);
    if (status) return status;
    if (!dw != !db)
        return mi_fail(miopenStatusNotImplemented, "layer normalisation: one of dw and db alone");
    const struct operand operands[] = {
        { MI_X, x_name, x_memory, 0, true },
        { MI_DY, dy_name, dy, 0, true },
        { MI_WEIGHT, weight_name, weight, inner, affine },
        { MI_MEAN, mean_name, mean, rows, true },
        { MI_RSTD, rstd_name, rstd, rows, true },
        { MI_DX, dx_name, dx, 0, true },
        { MI_DWEIGHT, dw_name, dw, inner, dw },
        { MI_DBIAS, db_name, db, inner, db },
    };
    status = check(operands, 8, x);
    if (status) return status;
    struct mi_case c;
    begin(&c, x, rows, inner);
    mi_case_put(&c, ":layer:bwd:%s:%s", affine ? "affine" : "bare", dw ? "all" : "data");
    return run(handle, &c, operands, 8, 0, 0);
}
