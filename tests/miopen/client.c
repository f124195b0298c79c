/* client.c: a small client of MIOpen for tests and benchmarks. */
#include "client.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- memory ---- */

static struct {
    int (*hipMalloc)(void **, size_t);
    int (*hipFree)(void *);
    int (*hipMemcpy)(void *, const void *, size_t, int);
    int (*hipStreamCreate)(void **);
    int (*hipStreamDestroy)(void *);
} hip;

bool client_begin(const char *hip_library)
{
    if (!hip_library) return true;
    void *library = dlopen(hip_library, RTLD_NOW | RTLD_GLOBAL);
#define FIND(name)                                                                                 \
    {                                                                                              \
        void *address = library ? dlsym(library, #name) : NULL;                                    \
        memcpy(&hip.name, &address, sizeof address);                                               \
    }
    FIND(hipMalloc)
    FIND(hipFree)
    FIND(hipMemcpy)
    FIND(hipStreamCreate)
    FIND(hipStreamDestroy)
#undef FIND
    if (hip.hipMalloc && hip.hipFree && hip.hipMemcpy && hip.hipStreamCreate &&
        hip.hipStreamDestroy)
        return true;
    fprintf(stderr, "%s is no HIP library: %s\n", hip_library, library ? "incomplete" : dlerror());
    return false;
}

void *client_alloc(size_t bytes)
{
    void *memory = NULL;
    bytes = (bytes + 255) / 256 * 256;
    if (!hip.hipMalloc) return aligned_alloc(256, bytes ? bytes : 256);
    return hip.hipMalloc(&memory, bytes) ? NULL : memory;
}

void client_free(void *memory)
{
    if (!hip.hipMalloc)
        free(memory);
    else if (memory)
        hip.hipFree(memory);
}

/* A program that cannot copy has nothing more to test. */
static void copy(void *target, const void *source, size_t bytes, int kind)
{
    if (!hip.hipMalloc)
        memcpy(target, source, bytes);
    else if (hip.hipMemcpy(target, source, bytes, kind))
        abort();
}

void client_write(void *memory, const void *host, size_t bytes)
{
    copy(memory, host, bytes, 1);
}

void client_read(void *host, const void *memory, size_t bytes)
{
    copy(host, memory, bytes, 2);
}

void *client_stream(void)
{
    void *stream = NULL;
    if (hip.hipMalloc && hip.hipStreamCreate(&stream)) abort();
    return stream;
}

void client_stream_end(void *stream)
{
    if (stream) hip.hipStreamDestroy(stream);
}

/* ---- convolution ---- */

static size_t type_bytes(miopenDataType_t type)
{
    return type == miopenFloat ? 4 : 2;
}

bool client_conv_init(struct client_conv *conv, const struct client_shape *s)
{
    *conv = (struct client_conv){ .shape = *s };
    conv->out_h = (s->h + 2 * s->pad - s->filter) / s->stride + 1;
    conv->out_w = (s->w + 2 * s->pad - s->filter) / s->stride + 1;
    conv->n_x = (size_t)s->n * (size_t)s->c * (size_t)s->h * (size_t)s->w;
    conv->n_w = (size_t)s->k * (size_t)(s->c / s->groups) * (size_t)s->filter * (size_t)s->filter;
    conv->n_y = (size_t)s->n * (size_t)s->k * (size_t)conv->out_h * (size_t)conv->out_w;
    conv->x = client_alloc(conv->n_x * type_bytes(s->type));
    conv->w = client_alloc(conv->n_w * type_bytes(s->type));
    conv->y = client_alloc(conv->n_y * type_bytes(s->type));
    if (conv->x && conv->w && conv->y) return true;
    client_conv_deinit(conv);
    return false;
}

void client_conv_deinit(struct client_conv *conv)
{
    client_forget(conv);
    client_free(conv->x);
    client_free(conv->w);
    client_free(conv->y);
    client_free(conv->workspace);
    *conv = (struct client_conv){ .shape = conv->shape };
}

bool client_workspace(struct client_conv *conv, size_t bytes)
{
    if (bytes <= conv->workspace_bytes) return true;
    client_free(conv->workspace);
    conv->workspace = client_alloc(bytes);
    conv->workspace_bytes = conv->workspace ? bytes : 0;
    return conv->workspace;
}

static miopenStatus_t describe_tensor(miopenTensorDescriptor_t *desc, miopenDataType_t type,
                                      bool nhwc, int n, int c, int h, int w)
{
    const int size[4] = { n, c, h, w };
    const int nchw_stride[4] = { c * h * w, h * w, w, 1 };
    const int nhwc_stride[4] = { c * h * w, 1, w * c, c };
    miopenStatus_t status = miopenCreateTensorDescriptor(desc);
    if (status) return status;
    return miopenSetTensorDescriptor(*desc, type, 4, size, nhwc ? nhwc_stride : nchw_stride);
}

miopenStatus_t client_describe(struct client_conv *conv)
{
    const struct client_shape *s = &conv->shape;
    const int pad[2] = { s->pad, s->pad }, stride[2] = { s->stride, s->stride };
    const int dilation[2] = { 1, 1 };
    const miopenConvolutionMode_t mode = s->groups == 1      ? miopenConvolution
                                         : s->groups == s->c ? miopenDepthwise
                                                             : miopenGroupConv;
    miopenStatus_t status =
        describe_tensor(&conv->x_desc, s->type, s->nhwc, s->n, s->c, s->h, s->w);
    if (!status)
        status = describe_tensor(&conv->w_desc, s->type, s->nhwc, s->k, s->c / s->groups, s->filter,
                                 s->filter);
    if (!status)
        status =
            describe_tensor(&conv->y_desc, s->type, s->nhwc, s->n, s->k, conv->out_h, conv->out_w);
    if (!status) status = miopenCreateConvolutionDescriptor(&conv->desc);
    if (!status)
        status = miopenInitConvolutionNdDescriptor(conv->desc, 2, pad, stride, dilation, mode);
    if (!status) status = miopenSetConvolutionGroupCount(conv->desc, s->groups);
    if (!status)
        status =
            miopenSetConvolutionAttribute(conv->desc, MIOPEN_CONVOLUTION_ATTRIB_DETERMINISTIC, 0);
    return status;
}

void client_forget(struct client_conv *conv)
{
    if (conv->x_desc) miopenDestroyTensorDescriptor(conv->x_desc);
    if (conv->w_desc) miopenDestroyTensorDescriptor(conv->w_desc);
    if (conv->y_desc) miopenDestroyTensorDescriptor(conv->y_desc);
    if (conv->desc) miopenDestroyConvolutionDescriptor(conv->desc);
    conv->x_desc = conv->w_desc = conv->y_desc = NULL;
    conv->desc = NULL;
}

/* The two tensors that a pass reads, and the one that it writes, in the order of MIOpen's
 * parameters. */
struct roles {
    miopenTensorDescriptor_t a_desc, b_desc, out_desc;
    const void *a, *b;
    void *out;
};

static struct roles roles_of(const struct client_conv *c, enum client_pass pass)
{
    switch (pass) {
    case CLIENT_FORWARD: return (struct roles){ c->w_desc, c->x_desc, c->y_desc, c->w, c->x, c->y };
    case CLIENT_BACKWARD_DATA:
        return (struct roles){ c->y_desc, c->w_desc, c->x_desc, c->y, c->w, c->x };
    default: return (struct roles){ c->y_desc, c->x_desc, c->w_desc, c->y, c->x, c->w };
    }
}

/* The functions of the three passes have the same types. */
static const struct {
    __typeof__(miopenConvolutionForwardGetSolutionCount) *count;
    __typeof__(miopenConvolutionForwardGetSolution) *solution;
    __typeof__(miopenConvolutionForwardImmediate) *immediate;
    __typeof__(miopenConvolutionForwardGetWorkSpaceSize) *workspace;
    __typeof__(miopenFindConvolutionForwardAlgorithm) *find;
} functions[CLIENT_PASSES] = {
    { miopenConvolutionForwardGetSolutionCount, miopenConvolutionForwardGetSolution,
      miopenConvolutionForwardImmediate, miopenConvolutionForwardGetWorkSpaceSize,
      miopenFindConvolutionForwardAlgorithm },
    { miopenConvolutionBackwardDataGetSolutionCount, miopenConvolutionBackwardDataGetSolution,
      miopenConvolutionBackwardDataImmediate, miopenConvolutionBackwardDataGetWorkSpaceSize,
      miopenFindConvolutionBackwardDataAlgorithm },
    { miopenConvolutionBackwardWeightsGetSolutionCount, miopenConvolutionBackwardWeightsGetSolution,
      miopenConvolutionBackwardWeightsImmediate, miopenConvolutionBackwardWeightsGetWorkSpaceSize,
      miopenFindConvolutionBackwardWeightsAlgorithm },
};

miopenStatus_t client_solution(miopenHandle_t handle, const struct client_conv *conv,
                               enum client_pass pass, bool no_workspace, miopenConvSolution_t *out)
{
    enum { MOST = 10 }; /* PyTorch throws when there are more */
    const struct roles r = roles_of(conv, pass);
    miopenConvSolution_t list[MOST];
    size_t count = 0, got = 0;
    miopenStatus_t status =
        functions[pass].count(handle, r.a_desc, r.b_desc, conv->desc, r.out_desc, &count);
    if (status) return status;
    if (!count || count > MOST) return miopenStatusUnknownError;
    status = functions[pass].solution(handle, r.a_desc, r.b_desc, conv->desc, r.out_desc, count,
                                      &got, list);
    if (status) return status;
    for (size_t i = 0; i < got; i++)
        if (!no_workspace || !list[i].workspace_size) {
            *out = list[i];
            return miopenStatusSuccess;
        }
    return miopenStatusUnknownError;
}

miopenStatus_t client_execute(miopenHandle_t handle, const struct client_conv *conv,
                              enum client_pass pass, void *workspace, size_t bytes, uint64_t id)
{
    const struct roles r = roles_of(conv, pass);
    return functions[pass].immediate(handle, r.a_desc, r.a, r.b_desc, r.b, conv->desc, r.out_desc,
                                     r.out, workspace, bytes, id);
}

miopenStatus_t client_immediate(miopenHandle_t handle, struct client_conv *conv,
                                enum client_pass pass, bool no_workspace)
{
    miopenConvSolution_t solution;
    const miopenStatus_t status = client_solution(handle, conv, pass, no_workspace, &solution);
    if (status) return status;
    if (!client_workspace(conv, solution.workspace_size)) return miopenStatusAllocFailed;
    return client_execute(handle, conv, pass, solution.workspace_size ? conv->workspace : NULL,
                          solution.workspace_size, solution.solution_id);
}

miopenStatus_t client_find(miopenHandle_t handle, struct client_conv *conv, enum client_pass pass,
                           int *algorithm)
{
    struct roles r = roles_of(conv, pass);
    miopenConvAlgoPerf_t perf = { .time = 0 };
    size_t bytes = 0;
    int found = 0;
    miopenStatus_t status =
        functions[pass].workspace(handle, r.a_desc, r.b_desc, conv->desc, r.out_desc, &bytes);
    if (status) return status;
    if (!client_workspace(conv, bytes)) return miopenStatusAllocFailed;
    if (pass == CLIENT_FORWARD) /* which alone takes x before w here */
        r = (struct roles){ r.b_desc, r.a_desc, r.out_desc, r.b, r.a, r.out };
    status = functions[pass].find(handle, r.a_desc, r.a, r.b_desc, r.b, conv->desc, r.out_desc,
                                  r.out, 1, &found, &perf, conv->workspace, bytes, false);
    if (!status && found != 1) return miopenStatusUnknownError;
    *algorithm = (int)perf.fwd_algo;
    return status;
}

miopenStatus_t client_found(miopenHandle_t handle, const struct client_conv *conv,
                            enum client_pass pass, int algorithm)
{
    const struct roles r = roles_of(conv, pass);
    const float one = 1, zero = 0;
    switch (pass) {
    case CLIENT_FORWARD:
        return miopenConvolutionForward(handle, &one, r.b_desc, r.b, r.a_desc, r.a, conv->desc,
                                        (miopenConvFwdAlgorithm_t)algorithm, &zero, r.out_desc,
                                        r.out, conv->workspace, conv->workspace_bytes);
    case CLIENT_BACKWARD_DATA:
        return miopenConvolutionBackwardData(handle, &one, r.a_desc, r.a, r.b_desc, r.b, conv->desc,
                                             (miopenConvBwdDataAlgorithm_t)algorithm, &zero,
                                             r.out_desc, r.out, conv->workspace,
                                             conv->workspace_bytes);
    default:
        return miopenConvolutionBackwardWeights(
            handle, &one, r.a_desc, r.a, r.b_desc, r.b, conv->desc,
            (miopenConvBwdWeightsAlgorithm_t)algorithm, &zero, r.out_desc, r.out, conv->workspace,
            conv->workspace_bytes);
    }
}

/* ---- batch norm ---- */

static void *filled(int n, float value)
{
    float *host = malloc((size_t)n * sizeof *host);
    void *memory = client_alloc((size_t)n * sizeof *host);
    if (host && memory) {
        for (int i = 0; i < n; i++) host[i] = value;
        client_write(memory, host, (size_t)n * sizeof *host);
    }
    free(host);
    return memory;
}

bool client_norm_init(struct client_norm *norm, int n, int c, int h, int w, miopenDataType_t type)
{
    const size_t bytes = (size_t)n * (size_t)c * (size_t)h * (size_t)w * type_bytes(type);
    *norm = (struct client_norm){ .n = n, .c = c, .h = h, .w = w, .type = type };
    norm->x = client_alloc(bytes), norm->y = client_alloc(bytes);
    norm->dx = client_alloc(bytes), norm->dy = client_alloc(bytes);
    norm->scale = filled(c, 1), norm->variance = filled(c, 1);
    norm->bias = filled(c, 0), norm->mean = filled(c, 0);
    norm->saved_mean = filled(c, 0), norm->saved_inverse = filled(c, 0);
    norm->dscale = filled(c, 0), norm->dbias = filled(c, 0);
    const bool memory = norm->x && norm->y && norm->dx && norm->dy && norm->scale &&
                        norm->variance && norm->bias && norm->mean && norm->saved_mean &&
                        norm->saved_inverse && norm->dscale && norm->dbias;
    if (memory && !describe_tensor(&norm->desc, type, false, n, c, h, w) &&
        !describe_tensor(&norm->parameter_desc, miopenFloat, false, 1, c, 1, 1))
        return true;
    client_norm_deinit(norm);
    return false;
}

void client_norm_deinit(struct client_norm *norm)
{
    if (norm->desc) miopenDestroyTensorDescriptor(norm->desc);
    if (norm->parameter_desc) miopenDestroyTensorDescriptor(norm->parameter_desc);
    void *const memory[] = {
        norm->x,        norm->y,    norm->dx,   norm->dy,         norm->scale,
        norm->variance, norm->bias, norm->mean, norm->saved_mean, norm->saved_inverse,
        norm->dscale,   norm->dbias
    };
    for (size_t i = 0; i < sizeof memory / sizeof *memory; i++) client_free(memory[i]);
    *norm = (struct client_norm){ 0 };
}

miopenStatus_t client_norm_train(miopenHandle_t handle, const struct client_norm *n)
{
    float one = 1, zero = 0;
    return miopenBatchNormalizationForwardTraining(
        handle, miopenBNSpatial, &one, &zero, n->desc, n->x, n->desc, n->y, n->parameter_desc,
        n->scale, n->bias, 0.1, n->mean, n->variance, 1e-5, n->saved_mean, n->saved_inverse);
}

miopenStatus_t client_norm_infer(miopenHandle_t handle, const struct client_norm *n)
{
    float one = 1, zero = 0;
    return miopenBatchNormalizationForwardInference(handle, miopenBNSpatial, &one, &zero, n->desc,
                                                    n->x, n->desc, n->y, n->parameter_desc,
                                                    n->scale, n->bias, n->mean, n->variance, 1e-5);
}

miopenStatus_t client_norm_backward(miopenHandle_t handle, const struct client_norm *n)
{
    const float one = 1, zero = 0;
    return miopenBatchNormalizationBackward(handle, miopenBNSpatial, &one, &zero, &one, &zero,
                                            n->desc, n->x, n->desc, n->dy, n->desc, n->dx,
                                            n->parameter_desc, n->scale, n->dscale, n->dbias, 1e-5,
                                            n->saved_mean, n->saved_inverse);
}
