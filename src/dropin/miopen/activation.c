/* activation.c: activation descriptors. */
#include "dropin/miopen/activation.h"

#include "dropin/miopen/chain.h"
#include "dropin/miopen/log.h"

const struct mi_activation *mi_activation(miopenActivationDescriptor_t name)
{
    const struct mi_activation *activation = mi_object(name, MI_ACTIVATION);
    if (!activation) mi_log(MI_ERROR, "%p is no activation descriptor", (const void *)name);
    return activation;
}

miopenStatus_t mi_activation_translate(const struct mi_activation *activation,
                                       struct mi_engine_activation *out)
{
    *out = (struct mi_engine_activation){ .kind = RMCP_NO_ACTIVATION };
    switch (activation->mode) {
    case miopenActivationPASTHRU: return miopenStatusSuccess;
    case miopenActivationRELU: out->kind = RMCP_RELU; return miopenStatusSuccess;
    case miopenActivationLEAKYRELU:
        out->kind = RMCP_LEAKY_RELU;
        out->slope = (float)activation->alpha;
        return miopenStatusSuccess;
    case miopenActivationCLIPPEDRELU:
        out->kind = RMCP_CLAMP;
        out->high = (float)activation->alpha;
        return miopenStatusSuccess;
    case miopenActivationCLAMP:
        out->kind = RMCP_CLAMP;
        out->low = (float)activation->alpha;
        out->high = (float)activation->beta;
        return miopenStatusSuccess;
    default:
        return mi_fail(miopenStatusNotImplemented, "activation %d together with another operation",
                       (int)activation->mode);
    }
}

miopenStatus_t miopenCreateActivationDescriptor(miopenActivationDescriptor_t *out)
{
    if (!out) return mi_fail(miopenStatusBadParm, "miopenCreateActivationDescriptor: NULL");
    struct mi_activation *activation = mi_object_new(MI_ACTIVATION, sizeof *activation);
    if (!activation) return mi_fail(miopenStatusAllocFailed, "out of memory");
    return mi_chain_descriptor(&activation->object, MI_ACTIVATION, out);
}

miopenStatus_t miopenDestroyActivationDescriptor(miopenActivationDescriptor_t name)
{
    if (!name) return miopenStatusSuccess;
    struct mi_activation *activation = (struct mi_activation *)mi_activation(name);
    if (!activation) return miopenStatusBadParm;
    mi_chain_destroy(&activation->object, MI_ACTIVATION);
    mi_object_delete(activation);
    return miopenStatusSuccess;
}

miopenStatus_t miopenSetActivationDescriptor(miopenActivationDescriptor_t name,
                                             miopenActivationMode_t mode, double alpha, double beta,
                                             double gamma)
{
    struct mi_activation *activation = (struct mi_activation *)mi_activation(name);
    if (!activation) return miopenStatusBadParm;
    if ((unsigned)mode > miopenActivationCLAMP)
        return mi_fail(miopenStatusBadParm, "no activation %d", (int)mode);
    activation->mode = mode;
    activation->alpha = alpha;
    activation->beta = beta;
    activation->gamma = gamma;
    return mi_chain_activation(activation);
}

miopenStatus_t miopenGetActivationDescriptor(miopenActivationDescriptor_t name,
                                             miopenActivationMode_t *mode, double *alpha,
                                             double *beta, double *gamma)
{
    const struct mi_activation *activation = mi_activation(name);
    if (!activation || !mode || !alpha || !beta || !gamma) return miopenStatusBadParm;
    *mode = activation->mode;
    *alpha = activation->alpha;
    *beta = activation->beta;
    *gamma = activation->gamma;
    return miopenStatusSuccess;
}
