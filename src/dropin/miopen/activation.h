/* activation.h: activation descriptors. */
#ifndef RMCP_MIOPEN_ACTIVATION_H
#define RMCP_MIOPEN_ACTIVATION_H

#include "dropin/miopen/engine.h"
#include "dropin/miopen/object.h"

struct mi_activation {
    struct mi_object object;
    miopenActivationMode_t mode;
    double alpha, beta, gamma;
};

/* The descriptor, or NULL. */
const struct mi_activation *mi_activation(miopenActivationDescriptor_t name);

/* As the engine has it in its problems; NotImplemented for the kinds that it has not. */
struct mi_engine_activation {
    uint32_t kind; /* rmcp_activation */
    float slope, low, high;
};
miopenStatus_t mi_activation_translate(const struct mi_activation *activation,
                                       struct mi_engine_activation *out);

#endif
