/* batchnorm.h: one batch normalisation, whichever function it comes from. */
#ifndef RMCP_MIOPEN_BATCHNORM_H
#define RMCP_MIOPEN_BATCHNORM_H

#include "dropin/miopen/activation.h"
#include "dropin/miopen/plans.h"
#include "dropin/miopen/tensor.h"

struct mi_norm {
    rmcp_batchnorm_pass pass;
    miopenBatchNormMode_t mode;
    const struct mi_tensor *x, *y, *dx;    /* y: or dy; dx: only backward */
    const struct mi_tensor *parameters[4]; /* scale, bias, mean, variance */
    double epsilon, momentum;
    bool running, saved;
    const struct mi_activation *activation; /* NULL: none */
    rmcp_batchnorm_tensors tensors;
};

/* The engine's problem; the status that the original gives for what does not fit together. */
miopenStatus_t mi_norm_translate(const struct mi_norm *norm, struct mi_key *key);

/* Execute what was translated; sets handle->kernel_ms. The handle is entered. */
miopenStatus_t mi_norm_run(struct mi_handle *handle, const struct mi_key *key,
                           rmcp_batchnorm_tensors *tensors);

/* The shape of the parameters that belong to x. */
struct mi_tensor mi_norm_parameters(const struct mi_tensor *x, miopenBatchNormMode_t mode);

#endif
