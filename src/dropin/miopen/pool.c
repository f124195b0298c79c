/* pool.c: pooling forward and backward. */
#include "dropin/miopen/pool.h"

#include "dropin/miopen/case.h"
#include "dropin/miopen/log.h"

#include <stdio.h>
#include <string.h>

static bool alike(const struct mi_tensor *a, const struct mi_tensor *b)
{
    if (a->dims != b->dims || a->type != b->type) return false;
    for (int i = 0; i < a->dims; i++)
        if (a->size[i] != b->size[i]) return false;
    return true;
}

/* What the tensors of a call must be to each other. */
static miopenStatus_t check(const struct mi_pool *pool, const struct mi_tensor *x,
                            const struct mi_tensor *y)
{
    if (x->dims != 4 && x->dims != 5)
        return mi_fail(miopenStatusUnknownError, "pooling of a tensor of %d dimensions", x->dims);
    if (pool->dims + 2 != x->dims || y->dims != x->dims || x->size[0] != y->size[0] ||
        x->size[1] != y->size[1])
        return mi_fail(miopenStatusBadParm, "pooling: tensors and descriptor do not fit");
    if (x->type != y->type)
        return mi_fail(miopenStatusNotImplemented, "pooling from one type to another");
    for (int d = 0; d < pool->dims; d++)
        if (pool->window[d] < 1 || pool->stride[d] < 1 || pool->pad[d] < 0)
            return mi_fail(miopenStatusBadParm, "pooling: window %d, stride %d, pad %d",
                           pool->window[d], pool->stride[d], pool->pad[d]);
    return miopenStatusSuccess;
}

/* Whether the index type counts what it must, its largest value left out, as the original has it.
 */
static bool indices_fit(const struct mi_pool *pool, const struct mi_tensor *x)
{
    static const uint64_t largest[] = { UINT8_MAX, UINT16_MAX, UINT32_MAX, UINT64_MAX };
    uint64_t count = 1;
    for (int d = 0; d < pool->dims; d++) {
        const uint64_t size =
            pool->index_mode ? (uint64_t)x->size[2 + d] : (uint64_t)pool->window[d];
        if (__builtin_mul_overflow(count, size, &count)) return false;
    }
    return count < largest[pool->index_type];
}

/* All that both passes say. */
static void begin(struct mi_case *c, const struct mi_pool *pool, const struct mi_tensor *x,
                  const struct mi_tensor *y, const char *pass, double alpha, double beta)
{
    static const char *const modes[] = { "max", "avg", "avg_in" };
    int64_t lists[4][MI_POOL_DIMS];
    for (int d = 0; d < pool->dims; d++) {
        lists[0][d] = pool->window[d];
        lists[1][d] = pool->stride[d];
        lists[2][d] = pool->pad[d];
        lists[3][d] = y->size[2 + d];
    }
    mi_case_begin(c, "pool", x);
    mi_case_put(c, ":%s:%s", pass, modes[pool->mode]);
    mi_case_list(c, "window", lists[0], pool->dims);
    mi_case_list(c, "stride", lists[1], pool->dims);
    mi_case_list(c, "pad", lists[2], pool->dims);
    mi_case_list(c, "out", lists[3], pool->dims);
    if (alpha != 1) mi_case_number(c, "alpha", alpha);
    if (beta != 0) mi_case_number(c, "beta", beta);
}

/* Indices, always packed in the order of NCHW, whatever y is. */
static void put_indices(struct mi_case *c, const struct mi_pool *pool, const void *memory)
{
    static const char *const types[] = { "u8", "u16", "u32", "u64" };
    mi_case_put(c, ":%s%s", types[pool->index_type], pool->index_mode ? ":image" : "");
    mi_case_memory(c, MI_INDEX, memory);
}

static void log_command(const struct mi_pool *pool, const struct mi_tensor *x, bool forward)
{
    if (!mi_log_wants_commands()) return;
    static const char *const modes[] = { "max", "avg", "avg_in" };
    char text[512];
    int n = snprintf(text, sizeof text, "pool%s -M %d --input ",
                     x->type == miopenHalf       ? "fp16"
                     : x->type == miopenBFloat16 ? "bfp16"
                                                 : "",
                     (int)pool->index_mode);
    for (int i = 0; i < x->dims; i++)
        n += snprintf(text + n, sizeof text - (size_t)n, "%s%lld", i ? "x" : "",
                      (long long)x->size[i]);
    for (int i = 0; i < x->dims; i++)
        n += snprintf(text + n, sizeof text - (size_t)n, "%c%lld", i ? 'x' : ',',
                      (long long)x->stride[i]);
    static const char *const options[3][MI_POOL_DIMS] = { { "Z", "y", "x" },
                                                          { "o", "p", "q" },
                                                          { "s", "v", "u" } };
    const int *const lists[] = { pool->window, pool->pad, pool->stride };
    for (int k = 0; k < 3; k++)
        for (int d = 0; d < pool->dims; d++)
            n += snprintf(text + n, sizeof text - (size_t)n, " -%s %d",
                          options[k][MI_POOL_DIMS - pool->dims + d], lists[k][d]);
    snprintf(text + n, sizeof text - (size_t)n, " -m %s -F %d -t 1", modes[pool->mode], forward);
    mi_log_command(text);
}

miopenStatus_t miopenPoolingForward(miopenHandle_t handle, miopenPoolingDescriptor_t name,
                                    const void *alpha, miopenTensorDescriptor_t x_name,
                                    const void *x, const void *beta,
                                    miopenTensorDescriptor_t y_name, void *y, bool do_backward,
                                    void *workspace, size_t workspace_bytes)
{
    const struct mi_pool *pool = mi_pool_set(name);
    const struct mi_tensor *x_tensor = mi_tensor(x_name), *y_tensor = mi_tensor(y_name);
    if (!pool || !x_tensor || !y_tensor || !x || !y || !alpha || !beta) return miopenStatusBadParm;
    miopenStatus_t status = check(pool, x_tensor, y_tensor);
    if (status != miopenStatusSuccess) return status;
    log_command(pool, x_tensor, true);
    const bool saves = pool->mode == miopenPoolingMax && do_backward;
    if (saves) {
        const size_t bytes = mi_pool_index_bytes(pool);
        if (!bytes || (unsigned)pool->index_mode > miopenPoolingWorkspaceIndexImage)
            return mi_fail(miopenStatusBadParm, "no index type %d or index mode %d",
                           (int)pool->index_type, (int)pool->index_mode);
        if (!indices_fit(pool, x_tensor))
            return mi_fail(miopenStatusUnknownError, "indices of %zu bytes do not count the %s",
                           bytes, pool->index_mode ? "image" : "window");
        if (!workspace) return mi_fail(miopenStatusUnknownError, "no workspace for indices");
        /* MIOpenDriver gives memory and says 0, at which the original does not look. */
        if (workspace_bytes && workspace_bytes / bytes < (size_t)mi_tensor_elements(y_tensor))
            return mi_fail(miopenStatusNotImplemented, "%zu bytes of workspace for indices",
                           workspace_bytes);
    }
    struct mi_case c;
    begin(&c, pool, x_tensor, y_tensor, "fwd", (double)*(const float *)alpha,
          (double)*(const float *)beta);
    mi_case_tensor(&c, MI_X, x_tensor, x);
    mi_case_tensor(&c, MI_Y, y_tensor, y);
    if (saves)
        put_indices(&c, pool, workspace);
    else if (pool->mode == miopenPoolingMax)
        mi_case_put(&c, ":none");
    return mi_case_call(handle, &c);
}

miopenStatus_t miopenPoolingBackward(miopenHandle_t handle, miopenPoolingDescriptor_t name,
                                     const void *alpha, miopenTensorDescriptor_t y_name,
                                     const void *y, miopenTensorDescriptor_t dy_name,
                                     const void *dy, miopenTensorDescriptor_t x_name, const void *x,
                                     const void *beta, miopenTensorDescriptor_t dx_name, void *dx,
                                     void *workspace)
{
    (void)x, (void)y;
    const struct mi_pool *pool = mi_pool_set(name);
    const struct mi_tensor *x_tensor = mi_tensor(x_name), *y_tensor = mi_tensor(y_name);
    const struct mi_tensor *dx_tensor = mi_tensor(dx_name), *dy_tensor = mi_tensor(dy_name);
    if (!pool || !x_tensor || !y_tensor || !dx_tensor || !dy_tensor || !dx || !dy || !alpha ||
        !beta)
        return miopenStatusBadParm;
    miopenStatus_t status = check(pool, dx_tensor, dy_tensor);
    if (status != miopenStatusSuccess) return status;
    if (!alike(x_tensor, dx_tensor) || !alike(y_tensor, dy_tensor))
        return mi_fail(miopenStatusBadParm, "pooling: gradients unlike their tensors");
    log_command(pool, dx_tensor, false);
    const bool largest = pool->mode == miopenPoolingMax;
    if (largest && (!workspace || !mi_pool_index_bytes(pool) ||
                    (unsigned)pool->index_mode > miopenPoolingWorkspaceIndexImage))
        return mi_fail(miopenStatusBadParm, "no indices for the gradient of max pooling");
    struct mi_case c;
    begin(&c, pool, dx_tensor, dy_tensor, "bwd", (double)*(const float *)alpha,
          (double)*(const float *)beta);
    if (largest) put_indices(&c, pool, workspace);
    mi_case_tensor(&c, MI_DY, dy_tensor, dy);
    mi_case_tensor(&c, MI_DX, dx_tensor, dx);
    return mi_case_call(handle, &c);
}
