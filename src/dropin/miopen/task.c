/* task.c: activation, bias, batch norm, softmax and attention as problems of Find 2.0, alone and
 * fused. */
#include "dropin/miopen/task.h"

#include "dropin/miopen/log.h"

#include <stdlib.h>
#include <string.h>

/* The tensors of each kind, and which of them goes in and out; backward in the second place. */
static const struct {
    uint32_t first, last, in[2], out[2];
} kinds[MI_TASK_KINDS] = {
    [MI_TASK_CONV] = { miopenTensorConvolutionX,
                       miopenTensorConvolutionY,
                       { miopenTensorConvolutionX, miopenTensorConvolutionY },
                       { miopenTensorConvolutionY, miopenTensorConvolutionX } },
    [MI_TASK_ACTIVATION] = { miopenTensorActivationX,
                             miopenTensorActivationDY,
                             { miopenTensorActivationX, miopenTensorActivationDY },
                             { miopenTensorActivationY, miopenTensorActivationDX } },
    [MI_TASK_BIAS] = { miopenTensorBiasX,
                       miopenTensorBias,
                       { miopenTensorBiasX, miopenTensorBiasY },
                       { miopenTensorBiasY, miopenTensorBiasX } },
    [MI_TASK_NORM] = { miopenTensorBatchnormX,
                       miopenTensorBatchnormDY,
                       { miopenTensorBatchnormX, miopenTensorBatchnormDY },
                       { miopenTensorBatchnormY, miopenTensorBatchnormDX } },
    [MI_TASK_SOFTMAX] = { miopenTensorSoftmaxX,
                          miopenTensorSoftmaxDY,
                          { miopenTensorSoftmaxX, miopenTensorSoftmaxDY },
                          { miopenTensorSoftmaxY, miopenTensorSoftmaxDX } },
    [MI_TASK_MHA] = { miopenTensorMhaK,
                      miopenTensorMhaBias,
                      { miopenTensorMhaK, miopenTensorMhaDO },
                      { miopenTensorMhaO, miopenTensorMhaDQ } },
};

static bool is_backward(const struct mi_task_step *step)
{
    return step->direction == miopenProblemDirectionBackward;
}

struct mi_task *mi_task_create(const struct mi_task_step *step)
{
    struct mi_task *task = calloc(1, sizeof *task);
    if (!task) return NULL;
    task->n = 1;
    task->step[0] = *step;
    return task;
}

struct mi_task *mi_task_copy(const struct mi_task *task)
{
    struct mi_task *copy = malloc(sizeof *copy);
    if (copy) *copy = *task;
    return copy;
}

static struct mi_tensor *find(struct mi_task_step *step, uint32_t id)
{
    for (int i = 0; i < step->n; i++)
        if (step->tensor[i].id == id) return &step->tensor[i].tensor;
    return NULL;
}

miopenStatus_t mi_task_set(struct mi_task_step *step, uint32_t id, const struct mi_tensor *tensor)
{
    struct mi_tensor *place = find(step, id);
    if (id < kinds[step->kind].first || id > kinds[step->kind].last ||
        (!place && step->n == MI_TASK_TENSORS))
        return mi_fail(miopenStatusBadParm, "tensor %u is none of this problem's", (unsigned)id);
    if (!place) {
        step->tensor[step->n].id = id;
        place = &step->tensor[step->n++].tensor;
    }
    *place = *tensor;
    return miopenStatusSuccess;
}

miopenStatus_t mi_task_fuse(struct mi_task *task, const struct mi_task *behind)
{
    if (task->n + behind->n > MI_PARTS)
        return mi_fail(miopenStatusUnsupportedOp, "more than %d problems to fuse", MI_PARTS);
    memcpy(&task->step[task->n], behind->step, (size_t)behind->n * sizeof *behind->step);
    task->n += behind->n;
    return miopenStatusSuccess;
}

/* ---- as parts ---- */

static miopenStatus_t part_of(struct mi_task_step *step, struct mi_part *part)
{
    const struct mi_tensor *shape = NULL;
    *part = (struct mi_part){ .convolution = step->convolution,
                              .activation = step->activation.mode,
                              .norm = step->norm };
    switch (step->kind) {
    case MI_TASK_CONV:
        part->kind = MI_PART_CONV;
        shape = find(step, miopenTensorConvolutionW);
        if (!shape) return mi_fail(miopenStatusInvalidValue, "the problem lacks its filter");
        break;
    case MI_TASK_BIAS:
        part->kind = MI_PART_BIAS;
        shape = find(step, miopenTensorBias);
        if (!shape) return mi_fail(miopenStatusInvalidValue, "the problem lacks its bias");
        break;
    case MI_TASK_ACTIVATION:
        part->kind = is_backward(step) ? MI_PART_ACTIVATION_BACKWARD : MI_PART_ACTIVATION;
        break;
    case MI_TASK_SOFTMAX:
    case MI_TASK_MHA:
        return mi_fail(miopenStatusNotImplemented, "%s together with another operation",
                       step->kind == MI_TASK_MHA ? "attention" : "softmax");
    default:
        part->kind = is_backward(step)                                    ? MI_PART_NORM_BACKWARD
                     : step->direction == miopenProblemDirectionInference ? MI_PART_NORM_INFER
                                                                          : MI_PART_NORM_TRAIN;
        break;
    }
    if ((step->kind == MI_TASK_CONV || step->kind == MI_TASK_BIAS) &&
        step->direction != miopenProblemDirectionForward)
        return mi_fail(miopenStatusNotImplemented, "direction %d of a fused problem",
                       (int)step->direction);
    if (shape) part->shape = *shape;
    return miopenStatusSuccess;
}

static miopenStatus_t parts_of(struct mi_task *task, struct mi_parts *parts)
{
    struct mi_task_step *first = &task->step[0], *last = &task->step[task->n - 1];
    const struct mi_tensor *in = find(first, kinds[first->kind].in[is_backward(first)]);
    const struct mi_tensor *out = find(last, kinds[last->kind].out[is_backward(last)]);
    memset(parts, 0, sizeof *parts);
    if (!in) return mi_fail(miopenStatusInvalidValue, "the problem lacks its input");
    parts->input = parts->output = *in;
    miopenStatus_t status = miopenStatusSuccess;
    for (int i = 0; i < task->n && status == miopenStatusSuccess; i++) {
        struct mi_part part;
        status = part_of(&task->step[i], &part);
        if (status == miopenStatusSuccess) status = mi_parts_add(parts, &part);
    }
    if (status != miopenStatusSuccess || !out) return status;
    bool same = out->dims == parts->output.dims && out->type == parts->output.type;
    for (int i = 0; same && i < out->dims; i++) same = out->size[i] == parts->output.size[i];
    if (!same) return mi_fail(miopenStatusBadParm, "the output does not fit the problem");
    parts->output = *out;
    return miopenStatusSuccess;
}

/* The tensors of a softmax, all of which must be told: x and y, or y, dy and dx. */
static miopenStatus_t softmax_tensors(struct mi_task_step *step, const struct mi_tensor *out[3])
{
    static const uint32_t ids[2][3] = {
        { miopenTensorSoftmaxX, miopenTensorSoftmaxY, miopenTensorSoftmaxY },
        { miopenTensorSoftmaxY, miopenTensorSoftmaxDY, miopenTensorSoftmaxDX }
    };
    for (int i = 0; i < 3; i++)
        if (!(out[i] = find(step, ids[is_backward(step)][i])))
            return mi_fail(miopenStatusInvalidValue, "the problem lacks tensor %u",
                           (unsigned)ids[is_backward(step)][i]);
    return miopenStatusSuccess;
}

/* The kind of what is no list of parts, else MI_TASK_KINDS. */
static enum mi_task_kind kind_alone(const struct mi_task *task)
{
    const enum mi_task_kind kind = task->step[0].kind;
    return task->n == 1 && (kind == MI_TASK_SOFTMAX || kind == MI_TASK_MHA) ? kind : MI_TASK_KINDS;
}

static struct mi_mha_call mha_of(struct mi_task_step *step)
{
    struct mi_mha_call call = { .scale = step->mha.scale, .backward = is_backward(step) };
    for (uint32_t i = 0; i < MI_MHA_TENSORS; i++) call.tensor[i] = find(step, miopenTensorMhaK + i);
    return call;
}

miopenStatus_t mi_task_plan(struct mi_handle *handle, const struct mi_task *task,
                            uint64_t *workspace)
{
    struct mi_parts parts;
    const struct mi_tensor *tensors[3];
    struct mi_task *own = mi_task_copy(task); /* find() gives places to write to */
    if (!own) return mi_fail(miopenStatusAllocFailed, "out of memory");
    *workspace = 0;
    miopenStatus_t status;
    if (kind_alone(own) == MI_TASK_SOFTMAX) {
        status = softmax_tensors(&own->step[0], tensors);
    } else if (kind_alone(own) == MI_TASK_MHA) {
        const struct mi_mha_call call = mha_of(&own->step[0]);
        status = mi_mha_plan(handle, &call);
    } else {
        status = parts_of(own, &parts);
        if (status == miopenStatusSuccess) status = mi_parts_plan(handle, &parts, workspace);
    }
    free(own);
    return status;
}

/* ---- running ---- */

struct given {
    size_t n;
    const miopenTensorArgument_t *list;
};

static void *buffer(const struct given *given, uint32_t id)
{
    for (size_t i = 0; i < given->n; i++)
        if ((uint32_t)given->list[i].id == id) return given->list[i].buffer;
    return NULL;
}

/* A scalar of a batch norm is a double of the host's. */
static double scalar(const struct given *given, uint32_t id, double otherwise)
{
    const double *value = buffer(given, id);
    return value ? *value : otherwise;
}

static struct mi_part_values values_of(const struct mi_task_step *step, const struct given *given)
{
    struct mi_part_values v = { .given = true };
    switch (step->kind) {
    case MI_TASK_CONV: v.w = buffer(given, miopenTensorConvolutionW); break;
    case MI_TASK_BIAS: v.w = buffer(given, miopenTensorBias); break;
    case MI_TASK_ACTIVATION:
        v.alpha = step->activation.alpha;
        v.beta = step->activation.beta;
        v.gamma = step->activation.gamma;
        v.x = buffer(given, miopenTensorActivationX);
        v.y = buffer(given, miopenTensorActivationY);
        break;
    default:
        v.x = buffer(given, miopenTensorBatchnormX);
        v.scale = buffer(given, miopenTensorBatchnormScale);
        v.bias = buffer(given, miopenTensorBatchnormBias);
        v.mean = buffer(given, miopenTensorBatchnormEstimatedMean);
        v.variance = buffer(given, miopenTensorBatchnormEstimatedVariance);
        v.running_mean = buffer(given, miopenTensorBatchnormRunningMean);
        v.running_variance = buffer(given, miopenTensorBatchnormRunningVariance);
        v.saved_mean = buffer(given, miopenTensorBatchnormSavedMean);
        v.saved_inverse = buffer(given, miopenTensorBatchnormSavedVariance);
        v.dscale = buffer(given, miopenTensorBatchnormScaleDiff);
        v.dbias = buffer(given, miopenTensorBatchnormBiasDiff);
        v.epsilon = scalar(given, miopenScalarBatchnormEpsilon, 1e-5);
        v.factor = scalar(given, miopenScalarBatchnormExpAvgFactor, 0);
        break;
    }
    return v;
}

static miopenStatus_t run_softmax(struct mi_handle *handle, struct mi_task_step *step,
                                  const struct given *given, const void *input, void *output)
{
    const struct mi_tensor *t[3];
    const void *y = buffer(given, miopenTensorSoftmaxY);
    miopenStatus_t status = softmax_tensors(step, t);
    if (status != miopenStatusSuccess) return status;
    handle->kernel_ms = 0;
    if (!is_backward(step))
        return mi_softmax_forward(handle, &step->softmax, t[0], input, t[1], output);
    if (!y) return mi_fail(miopenStatusInvalidValue, "y of the softmax is missing");
    return mi_softmax_backward(handle, &step->softmax, t[0], y, t[1], input, t[2], output);
}

static miopenStatus_t run_mha(struct mi_handle *handle, struct mi_task_step *step,
                              const struct given *given)
{
    struct mi_mha_call call = mha_of(step);
    for (uint32_t i = 0; i < MI_MHA_TENSORS; i++)
        call.buffer[i] = buffer(given, miopenTensorMhaK + i);
    const miopenMhaMask_t *mask = buffer(given, miopenTensorMhaMask); /* the host's */
    if (mask && (unsigned)*mask > miopenMhaMaskCausal)
        return mi_fail(miopenStatusBadParm, "no mask %d of attention", (int)*mask);
    call.causal = mask && *mask == miopenMhaMaskCausal;
    handle->kernel_ms = 0;
    return mi_mha_run(handle, &call);
}

miopenStatus_t mi_task_run(struct mi_handle *handle, const struct mi_task *task, size_t n,
                           const miopenTensorArgument_t *arguments, void *workspace,
                           size_t workspace_bytes)
{
    const struct given given = { n, arguments };
    const struct mi_task_step *first = &task->step[0], *last = &task->step[task->n - 1];
    const void *input = buffer(&given, kinds[first->kind].in[is_backward(first)]);
    void *output = buffer(&given, kinds[last->kind].out[is_backward(last)]);
    if (!input || !output)
        return mi_fail(miopenStatusInvalidValue, "input or output of the problem is missing");
    struct mi_task *own = mi_task_copy(task);
    if (!own) return mi_fail(miopenStatusAllocFailed, "out of memory");
    miopenStatus_t status = miopenStatusSuccess;
    for (size_t i = 0; i < n && status == miopenStatusSuccess; i++) {
        const uint32_t id = (uint32_t)arguments[i].id;
        const struct mi_tensor *other =
            arguments[i].descriptor ? mi_tensor(*arguments[i].descriptor) : NULL;
        if (arguments[i].descriptor && !other) status = miopenStatusBadParm;
        for (int k = 0; other && k < own->n; k++) {
            struct mi_tensor *tensor = find(&own->step[k], id);
            if (tensor) *tensor = *other;
        }
    }
    if (status == miopenStatusSuccess && kind_alone(own) != MI_TASK_KINDS) {
        status = kind_alone(own) == MI_TASK_MHA
                     ? run_mha(handle, &own->step[0], &given)
                     : run_softmax(handle, &own->step[0], &given, input, output);
        free(own);
        return status;
    }
    struct mi_parts parts;
    struct mi_part_values values[MI_PARTS];
    if (status == miopenStatusSuccess) status = parts_of(own, &parts);
    for (int i = 0; i < own->n; i++) values[i] = values_of(&own->step[i], &given);
    free(own);
    return status == miopenStatusSuccess
               ? mi_parts_run(handle, &parts, values, input, output, workspace, workspace_bytes)
               : status;
}
