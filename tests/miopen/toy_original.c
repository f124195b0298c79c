/* toy_original.c: a libMIOpen with nothing but descriptors of pooling, local response
 * normalisation, dropout and recurrent networks; writes down what each is told, for test_chain.c.
 */
#include "dropin/miopen/api.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define EXPORT __attribute__((visibility("default")))

/* What a descriptor was told last, each function once. */
struct toy {
    char text[256];
};

EXPORT const char *toy_text(const void *descriptor);
EXPORT int toy_alive(void);

static int alive;

const char *toy_text(const void *descriptor)
{
    return ((const struct toy *)descriptor)->text;
}

int toy_alive(void)
{
    return alive;
}

static miopenStatus_t create(void **out)
{
    *out = calloc(1, sizeof(struct toy));
    alive++;
    return *out ? miopenStatusSuccess : miopenStatusAllocFailed;
}

static miopenStatus_t destroy(void *toy)
{
    free(toy);
    alive--;
    return miopenStatusSuccess;
}

#define MAKERS(what)                                                                               \
    EXPORT miopenStatus_t miopenCreate##what##Descriptor(miopen##what##Descriptor_t *out)          \
    {                                                                                              \
        return create((void **)out);                                                               \
    }                                                                                              \
    EXPORT miopenStatus_t miopenDestroy##what##Descriptor(miopen##what##Descriptor_t toy)          \
    {                                                                                              \
        return destroy(toy);                                                                       \
    }
MAKERS(Pooling)
MAKERS(LRN)
MAKERS(Dropout)
MAKERS(RNN)

EXPORT miopenStatus_t miopenSetNdPoolingDescriptor(miopenPoolingDescriptor_t toy,
                                                   miopenPoolingMode_t mode, int dims,
                                                   const int *window, const int *pad,
                                                   const int *stride)
{
    char *text = ((struct toy *)(void *)toy)->text;
    int used = sprintf(text, "mode %d", (int)mode);
    for (int d = 0; d < dims; d++)
        used += sprintf(text + used, " %d/%d/%d", window[d], pad[d], stride[d]);
    return miopenStatusSuccess;
}

EXPORT miopenStatus_t miopenSetPoolingIndexType(miopenPoolingDescriptor_t toy,
                                                miopenIndexType_t type)
{
    char *text = ((struct toy *)(void *)toy)->text;
    sprintf(text + strlen(text), " type %d", (int)type);
    return miopenStatusSuccess;
}

EXPORT miopenStatus_t miopenSetPoolingWorkSpaceIndexMode(miopenPoolingDescriptor_t toy,
                                                         miopenPoolingWorkspaceIndexMode_t mode)
{
    char *text = ((struct toy *)(void *)toy)->text;
    sprintf(text + strlen(text), " index %d", (int)mode);
    return miopenStatusSuccess;
}

/* As if C++ had set one: a mean over 2 x 4. */
EXPORT miopenStatus_t miopenGetNdPoolingDescriptor(miopenPoolingDescriptor_t toy, int room,
                                                   miopenPoolingMode_t *mode, int *dims,
                                                   int *window, int *pad, int *stride)
{
    (void)toy;
    *mode = miopenPoolingAverage;
    *dims = 2;
    for (int d = 0; d < room; d++) window[d] = 2 + 2 * d, pad[d] = 0, stride[d] = 1 + d;
    return miopenStatusSuccess;
}

EXPORT miopenStatus_t miopenGetPoolingIndexType(miopenPoolingDescriptor_t toy,
                                                miopenIndexType_t *type)
{
    (void)toy;
    *type = miopenIndexUint16;
    return miopenStatusSuccess;
}

EXPORT miopenStatus_t miopenGetPoolingWorkSpaceIndexMode(miopenPoolingDescriptor_t toy,
                                                         miopenPoolingWorkspaceIndexMode_t *mode)
{
    (void)toy;
    *mode = miopenPoolingWorkspaceIndexImage;
    return miopenStatusSuccess;
}

EXPORT miopenStatus_t miopenSetLRNDescriptor(miopenLRNDescriptor_t toy, miopenLRNMode_t mode,
                                             unsigned n, double alpha, double beta, double k)
{
    sprintf(((struct toy *)(void *)toy)->text, "mode %d %u %g %g %g", (int)mode, n, alpha, beta, k);
    return miopenStatusSuccess;
}

/* Not by each other: the linker may take the names for those of the library before the toy. */
static miopenStatus_t set_rnn(miopenRNNDescriptor_t toy, const int *numbers,
                              miopenDropoutDescriptor_t dropout)
{
    sprintf(((struct toy *)(void *)toy)->text, "%d %d %p %d %d %d %d %d %d", numbers[0], numbers[1],
            (void *)dropout, numbers[2], numbers[3], numbers[4], numbers[5], numbers[6],
            numbers[7]);
    return miopenStatusSuccess;
}

EXPORT miopenStatus_t miopenSetRNNDescriptor_V2(miopenRNNDescriptor_t toy, int hidden, int layers,
                                                miopenDropoutDescriptor_t dropout,
                                                miopenRNNInputMode_t input,
                                                miopenRNNDirectionMode_t direction,
                                                miopenRNNMode_t mode, miopenRNNBiasMode_t bias,
                                                miopenRNNAlgo_t algo, miopenDataType_t type)
{
    const int numbers[] = { hidden,    layers,    (int)input, (int)direction,
                            (int)mode, (int)bias, (int)algo,  (int)type };
    return set_rnn(toy, numbers, dropout);
}

EXPORT miopenStatus_t miopenSetRNNDescriptor(miopenRNNDescriptor_t toy, int hidden, int layers,
                                             miopenRNNInputMode_t input,
                                             miopenRNNDirectionMode_t direction,
                                             miopenRNNMode_t mode, miopenRNNBiasMode_t bias,
                                             miopenRNNAlgo_t algo, miopenDataType_t type)
{
    const int numbers[] = { hidden,    layers,    (int)input, (int)direction,
                            (int)mode, (int)bias, (int)algo,  (int)type };
    return set_rnn(toy, numbers, NULL);
}

EXPORT miopenStatus_t miopenSetRNNPaddingMode(miopenRNNDescriptor_t toy,
                                              miopenRNNPaddingMode_t padding)
{
    char *text = ((struct toy *)(void *)toy)->text;
    char *end = strstr(text, " padding");
    sprintf(end ? end : text + strlen(text), " padding %d", (int)padding);
    return miopenStatusSuccess;
}
