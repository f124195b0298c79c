/* client.h: a small client of MIOpen for tests and benchmarks: memory, descriptors, and
 * convolutions and batch norms called as PyTorch calls them. Functions return the first status that
 * is no success. */
#ifndef RMCP_TESTS_MIOPEN_CLIENT_H
#define RMCP_TESTS_MIOPEN_CLIENT_H

#include "dropin/miopen/api.h"

/* Device memory from the HIP library of that name, which is loaded for the whole process, or the
 * host's own when it is NULL. False with a message when there is none. */
bool client_begin(const char *hip_library);

void *client_alloc(size_t bytes); /* NULL when there is no more */
void client_free(void *memory);   /* NULL is fine */
void client_write(void *memory, const void *host, size_t bytes);
void client_read(void *host, const void *memory, size_t bytes);
void *client_stream(void); /* a new one; NULL without HIP */
void client_stream_end(void *stream);

enum client_pass { CLIENT_FORWARD, CLIENT_BACKWARD_DATA, CLIENT_BACKWARD_WEIGHTS, CLIENT_PASSES };

/* A convolution with two spatial dimensions; square filter and stride. */
struct client_shape {
    int n, c, h, w, k, filter, pad, stride, groups;
    miopenDataType_t type;
    bool nhwc;
};

/* Its memory and descriptors. */
struct client_conv {
    struct client_shape shape;
    int out_h, out_w;
    size_t n_x, n_w, n_y; /* elements */
    void *x, *w, *y, *workspace;
    size_t workspace_bytes;
    miopenTensorDescriptor_t x_desc, w_desc, y_desc;
    miopenConvolutionDescriptor_t desc;
};

/* Memory alone; the data is not set. */
bool client_conv_init(struct client_conv *conv, const struct client_shape *shape);
void client_conv_deinit(struct client_conv *conv);

/* Descriptors: PyTorch makes them anew for every call. */
miopenStatus_t client_describe(struct client_conv *conv);
void client_forget(struct client_conv *conv);

/* GetSolutionCount, GetSolution, Immediate, with the first solution, or the first without
 * workspace. */
miopenStatus_t client_immediate(miopenHandle_t handle, struct client_conv *conv,
                                enum client_pass pass, bool no_workspace);
/* The first two of them alone. */
miopenStatus_t client_solution(miopenHandle_t handle, const struct client_conv *conv,
                               enum client_pass pass, bool no_workspace, miopenConvSolution_t *out);
/* The last one alone. */
miopenStatus_t client_execute(miopenHandle_t handle, const struct client_conv *conv,
                              enum client_pass pass, void *workspace, size_t bytes, uint64_t id);

/* GetWorkSpaceSize, Find; then Convolution with what was found, an algorithm of MIOpen's numbers.
 */
miopenStatus_t client_find(miopenHandle_t handle, struct client_conv *conv, enum client_pass pass,
                           int *algorithm);
miopenStatus_t client_found(miopenHandle_t handle, const struct client_conv *conv,
                            enum client_pass pass, int algorithm);

/* Enough of the convolution's own workspace for `bytes`. */
bool client_workspace(struct client_conv *conv, size_t bytes);

/* Batch norm over n, h and w, parameters in f32. */
struct client_norm {
    int n, c, h, w;
    miopenDataType_t type;
    void *x, *y, *dy, *dx;
    void *scale, *bias, *mean, *variance, *saved_mean, *saved_inverse, *dscale, *dbias;
    miopenTensorDescriptor_t desc, parameter_desc;
};

/* Memory and descriptors; the data is not set, but scale is 1, variance is 1, and the others of c
 * are 0. */
bool client_norm_init(struct client_norm *norm, int n, int c, int h, int w, miopenDataType_t type);
void client_norm_deinit(struct client_norm *norm);
miopenStatus_t client_norm_train(miopenHandle_t handle, const struct client_norm *norm);
miopenStatus_t client_norm_infer(miopenHandle_t handle, const struct client_norm *norm);
miopenStatus_t client_norm_backward(miopenHandle_t handle, const struct client_norm *norm);

#endif
