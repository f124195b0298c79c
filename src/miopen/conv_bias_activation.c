/* conv_bias_activation.c: y = activation(alpha1 * conv(x, w) + alpha2 * z + bias) in one call. */
#include "miopen/activation.h"
#include "miopen/conv_calls.h"
#include "miopen/log.h"

miopenStatus_t miopenConvolutionBiasActivationForward(
    miopenHandle_t handle_name, const void *alpha1, miopenTensorDescriptor_t x_name, const void *x,
    miopenTensorDescriptor_t w_name, const void *w, miopenConvolutionDescriptor_t convolution,
    miopenConvFwdAlgorithm_t algorithm, void *workspace, size_t workspace_bytes, const void *alpha2,
    miopenTensorDescriptor_t z_name, const void *z, miopenTensorDescriptor_t bias_name,
    const void *bias, miopenActivationDescriptor_t activation_name, miopenTensorDescriptor_t y_name,
    void *y)
{
    const struct mi_tensor *bias_tensor = bias_name ? mi_tensor(bias_name) : NULL;
    const struct mi_activation *activation =
        activation_name ? mi_activation(activation_name) : NULL;
    float one = alpha1 ? *(const float *)alpha1 : 1, add = alpha2 ? *(const float *)alpha2 : 0;
    if (!x || !w || !y || (bias_name && !bias_tensor) || (activation_name && !activation) ||
        (bias_tensor && !bias))
        return mi_fail(miopenStatusBadParm, "miopenConvolutionBiasActivationForward: bad argument");
    if (one != 1 || (add != 0 && z))
        return mi_fail(miopenStatusNotImplemented, "only alpha1 1 and no z");
    (void)z_name;
    struct mi_engine_activation a = { .kind = RMCP_NO_ACTIVATION };
    miopenStatus_t status =
        activation ? mi_activation_translate(activation, &a) : miopenStatusSuccess;
    if (status != miopenStatusSuccess) return status;
    struct mi_conv_entry entry;
    status =
        mi_conv_enter(&entry, RMCP_CONV_FORWARD, handle_name, x_name, w_name, convolution, y_name);
    rmcp_conv *p = &entry.conv.key.problem.conv;
    if (status == miopenStatusSuccess && entry.conv.transposed)
        status = mi_fail(miopenStatusNotImplemented, "not with a transposed convolution");
    if (status == miopenStatusSuccess && bias_tensor &&
        (bias_tensor->type != entry.conv.y.type || mi_tensor_elements(bias_tensor) != p->k))
        status = mi_fail(miopenStatusBadParm, "the bias does not fit the convolution");
    if (status == miopenStatusSuccess) {
        p->bias = bias_tensor != NULL;
        p->activation = a.kind;
        p->slope = a.slope;
        p->clamp_low = a.low;
        p->clamp_high = a.high;
        struct mi_conv_memory memory = { .x = x,
                                         .w = w,
                                         .y = y,
                                         .bias = bias,
                                         .workspace = workspace,
                                         .workspace_bytes = workspace_bytes,
                                         .alpha = 1 };
        mi_conv_log(&entry);
        status = mi_conv_execute(entry.handle, &entry.conv, 0, (int)algorithm, &memory);
    }
    mi_conv_leave(&entry);
    return status;
}
