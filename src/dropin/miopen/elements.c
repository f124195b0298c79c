/* elements.c: activations: forward and backward; what calls that go element by element share. */
#include "dropin/miopen/elements.h"

#include "dropin/miopen/log.h"

#include <stdio.h>
#include <string.h>

bool mi_elements_same(const struct mi_tensor *a, const struct mi_tensor *b)
{
    return a->type == b->type && a->dims == b->dims &&
           !memcmp(a->size, b->size, (size_t)a->dims * sizeof *a->size);
}

size_t mi_parts_bytes(size_t elements)
{
    const size_t each = elements * sizeof(float), parts = (elements + 255) / 256 * sizeof(float);
    return (each + 255) / 256 * 256 + (parts + 255) / 256 * 256;
}

void mi_elements_begin(struct mi_case *c, const char *name, const struct mi_tensor *const *tensors,
                       int n)
{
    bool packed = true, same = true, fit = true;
    const struct mi_tensor *first = tensors[0];
    for (int i = 0; i < n; i++) {
        const struct mi_tensor *t = tensors[i];
        packed = packed && mi_tensor_is_packed(t, RMCP_NCHW);
        same = same && t->dims == first->dims &&
               !memcmp(t->size, first->size, (size_t)t->dims * sizeof *t->size);
        fit = fit && mi_tensor_elements(t) == mi_tensor_elements(first) && t->type == first->type;
    }
    const int64_t elements = mi_tensor_elements(first);
    if (packed)
        mi_case_begin_sizes(c, name, &elements, 1, first->type);
    else
        mi_case_begin(c, name, first);
    if (c->status == miopenStatusSuccess && (!fit || (!packed && !same)))
        c->status = mi_fail(miopenStatusBadParm, "%s: the tensors do not fit each other", name);
}

void mi_elements_activation(struct mi_case *c, const struct mi_activation *activation)
{
    static const char *const modes[] = { "passthru", "logistic", "tanh",  "relu", "softrelu", "abs",
                                         "power",    "clipped",  "leaky", "elu",  "clamp" };
    mi_case_put(c, ":%s", modes[activation->mode]);
    if (activation->alpha != 0) mi_case_number(c, "alpha", activation->alpha);
    if (activation->beta != 0) mi_case_number(c, "beta", activation->beta);
    if (activation->gamma != 0) mi_case_number(c, "gamma", activation->gamma);
}

/* scale * result + update * what is there; MIOpen's names for these are alpha and beta. */
static void put_scales(struct mi_case *c, const void *scale, const void *update)
{
    const double a = (double)*(const float *)scale, b = (double)*(const float *)update;
    if (a != 1) mi_case_number(c, "scale", a);
    if (b != 0) mi_case_number(c, "update", b);
}

static void log_command(const struct mi_activation *a, const struct mi_tensor *x, int direction)
{
    if (!mi_log_wants_commands()) return;
    char text[512];
    int n = snprintf(text, sizeof text, "activ%s",
                     x->type == miopenHalf       ? "fp16"
                     : x->type == miopenBFloat16 ? "bfp16"
                                                 : "");
    static const char *const options[] = { " -n", " -c", " -H", " -W" };
    for (int i = 0; i < 4 && x->dims <= 4; i++)
        n += snprintf(text + n, sizeof text - (size_t)n, "%s %lld", options[i],
                      i < x->dims ? (long long)x->size[i] : 1LL);
    for (int i = 0; i < x->dims && x->dims > 4; i++)
        n += snprintf(text + n, sizeof text - (size_t)n, "%s%lld", i ? "x" : " --input ",
                      (long long)x->size[i]);
    snprintf(text + n, sizeof text - (size_t)n, " -m %d --forw %d -A %g -B %g -G %g", (int)a->mode,
             direction, a->alpha, a->beta, a->gamma);
    mi_log_command(text);
}

miopenStatus_t miopenActivationForward(miopenHandle_t handle, miopenActivationDescriptor_t name,
                                       const void *alpha, miopenTensorDescriptor_t x_name,
                                       const void *x, const void *beta,
                                       miopenTensorDescriptor_t y_name, void *y)
{
    const struct mi_activation *activation = mi_activation(name);
    const struct mi_tensor *tensors[] = { mi_tensor(x_name), mi_tensor(y_name) };
    if (!activation || !tensors[0] || !tensors[1] || !x || !y || !alpha || !beta)
        return miopenStatusBadParm;
    struct mi_case c;
    mi_elements_begin(&c, "act", tensors, 2);
    mi_case_put(&c, ":fwd");
    mi_elements_activation(&c, activation);
    put_scales(&c, alpha, beta);
    mi_case_tensor(&c, MI_X, tensors[0], x);
    mi_case_tensor(&c, MI_Y, tensors[1], y);
    log_command(activation, tensors[0], 1);
    return mi_case_call(handle, &c);
}

bool mi_activation_reads_x(miopenActivationMode_t mode)
{
    return mode != miopenActivationPASTHRU && mode != miopenActivationLOGISTIC &&
           mode != miopenActivationTANH;
}

bool mi_activation_reads_y(miopenActivationMode_t mode)
{
    return mode == miopenActivationLOGISTIC || mode == miopenActivationTANH ||
           mode == miopenActivationPOWER || mode == miopenActivationELU;
}

miopenStatus_t miopenActivationBackward(miopenHandle_t handle, miopenActivationDescriptor_t name,
                                        const void *alpha, miopenTensorDescriptor_t y_name,
                                        const void *y, miopenTensorDescriptor_t dy_name,
                                        const void *dy, miopenTensorDescriptor_t x_name,
                                        const void *x, const void *beta,
                                        miopenTensorDescriptor_t dx_name, void *dx)
{
    const struct mi_activation *activation = mi_activation(name);
    const struct mi_tensor *tensors[] = { mi_tensor(dx_name), mi_tensor(dy_name), mi_tensor(x_name),
                                          mi_tensor(y_name) };
    if (!activation || !tensors[0] || !tensors[1] || !tensors[2] || !tensors[3] || !dy || !dx ||
        !alpha || !beta)
        return miopenStatusBadParm;
    if ((mi_activation_reads_x(activation->mode) && !x) ||
        (mi_activation_reads_y(activation->mode) && !y))
        return mi_fail(miopenStatusBadParm, "the gradient of activation %d needs another tensor",
                       (int)activation->mode);
    struct mi_case c;
    mi_elements_begin(&c, "act", tensors, 4);
    mi_case_put(&c, ":bwd");
    mi_elements_activation(&c, activation);
    put_scales(&c, alpha, beta);
    mi_case_tensor(&c, MI_DX, tensors[0], dx);
    mi_case_tensor(&c, MI_DY, tensors[1], dy);
    if (mi_activation_reads_x(activation->mode)) mi_case_tensor(&c, MI_X, tensors[2], x);
    if (mi_activation_reads_y(activation->mode)) mi_case_tensor(&c, MI_Y, tensors[3], y);
    log_command(activation, tensors[2], 2);
    return mi_case_call(handle, &c);
}
