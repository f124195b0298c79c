/* task.h: problems of Find 2.0 that are no single convolution: one operation, or several that are
 * fused. */
#ifndef RMCP_MIOPEN_TASK_H
#define RMCP_MIOPEN_TASK_H

#include "dropin/miopen/activation.h"
#include "dropin/miopen/mha.h"
#include "dropin/miopen/parts.h"
#include "dropin/miopen/softmax.h"

enum mi_task_kind {
    MI_TASK_CONV, /* only as a part of fused ones */
    MI_TASK_ACTIVATION,
    MI_TASK_BIAS,
    MI_TASK_NORM,
    MI_TASK_SOFTMAX, /* only alone */
    MI_TASK_MHA,     /* the same   */
    MI_TASK_KINDS
};

enum { MI_TASK_TENSORS = MI_MHA_TENSORS };

struct mi_task_step {
    enum mi_task_kind kind;
    miopenProblemDirection_t direction;
    struct mi_convolution convolution;
    struct mi_activation activation;
    miopenBatchNormMode_t norm;
    struct mi_softmax softmax;
    struct mi_mha mha;
    int n;
    struct mi_task_tensor {
        uint32_t id; /* miopenTensorArgumentId_t */
        struct mi_tensor tensor;
    } tensor[MI_TASK_TENSORS];
};

struct mi_task {
    int n;
    struct mi_task_step step[MI_PARTS];
};

/* One of one step, or a copy; NULL without memory. free() ends it. */
struct mi_task *mi_task_create(const struct mi_task_step *step);
struct mi_task *mi_task_copy(const struct mi_task *task);

/* Describe a tensor of a step; BadParm when its operation has no such one. */
miopenStatus_t mi_task_set(struct mi_task_step *step, uint32_t id, const struct mi_tensor *tensor);

/* Add the steps of another behind its own. */
miopenStatus_t mi_task_fuse(struct mi_task *task, const struct mi_task *behind);

/* Whether it can be done; the workspace that it takes. The handle is entered. */
miopenStatus_t mi_task_plan(struct mi_handle *handle, const struct mi_task *task,
                            uint64_t *workspace);

/* Do it with the buffers of the arguments, whose descriptors, if given, take the place of those
 * that were set. */
miopenStatus_t mi_task_run(struct mi_handle *handle, const struct mi_task *task, size_t n,
                           const miopenTensorArgument_t *arguments, void *workspace,
                           size_t workspace_bytes);

/* As bytes, and back: NULL when they are none, or with no memory. */
size_t mi_task_size(const struct mi_task *task);
void mi_task_save(const struct mi_task *task, char *data);
struct mi_task *mi_task_load(const char *data, size_t size);

#endif
