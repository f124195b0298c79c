/* task_file.c: problems that are no single convolution as bytes, and back. What is loaded is
 * checked like any other input. */
#include "dropin/miopen/task.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

/* Numbers of 8 bytes each. A task: how many steps, then each of them with its tensors. */
enum {
    TENSOR_WORDS = 3 + 2 * MI_DIMS,
    CONVOLUTION_WORDS = 3 + 4 * RMCP_MAX_DIMS,
    STEP_WORDS = 4 + CONVOLUTION_WORDS + 4 + 4 + 1,
};

size_t mi_task_size(const struct mi_task *task)
{
    size_t words = 1;
    for (int i = 0; i < task->n; i++) words += STEP_WORDS + (size_t)task->step[i].n * TENSOR_WORDS;
    return words * sizeof(int64_t);
}

/* ---- writing ---- */

static void put(char **data, int64_t word)
{
    memcpy(*data, &word, sizeof word);
    *data += sizeof word;
}

static void put_number(char **data, double number)
{
    memcpy(*data, &number, sizeof number);
    *data += sizeof number;
}

void mi_task_save(const struct mi_task *task, char *data)
{
    put(&data, task->n);
    for (int i = 0; i < task->n; i++) {
        const struct mi_task_step *step = &task->step[i];
        const struct mi_convolution *c = &step->convolution;
        const int64_t head[] = { step->kind, step->direction, step->norm, step->n,
                                 c->mode,    c->dims,         c->groups };
        for (size_t k = 0; k < sizeof head / sizeof *head; k++) put(&data, head[k]);
        for (int k = 0; k < RMCP_MAX_DIMS; k++) {
            put(&data, c->pad[k]);
            put(&data, c->stride[k]);
            put(&data, c->dilation[k]);
            put(&data, c->output_pad[k]);
        }
        put(&data, step->activation.mode);
        put_number(&data, step->activation.alpha);
        put_number(&data, step->activation.beta);
        put_number(&data, step->activation.gamma);
        put(&data, step->softmax.algorithm);
        put(&data, step->softmax.mode);
        put_number(&data, (double)step->softmax.alpha);
        put_number(&data, (double)step->softmax.beta);
        put_number(&data, (double)step->mha.scale);
        for (int k = 0; k < step->n; k++) {
            const struct mi_tensor *t = &step->tensor[k].tensor;
            put(&data, step->tensor[k].id);
            put(&data, t->type);
            put(&data, t->dims);
            for (int d = 0; d < MI_DIMS; d++) put(&data, t->size[d]);
            for (int d = 0; d < MI_DIMS; d++) put(&data, t->stride[d]);
        }
    }
}

/* ---- reading ---- */

struct reader {
    const char *data;
    size_t left;
    bool good;
};

static int64_t get(struct reader *r, int64_t least, int64_t most)
{
    int64_t word = 0;
    if (r->left < sizeof word) {
        r->good = false;
        return least;
    }
    memcpy(&word, r->data, sizeof word);
    r->data += sizeof word;
    r->left -= sizeof word;
    if (word >= least && word <= most) return word;
    r->good = false;
    return least;
}

static double get_number(struct reader *r)
{
    const int64_t word = get(r, INT64_MIN, INT64_MAX);
    double number;
    memcpy(&number, &word, sizeof number);
    return number;
}

static void get_convolution(struct reader *r, bool used, struct mi_convolution *c)
{
    const int least = used ? 1 : 0;
    c->mode = (miopenConvolutionMode_t)get(r, miopenConvolution, miopenTranspose);
    c->dims = (int)get(r, least, RMCP_MAX_DIMS);
    c->groups = (int)get(r, least, INT_MAX);
    for (int k = 0; k < RMCP_MAX_DIMS; k++) {
        const int spatial = k < c->dims ? least : 0;
        c->pad[k] = (int)get(r, 0, INT_MAX);
        c->stride[k] = (int)get(r, spatial, INT_MAX);
        c->dilation[k] = (int)get(r, spatial, INT_MAX);
        c->output_pad[k] = (int)get(r, 0, INT_MAX);
    }
}

static void get_tensor(struct reader *r, struct mi_tensor *t)
{
    t->type = (miopenDataType_t)get(r, 0, miopenInt64);
    t->cast_type = -1;
    t->dims = (int)get(r, 1, MI_DIMS);
    int64_t elements = 1, last = 0, reach;
    for (int d = 0; d < MI_DIMS; d++)
        t->size[d] = get(r, d < t->dims ? 1 : 0, d < t->dims ? INT64_MAX / 16 : 0);
    for (int d = 0; d < MI_DIMS; d++) {
        t->stride[d] = get(r, 0, INT64_MAX / 16);
        if (d >= t->dims)
            t->stride[d] = 0;
        else if (__builtin_mul_overflow(elements, t->size[d], &elements) ||
                 __builtin_mul_overflow(t->size[d] - 1, t->stride[d], &reach) ||
                 __builtin_add_overflow(last, reach, &last) || elements > INT64_MAX / 16 ||
                 last > INT64_MAX / 16)
            r->good = false;
    }
    if (!mi_type_bytes(t->type)) r->good = false;
}

static void get_step(struct reader *r, struct mi_task_step *step)
{
    step->kind = (enum mi_task_kind)get(r, 0, MI_TASK_KINDS - 1);
    step->direction = (miopenProblemDirection_t)get(r, 0, miopenProblemDirectionInference);
    step->norm = (miopenBatchNormMode_t)get(r, miopenBNPerActivation, miopenBNSpatial);
    const int n = (int)get(r, 0, MI_TASK_TENSORS);
    get_convolution(r, step->kind == MI_TASK_CONV, &step->convolution);
    step->activation.mode = (miopenActivationMode_t)get(r, 0, miopenActivationCLAMP);
    step->activation.alpha = get_number(r);
    step->activation.beta = get_number(r);
    step->activation.gamma = get_number(r);
    step->softmax.algorithm = (miopenSoftmaxAlgorithm_t)get(r, 0, MIOPEN_SOFTMAX_LOG);
    step->softmax.mode = (miopenSoftmaxMode_t)get(r, 0, MIOPEN_SOFTMAX_MODE_CHANNEL);
    step->softmax.alpha = (float)get_number(r);
    step->softmax.beta = (float)get_number(r);
    step->mha.scale = (float)get_number(r);
    for (int i = 0; i < n && r->good; i++) {
        struct mi_tensor tensor = { .dims = 0 };
        const uint32_t id = (uint32_t)get(r, 1, INT_MAX);
        get_tensor(r, &tensor);
        if (!r->good || mi_task_set(step, id, &tensor) != miopenStatusSuccess || step->n != i + 1)
            r->good = false; /* or twice the same */
    }
}

struct mi_task *mi_task_load(const char *data, size_t size)
{
    struct reader r = { data, size, true };
    struct mi_task *task = calloc(1, sizeof *task);
    if (!task) return NULL;
    task->n = (int)get(&r, 1, MI_PARTS);
    for (int i = 0; i < task->n && r.good; i++) get_step(&r, &task->step[i]);
    if (r.good && r.left == 0) return task;
    free(task);
    return NULL;
}
