/* rnn_parameters.c: where the matrices and biases of a recurrent network are in its one array of
 * weights, and copies of them. */
#include "dropin/miopen/log.h"
#include "dropin/miopen/rnn.h"

#include <limits.h>

/* One matrix or bias; sizes and place in elements. */
struct part {
    int64_t rows, columns, offset;
};

/* Parameters of a layer's gates and directions for each column. */
static int64_t stack(const struct mi_rnn *rnn)
{
    return mi_rnn_gates(rnn) * mi_rnn_directions(rnn) * rnn->hidden;
}

static int64_t width_of(const struct mi_rnn *rnn, int64_t layer, int64_t input)
{
    if (layer > 0) return mi_rnn_directions(rnn) * rnn->hidden;
    return rnn->input == miopenRNNskip ? 0 : input;
}

static int64_t before(const struct mi_rnn *rnn, int64_t layer, int64_t input)
{
    if (layer == 0) return 0;
    return stack(rnn) * (width_of(rnn, 0, input) + rnn->hidden +
                         (layer - 1) * (width_of(rnn, 1, input) + rnn->hidden));
}

/* The descriptor and a tensor that may be its input; NULL with the reason logged. */
static const struct mi_rnn *check(miopenRNNDescriptor_t name, miopenTensorDescriptor_t x,
                                  int64_t *input)
{
    const struct mi_rnn *rnn = mi_rnn(name);
    const struct mi_tensor *tensor = mi_tensor(x);
    if (!rnn || !tensor) return NULL;
    if (tensor->dims < 2 || tensor->type != rnn->type || tensor->size[1] > INT_MAX ||
        rnn->hidden > INT_MAX / 64 || rnn->layers > 65536) {
        mi_log(MI_ERROR, "RNN: the input tensor does not fit");
        return NULL;
    }
    *input = tensor->size[1];
    return rnn;
}

/* Parameter `id` of a layer, directions counted as layers of their own. False: there is none. */
static bool find(const struct mi_rnn *rnn, int64_t input, int layer, int id, bool bias,
                 struct part *out)
{
    const int64_t gates = mi_rnn_gates(rnn), directions = mi_rnn_directions(rnn);
    const int64_t hidden = rnn->hidden, level = layer / directions, d = layer % directions;
    if (layer < 0 || level >= rnn->layers || id < 0 || id >= 2 * gates) return false;
    const bool second = id >= gates;
    const int64_t gate = id % gates;
    if (bias) {
        out->rows = hidden;
        out->columns = 1;
        out->offset = before(rnn, rnn->layers, input) + (2 * level + second) * stack(rnn) +
                      (d * gates + gate) * hidden;
        return true;
    }
    const int64_t width = width_of(rnn, level, input);
    out->rows = hidden;
    out->columns = second ? hidden : width;
    out->offset = before(rnn, level, input) + (second ? stack(rnn) * width : 0) +
                  (d * gates + gate) * hidden * out->columns;
    return out->columns > 0;
}

static miopenStatus_t describe(miopenTensorDescriptor_t name, const struct mi_rnn *rnn,
                               const struct part *part, bool bias)
{
    const size_t size[2] = { (size_t)part->rows, (size_t)part->columns };
    return miopenSetTensorDescriptorV2(name, rnn->type, bias ? 1 : 2, size, NULL);
}

size_t mi_rnn_weights_bytes(const struct mi_rnn *rnn, int64_t input)
{
    int64_t elements = before(rnn, rnn->layers, input);
    if (rnn->bias == miopenRNNwithBias) elements += 2 * rnn->layers * stack(rnn);
    return (size_t)elements * mi_type_bytes(rnn->type);
}

miopenStatus_t miopenGetRNNParamsSize(miopenHandle_t handle, miopenRNNDescriptor_t name,
                                      miopenTensorDescriptor_t x, size_t *bytes,
                                      miopenDataType_t type)
{
    int64_t input = 0;
    const struct mi_rnn *rnn = check(name, x, &input);
    if (!mi_object(handle, MI_HANDLE) || !rnn || !bytes || type != rnn->type)
        return mi_fail(miopenStatusBadParm, "miopenGetRNNParamsSize: bad argument");
    if (rnn->input == miopenRNNskip && input != rnn->hidden)
        return mi_fail(miopenStatusBadParm,
                       "RNN without input matrices: %d hidden units, %lld inputs", rnn->hidden,
                       (long long)input);
    *bytes = mi_rnn_weights_bytes(rnn, input);
    return miopenStatusSuccess;
}

miopenStatus_t miopenGetRNNParamsDescriptor(miopenHandle_t handle, miopenRNNDescriptor_t name,
                                            miopenTensorDescriptor_t x, miopenTensorDescriptor_t w,
                                            miopenDataType_t type)
{
    int64_t input = 0;
    const struct mi_rnn *rnn = check(name, x, &input);
    if (!mi_object(handle, MI_HANDLE) || !rnn || type != rnn->type)
        return mi_fail(miopenStatusBadParm, "miopenGetRNNParamsDescriptor: bad argument");
    const int64_t directions = mi_rnn_directions(rnn);
    int64_t lines =
        width_of(rnn, 0, input) + ((rnn->layers - 1) * (directions + 1) + 1) * (int64_t)rnn->hidden;
    if (rnn->bias == miopenRNNwithBias) lines += 2 * (int64_t)rnn->layers;
    const size_t size[2] = { (size_t)lines, (size_t)stack(rnn) };
    return miopenSetTensorDescriptorV2(w, type, 2, size, NULL);
}

miopenStatus_t miopenGetRNNLayerParamSize(miopenHandle_t handle, miopenRNNDescriptor_t name,
                                          int layer, miopenTensorDescriptor_t x, int id,
                                          size_t *bytes)
{
    int64_t input = 0;
    struct part part = { 0 };
    const struct mi_rnn *rnn = check(name, x, &input);
    if (!mi_object(handle, MI_HANDLE) || !rnn || !bytes || layer < 0 || id < 0)
        return mi_fail(miopenStatusBadParm, "miopenGetRNNLayerParamSize: bad argument");
    find(rnn, input, layer, id, false, &part);
    *bytes = (size_t)(part.rows * part.columns) * mi_type_bytes(rnn->type);
    return miopenStatusSuccess;
}

miopenStatus_t miopenGetRNNLayerBiasSize(miopenHandle_t handle, miopenRNNDescriptor_t name,
                                         int layer, int id, size_t *bytes)
{
    const struct mi_rnn *rnn = mi_rnn(name);
    if (!mi_object(handle, MI_HANDLE) || !rnn || !bytes || layer < 0 || id < 0)
        return mi_fail(miopenStatusBadParm, "miopenGetRNNLayerBiasSize: bad argument");
    *bytes = (size_t)rnn->hidden * mi_type_bytes(rnn->type);
    return miopenStatusSuccess;
}

/* Where it is, in elements; only its shape when `offset` is NULL. */
miopenStatus_t miopenGetRNNLayerParamOffset(miopenRNNDescriptor_t name, int layer,
                                            miopenTensorDescriptor_t x, int id,
                                            miopenTensorDescriptor_t shape, size_t *offset)
{
    int64_t input = 0;
    struct part part;
    const struct mi_rnn *rnn = check(name, x, &input);
    if (!rnn || !find(rnn, input, layer, id, false, &part))
        return mi_fail(miopenStatusBadParm, "RNN: no parameter %d of layer %d", id, layer);
    miopenStatus_t status = describe(shape, rnn, &part, false);
    if (status == miopenStatusSuccess && offset) *offset = (size_t)part.offset;
    return status;
}

/* Without biases nothing happens. */
miopenStatus_t miopenGetRNNLayerBiasOffset(miopenRNNDescriptor_t name, int layer,
                                           miopenTensorDescriptor_t x, int id,
                                           miopenTensorDescriptor_t shape, size_t *offset)
{
    int64_t input = 0;
    struct part part;
    const struct mi_rnn *rnn = check(name, x, &input);
    if (!rnn) return miopenStatusBadParm;
    if (rnn->bias == miopenRNNNoBias) return miopenStatusSuccess;
    if (!find(rnn, input, layer, id, true, &part))
        return mi_fail(miopenStatusBadParm, "RNN: no bias %d of layer %d", id, layer);
    miopenStatus_t status = describe(shape, rnn, &part, true);
    if (status == miopenStatusSuccess && offset) *offset = (size_t)part.offset;
    return status;
}

/* ---- copies ---- */

/* One copy of a part, out of the weights or into them. */
struct copy {
    miopenRNNDescriptor_t rnn;
    int layer, id;
    miopenTensorDescriptor_t x, shape;
    const void *from;
    void *to;
    bool bias, into;
};

static miopenStatus_t run(miopenHandle_t handle_name, const struct copy *copy)
{
    int64_t input = 0;
    struct part part;
    const struct mi_rnn *rnn = check(copy->rnn, copy->x, &input);
    if (!rnn) return miopenStatusBadParm;
    if (copy->bias && rnn->bias == miopenRNNNoBias) return miopenStatusSuccess;
    if (!find(rnn, input, copy->layer, copy->id, copy->bias, &part))
        return mi_fail(miopenStatusBadParm, "RNN: no parameter %d of layer %d", copy->id,
                       copy->layer);
    if (!copy->into) {
        miopenStatus_t status = describe(copy->shape, rnn, &part, copy->bias);
        if (status != miopenStatusSuccess || !copy->to) return status;
    }
    const struct mi_tensor *shape = mi_tensor(copy->shape);
    if (!shape || !copy->from || !copy->to || shape->type != rnn->type ||
        mi_tensor_elements(shape) != part.rows * part.columns ||
        mi_tensor_span(shape) != part.rows * part.columns)
        return mi_fail(miopenStatusBadParm, "RNN: a parameter's tensor does not fit");
    struct mi_handle *handle = mi_handle_enter(handle_name);
    if (!handle) return miopenStatusBadParm;
    handle->kernel_ms = 0;
    const struct mi_tensor flat = {
        .type = rnn->type, .dims = 1, .size = { part.rows * part.columns }, .stride = { 1 }
    };
    const uint64_t offset = (uint64_t)part.offset * mi_type_bytes(rnn->type);
    miopenStatus_t status = mi_tensor_copy(
        handle, 1, &flat, (rmcp_memory){ (void *)(uintptr_t)copy->from, copy->into ? 0 : offset },
        0, &flat, (rmcp_memory){ copy->to, copy->into ? offset : 0 });
    mi_handle_leave(handle);
    return status;
}

miopenStatus_t miopenGetRNNLayerParam(miopenHandle_t handle, miopenRNNDescriptor_t name, int layer,
                                      miopenTensorDescriptor_t x, miopenTensorDescriptor_t w_name,
                                      const void *w, int id, miopenTensorDescriptor_t shape,
                                      void *param)
{
    (void)w_name;
    return run(handle, &(struct copy){ name, layer, id, x, shape, w, param, false, false });
}

miopenStatus_t miopenGetRNNLayerBias(miopenHandle_t handle, miopenRNNDescriptor_t name, int layer,
                                     miopenTensorDescriptor_t x, miopenTensorDescriptor_t w_name,
                                     const void *w, int id, miopenTensorDescriptor_t shape,
                                     void *bias)
{
    (void)w_name;
    return run(handle, &(struct copy){ name, layer, id, x, shape, w, bias, true, false });
}

miopenStatus_t miopenSetRNNLayerParam(miopenHandle_t handle, miopenRNNDescriptor_t name, int layer,
                                      miopenTensorDescriptor_t x, miopenTensorDescriptor_t w_name,
                                      void *w, int id, miopenTensorDescriptor_t shape,
                                      const void *param)
{
    (void)w_name;
    return run(handle, &(struct copy){ name, layer, id, x, shape, param, w, false, true });
}

miopenStatus_t miopenSetRNNLayerBias(miopenHandle_t handle, miopenRNNDescriptor_t name, int layer,
                                     miopenTensorDescriptor_t x, miopenTensorDescriptor_t w_name,
                                     void *w, int id, miopenTensorDescriptor_t shape,
                                     const void *bias)
{
    (void)w_name;
    return run(handle, &(struct copy){ name, layer, id, x, shape, bias, w, true, true });
}
