/* rnn_sequence.c: descriptors of sequences of different lengths in one tensor. */
#include "dropin/miopen/log.h"
#include "dropin/miopen/rnn.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

const struct mi_sequence *mi_sequence(miopenSeqTensorDescriptor_t name)
{
    const struct mi_sequence *sequence = mi_object(name, MI_SEQUENCE);
    if (!sequence || !sequence->lengths) {
        mi_log(MI_ERROR, "%p is no sequence tensor descriptor that was set", (const void *)name);
        return NULL;
    }
    return sequence;
}

miopenStatus_t miopenCreateSeqTensorDescriptor(miopenSeqTensorDescriptor_t *out)
{
    if (!out) return mi_fail(miopenStatusBadParm, "miopenCreateSeqTensorDescriptor: NULL");
    struct mi_sequence *sequence = mi_object_new(MI_SEQUENCE, sizeof *sequence);
    if (!sequence) return mi_fail(miopenStatusAllocFailed, "out of memory");
    *out = mi_object_name(sequence);
    return miopenStatusSuccess;
}

miopenStatus_t miopenDestroySeqTensorDescriptor(miopenSeqTensorDescriptor_t name)
{
    if (!name) return miopenStatusSuccess;
    struct mi_sequence *sequence = mi_object(name, MI_SEQUENCE);
    if (!sequence) return mi_fail(miopenStatusBadParm, "no sequence tensor descriptor");
    free(sequence->lengths);
    free(sequence->order);
    sequence->lengths = sequence->order = NULL;
    mi_object_delete(sequence);
    return miopenStatusSuccess;
}

struct ranked {
    int length, index;
};

static int longer_first(const void *a, const void *b)
{
    const struct ranked *l = a, *r = b;
    if (l->length != r->length) return l->length > r->length ? -1 : 1;
    return l->index < r->index ? -1 : l->index > r->index;
}

/* The sequences, the longest first; `order` is NULL when they are so already. False: no memory. */
static bool rank(const int *lengths, int batch, int **order)
{
    bool sorted = true;
    for (int i = 1; i < batch; i++) sorted &= lengths[i] <= lengths[i - 1];
    *order = NULL;
    if (sorted) return true;
    struct ranked *list = malloc((size_t)batch * sizeof *list);
    int *made = malloc((size_t)batch * sizeof *made);
    if (list && made) {
        for (int i = 0; i < batch; i++) list[i] = (struct ranked){ lengths[i], i };
        qsort(list, (size_t)batch, sizeof *list, longer_first);
        for (int i = 0; i < batch; i++) made[i] = list[i].index;
        *order = made;
    } else {
        free(made);
    }
    free(list);
    return *order;
}

miopenStatus_t miopenSetRNNDataSeqTensorDescriptor(miopenSeqTensorDescriptor_t name,
                                                   miopenDataType_t type,
                                                   miopenRNNBaseLayout_t layout, int steps,
                                                   int batch, int width, const int *lengths,
                                                   void *padding)
{
    struct mi_sequence *sequence = mi_object(name, MI_SEQUENCE);
    if (!sequence || !lengths || steps < 1 || batch < 1 || width < 1 ||
        (int64_t)steps * batch > INT_MAX)
        return mi_fail(miopenStatusBadParm, "miopenSetRNNDataSeqTensorDescriptor: bad argument");
    if (layout < miopenRNNDataSeqMajorNotPadded || layout > miopenRNNDataBatchMajorPadded)
        return mi_fail(miopenStatusBadParm, "no RNN data layout %d", (int)layout);
    if (type != miopenFloat && type != miopenHalf)
        return mi_fail(miopenStatusBadParm, "RNN data of type %d", (int)type);
    for (int i = 0; i < batch; i++)
        if (lengths[i] < 0 || lengths[i] > steps)
            return mi_fail(miopenStatusBadParm, "a sequence of length %d, at most %d", lengths[i],
                           steps);
    int *copy = malloc((size_t)batch * sizeof *copy), *order = NULL;
    if (!copy || !rank(lengths, batch, &order)) {
        free(copy);
        return mi_fail(miopenStatusAllocFailed, "out of memory");
    }
    memcpy(copy, lengths, (size_t)batch * sizeof *copy);
    free(sequence->lengths);
    free(sequence->order);
    sequence->lengths = copy;
    sequence->order = order;
    sequence->type = type;
    sequence->layout = layout;
    sequence->steps = steps;
    sequence->batch = batch;
    sequence->width = width;
    sequence->padded = padding;
    memset(sequence->padding, 0, sizeof sequence->padding);
    if (padding) memcpy(sequence->padding, padding, mi_type_bytes(type));
    return miopenStatusSuccess;
}

miopenStatus_t miopenGetRNNDataSeqTensorDescriptor(miopenSeqTensorDescriptor_t name,
                                                   miopenDataType_t *type,
                                                   miopenRNNBaseLayout_t *layout, int *steps,
                                                   int *batch, int *width, int limit, int *lengths,
                                                   void *padding)
{
    const struct mi_sequence *sequence = mi_sequence(name);
    if (!sequence || !type || !layout || !steps || !batch || !width) return miopenStatusBadParm;
    *type = sequence->type;
    *layout = sequence->layout;
    *steps = sequence->steps;
    *batch = sequence->batch;
    *width = sequence->width;
    for (int i = 0; lengths && i < limit && i < sequence->batch; i++)
        lengths[i] = sequence->lengths[i];
    if (padding && sequence->padded)
        memcpy(padding, sequence->padding, mi_type_bytes(sequence->type));
    return miopenStatusSuccess;
}
