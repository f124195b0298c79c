/* ctc.c: connectionist temporal classification.
 *
 * Labels and lengths may lie on the host, where the original's documents have them, or on the
 * device, where PyTorch puts them. They are checked on the host, and laid into the caller's
 * workspace for the engine. */
#include "dropin/miopen/case.h"
#include "dropin/miopen/log.h"

#include <stdlib.h>
#include <string.h>

struct mi_ctc {
    struct mi_object object;
    miopenDataType_t type;
    int blank;
    bool softmax;
};

static struct mi_ctc *find(miopenCTCLossDescriptor_t name)
{
    struct mi_ctc *ctc = mi_object(name, MI_CTC);
    if (!ctc) mi_log(MI_ERROR, "%p is no CTC loss descriptor", (const void *)name);
    return ctc;
}

miopenStatus_t miopenCreateCTCLossDescriptor(miopenCTCLossDescriptor_t *out)
{
    if (!out) return mi_fail(miopenStatusBadParm, "miopenCreateCTCLossDescriptor: NULL");
    struct mi_ctc *ctc = mi_object_new(MI_CTC, sizeof *ctc);
    if (!ctc) return mi_fail(miopenStatusAllocFailed, "out of memory");
    ctc->type = miopenFloat;
    ctc->softmax = true;
    *out = mi_object_name(ctc);
    return miopenStatusSuccess;
}

miopenStatus_t miopenDestroyCTCLossDescriptor(miopenCTCLossDescriptor_t name)
{
    if (!name) return miopenStatusSuccess;
    struct mi_ctc *ctc = find(name);
    if (!ctc) return miopenStatusBadParm;
    mi_object_delete(ctc);
    return miopenStatusSuccess;
}

miopenStatus_t miopenGetCTCLossDescriptor(miopenCTCLossDescriptor_t name, miopenDataType_t *type,
                                          int *blank, bool *softmax)
{
    const struct mi_ctc *ctc = find(name);
    if (!ctc || !type) return miopenStatusBadParm;
    *type = ctc->type;
    if (blank) *blank = ctc->blank;
    if (softmax) *softmax = ctc->softmax;
    return miopenStatusSuccess;
}

miopenStatus_t miopenSetCTCLossDescriptor(miopenCTCLossDescriptor_t name, miopenDataType_t type,
                                          const int blank, bool softmax)
{
    struct mi_ctc *ctc = find(name);
    if (!ctc) return miopenStatusBadParm;
    ctc->type = type;
    ctc->blank = blank;
    ctc->softmax = softmax;
    return miopenStatusSuccess;
}

/* ---- labels ---- */

/* What is known of a batch on the host: [labels of each sequence, `longest` apart][input and label
 * length of each sequence]. */
struct batch {
    int64_t steps, size, classes;
    int64_t longest, total; /* labels: of one sequence, and of all */
    int32_t *words;
    int64_t n_words;
};

static miopenStatus_t read_words(struct mi_handle *handle, const int *from, int64_t n, int32_t *to)
{
    const size_t bytes = (size_t)n * sizeof *to;
    if (!n) return miopenStatusSuccess;
    if (!mi_is_device_memory(from)) {
        memcpy(to, from, bytes);
        return miopenStatusSuccess;
    }
    if (mi_is_capturing(handle->stream))
        return mi_fail(miopenStatusNotImplemented, "CTC loss while a stream is captured");
    return mi_status(handle->engine->rmcp_copy_to_host(handle->device, handle->stream, to,
                                                       (rmcp_memory){ (void *)(uintptr_t)from, 0 },
                                                       bytes),
                     "CTC labels");
}

static miopenStatus_t check_lengths(struct batch *b, const int32_t *label, const int32_t *input,
                                    miopenStatus_t bad)
{
    b->longest = b->total = 0;
    for (int64_t n = 0; n < b->size; n++) {
        if (input[n] < 0 || input[n] > b->steps)
            return mi_fail(bad, "CTC: a sequence of %d steps in a tensor of %lld", (int)input[n],
                           (long long)b->steps);
        if (label[n] < 0 || label[n] > input[n])
            return mi_fail(bad, "CTC: %d labels for %d steps", (int)label[n], (int)input[n]);
        b->total += label[n];
        if (label[n] > b->longest) b->longest = label[n];
    }
    return miopenStatusSuccess;
}

/* Into rows of equal length; a path needs a step between equal labels. */
static miopenStatus_t arrange(struct batch *b, const int32_t *labels, const int32_t *label,
                              const int32_t *input, miopenStatus_t bad)
{
    for (int64_t n = 0; n < b->size; labels += label[n++]) {
        int64_t repeats = 0;
        for (int32_t i = 0; i < label[n]; i++) {
            if (labels[i] < 0 || labels[i] >= b->classes)
                return mi_fail(bad, "CTC: label %d of %lld classes", (int)labels[i],
                               (long long)b->classes);
            repeats += i > 0 && labels[i] == labels[i - 1];
            b->words[n * b->longest + i] = labels[i];
        }
        if (label[n] + repeats > input[n])
            return mi_fail(bad, "CTC: %d labels and %lld repetitions for %d steps", (int)label[n],
                           (long long)repeats, (int)input[n]);
        b->words[b->size * b->longest + 2 * n] = input[n];
        b->words[b->size * b->longest + 2 * n + 1] = label[n];
    }
    return miopenStatusSuccess;
}

/* Read labels and lengths, check them, and set b->words, the caller's to free; `bad` is the status
 * for those that cannot be. */
static miopenStatus_t read_batch(struct mi_handle *handle, const int *labels,
                                 const int *label_lengths, const int *input_lengths,
                                 miopenStatus_t bad, struct batch *b)
{
    int32_t *all = NULL, *lengths = malloc((size_t)b->size * 2 * sizeof *lengths);
    miopenStatus_t status = lengths ? miopenStatusSuccess : miopenStatusAllocFailed;
    int32_t *const label = lengths, *const input = lengths ? lengths + b->size : NULL;
    if (!status) status = read_words(handle, label_lengths, b->size, label);
    if (!status) status = read_words(handle, input_lengths, b->size, input);
    if (!status) status = check_lengths(b, label, input, bad);
    if (!status && b->total && !labels)
        status = mi_fail(miopenStatusBadParm, "CTC: labels are NULL");
    if (!status) {
        b->n_words = b->size * (b->longest + 2);
        b->words = calloc((size_t)b->n_words, sizeof *b->words);
        all = malloc(((size_t)b->total + 1) * sizeof *all);
        if (!b->words || !all) status = miopenStatusAllocFailed;
    }
    if (!status) status = read_words(handle, labels, b->total, all);
    if (!status) status = arrange(b, all, label, input, bad);
    free(all);
    free(lengths);
    if (status) {
        free(b->words);
        b->words = NULL;
    }
    return status;
}

/* ---- the loss ---- */

/* As many bytes as the original asks for; the labels have room in them. */
static size_t workspace_bytes(const struct batch *b)
{
    const size_t states = 2 * (size_t)b->longest + 1, size = (size_t)b->size;
    const size_t rows = (size_t)b->steps * size;
    return 4 * (4 * size + (size_t)b->total + size * states) +
           4 * (rows * (size_t)b->classes + rows * states + 2 * size * states);
}

static bool same_size(const struct mi_tensor *a, const struct mi_tensor *b)
{
    return a->dims == 3 && b->dims == 3 && !memcmp(a->size, b->size, 3 * sizeof *a->size);
}

miopenStatus_t miopenGetCTCLossWorkspaceSize(miopenHandle_t handle_name,
                                             const miopenTensorDescriptor_t probs_name,
                                             const miopenTensorDescriptor_t gradients_name,
                                             const int *labels, const int *label_lengths,
                                             const int *input_lengths, miopenCTCLossAlgo_t algo,
                                             const miopenCTCLossDescriptor_t name, size_t *bytes)
{
    (void)algo;
    const struct mi_tensor *probs = mi_tensor(probs_name), *gradients = mi_tensor(gradients_name);
    if (!probs || !gradients || !find(name) || !bytes || !label_lengths || !input_lengths)
        return mi_fail(miopenStatusBadParm, "miopenGetCTCLossWorkspaceSize: bad argument");
    if (!same_size(probs, gradients))
        return mi_fail(miopenStatusBadParm, "CTC: probabilities and gradients differ in size");
    struct mi_handle *handle = mi_handle_enter(handle_name);
    if (!handle) return miopenStatusBadParm;
    struct batch b = { .steps = probs->size[0], .size = probs->size[1], .classes = probs->size[2] };
    miopenStatus_t status =
        read_batch(handle, labels, label_lengths, input_lengths, miopenStatusBadParm, &b);
    if (!status) *bytes = workspace_bytes(&b);
    free(b.words);
    mi_handle_leave(handle);
    return status;
}

static miopenStatus_t run(struct mi_handle *handle, const struct mi_ctc *ctc,
                          const struct mi_tensor *probs, const void *x, const struct batch *b,
                          void *losses, const struct mi_tensor *gradients, void *dx,
                          void *workspace)
{
    const int64_t blank = ctc->blank < 0             ? 0
                          : ctc->blank >= b->classes ? b->classes - 1
                                                     : ctc->blank;
    struct mi_case c;
    mi_case_begin(&c, "ctc", probs);
    mi_case_put(&c, ":%s:labels%lld:blank%lld", ctc->softmax ? "softmax" : "logs",
                (long long)b->longest, (long long)blank);
    mi_case_tensor(&c, MI_X, probs, x);
    mi_case_memory(&c, MI_TARGETS, workspace);
    mi_case_memory(&c, MI_LENGTHS, (int32_t *)workspace + b->size * b->longest);
    mi_case_memory(&c, MI_LOSS, losses);
    mi_case_tensor(&c, MI_DX, gradients, dx);
    if (mi_is_capturing(handle->stream))
        return mi_fail(miopenStatusNotImplemented, "CTC loss while a stream is captured");
    miopenStatus_t status =
        mi_status(handle->engine->rmcp_copy_to_device(handle->device, handle->stream,
                                                      (rmcp_memory){ workspace, 0 }, b->words,
                                                      (uint64_t)b->n_words * sizeof *b->words),
                  "CTC labels");
    return status ? status : mi_case_run(handle, &c);
}

miopenStatus_t miopenCTCLoss(miopenHandle_t handle_name, const miopenTensorDescriptor_t probs_name,
                             const void *x, const int *labels, const int *label_lengths,
                             const int *input_lengths, void *losses,
                             const miopenTensorDescriptor_t gradients_name, void *dx,
                             miopenCTCLossAlgo_t algo, const miopenCTCLossDescriptor_t name,
                             void *workspace, size_t bytes)
{
    (void)algo;
    const struct mi_ctc *ctc = find(name);
    const struct mi_tensor *probs = mi_tensor(probs_name), *gradients = mi_tensor(gradients_name);
    if (!ctc || !probs || !gradients || !x || !losses || !dx || !workspace || !label_lengths ||
        !input_lengths)
        return mi_fail(miopenStatusBadParm, "miopenCTCLoss: bad argument");
    if (gradients->type != probs->type)
        return mi_fail(miopenStatusBadParm, "CTC: probabilities and gradients differ in type");
    if (!same_size(probs, gradients))
        return mi_fail(miopenStatusUnknownError, "CTC: probabilities and gradients differ in size");
    struct mi_handle *handle = mi_handle_enter(handle_name);
    if (!handle) return miopenStatusBadParm;
    handle->kernel_ms = 0;
    struct batch b = { .steps = probs->size[0], .size = probs->size[1], .classes = probs->size[2] };
    miopenStatus_t status =
        read_batch(handle, labels, label_lengths, input_lengths, miopenStatusUnknownError, &b);
    if (!status && bytes < (size_t)b.n_words * sizeof *b.words)
        status = mi_fail(miopenStatusBadParm, "CTC: a workspace of %zu bytes", bytes);
    if (!status) status = run(handle, ctc, probs, x, &b, losses, gradients, dx, workspace);
    free(b.words);
    mi_handle_leave(handle);
    return status;
}
