/* rnn.c: descriptors of recurrent networks, and how much memory these need. */
#include "dropin/miopen/rnn.h"

#include "dropin/miopen/chain.h"
#include "dropin/miopen/log.h"

#include <limits.h>

const struct mi_rnn *mi_rnn(miopenRNNDescriptor_t name)
{
    const struct mi_rnn *rnn = mi_object(name, MI_RNN);
    if (!rnn) mi_log(MI_ERROR, "%p is no RNN descriptor", (const void *)name);
    return rnn;
}

int64_t mi_rnn_gates(const struct mi_rnn *rnn)
{
    return rnn->mode == miopenLSTM ? 4 : rnn->mode == miopenGRU ? 3 : 1;
}

int64_t mi_rnn_directions(const struct mi_rnn *rnn)
{
    return rnn->direction == miopenRNNbidirection ? 2 : 1;
}

double mi_rnn_dropout(const struct mi_rnn *rnn)
{
    const struct mi_dropout *dropout = rnn->dropout ? mi_dropout(rnn->dropout) : NULL;
    return dropout ? (double)dropout->rate : 0;
}

miopenStatus_t miopenCreateRNNDescriptor(miopenRNNDescriptor_t *out)
{
    if (!out) return mi_fail(miopenStatusBadParm, "miopenCreateRNNDescriptor: NULL");
    struct mi_rnn *rnn = mi_object_new(MI_RNN, sizeof *rnn);
    if (!rnn) return mi_fail(miopenStatusAllocFailed, "out of memory");
    rnn->layers = 1;
    rnn->mode = miopenRNNTANH;
    rnn->type = miopenFloat;
    return mi_chain_descriptor(&rnn->object, MI_RNN, out);
}

miopenStatus_t miopenDestroyRNNDescriptor(miopenRNNDescriptor_t name)
{
    if (!name) return miopenStatusSuccess;
    struct mi_rnn *rnn = (struct mi_rnn *)mi_rnn(name);
    if (!rnn) return miopenStatusBadParm;
    mi_chain_destroy(&rnn->object, MI_RNN);
    mi_object_delete(rnn);
    return miopenStatusSuccess;
}

miopenStatus_t miopenSetRNNDescriptor_V2(miopenRNNDescriptor_t name, int hidden, int layers,
                                         miopenDropoutDescriptor_t dropout,
                                         miopenRNNInputMode_t input,
                                         miopenRNNDirectionMode_t direction, miopenRNNMode_t mode,
                                         miopenRNNBiasMode_t bias, miopenRNNAlgo_t algo,
                                         miopenDataType_t type)
{
    struct mi_rnn *rnn = (struct mi_rnn *)mi_rnn(name);
    if (!rnn || (dropout && !mi_dropout(dropout))) return miopenStatusBadParm;
    if (hidden < 0 || layers < 0)
        return mi_fail(miopenStatusBadParm, "RNN of %d hidden units in %d layers", hidden, layers);
    if ((unsigned)mode > miopenGRU)
        return mi_fail(miopenStatusBadParm, "no RNN mode %d", (int)mode);
    if ((unsigned)direction > miopenRNNbidirection || (unsigned)bias > miopenRNNwithBias ||
        (unsigned)input > miopenRNNskip)
        return mi_fail(miopenStatusBadParm, "RNN direction %d, bias %d, input %d", (int)direction,
                       (int)bias, (int)input);
    if (type != miopenFloat && type != miopenHalf)
        return mi_fail(miopenStatusBadParm, "RNN of data type %d", (int)type);
    rnn->hidden = hidden;
    rnn->layers = layers;
    rnn->dropout = dropout;
    rnn->input = input;
    rnn->direction = direction;
    rnn->mode = mode;
    rnn->bias = bias;
    rnn->algo = algo;
    rnn->type = type;
    rnn->padding = miopenRNNIONotPadded;
    return mi_chain_rnn(rnn);
}

miopenStatus_t miopenSetRNNDescriptor(miopenRNNDescriptor_t name, int hidden, int layers,
                                      miopenRNNInputMode_t input,
                                      miopenRNNDirectionMode_t direction, miopenRNNMode_t mode,
                                      miopenRNNBiasMode_t bias, miopenRNNAlgo_t algo,
                                      miopenDataType_t type)
{
    return miopenSetRNNDescriptor_V2(name, hidden, layers, NULL, input, direction, mode, bias, algo,
                                     type);
}

/* Each result may be NULL. */
miopenStatus_t miopenGetRNNDescriptor_V2(miopenRNNDescriptor_t name, int *hidden, int *layers,
                                         miopenDropoutDescriptor_t *dropout,
                                         miopenRNNInputMode_t *input,
                                         miopenRNNDirectionMode_t *direction, miopenRNNMode_t *mode,
                                         miopenRNNBiasMode_t *bias, miopenRNNAlgo_t *algo,
                                         miopenDataType_t *type)
{
    const struct mi_rnn *rnn = mi_rnn(name);
    if (!rnn) return miopenStatusBadParm;
    if (hidden) *hidden = rnn->hidden;
    if (layers) *layers = rnn->layers;
    if (dropout) *dropout = rnn->dropout;
    if (input) *input = rnn->input;
    if (direction) *direction = rnn->direction;
    if (mode) *mode = rnn->mode;
    if (bias) *bias = rnn->bias;
    if (algo) *algo = rnn->algo;
    if (type) *type = rnn->type;
    return miopenStatusSuccess;
}

miopenStatus_t miopenGetRNNDescriptor(miopenRNNDescriptor_t name, miopenRNNMode_t *mode,
                                      miopenRNNAlgo_t *algo, miopenRNNInputMode_t *input,
                                      miopenRNNDirectionMode_t *direction,
                                      miopenRNNBiasMode_t *bias, int *hidden, int *layers)
{
    return miopenGetRNNDescriptor_V2(name, hidden, layers, NULL, input, direction, mode, bias, algo,
                                     NULL);
}

miopenStatus_t miopenSetRNNPaddingMode(miopenRNNDescriptor_t name, miopenRNNPaddingMode_t padding)
{
    struct mi_rnn *rnn = (struct mi_rnn *)mi_rnn(name);
    if (!rnn) return miopenStatusBadParm;
    if ((unsigned)padding > miopenRNNIOWithPadding)
        return mi_fail(miopenStatusBadParm, "no RNN padding mode %d", (int)padding);
    rnn->padding = padding;
    return mi_chain_rnn(rnn);
}

miopenStatus_t miopenGetRNNPaddingMode(miopenRNNDescriptor_t name, miopenRNNPaddingMode_t *padding)
{
    const struct mi_rnn *rnn = mi_rnn(name);
    if (!rnn || !padding) return miopenStatusBadParm;
    *padding = rnn->padding;
    return miopenStatusSuccess;
}

/* ---- sizes ---- */

/* factor * layers * rows * directions * hidden, or 0 when that is too much. */
static size_t planes(const struct mi_rnn *rnn, int64_t factor, int64_t layers, int64_t rows)
{
    int64_t bytes = factor * mi_rnn_directions(rnn);
    if (__builtin_mul_overflow(bytes, layers, &bytes) ||
        __builtin_mul_overflow(bytes, rows, &bytes) ||
        __builtin_mul_overflow(bytes, (int64_t)rnn->hidden, &bytes) || bytes > INT64_MAX / 4)
        return 0;
    return (size_t)bytes;
}

size_t mi_rnn_workspace_bytes(const struct mi_rnn *rnn, int64_t rows)
{
    const int64_t scale = rnn->mode == miopenLSTM ? 6 : rnn->mode == miopenGRU ? 4 : 1;
    /* What one backward pass leaves to the other is f32 here, whatever the type. */
    const int64_t ours = 4 * (rnn->mode == miopenLSTM || rnn->mode == miopenGRU ? 4 : 1);
    const int64_t theirs = scale * (int64_t)mi_type_bytes(rnn->type);
    return planes(rnn, theirs > ours ? theirs : ours, rnn->layers, rows);
}

size_t mi_rnn_reserve_bytes(const struct mi_rnn *rnn, int64_t rows)
{
    const int64_t element = (int64_t)mi_type_bytes(rnn->type), layers = rnn->layers;
    const bool lstm = rnn->mode == miopenLSTM, gru = rnn->mode == miopenGRU;
    const int64_t scale = lstm ? rnn->algo == miopenRNNdefault ? 7 : 12 : gru ? 8 : 2;
    const int64_t ours = 4 * (lstm ? 7 : gru ? 5 : 1);
    size_t theirs = planes(rnn, scale * element, layers, rows);
    size_t least = planes(rnn, ours, layers, rows);
    if (mi_rnn_dropout(rnn) != 0 && layers > 1) {
        theirs += planes(rnn, element + 1, layers - 1, rows);
        least += planes(rnn, 4, layers - 1, rows) + 16;
    }
    return theirs > least ? theirs : least;
}

int64_t mi_rnn_rows(const struct mi_rnn *rnn, int steps, const miopenTensorDescriptor_t *x)
{
    int64_t rows = 0;
    for (int t = 0; x && t < steps; t++) {
        const struct mi_tensor *tensor = mi_tensor(x[t]);
        if (!tensor || tensor->dims < 2 || tensor->type != rnn->type || tensor->size[0] > INT_MAX) {
            mi_log(MI_ERROR, "RNN: the tensor of step %d does not fit", t);
            return 0;
        }
        rows += tensor->size[0];
    }
    return rows;
}

static miopenStatus_t size_for_steps(miopenRNNDescriptor_t name, int steps,
                                     const miopenTensorDescriptor_t *x, bool reserve, size_t *bytes)
{
    const struct mi_rnn *rnn = mi_rnn(name);
    const int64_t rows = rnn ? mi_rnn_rows(rnn, steps, x) : 0;
    if (!bytes || rows <= 0) return mi_fail(miopenStatusBadParm, "RNN size: bad argument");
    *bytes = reserve ? mi_rnn_reserve_bytes(rnn, rows) : mi_rnn_workspace_bytes(rnn, rows);
    if (!reserve && rnn->padding == miopenRNNIOWithPadding)
        *bytes += (size_t)rows * mi_type_bytes(rnn->type) *
                  (size_t)(mi_tensor(x[0])->size[1] + mi_rnn_directions(rnn) * rnn->hidden);
    return miopenStatusSuccess;
}

miopenStatus_t miopenGetRNNWorkspaceSize(miopenHandle_t handle, miopenRNNDescriptor_t name,
                                         int steps, const miopenTensorDescriptor_t *x,
                                         size_t *bytes)
{
    if (!mi_object(handle, MI_HANDLE)) return mi_fail(miopenStatusBadParm, "no handle");
    return size_for_steps(name, steps, x, false, bytes);
}

miopenStatus_t miopenGetRNNTrainingReserveSize(miopenHandle_t handle, miopenRNNDescriptor_t name,
                                               int steps, const miopenTensorDescriptor_t *x,
                                               size_t *bytes)
{
    if (!mi_object(handle, MI_HANDLE)) return mi_fail(miopenStatusBadParm, "no handle");
    return size_for_steps(name, steps, x, true, bytes);
}

/* For sequences of the greatest length, each. */
miopenStatus_t miopenGetRNNTempSpaceSizes(miopenHandle_t handle, miopenRNNDescriptor_t name,
                                          miopenSeqTensorDescriptor_t x_name,
                                          miopenRNNFWDMode_t mode, size_t *workspace,
                                          size_t *reserve)
{
    const struct mi_rnn *rnn = mi_rnn(name);
    const struct mi_sequence *x = mi_sequence(x_name);
    if (!mi_object(handle, MI_HANDLE) || !rnn || !x || x->type != rnn->type)
        return mi_fail(miopenStatusBadParm, "miopenGetRNNTempSpaceSizes: bad argument");
    const int64_t rows = (int64_t)x->steps * x->batch;
    if (workspace) {
        *workspace = mi_rnn_workspace_bytes(rnn, rows);
        if (x->layout != miopenRNNDataSeqMajorNotPadded)
            *workspace += (size_t)rows * mi_type_bytes(rnn->type) *
                          (size_t)(x->width + mi_rnn_directions(rnn) * rnn->hidden);
    }
    if (reserve && mode == miopenRNNTraining) *reserve = mi_rnn_reserve_bytes(rnn, rows);
    return miopenStatusSuccess;
}

/* Bytes of x, and of hx; the padded ones when there is padding. */
miopenStatus_t miopenGetRNNInputTensorSize(miopenHandle_t handle, miopenRNNDescriptor_t name,
                                           int steps, miopenTensorDescriptor_t *x, size_t *bytes)
{
    const struct mi_rnn *rnn = mi_rnn(name);
    int64_t rows = rnn ? mi_rnn_rows(rnn, steps, x) : 0;
    if (!mi_object(handle, MI_HANDLE) || !bytes || rows <= 0)
        return mi_fail(miopenStatusBadParm, "miopenGetRNNInputTensorSize: bad argument");
    const struct mi_tensor *first = mi_tensor(x[0]);
    if (rnn->padding == miopenRNNIOWithPadding) rows = steps * first->size[0];
    *bytes = (size_t)rows * (size_t)first->size[1] * mi_type_bytes(rnn->type);
    return miopenStatusSuccess;
}

miopenStatus_t miopenGetRNNHiddenTensorSize(miopenHandle_t handle, miopenRNNDescriptor_t name,
                                            int steps, miopenTensorDescriptor_t *x, size_t *bytes)
{
    (void)steps;
    const struct mi_rnn *rnn = mi_rnn(name);
    const int64_t batch = rnn ? mi_rnn_rows(rnn, 1, x) : 0;
    if (!mi_object(handle, MI_HANDLE) || !bytes || batch <= 0)
        return mi_fail(miopenStatusBadParm, "miopenGetRNNHiddenTensorSize: bad argument");
    *bytes = planes(rnn, (int64_t)mi_type_bytes(rnn->type), rnn->layers, batch);
    return miopenStatusSuccess;
}
