/* mha.h: multi-head attention: its descriptors, and attention as the rest of the drop-in calls it.
 */
#ifndef RMCP_MIOPEN_MHA_H
#define RMCP_MIOPEN_MHA_H

#include "dropin/miopen/tensor.h"

struct mi_mha {
    struct mi_object object;
    float scale;
};

/* The descriptor, or NULL: none, or no attention descriptor. */
const struct mi_mha *mi_mha(miopenMhaDescriptor_t name);

/* Tensors are counted from miopenTensorMhaK on. */
enum { MI_MHA_TENSORS = miopenTensorMhaBias - miopenTensorMhaK + 1 };

/* What is to be done; NULL for what is not told. Only planned, buffers are not looked at. */
struct mi_mha_call {
    float scale;
    bool backward, causal;
    const struct mi_tensor *tensor[MI_MHA_TENSORS];
    void *buffer[MI_MHA_TENSORS];
};

/* Whether it can be done, or do it. The handle is entered. */
miopenStatus_t mi_mha_plan(struct mi_handle *handle, const struct mi_mha_call *call);
miopenStatus_t mi_mha_run(struct mi_handle *handle, const struct mi_mha_call *call);

#endif
