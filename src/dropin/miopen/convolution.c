/* convolution.c: convolution descriptors: create, set and get in all forms, output sizes. */
#include "dropin/miopen/convolution.h"

#include "dropin/miopen/chain.h"
#include "dropin/miopen/log.h"

#include <limits.h>

const struct mi_convolution *mi_convolution(miopenConvolutionDescriptor_t name)
{
    const struct mi_convolution *convolution = mi_object(name, MI_CONVOLUTION);
    if (!convolution) mi_log(MI_ERROR, "%p is no convolution descriptor", (const void *)name);
    return convolution;
}

static struct mi_convolution *writable(miopenConvolutionDescriptor_t name)
{
    return (struct mi_convolution *)mi_convolution(name);
}

miopenStatus_t miopenCreateConvolutionDescriptor(miopenConvolutionDescriptor_t *out)
{
    if (!out) return mi_fail(miopenStatusBadParm, "miopenCreateConvolutionDescriptor: NULL");
    struct mi_convolution *convolution = mi_object_new(MI_CONVOLUTION, sizeof *convolution);
    if (!convolution) return mi_fail(miopenStatusAllocFailed, "out of memory");
    convolution->mode = miopenConvolution;
    convolution->dims = 2;
    convolution->groups = 1;
    convolution->find_mode = miopenConvolutionFindModeDefault;
    convolution->attribute[MIOPEN_CONVOLUTION_ATTRIB_FP16_ALT_IMPL] = -1;
    for (int i = 0; i < RMCP_MAX_DIMS; i++) convolution->stride[i] = convolution->dilation[i] = 1;
    return mi_chain_descriptor(&convolution->object, MI_CONVOLUTION, out);
}

miopenStatus_t miopenDestroyConvolutionDescriptor(miopenConvolutionDescriptor_t name)
{
    if (!name) return miopenStatusSuccess;
    struct mi_convolution *convolution = writable(name);
    if (!convolution) return miopenStatusBadParm;
    mi_chain_destroy(&convolution->object, MI_CONVOLUTION);
    mi_object_delete(convolution);
    return miopenStatusSuccess;
}

miopenStatus_t miopenInitConvolutionNdDescriptor(miopenConvolutionDescriptor_t name, int dims,
                                                 const int *pad, const int *stride,
                                                 const int *dilation, miopenConvolutionMode_t mode)
{
    struct mi_convolution *convolution = writable(name);
    if (!convolution || !pad || !stride || !dilation) return miopenStatusBadParm;
    if (dims < 1 || dims > RMCP_MAX_DIMS)
        return mi_fail(miopenStatusBadParm, "a convolution of %d dimensions", dims);
    if ((unsigned)mode > miopenDepthwise)
        return mi_fail(miopenStatusBadParm, "no convolution mode %d", (int)mode);
    for (int i = 0; i < dims; i++)
        if (pad[i] < 0 || stride[i] < 1 || dilation[i] < 1)
            return mi_fail(miopenStatusBadParm, "pad %d, stride %d, dilation %d", pad[i], stride[i],
                           dilation[i]);
    convolution->mode = mode == miopenTranspose ? miopenTranspose : miopenConvolution;
    convolution->dims = dims;
    convolution->groups = 1;
    for (int i = 0; i < RMCP_MAX_DIMS; i++) {
        convolution->pad[i] = i < dims ? pad[i] : 0;
        convolution->stride[i] = i < dims ? stride[i] : 1;
        convolution->dilation[i] = i < dims ? dilation[i] : 1;
        convolution->output_pad[i] = 0;
    }
    for (int i = 0; i < 3; i++)
        convolution->attribute[i] = i == MIOPEN_CONVOLUTION_ATTRIB_FP16_ALT_IMPL ? -1 : 0;
    return mi_chain_convolution(convolution);
}

miopenStatus_t miopenInitConvolutionDescriptor(miopenConvolutionDescriptor_t name,
                                               miopenConvolutionMode_t mode, int pad_h, int pad_w,
                                               int stride_h, int stride_w, int dilation_h,
                                               int dilation_w)
{
    return miopenInitConvolutionNdDescriptor(name, 2, (int[]){ pad_h, pad_w },
                                             (int[]){ stride_h, stride_w },
                                             (int[]){ dilation_h, dilation_w }, mode);
}

miopenStatus_t miopenGetConvolutionSpatialDim(miopenConvolutionDescriptor_t name, int *dims)
{
    const struct mi_convolution *convolution = mi_convolution(name);
    if (!convolution || !dims) return miopenStatusBadParm;
    *dims = convolution->dims;
    return miopenStatusSuccess;
}

miopenStatus_t miopenGetConvolutionDescriptor(miopenConvolutionDescriptor_t name,
                                              miopenConvolutionMode_t *mode, int *pad_h, int *pad_w,
                                              int *stride_h, int *stride_w, int *dilation_h,
                                              int *dilation_w)
{
    const struct mi_convolution *convolution = mi_convolution(name);
    if (!convolution || !mode || !pad_h || !pad_w || !stride_h || !stride_w || !dilation_h ||
        !dilation_w)
        return miopenStatusBadParm;
    if (convolution->dims != 2)
        return mi_fail(miopenStatusUnknownError, "the convolution has %d dimensions, not 2",
                       convolution->dims);
    *mode = convolution->mode;
    *pad_h = convolution->pad[0];
    *pad_w = convolution->pad[1];
    *stride_h = convolution->stride[0];
    *stride_w = convolution->stride[1];
    *dilation_h = convolution->dilation[0];
    *dilation_w = convolution->dilation[1];
    return miopenStatusSuccess;
}

miopenStatus_t miopenGetConvolutionNdDescriptor(miopenConvolutionDescriptor_t name, int room,
                                                int *dims, int *pad, int *stride, int *dilation,
                                                miopenConvolutionMode_t *mode)
{
    const struct mi_convolution *convolution = mi_convolution(name);
    if (!convolution || !pad || !stride || !dilation) return miopenStatusBadParm;
    if (room > convolution->dims || room < 0)
        return mi_fail(miopenStatusUnknownError, "%d dimensions of %d asked for", room,
                       convolution->dims);
    if (dims) *dims = convolution->dims;
    if (mode) *mode = convolution->mode;
    for (int i = 0; i < room; i++) {
        pad[i] = convolution->pad[i];
        stride[i] = convolution->stride[i];
        dilation[i] = convolution->dilation[i];
    }
    return miopenStatusSuccess;
}

miopenStatus_t miopenSetConvolutionGroupCount(miopenConvolutionDescriptor_t name, int groups)
{
    struct mi_convolution *convolution = writable(name);
    if (!convolution) return miopenStatusBadParm;
    convolution->groups = groups; /* checked with the tensors */
    return mi_chain_convolution(convolution);
}

miopenStatus_t miopenGetConvolutionGroupCount(miopenConvolutionDescriptor_t name, int *groups)
{
    const struct mi_convolution *convolution = mi_convolution(name);
    if (!convolution || !groups) return miopenStatusBadParm;
    *groups = convolution->groups;
    return miopenStatusSuccess;
}

miopenStatus_t miopenSetTransposeConvNdOutputPadding(miopenConvolutionDescriptor_t name, int dims,
                                                     const int *pad)
{
    struct mi_convolution *convolution = writable(name);
    if (!convolution || !pad) return miopenStatusBadParm;
    if (dims != convolution->dims)
        return mi_fail(miopenStatusUnknownError, "output padding of %d dimensions for %d", dims,
                       convolution->dims);
    for (int i = 0; i < dims; i++) convolution->output_pad[i] = pad[i];
    return mi_chain_convolution(convolution);
}

miopenStatus_t miopenSetTransposeConvOutputPadding(miopenConvolutionDescriptor_t name, int pad_h,
                                                   int pad_w)
{
    return miopenSetTransposeConvNdOutputPadding(name, 2, (int[]){ pad_h, pad_w });
}

/* Everything here is deterministic and accumulates in f32: what is set is remembered and changes
 * nothing. */
miopenStatus_t miopenSetConvolutionAttribute(miopenConvolutionDescriptor_t name,
                                             miopenConvolutionAttrib_t attribute, int value)
{
    struct mi_convolution *convolution = writable(name);
    if (!convolution) return miopenStatusBadParm;
    /* FP16_ALT_IMPL may also be -1: the library decides. */
    int least = attribute == MIOPEN_CONVOLUTION_ATTRIB_FP16_ALT_IMPL ? -1 : 0;
    if ((unsigned)attribute > MIOPEN_CONVOLUTION_ATTRIB_FP8_ROUNDING_MODE || value < least ||
        value > 1)
        return mi_fail(miopenStatusBadParm, "attribute %d cannot be %d", (int)attribute, value);
    convolution->attribute[attribute] = value;
    return mi_chain_convolution(convolution);
}

miopenStatus_t miopenGetConvolutionAttribute(miopenConvolutionDescriptor_t name,
                                             miopenConvolutionAttrib_t attribute, int *value)
{
    const struct mi_convolution *convolution = mi_convolution(name);
    if (!convolution || !value) return miopenStatusBadParm;
    if ((unsigned)attribute > MIOPEN_CONVOLUTION_ATTRIB_FP8_ROUNDING_MODE)
        return mi_fail(miopenStatusBadParm, "no attribute %d", (int)attribute);
    *value = convolution->attribute[attribute];
    return miopenStatusSuccess;
}

/* Choosing takes microseconds in every mode; the mode is remembered for who asks. */
miopenStatus_t miopenHiddenSetConvolutionFindMode(miopenConvolutionDescriptor_t name, int mode)
{
    struct mi_convolution *convolution = writable(name);
    if (!convolution) return miopenStatusBadParm;
    convolution->find_mode = mode;
    return miopenStatusSuccess;
}

miopenStatus_t miopenHiddenGetConvolutionFindMode(miopenConvolutionDescriptor_t name, int *mode)
{
    const struct mi_convolution *convolution = mi_convolution(name);
    if (!convolution || !mode) return miopenStatusBadParm;
    *mode = convolution->find_mode;
    return miopenStatusSuccess;
}

miopenStatus_t miopenSetConvolutionFindMode(miopenConvolutionDescriptor_t name,
                                            miopenConvolutionFindMode_t mode)
{
    bool known = (int)mode >= miopenConvolutionFindModeNormal &&
                 (int)mode <= miopenConvolutionFindModeTrustVerifyFull && (int)mode != 4;
    if (!known) return mi_fail(miopenStatusBadParm, "no find mode %d", (int)mode);
    return miopenHiddenSetConvolutionFindMode(name, (int)mode);
}

miopenStatus_t miopenGetConvolutionFindMode(miopenConvolutionDescriptor_t name,
                                            miopenConvolutionFindMode_t *mode)
{
    int number;
    miopenStatus_t status = miopenHiddenGetConvolutionFindMode(name, mode ? &number : NULL);
    if (status == miopenStatusSuccess) *mode = (miopenConvolutionFindMode_t)number;
    return status;
}

miopenStatus_t mi_conv_output(const struct mi_convolution *convolution, const struct mi_tensor *x,
                              const struct mi_tensor *w, int64_t *size)
{
    int dims = convolution->dims;
    if (x->dims != dims + 2 || w->dims != dims + 2)
        return mi_fail(miopenStatusBadParm, "tensors of %d and %d dimensions, a convolution of %d",
                       x->dims, w->dims, dims);
    if (x->type != w->type) return mi_fail(miopenStatusBadParm, "x and w have different types");
    if (convolution->groups < 1)
        return mi_fail(miopenStatusBadParm, "%d groups", convolution->groups);
    bool transposed = convolution->mode == miopenTranspose;
    int64_t groups = convolution->groups;
    bool fit = transposed ? x->size[1] == w->size[0] && w->size[0] % groups == 0
                          : x->size[1] == w->size[1] * groups && w->size[0] % groups == 0;
    if (!fit)
        return mi_fail(miopenStatusBadParm, "%lld channels do not fit the filter and %lld groups",
                       (long long)x->size[1], (long long)groups);
    size[0] = x->size[0];
    size[1] = transposed ? w->size[1] * groups : w->size[0];
    for (int i = 0; i < dims; i++) {
        int64_t in = x->size[2 + i], window;
        int64_t pad = 2 * (int64_t)convolution->pad[i], stride = convolution->stride[i], out;
        if (transposed && convolution->output_pad[i] >= stride)
            return mi_fail(miopenStatusBadParm, "output padding %d with stride %lld",
                           convolution->output_pad[i], (long long)stride);
        if (__builtin_mul_overflow(w->size[2 + i] - 1, (int64_t)convolution->dilation[i],
                                   &window) ||
            window == INT64_MAX || in > INT64_MAX / 4 ||
            __builtin_mul_overflow(stride, in - 1, &out))
            return mi_fail(miopenStatusBadParm, "sizes overflow");
        window++;
        if (window > INT64_MAX / 4 || out > INT64_MAX / 4)
            return mi_fail(miopenStatusBadParm, "sizes overflow");
        if (transposed)
            out += window - pad + convolution->output_pad[i];
        else
            out = in + pad < window ? 1 : (in + pad - window) / stride + 1;
        size[2 + i] = out < 1 ? 1 : out;
    }
    return miopenStatusSuccess;
}

static miopenStatus_t output_of(miopenConvolutionDescriptor_t name, miopenTensorDescriptor_t x_name,
                                miopenTensorDescriptor_t w_name, int *dims, int64_t *size)
{
    const struct mi_convolution *convolution = mi_convolution(name);
    const struct mi_tensor *x = mi_tensor(x_name), *w = mi_tensor(w_name);
    if (!convolution || !x || !w) return miopenStatusBadParm;
    *dims = convolution->dims;
    return mi_conv_output(convolution, x, w, size);
}

static int as_int(int64_t value)
{
    return value > INT_MAX ? INT_MAX : (int)value;
}

miopenStatus_t miopenGetConvolutionForwardOutputDim(miopenConvolutionDescriptor_t name,
                                                    miopenTensorDescriptor_t x,
                                                    miopenTensorDescriptor_t w, int *n, int *c,
                                                    int *h, int *width)
{
    int dims = 0;
    int64_t size[RMCP_MAX_DIMS + 2];
    const struct mi_convolution *convolution = mi_convolution(name);
    if (convolution && convolution->dims != 2)
        return mi_fail(miopenStatusUnknownError, "the convolution has %d dimensions, not 2",
                       convolution->dims);
    miopenStatus_t status = output_of(name, x, w, &dims, size);
    if (status != miopenStatusSuccess) return status;
    int *const out[] = { n, c, h, width };
    for (int i = 0; i < 4; i++)
        if (out[i]) *out[i] = as_int(size[i]);
    return miopenStatusSuccess;
}

miopenStatus_t miopenGetConvolutionNdForwardOutputDim(miopenConvolutionDescriptor_t name,
                                                      miopenTensorDescriptor_t x,
                                                      miopenTensorDescriptor_t w, int *n_dims,
                                                      int *out)
{
    int dims = 0;
    int64_t size[RMCP_MAX_DIMS + 2];
    if (!n_dims || !out) return miopenStatusBadParm;
    miopenStatus_t status = output_of(name, x, w, &dims, size);
    if (status != miopenStatusSuccess) return status;
    *n_dims = dims + 2;
    for (int i = 0; i < dims + 2; i++) out[i] = as_int(size[i]);
    return miopenStatusSuccess;
}
