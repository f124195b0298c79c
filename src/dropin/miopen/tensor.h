/* tensor.h: tensor descriptors, and operations on tensors that the rest of the drop-in uses. */
#ifndef RMCP_MIOPEN_TENSOR_H
#define RMCP_MIOPEN_TENSOR_H

#include "dropin/miopen/handle.h"

enum { MI_DIMS = 8 }; /* more than any operation takes */

struct mi_tensor {
    struct mi_object object;
    miopenDataType_t type;
    int dims; /* 0: not set yet */
    int64_t size[MI_DIMS];
    int64_t stride[MI_DIMS]; /* in elements */
    int cast_type;           /* a miopenDataType_t, or -1 */
};

/* The descriptor, or NULL: none, destroyed, or never set. */
const struct mi_tensor *mi_tensor(miopenTensorDescriptor_t name);

/* The engine's type for MIOpen's; false when it has none. */
bool mi_type(miopenDataType_t type, uint32_t *out);

/* Elements from the first to the last; as many as a tensor without gaps has. */
int64_t mi_tensor_span(const struct mi_tensor *tensor);
int64_t mi_tensor_elements(const struct mi_tensor *tensor);
size_t mi_type_bytes(miopenDataType_t type);

/* One element of f16, bf16 or f32 as a number. */
double mi_type_number(miopenDataType_t type, const void *element);

/* Whether it lies without gaps in NCHW or NHWC order; dimensions of size 1 may have any stride. */
bool mi_tensor_is_packed(const struct mi_tensor *tensor, rmcp_layout layout);

/* The same sizes without gaps in `layout`. */
struct mi_tensor mi_tensor_packed(const struct mi_tensor *tensor, rmcp_layout layout);

/* y = alpha * x + beta * y, whatever the strides; same sizes. The handle is entered. */
miopenStatus_t mi_tensor_copy(struct mi_handle *handle, double alpha, const struct mi_tensor *x,
                              rmcp_memory from, double beta, const struct mi_tensor *y,
                              rmcp_memory to);

/* Run one operation of the engine on tensors; NULL for those that its kind does not have. `problem`
 * has kind, scalars and nothing else. */
miopenStatus_t mi_tensor_run(struct mi_handle *handle, rmcp_tensor problem,
                             const struct mi_tensor *a, rmcp_memory a_memory,
                             const struct mi_tensor *b, rmcp_memory b_memory,
                             const struct mi_tensor *c, rmcp_memory c_memory);

#endif
