/* softmax.h: softmax descriptors, and softmax as the rest of the drop-in calls it. */
#ifndef RMCP_MIOPEN_SOFTMAX_H
#define RMCP_MIOPEN_SOFTMAX_H

#include "dropin/miopen/tensor.h"

struct mi_softmax {
    struct mi_object object;
    float alpha, beta;
    miopenSoftmaxAlgorithm_t algorithm;
    miopenSoftmaxMode_t mode;
};

/* The descriptor, or NULL: none, or no softmax descriptor. */
const struct mi_softmax *mi_softmax(miopenSoftmaxDescriptor_t name);

/* y = alpha softmax(x) + beta y; dx = alpha gradient + beta dx. Arguments are checked; the handle
 * is entered. */
miopenStatus_t mi_softmax_forward(struct mi_handle *handle, const struct mi_softmax *softmax,
                                  const struct mi_tensor *x_tensor, const void *x,
                                  const struct mi_tensor *y_tensor, void *y);
miopenStatus_t mi_softmax_backward(struct mi_handle *handle, const struct mi_softmax *softmax,
                                   const struct mi_tensor *y_tensor, const void *y,
                                   const struct mi_tensor *dy_tensor, const void *dy,
                                   const struct mi_tensor *dx_tensor, void *dx);

#endif
