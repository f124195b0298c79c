/* tensor_ops.c: fill, scale, combine and transform tensors; what convolution needs of that. */
#include "dropin/miopen/command_line.h"
#include "dropin/miopen/log.h"
#include "dropin/miopen/plans.h"
#include "dropin/miopen/tensor.h"

#include <math.h>
#include <string.h>

miopenStatus_t mi_tensor_run(struct mi_handle *handle, rmcp_tensor problem,
                             const struct mi_tensor *a, rmcp_memory a_memory,
                             const struct mi_tensor *b, rmcp_memory b_memory,
                             const struct mi_tensor *c, rmcp_memory c_memory)
{
    const struct mi_engine *e = handle->engine;
    const struct mi_tensor *whole = problem.kind == RMCP_TENSOR_SUM ? a : c;
    if (whole->dims > RMCP_TENSOR_DIMS)
        return mi_fail(miopenStatusUnknownError, "a tensor of more than %d dimensions",
                       RMCP_TENSOR_DIMS);
    struct mi_key key;
    memset(&key, 0, sizeof key);
    key.operation = MI_OP_TENSOR;
    rmcp_tensor *t = &key.problem.tensor;
    t->struct_size = sizeof *t;
    t->kind = problem.kind;
    t->alpha = problem.alpha;
    t->alpha_b = problem.alpha_b;
    t->beta = problem.beta;
    t->dims = (uint32_t)whole->dims;
    const struct mi_tensor *tensors[] = { a, b, c };
    uint32_t *types[] = { &t->a_type, &t->b_type, &t->c_type };
    int64_t *sizes[] = { t->a_size, t->b_size, t->c_size };
    int64_t *strides[] = { t->a_stride, t->b_stride, t->c_stride };
    for (int i = 0; i < whole->dims; i++) t->size[i] = whole->size[i];
    for (int n = 0; n < 3; n++) {
        if (!tensors[n]) continue;
        if (!mi_type(tensors[n]->type, types[n]))
            return mi_fail(miopenStatusNotImplemented, "data type %d in a tensor operation",
                           (int)tensors[n]->type);
        for (int i = 0; i < whole->dims; i++) {
            sizes[n][i] = tensors[n]->size[i];
            /* The stride of a dimension of size 1 means nothing, but all zeros would mean packed.
             */
            strides[n][i] = tensors[n]->size[i] > 1 ? tensors[n]->stride[i] : 1;
        }
    }
    const struct mi_plans *plans;
    miopenStatus_t status = mi_plans_get(handle, &key, &plans);
    if (status != miopenStatusSuccess) return status;
    rmcp_tensor_operands operands = { .struct_size = sizeof operands,
                                      .a = a_memory,
                                      .b = b_memory,
                                      .c = c_memory,
                                      .workspace_bytes = plans->choice[0].workspace };
    status = mi_handle_scratch(handle, operands.workspace_bytes, &operands.workspace);
    if (status != miopenStatusSuccess) return status;
    double seconds = 0;
    rmcp_status done =
        handle->profiling
            ? e->rmcp_tensor_execute_timed(plans->choice[0].plan, handle->stream, &operands,
                                           &seconds)
            : e->rmcp_tensor_execute(plans->choice[0].plan, handle->stream, &operands);
    handle->kernel_ms += (float)(seconds * 1e3);
    return mi_status(done, "tensor operation");
}

miopenStatus_t mi_tensor_copy(struct mi_handle *handle, double alpha, const struct mi_tensor *x,
                              rmcp_memory from, double beta, const struct mi_tensor *y,
                              rmcp_memory to)
{
    rmcp_tensor problem = { .kind = RMCP_TENSOR_COPY, .alpha = alpha, .beta = beta };
    return mi_tensor_run(handle, problem, x, from, NULL, (rmcp_memory){ NULL, 0 }, y, to);
}

static rmcp_memory at(const void *pointer)
{
    return (rmcp_memory){ (void *)(uintptr_t)pointer, 0 };
}

static const rmcp_memory nowhere;

/* Scalars are f32 for all types that are supported … */
static double scalar(const void *pointer)
{
    return *(const float *)pointer;
}

/* … but what a tensor is filled with or scaled by has its own type, f16 and bf16 too. */
double mi_type_number(miopenDataType_t type, const void *pointer)
{
    if (mi_type_bytes(type) != 2) return scalar(pointer);
    uint16_t bits;
    memcpy(&bits, pointer, sizeof bits);
    int width = type == miopenHalf ? 10 : 7, top = type == miopenHalf ? 31 : 255;
    int exponent = bits >> width & top, fraction = bits & ((1 << width) - 1);
    double value = exponent == top ? (fraction ? NAN : INFINITY)
                   : exponent      ? ldexp((1 << width) + fraction, exponent - top / 2 - width)
                                   : ldexp(fraction, 1 - top / 2 - width);
    return bits >> 15 ? -value : value;
}

miopenStatus_t miopenSetTensor(miopenHandle_t name, miopenTensorDescriptor_t y_name, void *y,
                               const void *alpha)
{
    const struct mi_tensor *y_tensor = mi_tensor(y_name);
    if (!y_tensor || !y || !alpha) return miopenStatusBadParm;
    struct mi_handle *handle = mi_handle_enter(name);
    if (!handle) return miopenStatusBadParm;
    mi_command_tensor("set", y_tensor, mi_type_number(y_tensor->type, alpha), 0, 0);
    handle->kernel_ms = 0;
    rmcp_tensor problem = { .kind = RMCP_TENSOR_SET,
                            .alpha = mi_type_number(y_tensor->type, alpha) };
    miopenStatus_t status =
        mi_tensor_run(handle, problem, NULL, nowhere, NULL, nowhere, y_tensor, at(y));
    mi_handle_leave(handle);
    return status;
}

miopenStatus_t miopenScaleTensor(miopenHandle_t name, miopenTensorDescriptor_t y_name, void *y,
                                 const void *alpha)
{
    const struct mi_tensor *y_tensor = mi_tensor(y_name);
    if (!y_tensor || !y || !alpha) return miopenStatusBadParm;
    struct mi_handle *handle = mi_handle_enter(name);
    if (!handle) return miopenStatusBadParm;
    mi_command_tensor("scale", y_tensor, mi_type_number(y_tensor->type, alpha), 0, 0);
    handle->kernel_ms = 0;
    rmcp_tensor problem = { .kind = RMCP_TENSOR_SCALE,
                            .alpha = mi_type_number(y_tensor->type, alpha) };
    miopenStatus_t status =
        mi_tensor_run(handle, problem, NULL, nowhere, NULL, nowhere, y_tensor, at(y));
    mi_handle_leave(handle);
    return status;
}

/* Whether each dimension of `part` is 1 or as `whole`'s. */
static bool broadcasts(const struct mi_tensor *part, const struct mi_tensor *whole)
{
    if (part->dims != whole->dims) return false;
    for (int i = 0; i < whole->dims; i++)
        if (part->size[i] != 1 && part->size[i] != whole->size[i]) return false;
    return true;
}

static bool same_sizes(const struct mi_tensor *a, const struct mi_tensor *b)
{
    return a->dims == b->dims && !memcmp(a->size, b->size, (size_t)a->dims * sizeof *a->size);
}

/* c = op(alpha1 * a, alpha2 * b) + beta * c; b may be broadcast. */
miopenStatus_t miopenOpTensor(miopenHandle_t name, miopenTensorOp_t op, const void *alpha1,
                              miopenTensorDescriptor_t a_name, const void *a, const void *alpha2,
                              miopenTensorDescriptor_t b_name, const void *b, const void *beta,
                              miopenTensorDescriptor_t c_name, void *c)
{
    const struct mi_tensor *a_tensor = mi_tensor(a_name), *b_tensor = mi_tensor(b_name),
                           *c_tensor = mi_tensor(c_name);
    if (!a_tensor || !b_tensor || !c_tensor || !a || !b || !c || !alpha1 || !alpha2 || !beta)
        return miopenStatusBadParm;
    static const uint32_t kinds[] = { [miopenTensorOpAdd] = RMCP_TENSOR_ADD,
                                      [miopenTensorOpMul] = RMCP_TENSOR_MULTIPLY,
                                      [miopenTensorOpMin] = RMCP_TENSOR_MINIMUM,
                                      [miopenTensorOpMax] = RMCP_TENSOR_MAXIMUM };
    if ((unsigned)op >= sizeof kinds / sizeof *kinds)
        return mi_fail(miopenStatusBadParm, "no tensor operation %d", (int)op);
    if (!same_sizes(a_tensor, c_tensor) || !broadcasts(b_tensor, c_tensor))
        return mi_fail(miopenStatusUnknownError, "the tensors' sizes do not match");
    if (b_tensor->type != c_tensor->type || a_tensor->type != c_tensor->type)
        return mi_fail(miopenStatusUnknownError, "the tensors' types differ");
    struct mi_handle *handle = mi_handle_enter(name);
    if (!handle) return miopenStatusBadParm;
    static const char *const names[] = { "add", "mul", "min", "max" };
    mi_command_tensor(names[op], c_tensor, scalar(alpha1), scalar(alpha2), scalar(beta));
    handle->kernel_ms = 0;
    rmcp_tensor problem = {
        .kind = kinds[op], .alpha = scalar(alpha1), .alpha_b = scalar(alpha2), .beta = scalar(beta)
    };
    miopenStatus_t status =
        mi_tensor_run(handle, problem, a_tensor, at(a), b_tensor, at(b), c_tensor, at(c));
    mi_handle_leave(handle);
    return status;
}

/* y = alpha * x + beta * y: from one order of dimensions in memory to another. */
miopenStatus_t miopenTransformTensor(miopenHandle_t name, const void *alpha,
                                     miopenTensorDescriptor_t x_name, const void *x,
                                     const void *beta, miopenTensorDescriptor_t y_name, void *y)
{
    const struct mi_tensor *x_tensor = mi_tensor(x_name), *y_tensor = mi_tensor(y_name);
    if (!x_tensor || !y_tensor || !x || !y || !alpha || !beta) return miopenStatusBadParm;
    if (!same_sizes(x_tensor, y_tensor))
        return mi_fail(miopenStatusUnknownError, "the tensors' sizes do not match");
    struct mi_handle *handle = mi_handle_enter(name);
    if (!handle) return miopenStatusBadParm;
    handle->kernel_ms = 0;
    miopenStatus_t status =
        mi_tensor_copy(handle, scalar(alpha), x_tensor, at(x), scalar(beta), y_tensor, at(y));
    mi_handle_leave(handle);
    return status;
}

/* y = y + bias, one for each channel. */
miopenStatus_t miopenConvolutionForwardBias(miopenHandle_t name, const void *alpha,
                                            miopenTensorDescriptor_t b_name, const void *b,
                                            const void *beta, miopenTensorDescriptor_t y_name,
                                            void *y)
{
    const struct mi_tensor *b_tensor = mi_tensor(b_name), *y_tensor = mi_tensor(y_name);
    if (!b_tensor || !y_tensor || !b || !y || !alpha || !beta) return miopenStatusBadParm;
    if (!broadcasts(b_tensor, y_tensor))
        return mi_fail(miopenStatusUnknownError, "the bias does not fit the tensor");
    if (b_tensor->type != y_tensor->type)
        return mi_fail(miopenStatusUnknownError, "bias and tensor have different types");
    struct mi_handle *handle = mi_handle_enter(name);
    if (!handle) return miopenStatusBadParm;
    handle->kernel_ms = 0;
    rmcp_tensor problem = { .kind = RMCP_TENSOR_ADD,
                            .alpha = scalar(alpha),
                            .alpha_b = scalar(alpha),
                            .beta = scalar(beta) };
    miopenStatus_t status =
        mi_tensor_run(handle, problem, y_tensor, at(y), b_tensor, at(b), y_tensor, at(y));
    mi_handle_leave(handle);
    return status;
}

/* db = the sum of dy over everything but channels. */
miopenStatus_t miopenConvolutionBackwardBias(miopenHandle_t name, const void *alpha,
                                             miopenTensorDescriptor_t dy_name, const void *dy,
                                             const void *beta, miopenTensorDescriptor_t db_name,
                                             void *db)
{
    const struct mi_tensor *dy_tensor = mi_tensor(dy_name), *db_tensor = mi_tensor(db_name);
    if (!dy_tensor || !db_tensor || !dy || !db || !alpha || !beta) return miopenStatusBadParm;
    if (db_tensor->dims != dy_tensor->dims || dy_tensor->dims < 2 ||
        db_tensor->size[1] != dy_tensor->size[1] ||
        mi_tensor_elements(db_tensor) != dy_tensor->size[1])
        return mi_fail(miopenStatusBadParm, "the bias has not one element for each channel");
    struct mi_handle *handle = mi_handle_enter(name);
    if (!handle) return miopenStatusBadParm;
    handle->kernel_ms = 0;
    rmcp_tensor problem = { .kind = RMCP_TENSOR_SUM, .alpha = scalar(alpha), .beta = scalar(beta) };
    miopenStatus_t status =
        mi_tensor_run(handle, problem, dy_tensor, at(dy), NULL, nowhere, db_tensor, at(db));
    mi_handle_leave(handle);
    return status;
}
