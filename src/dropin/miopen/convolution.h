/* convolution.h: convolution descriptors, and from descriptors to the engine's problem. */
#ifndef RMCP_MIOPEN_CONVOLUTION_H
#define RMCP_MIOPEN_CONVOLUTION_H

#include "dropin/miopen/plans.h"
#include "dropin/miopen/tensor.h"

struct mi_convolution {
    struct mi_object object;
    miopenConvolutionMode_t mode; /* miopenConvolution or miopenTranspose */
    int dims;                     /* spatial; 0: not set yet              */
    int pad[RMCP_MAX_DIMS], stride[RMCP_MAX_DIMS], dilation[RMCP_MAX_DIMS];
    int output_pad[RMCP_MAX_DIMS]; /* of transposed convolutions */
    int groups;
    int find_mode;
    int attribute[3];
};

/* The descriptor, or NULL: none, destroyed, or never set. */
const struct mi_convolution *mi_convolution(miopenConvolutionDescriptor_t name);

/* One of the three passes as the caller describes it: the tensors of a convolution from x to y,
 * whichever of them is written. For a transposed convolution x and y are what its caller calls so.
 */
struct mi_conv_call {
    rmcp_conv_pass pass;
    struct mi_tensor x, w, y;
    struct mi_convolution convolution;
};

/* The engine's view of it. `x`, `w`, `y` say how the caller's tensors lie, for those that must be
 * copied. */
struct mi_conv {
    struct mi_key key;        /* what is planned                                      */
    struct mi_tensor x, w, y; /* the convolution's own; x and y swapped if transposed */
    bool copy_x, copy_w, copy_y;
    bool transposed;
};

/* Translate; the status that the original gives for what does not fit together. */
miopenStatus_t mi_conv_translate(const struct mi_conv_call *call, struct mi_conv *out);

/* What one execution reads and writes. */
struct mi_conv_memory {
    const void *x, *w, *y; /* as in mi_conv_call */
    const void *bias;      /* with key.problem.conv.bias */
    void *workspace;
    size_t workspace_bytes;
    double alpha, beta;
    bool best; /* with memory of the handle's own where the workspace is too small for the best */
};

/* Execute the way `id` (0: the best that fits; `wanted` >= 0: one of that kind of algorithm, if it
 * fits), within the caller's workspace. The handle is entered. */
miopenStatus_t mi_conv_execute(struct mi_handle *handle, struct mi_conv *conv, uint64_t id,
                               int wanted, const struct mi_conv_memory *memory);

/* Sizes of y for a forward convolution of x and w. */
miopenStatus_t mi_conv_output(const struct mi_convolution *convolution, const struct mi_tensor *x,
                              const struct mi_tensor *w, int64_t *size);

#endif
