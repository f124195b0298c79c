/* chain.c: objects of the original library behind ours. */
#include "miopen/chain.h"

#include "miopen/activation.h"
#include "miopen/convolution.h"
#include "miopen/handle.h"
#include "miopen/log.h"
#include "miopen/tensor.h"

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

miopenStatus_t mi_chain_descriptor(struct mi_object *object, enum mi_kind kind)
{
    if (!mi_chaining()) return miopenStatusSuccess;
    void *twin = NULL;
    miopenStatus_t status = miopenStatusInternalError;
    if (kind == MI_TENSOR) {
        ORIGINAL(miopenCreateTensorDescriptor, create);
        status = create ? create((miopenTensorDescriptor_t *)&twin) : missing();
    } else if (kind == MI_CONVOLUTION) {
        ORIGINAL(miopenCreateConvolutionDescriptor, create);
        status = create ? create((miopenConvolutionDescriptor_t *)&twin) : missing();
    } else if (kind == MI_ACTIVATION) {
        ORIGINAL(miopenCreateActivationDescriptor, create);
        status = create ? create((miopenActivationDescriptor_t *)&twin) : missing();
    } else if (kind == MI_DROPOUT) {
        ORIGINAL(miopenCreateDropoutDescriptor, create);
        status = create ? create((miopenDropoutDescriptor_t *)&twin) : missing();
    }
    return give_twin(object, status, twin);
}

void mi_chain_destroy(struct mi_object *object, enum mi_kind kind)
{
    static const char *const names[MI_KINDS] = {
        [MI_HANDLE] = "miopenDestroy",
        [MI_TENSOR] = "miopenDestroyTensorDescriptor",
        [MI_CONVOLUTION] = "miopenDestroyConvolutionDescriptor",
        [MI_ACTIVATION] = "miopenDestroyActivationDescriptor",
        [MI_DROPOUT] = "miopenDestroyDropoutDescriptor",
    };
    void *symbol = object->twin && names[kind] ? mi_original(names[kind]) : NULL;
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
