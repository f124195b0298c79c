/* chain.c: objects of the original library behind ours. */
#include "dropin/miopen/chain.h"

#include "dropin/miopen/activation.h"
#include "dropin/miopen/convolution.h"
#include "dropin/miopen/handle.h"
#include "dropin/miopen/log.h"
#include "dropin/miopen/lrn.h"
#include "dropin/miopen/pool.h"
#include "dropin/miopen/rnn.h"
#include "dropin/miopen/tensor.h"

#include <string.h>

/* The original's function, with its type; NULL when it has none. */
#define ORIGINAL(name, pointer)                                                                    \
    __typeof__(&name) pointer = NULL;                                                              \
    do {                                                                                           \
        void *symbol_ = mi_original(#name);                                                        \
        memcpy(&pointer, &symbol_, sizeof pointer);                                                \
    } while (0)

static miopenStatus_t missing(void)
{
    return mi_fail(miopenStatusInternalError, "the original library lacks a function");
}

static miopenStatus_t give_twin(struct mi_object *object, miopenStatus_t status, void *twin)
{
    if (status != miopenStatusSuccess)
        return mi_fail(status, "the original library gave no object");
    return mi_object_twin(object, twin) ? miopenStatusSuccess : miopenStatusAllocFailed;
}

miopenStatus_t mi_chain_handle(struct mi_handle *handle)
{
    if (!mi_chaining()) return miopenStatusSuccess;
    ORIGINAL(miopenCreateWithStream, create);
    if (!create) return missing();
    miopenHandle_t twin = NULL;
    miopenStatus_t status = create(&twin, handle->stream);
    return give_twin(&handle->object, status, twin);
}

/* What makes and destroys a descriptor; all of them have the same signature. */
static const struct {
    const char *create, *destroy;
} makers[MI_KINDS] = {
    [MI_HANDLE] = { NULL, "miopenDestroy" },
    [MI_TENSOR] = { "miopenCreateTensorDescriptor", "miopenDestroyTensorDescriptor" },
    [MI_CONVOLUTION] = { "miopenCreateConvolutionDescriptor",
                         "miopenDestroyConvolutionDescriptor" },
    [MI_ACTIVATION] = { "miopenCreateActivationDescriptor", "miopenDestroyActivationDescriptor" },
    [MI_DROPOUT] = { "miopenCreateDropoutDescriptor", "miopenDestroyDropoutDescriptor" },
    [MI_POOL] = { "miopenCreatePoolingDescriptor", "miopenDestroyPoolingDescriptor" },
    [MI_LRN] = { "miopenCreateLRNDescriptor", "miopenDestroyLRNDescriptor" },
    [MI_RNN] = { "miopenCreateRNNDescriptor", "miopenDestroyRNNDescriptor" },
};

static miopenStatus_t twin_of_kind(struct mi_object *object, enum mi_kind kind)
{
    if (!mi_chaining()) return miopenStatusSuccess;
    void *twin = NULL, *symbol = makers[kind].create ? mi_original(makers[kind].create) : NULL;
    miopenStatus_t (*create)(void **) = NULL;
    memcpy(&create, &symbol, sizeof create);
    const miopenStatus_t status = create ? create(&twin) : missing();
    return give_twin(object, status, twin);
}

miopenStatus_t mi_chain_descriptor(struct mi_object *object, enum mi_kind kind, void *out)
{
    const miopenStatus_t status = twin_of_kind(object, kind);
    if (status != miopenStatusSuccess) {
        mi_object_delete(object);
        return status;
    }
    void *const name = mi_object_name(object);
    memcpy(out, &name, sizeof name);
    return miopenStatusSuccess;
}

void mi_chain_destroy(struct mi_object *object, enum mi_kind kind)
{
    void *symbol = object->twin && makers[kind].destroy ? mi_original(makers[kind].destroy) : NULL;
    miopenStatus_t (*destroy)(void *) = NULL;
    memcpy(&destroy, &symbol, sizeof destroy);
    if (destroy) destroy(object->twin);
}

miopenStatus_t mi_chain_stream(struct mi_handle *handle)
{
    if (!handle->object.twin) return miopenStatusSuccess;
    ORIGINAL(miopenSetStream, set);
    return set ? set(handle->object.twin, handle->stream) : missing();
}

miopenStatus_t mi_chain_allocator(struct mi_handle *handle)
{
    if (!handle->object.twin) return miopenStatusSuccess;
    ORIGINAL(miopenSetAllocator, set);
    return set ? set(handle->object.twin, handle->allocate, handle->release,
                     handle->allocator_context)
               : missing();
}

miopenStatus_t mi_chain_tensor(const struct mi_tensor *tensor)
{
    if (!tensor->object.twin) return miopenStatusSuccess;
    ORIGINAL(miopenSetTensorDescriptor, set);
    int size[MI_DIMS], stride[MI_DIMS];
    for (int i = 0; i < tensor->dims; i++) {
        if (tensor->size[i] > INT32_MAX || tensor->stride[i] > INT32_MAX)
            return mi_fail(miopenStatusBadParm, "too large for the original library");
        size[i] = (int)tensor->size[i];
        stride[i] = (int)tensor->stride[i];
    }
    miopenStatus_t status =
        set ? set(tensor->object.twin, tensor->type, tensor->dims, size, stride) : missing();
    if (status == miopenStatusSuccess && tensor->cast_type >= 0) {
        ORIGINAL(miopenSetTensorCastType, cast);
        status = cast ? cast(tensor->object.twin, (miopenDataType_t)tensor->cast_type) : missing();
    }
    return status;
}

miopenStatus_t mi_chain_convolution(const struct mi_convolution *c)
{
    void *twin = c->object.twin;
    if (!twin) return miopenStatusSuccess;
    ORIGINAL(miopenInitConvolutionNdDescriptor, init);
    ORIGINAL(miopenSetConvolutionGroupCount, group);
    ORIGINAL(miopenSetConvolutionAttribute, attribute);
    ORIGINAL(miopenSetTransposeConvNdOutputPadding, padding);
    if (!init || !group || !attribute || !padding) return missing();
    miopenStatus_t status = init(twin, c->dims, c->pad, c->stride, c->dilation, c->mode);
    if (status == miopenStatusSuccess) status = group(twin, c->groups);
    if (status == miopenStatusSuccess) status = padding(twin, c->dims, c->output_pad);
    if (status == miopenStatusSuccess)
        status = attribute(twin, MIOPEN_CONVOLUTION_ATTRIB_DETERMINISTIC,
                           c->attribute[MIOPEN_CONVOLUTION_ATTRIB_DETERMINISTIC]);
    return status;
}

miopenStatus_t mi_chain_activation(const struct mi_activation *a)
{
    if (!a->object.twin) return miopenStatusSuccess;
    ORIGINAL(miopenSetActivationDescriptor, set);
    return set ? set(a->object.twin, a->mode, a->alpha, a->beta, a->gamma) : missing();
}

miopenStatus_t mi_chain_pool(const struct mi_pool *p)
{
    if (!p->object.twin || !p->dims) return miopenStatusSuccess;
    ORIGINAL(miopenSetNdPoolingDescriptor, set);
    ORIGINAL(miopenSetPoolingIndexType, type);
    ORIGINAL(miopenSetPoolingWorkSpaceIndexMode, mode);
    if (!set || !type || !mode) return missing();
    miopenStatus_t status = set(p->object.twin, p->mode, p->dims, p->window, p->pad, p->stride);
    if (status == miopenStatusSuccess) status = type(p->object.twin, p->index_type);
    if (status == miopenStatusSuccess) status = mode(p->object.twin, p->index_mode);
    return status;
}

bool mi_chain_adopt_pool(struct mi_pool *p)
{
    if (!p->object.twin) return false;
    ORIGINAL(miopenGetNdPoolingDescriptor, get);
    ORIGINAL(miopenGetPoolingIndexType, type);
    ORIGINAL(miopenGetPoolingWorkSpaceIndexMode, mode);
    int dims = 0;
    if (!get || !type || !mode ||
        get(p->object.twin, 0, &p->mode, &dims, p->window, p->pad, p->stride) || dims < 1 ||
        dims > MI_POOL_DIMS ||
        get(p->object.twin, dims, &p->mode, &dims, p->window, p->pad, p->stride) ||
        type(p->object.twin, &p->index_type) || mode(p->object.twin, &p->index_mode))
        return false;
    p->dims = dims;
    return true;
}

miopenStatus_t mi_chain_lrn(const struct mi_lrn *l)
{
    if (!l->object.twin) return miopenStatusSuccess;
    ORIGINAL(miopenSetLRNDescriptor, set);
    return set ? set(l->object.twin, l->mode, l->n, l->alpha, l->beta, l->k) : missing();
}

/* The twin's dropout is that descriptor's own twin, whose name the program was given. */
miopenStatus_t mi_chain_rnn(const struct mi_rnn *r)
{
    if (!r->object.twin) return miopenStatusSuccess;
    ORIGINAL(miopenSetRNNDescriptor, set);
    ORIGINAL(miopenSetRNNDescriptor_V2, set_dropout);
    ORIGINAL(miopenSetRNNPaddingMode, pad);
    if (!set || !set_dropout || !pad) return missing();
    miopenStatus_t status =
        r->dropout ? set_dropout(r->object.twin, r->hidden, r->layers, r->dropout, r->input,
                                 r->direction, r->mode, r->bias, r->algo, r->type)
                   : set(r->object.twin, r->hidden, r->layers, r->input, r->direction, r->mode,
                         r->bias, r->algo, r->type);
    return status == miopenStatusSuccess ? pad(r->object.twin, r->padding) : status;
}
