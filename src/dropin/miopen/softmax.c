/* softmax.c: softmax, its logarithm and their gradients; softmax descriptors. */
#include "dropin/miopen/softmax.h"

#include "dropin/miopen/case.h"
#include "dropin/miopen/log.h"

#include <string.h>

/* ---- descriptors ---- */

const struct mi_softmax *mi_softmax(miopenSoftmaxDescriptor_t name)
{
    const struct mi_softmax *softmax = mi_object(name, MI_SOFTMAX);
    if (!softmax) mi_log(MI_ERROR, "%p is no softmax descriptor", (const void *)name);
    return softmax;
}

static bool is_known(miopenSoftmaxAlgorithm_t algorithm, miopenSoftmaxMode_t mode)
{
    return (unsigned)algorithm <= MIOPEN_SOFTMAX_LOG &&
           (unsigned)mode <= MIOPEN_SOFTMAX_MODE_CHANNEL;
}

miopenStatus_t miopenCreateSoftmaxDescriptor(miopenSoftmaxDescriptor_t *out)
{
    if (!out) return mi_fail(miopenStatusBadParm, "miopenCreateSoftmaxDescriptor: NULL");
    struct mi_softmax *softmax = mi_object_new(MI_SOFTMAX, sizeof *softmax);
    if (!softmax) return mi_fail(miopenStatusAllocFailed, "out of memory");
    softmax->alpha = 1;
    *out = mi_object_name(softmax);
    return miopenStatusSuccess;
}

miopenStatus_t miopenSetSoftmaxDescriptor(miopenSoftmaxDescriptor_t name, float alpha, float beta,
                                          miopenSoftmaxAlgorithm_t algorithm,
                                          miopenSoftmaxMode_t mode)
{
    struct mi_softmax *softmax = (struct mi_softmax *)mi_softmax(name);
    if (!softmax) return miopenStatusBadParm;
    if (!is_known(algorithm, mode))
        return mi_fail(miopenStatusBadParm, "no softmax algorithm %d or mode %d", (int)algorithm,
                       (int)mode);
    softmax->alpha = alpha;
    softmax->beta = beta;
    softmax->algorithm = algorithm;
    softmax->mode = mode;
    return miopenStatusSuccess;
}

miopenStatus_t miopenGetSoftmaxDescriptor(const miopenSoftmaxDescriptor_t name, float *alpha,
                                          float *beta, miopenSoftmaxAlgorithm_t *algorithm,
                                          miopenSoftmaxMode_t *mode)
{
    const struct mi_softmax *softmax = mi_softmax(name);
    if (!softmax || !alpha || !beta || !algorithm || !mode) return miopenStatusBadParm;
    *alpha = softmax->alpha;
    *beta = softmax->beta;
    *algorithm = softmax->algorithm;
    *mode = softmax->mode;
    return miopenStatusSuccess;
}

/* ---- the operation ---- */

static bool alike(const struct mi_tensor *a, const struct mi_tensor *b)
{
    return a->type == b->type && a->dims == b->dims &&
           !memcmp(a->size, b->size, (size_t)a->dims * sizeof *a->size);
}

static void begin(struct mi_case *c, const struct mi_softmax *softmax,
                  const struct mi_tensor *whole, const char *pass)
{
    static const char *const algorithms[] = { "fast", "accurate", "log" };
    static const char *const modes[] = { "instance", "channel" };
    mi_case_begin(c, "softmax", whole);
    mi_case_put(c, ":%s:%s:%s", pass, algorithms[softmax->algorithm], modes[softmax->mode]);
    mi_case_number(c, "alpha", (double)softmax->alpha);
    mi_case_number(c, "beta", (double)softmax->beta);
}

miopenStatus_t mi_softmax_forward(struct mi_handle *handle, const struct mi_softmax *softmax,
                                  const struct mi_tensor *x_tensor, const void *x,
                                  const struct mi_tensor *y_tensor, void *y)
{
    if (!alike(x_tensor, y_tensor))
        return mi_fail(miopenStatusBadParm, "softmax of tensors of different types or sizes");
    struct mi_case c;
    begin(&c, softmax, x_tensor, "fwd");
    mi_case_tensor(&c, MI_X, x_tensor, x);
    mi_case_tensor(&c, MI_Y, y_tensor, y);
    return mi_case_run(handle, &c);
}

miopenStatus_t mi_softmax_backward(struct mi_handle *handle, const struct mi_softmax *softmax,
                                   const struct mi_tensor *y_tensor, const void *y,
                                   const struct mi_tensor *dy_tensor, const void *dy,
                                   const struct mi_tensor *dx_tensor, void *dx)
{
    if (!alike(y_tensor, dy_tensor) || !alike(y_tensor, dx_tensor))
        return mi_fail(miopenStatusBadParm, "softmax of tensors of different types or sizes");
    struct mi_case c;
    begin(&c, softmax, y_tensor, "bwd");
    mi_case_tensor(&c, MI_Y, y_tensor, y);
    mi_case_tensor(&c, MI_DY, dy_tensor, dy);
    mi_case_tensor(&c, MI_DX, dx_tensor, dx);
    return mi_case_run(handle, &c);
}

miopenStatus_t miopenSoftmaxForward_V2(miopenHandle_t name, const void *alpha,
                                       const miopenTensorDescriptor_t x_name, const void *x,
                                       const void *beta, const miopenTensorDescriptor_t y_name,
                                       void *y, miopenSoftmaxAlgorithm_t algorithm,
                                       miopenSoftmaxMode_t mode)
{
    const struct mi_tensor *x_tensor = mi_tensor(x_name), *y_tensor = mi_tensor(y_name);
    if (!x_tensor || !y_tensor || !x || !y || !alpha || !beta || !is_known(algorithm, mode))
        return miopenStatusBadParm;
    struct mi_handle *handle = mi_handle_enter(name);
    if (!handle) return miopenStatusBadParm;
    handle->kernel_ms = 0;
    const struct mi_softmax softmax = { .alpha = *(const float *)alpha,
                                        .beta = *(const float *)beta,
                                        .algorithm = algorithm,
                                        .mode = mode };
    miopenStatus_t status = mi_softmax_forward(handle, &softmax, x_tensor, x, y_tensor, y);
    mi_handle_leave(handle);
    return status;
}

miopenStatus_t miopenSoftmaxBackward_V2(miopenHandle_t name, const void *alpha,
                                        const miopenTensorDescriptor_t y_name, const void *y,
                                        const miopenTensorDescriptor_t dy_name, const void *dy,
                                        const void *beta, const miopenTensorDescriptor_t dx_name,
                                        void *dx, miopenSoftmaxAlgorithm_t algorithm,
                                        miopenSoftmaxMode_t mode)
{
    const struct mi_tensor *y_tensor = mi_tensor(y_name), *dy_tensor = mi_tensor(dy_name),
                           *dx_tensor = mi_tensor(dx_name);
    if (!y_tensor || !dy_tensor || !dx_tensor || !y || !dy || !dx || !alpha || !beta ||
        !is_known(algorithm, mode))
        return miopenStatusBadParm;
    struct mi_handle *handle = mi_handle_enter(name);
    if (!handle) return miopenStatusBadParm;
    handle->kernel_ms = 0;
    const struct mi_softmax softmax = { .alpha = *(const float *)alpha,
                                        .beta = *(const float *)beta,
                                        .algorithm = algorithm,
                                        .mode = mode };
    miopenStatus_t status =
        mi_softmax_backward(handle, &softmax, y_tensor, y, dy_tensor, dy, dx_tensor, dx);
    mi_handle_leave(handle);
    return status;
}

miopenStatus_t miopenSoftmaxForward(miopenHandle_t name, const void *alpha,
                                    const miopenTensorDescriptor_t x_name, const void *x,
                                    const void *beta, const miopenTensorDescriptor_t y_name,
                                    void *y)
{
    return miopenSoftmaxForward_V2(name, alpha, x_name, x, beta, y_name, y, MIOPEN_SOFTMAX_ACCURATE,
                                   MIOPEN_SOFTMAX_MODE_CHANNEL);
}

miopenStatus_t miopenSoftmaxBackward(miopenHandle_t name, const void *alpha,
                                     const miopenTensorDescriptor_t y_name, const void *y,
                                     const miopenTensorDescriptor_t dy_name, const void *dy,
                                     const void *beta, const miopenTensorDescriptor_t dx_name,
                                     void *dx)
{
    return miopenSoftmaxBackward_V2(name, alpha, y_name, y, dy_name, dy, beta, dx_name, dx,
                                    MIOPEN_SOFTMAX_ACCURATE, MIOPEN_SOFTMAX_MODE_CHANNEL);
}
