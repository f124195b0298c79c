/* conv_bias_activation.c: y = activation(alpha1 * conv(x, w) + alpha2 * z + bias) in one call: in
 * one launch where the engine has it, else one step after the other. */
#include "dropin/miopen/conv_calls.h"
#include "dropin/miopen/elements.h"
#include "dropin/miopen/log.h"

/* What is to be done behind the convolution. */
struct behind {
    float alpha1, alpha2;
    const struct mi_tensor *z_tensor, *bias_tensor; /* NULL: none */
    const void *z, *bias;
    const struct mi_activation *activation; /* NULL: none */
};

static rmcp_memory at(const void *pointer)
{
    return (rmcp_memory){ (void *)(uintptr_t)pointer, 0 };
}

static miopenStatus_t activate(struct mi_handle *handle, const struct mi_activation *activation,
                               const struct mi_tensor *tensor, rmcp_memory from, void *y)
{
    struct mi_case c;
    mi_elements_begin(&c, "act", (const struct mi_tensor *const[]){ tensor, tensor }, 2);
    mi_case_put(&c, ":fwd");
    mi_elements_activation(&c, activation);
    mi_case_tensor_at(&c, MI_X, tensor, from);
    mi_case_tensor(&c, MI_Y, tensor, y);
    return mi_case_run(handle, &c);
}

/* Each step rounds to the type of y. Memory of the handle lies as y does: z may be y itself. */
static miopenStatus_t run_steps(struct mi_handle *handle, struct mi_conv *conv, int algorithm,
                                struct mi_conv_memory *memory, const struct behind *b,
                                const struct mi_tensor *y_tensor)
{
    void *const y = (void *)(uintptr_t)memory->y;
    rmcp_memory between;
    miopenStatus_t status = mi_handle_between(
        handle, (uint64_t)mi_tensor_span(y_tensor) * mi_type_bytes(y_tensor->type), &between);
    if (status != miopenStatusSuccess) return status;
    memory->y = (char *)between.base + between.offset;
    status = mi_conv_execute(handle, conv, 0, algorithm, memory);
    rmcp_memory here = b->activation ? between : at(y);
    const rmcp_tensor sum = { .kind = b->z ? RMCP_TENSOR_ADD : RMCP_TENSOR_COPY,
                              .alpha = (double)b->alpha1,
                              .alpha_b = b->z ? (double)b->alpha2 : 0 };
    if (status == miopenStatusSuccess)
        status = mi_tensor_run(handle, sum, y_tensor, between, b->z ? b->z_tensor : NULL, at(b->z),
                               y_tensor, here);
    if (status == miopenStatusSuccess && b->bias_tensor) {
        struct mi_tensor bias = *y_tensor;
        for (int d = 0; d < bias.dims; d++) bias.size[d] = d == 1 ? y_tensor->size[1] : 1;
        bias = mi_tensor_packed(&bias, RMCP_NCHW);
        const rmcp_tensor add = { .kind = RMCP_TENSOR_ADD, .alpha = 1, .alpha_b = 1 };
        status = mi_tensor_run(handle, add, y_tensor, here, &bias, at(b->bias), y_tensor, here);
    }
    if (status == miopenStatusSuccess && b->activation)
        status = activate(handle, b->activation, y_tensor, here, y);
    return status;
}

miopenStatus_t miopenConvolutionBiasActivationForward(
    miopenHandle_t handle_name, const void *alpha1, miopenTensorDescriptor_t x_name, const void *x,
    miopenTensorDescriptor_t w_name, const void *w, miopenConvolutionDescriptor_t convolution,
    miopenConvFwdAlgorithm_t algorithm, void *workspace, size_t workspace_bytes, const void *alpha2,
    miopenTensorDescriptor_t z_name, const void *z, miopenTensorDescriptor_t bias_name,
    const void *bias, miopenActivationDescriptor_t activation_name, miopenTensorDescriptor_t y_name,
    void *y)
{
    struct behind b = { .alpha1 = alpha1 ? *(const float *)alpha1 : 1,
                        .alpha2 = alpha2 ? *(const float *)alpha2 : 0,
                        .bias = bias };
    const struct mi_tensor *y_tensor = mi_tensor(y_name);
    b.z = b.alpha2 != 0 ? z : NULL;
    b.z_tensor = b.z ? mi_tensor(z_name) : NULL;
    b.bias_tensor = bias_name ? mi_tensor(bias_name) : NULL;
    b.activation = activation_name ? mi_activation(activation_name) : NULL;
    if (!x || !w || !y || !y_tensor || (bias_name && !b.bias_tensor) ||
        (activation_name && !b.activation) || (b.bias_tensor && !bias) || (b.z && !b.z_tensor))
        return mi_fail(miopenStatusBadParm, "miopenConvolutionBiasActivationForward: bad argument");
    if (b.z && !mi_elements_same(b.z_tensor, y_tensor))
        return mi_fail(miopenStatusBadParm, "z is of another type or size than y");
    struct mi_conv_entry entry;
    miopenStatus_t status =
        mi_conv_enter(&entry, RMCP_CONV_FORWARD, handle_name, x_name, w_name, convolution, y_name);
    if (status == miopenStatusSuccess && b.bias_tensor &&
        (b.bias_tensor->type != y_tensor->type ||
         mi_tensor_elements(b.bias_tensor) != y_tensor->size[1]))
        status = mi_fail(miopenStatusBadParm, "the bias does not fit the convolution");
    if (status == miopenStatusSuccess) {
        struct mi_conv_memory memory = { .x = x,
                                         .w = w,
                                         .y = y,
                                         .workspace = workspace,
                                         .workspace_bytes = workspace_bytes,
                                         .alpha = 1 };
        struct mi_engine_activation a = { .kind = RMCP_NO_ACTIVATION };
        rmcp_conv *p = &entry.conv.key.problem.conv;
        mi_conv_log(&entry);
        if (b.alpha1 != 1 || b.z || entry.conv.transposed ||
            (b.activation && mi_activation_translate(b.activation, &a) != miopenStatusSuccess)) {
            entry.handle->kernel_ms = 0;
            status = run_steps(entry.handle, &entry.conv, (int)algorithm, &memory, &b, y_tensor);
        } else {
            p->bias = b.bias_tensor != NULL;
            p->activation = a.kind;
            p->slope = a.slope;
            p->clamp_low = a.low;
            p->clamp_high = a.high;
            memory.bias = bias;
            status = mi_conv_execute(entry.handle, &entry.conv, 0, (int)algorithm, &memory);
        }
    }
    mi_conv_leave(&entry);
    return status;
}
