/* solution_file.c: solutions as bytes: size, save, load. What is loaded is checked like any other
 * input. */
#include "dropin/miopen/find2.h"

#include "base/hash.h"
#include "dropin/miopen/log.h"

#include <stdlib.h>
#include <string.h>

/* Numbers of 8 bytes each, the first two to recognise it, the last a sum over all others. For what
 * is no single convolution the first four are followed by the bytes of task_file.c. */
enum {
    MAGIC,
    FORM,
    PASS,
    MODE,
    DIMS,
    GROUPS,
    SPATIAL,                               /* pad, stride, dilation, output pad of each dimension */
    TENSORS = SPATIAL + 4 * RMCP_MAX_DIMS, /* type, dims, sizes, strides of x, w, y */
    SOLUTION_ID = TENSORS + 3 * (2 + 2 * MI_DIMS),
    WORKSPACE,
    MICROSECONDS,
    NAME, /* 32 bytes */
    SUM = NAME + 4,
    WORDS
};
#define MAGIC_NUMBER UINT64_C(0x31504f504d434d52) /* "RMCMPOP1" */
enum { FORM_NUMBER = 1, TASK_FORM_NUMBER = 3, TASK_ID = 2, TASK_WORKSPACE, TASK_HEAD };

static int64_t sum_of(const int64_t *words, size_t n)
{
    uint64_t sum = RMCP_HASH_START;
    for (size_t i = 0; i < n; i++) sum = rmcp_hash_word(sum, (uint64_t)words[i]);
    return (int64_t)sum;
}

miopenStatus_t miopenGetSolutionSize(miopenSolution_t name, size_t *size)
{
    const struct mi_solution *solution = mi_object(name, MI_SOLUTION);
    if (!solution || !size) return miopenStatusBadParm;
    *size = solution->task ? (TASK_HEAD + 1) * sizeof(int64_t) + mi_task_size(solution->task)
                           : WORDS * sizeof(int64_t);
    return miopenStatusSuccess;
}

/* Sum over bytes that need not be aligned. */
static int64_t sum_of_bytes(const char *data, size_t n_words)
{
    uint64_t sum = RMCP_HASH_START;
    for (size_t i = 0; i < n_words; i++) {
        uint64_t word;
        memcpy(&word, data + i * sizeof word, sizeof word);
        sum = rmcp_hash_word(sum, word);
    }
    return (int64_t)sum;
}

static void save_task(const struct mi_solution *solution, char *data)
{
    const int64_t head[TASK_HEAD] = { (int64_t)MAGIC_NUMBER, TASK_FORM_NUMBER,
                                      (int64_t)solution->id, (int64_t)solution->workspace };
    const size_t bytes = sizeof head + mi_task_size(solution->task);
    memcpy(data, head, sizeof head);
    mi_task_save(solution->task, data + sizeof head);
    const int64_t sum = sum_of_bytes(data, bytes / sizeof sum);
    memcpy(data + bytes, &sum, sizeof sum);
}

static miopenStatus_t load_task(miopenSolution_t *out, const char *data, size_t size)
{
    int64_t head[TASK_HEAD], sum;
    if (size % sizeof sum || size < sizeof head + 2 * sizeof sum)
        return mi_fail(miopenStatusVersionMismatch, "%zu bytes are no solution of this library",
                       size);
    memcpy(head, data, sizeof head);
    memcpy(&sum, data + size - sizeof sum, sizeof sum);
    if (sum != sum_of_bytes(data, size / sizeof sum - 1))
        return mi_fail(miopenStatusVersionMismatch, "these bytes are no solution of this library");
    struct mi_task *task = mi_task_load(data + sizeof head, size - sizeof head - sizeof sum);
    if (!task) return mi_fail(miopenStatusBadParm, "a solution for a problem that cannot be");
    struct mi_solution *solution = mi_object_new(MI_SOLUTION, sizeof *solution);
    if (!solution) {
        free(task);
        return mi_fail(miopenStatusAllocFailed, "out of memory");
    }
    solution->task = task;
    solution->id = (uint64_t)head[TASK_ID];
    solution->workspace = (uint64_t)head[TASK_WORKSPACE];
    strncpy(solution->algorithm, "parts", sizeof solution->algorithm - 1);
    *out = (miopenSolution_t)(void *)solution;
    return miopenStatusSuccess;
}

miopenStatus_t miopenSaveSolution(miopenSolution_t name, char *data)
{
    const struct mi_solution *solution = mi_object(name, MI_SOLUTION);
    if (!solution || !data) return miopenStatusBadParm;
    if (solution->task) {
        save_task(solution, data);
        return miopenStatusSuccess;
    }
    int64_t words[WORDS] = { 0 };
    const struct mi_convolution *c = &solution->call.convolution;
    words[MAGIC] = (int64_t)MAGIC_NUMBER;
    words[FORM] = FORM_NUMBER;
    words[PASS] = solution->call.pass;
    words[MODE] = c->mode;
    words[DIMS] = c->dims;
    words[GROUPS] = c->groups;
    for (int i = 0; i < RMCP_MAX_DIMS; i++) {
        int64_t *w = &words[SPATIAL + 4 * i];
        w[0] = c->pad[i];
        w[1] = c->stride[i];
        w[2] = c->dilation[i];
        w[3] = c->output_pad[i];
    }
    const struct mi_tensor *tensors[] = { &solution->call.x, &solution->call.w, &solution->call.y };
    for (int t = 0; t < 3; t++) {
        int64_t *w = &words[TENSORS + t * (2 + 2 * MI_DIMS)];
        w[0] = tensors[t]->type;
        w[1] = tensors[t]->dims;
        memcpy(&w[2], tensors[t]->size, sizeof tensors[t]->size);
        memcpy(&w[2 + MI_DIMS], tensors[t]->stride, sizeof tensors[t]->stride);
    }
    words[SOLUTION_ID] = (int64_t)solution->id;
    words[WORKSPACE] = (int64_t)solution->workspace;
    words[MICROSECONDS] = (int64_t)(solution->ms * 1e3f);
    memcpy(&words[NAME], solution->algorithm, sizeof solution->algorithm);
    words[SUM] = sum_of(words, SUM);
    memcpy(data, words, sizeof words);
    return miopenStatusSuccess;
}

/* A tensor as its setters would have made it, or false. */
static bool load_tensor(const int64_t *w, struct mi_tensor *out)
{
    out->type = (miopenDataType_t)w[0];
    out->cast_type = -1;
    if (w[0] < 0 || w[0] > 9 || w[1] < 3 || w[1] > RMCP_MAX_DIMS + 2) return false;
    out->dims = (int)w[1];
    int64_t elements = 1, last = 0, reach;
    for (int i = 0; i < out->dims; i++) {
        out->size[i] = w[2 + i];
        out->stride[i] = w[2 + MI_DIMS + i];
        if (out->size[i] < 1 || out->stride[i] < 0 ||
            __builtin_mul_overflow(elements, out->size[i], &elements) ||
            __builtin_mul_overflow(out->size[i] - 1, out->stride[i], &reach) ||
            __builtin_add_overflow(last, reach, &last) || elements > INT64_MAX / 16 ||
            last > INT64_MAX / 16)
            return false;
    }
    return true;
}

static bool load_convolution(const int64_t *words, struct mi_convolution *out)
{
    if ((words[MODE] != miopenConvolution && words[MODE] != miopenTranspose) || words[DIMS] < 1 ||
        words[DIMS] > RMCP_MAX_DIMS || words[GROUPS] < 1 || words[GROUPS] > INT32_MAX)
        return false;
    out->mode = (miopenConvolutionMode_t)words[MODE];
    out->dims = (int)words[DIMS];
    out->groups = (int)words[GROUPS];
    out->find_mode = miopenConvolutionFindModeDefault;
    for (int i = 0; i < RMCP_MAX_DIMS; i++) {
        const int64_t *w = &words[SPATIAL + 4 * i];
        for (int j = 0; j < 4; j++)
            if (w[j] < (j == 1 || j == 2) || w[j] > INT32_MAX) return false;
        out->pad[i] = (int)w[0];
        out->stride[i] = (int)w[1];
        out->dilation[i] = (int)w[2];
        out->output_pad[i] = (int)w[3];
    }
    return true;
}

miopenStatus_t miopenLoadSolution(miopenSolution_t *out, const char *data, size_t size)
{
    int64_t words[WORDS];
    if (!out || !data)
        return mi_fail(miopenStatusBadParm, "miopenLoadSolution: an argument is NULL");
    int64_t begin[2] = { 0 };
    memcpy(begin, data, size < sizeof begin ? size : sizeof begin);
    if (begin[MAGIC] == (int64_t)MAGIC_NUMBER && begin[FORM] == TASK_FORM_NUMBER)
        return load_task(out, data, size);
    if (size != sizeof words)
        return mi_fail(miopenStatusVersionMismatch, "%zu bytes are no solution of this library",
                       size);
    memcpy(words, data, sizeof words);
    struct mi_conv_call call = { .pass = (rmcp_conv_pass)words[PASS] };
    struct mi_conv conv;
    if (words[MAGIC] != (int64_t)MAGIC_NUMBER || words[FORM] != FORM_NUMBER ||
        words[SUM] != sum_of(words, SUM))
        return mi_fail(miopenStatusVersionMismatch, "these bytes are no solution of this library");
    if (words[PASS] < 0 || words[PASS] >= RMCP_CONV_PASSES ||
        !load_convolution(words, &call.convolution) || !load_tensor(&words[TENSORS], &call.x) ||
        !load_tensor(&words[TENSORS + 2 + 2 * MI_DIMS], &call.w) ||
        !load_tensor(&words[TENSORS + 2 * (2 + 2 * MI_DIMS)], &call.y) ||
        mi_conv_translate(&call, &conv) != miopenStatusSuccess)
        return mi_fail(miopenStatusBadParm, "a solution for a problem that cannot be");
    struct mi_solution *solution = mi_object_new(MI_SOLUTION, sizeof *solution);
    if (!solution) return mi_fail(miopenStatusAllocFailed, "out of memory");
    solution->call = call;
    solution->id = (uint64_t)words[SOLUTION_ID];
    solution->workspace = (uint64_t)words[WORKSPACE];
    solution->ms = (float)words[MICROSECONDS] * 1e-3f;
    memcpy(solution->algorithm, &words[NAME], sizeof solution->algorithm - 1);
    *out = (miopenSolution_t)(void *)solution;
    return miopenStatusSuccess;
}
