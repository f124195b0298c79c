/* batchnorm.c: batch normalisation: training, inference, backward, in all their forms. */
#include "dropin/miopen/batchnorm.h"

#include "dropin/miopen/command_line.h"
#include "dropin/miopen/log.h"

#include <float.h>
#include <string.h>

/* One call, in whichever form it came. */
struct call {
    rmcp_batchnorm_pass pass;
    miopenBatchNormMode_t mode;
    const void *one[2], *zero[2]; /* scalars that must be 1 and 0; NULL from the second on: none */
    miopenTensorDescriptor_t x, y, dx; /* y: or dy; dx: only backward */
    miopenTensorDescriptor_t parameters[4];
    double epsilon, momentum;
    bool running, saved;
    bool with_activation;
    miopenActivationDescriptor_t activation;
    rmcp_batchnorm_tensors tensors;
};

static rmcp_memory at(const void *pointer)
{
    return (rmcp_memory){ (void *)(uintptr_t)pointer, 0 };
}

static bool is_scalar(const void *pointer, float value)
{
    return pointer && *(const float *)pointer == value;
}

/* Scale, bias and statistics: f32, one for each channel or for each element of an image. */
static miopenStatus_t check_parameters(const struct mi_norm *norm, int64_t expected)
{
    const struct mi_tensor *x = norm->x;
    for (int i = 0; i < 4; i++) {
        const struct mi_tensor *p = norm->parameters[i];
        if (!p) return miopenStatusBadParm;
        if (p->dims != x->dims || mi_tensor_elements(p) != expected || p->size[1] != x->size[1])
            return mi_fail(miopenStatusBadParm, "parameters do not fit the tensor");
        if (p->type != miopenFloat)
            return mi_fail(miopenStatusNotImplemented, "parameters of data type %d; only float",
                           (int)p->type);
    }
    return miopenStatusSuccess;
}

static bool packed(const struct mi_tensor *const *tensors, rmcp_layout layout)
{
    for (int i = 0; i < 3; i++)
        if (tensors[i] && !mi_tensor_is_packed(tensors[i], layout)) return false;
    return true;
}

miopenStatus_t mi_norm_translate(const struct mi_norm *norm, struct mi_key *key)
{
    const struct mi_tensor *x = norm->x, *y = norm->y,
                           *dx = norm->pass == RMCP_BATCHNORM_BACKWARD ? norm->dx : NULL;
    const struct mi_tensor *tensors[] = { x, y, dx };
    memset(key, 0, sizeof *key);
    if (!x || !y || (norm->pass == RMCP_BATCHNORM_BACKWARD && !dx)) return miopenStatusBadParm;
    if (norm->mode != miopenBNPerActivation && norm->mode != miopenBNSpatial)
        return mi_fail(miopenStatusBadParm, "no batch norm mode %d", (int)norm->mode);
    if (x->dims < 3 || x->dims > 5)
        return mi_fail(miopenStatusBadParm, "batch norm of a tensor of %d dimensions", x->dims);
    for (int i = 1; i < 3; i++)
        if (tensors[i] && (tensors[i]->dims != x->dims || tensors[i]->type != x->type ||
                           memcmp(tensors[i]->size, x->size, sizeof x->size) != 0))
            return mi_fail(miopenStatusBadParm, "the tensors' sizes or types differ");
    rmcp_batchnorm *p = &key->problem.batchnorm;
    if (!mi_type(x->type, &p->type))
        return mi_fail(miopenStatusNotImplemented, "batch norm of data type %d", (int)x->type);
    int64_t parameters = x->size[1];
    for (int i = 2; norm->mode == miopenBNPerActivation && i < x->dims; i++)
        parameters *= x->size[i];
    miopenStatus_t status = check_parameters(norm, parameters);
    if (status != miopenStatusSuccess) return status;
    if (!packed(tensors, RMCP_NCHW) && !packed(tensors, RMCP_NHWC))
        return mi_fail(miopenStatusBadParm, "batch norm: only tensors without gaps, all in one "
                                            "order");
    p->layout = packed(tensors, RMCP_NCHW) ? RMCP_NCHW : RMCP_NHWC;
    p->struct_size = sizeof *p;
    p->dims = (uint32_t)x->dims - 2;
    p->n = x->size[0];
    p->c = x->size[1];
    for (int i = 2; i < x->dims; i++) p->input[i - 2] = x->size[i];
    p->mode = norm->mode == miopenBNSpatial ? RMCP_SPATIAL : RMCP_PER_ACTIVATION;
    p->running = norm->running;
    p->saved = norm->saved;
    /* To the engine 0 means a default; less than any f32 is as good as nothing. */
    p->epsilon =
        norm->epsilon >= 0 && norm->epsilon < (double)FLT_MIN ? (double)FLT_MIN : norm->epsilon;
    p->momentum = norm->running ? norm->momentum : 0;
    if (norm->activation) {
        struct mi_engine_activation a;
        status = mi_activation_translate(norm->activation, &a);
        p->activation = a.kind;
        p->slope = a.slope;
        p->clamp_low = a.low;
        p->clamp_high = a.high;
    }
    key->operation = MI_OP_BATCHNORM;
    key->pass = norm->pass;
    return status;
}

miopenStatus_t mi_norm_run(struct mi_handle *handle, const struct mi_key *key,
                           rmcp_batchnorm_tensors *tensors)
{
    const struct mi_engine *e = handle->engine;
    const struct mi_plans *plans;
    tensors->struct_size = sizeof *tensors;
    handle->kernel_ms = 0;
    miopenStatus_t status = mi_plans_get(handle, key, &plans);
    if (status == miopenStatusSuccess) {
        tensors->workspace_bytes = plans->choice[0].workspace;
        status = mi_handle_scratch(handle, tensors->workspace_bytes, &tensors->workspace);
    }
    if (status != miopenStatusSuccess) return status;
    double seconds = 0;
    rmcp_status done =
        handle->profiling
            ? e->rmcp_batchnorm_execute_timed(plans->choice[0].plan, handle->stream, tensors,
                                              &seconds)
            : e->rmcp_batchnorm_execute(plans->choice[0].plan, handle->stream, tensors);
    handle->kernel_ms = (float)(seconds * 1e3);
    return mi_status(done, "batch norm");
}

static miopenStatus_t run(miopenHandle_t name, struct call *call)
{
    struct mi_norm norm = { .pass = call->pass,
                            .mode = call->mode,
                            .x = mi_tensor(call->x),
                            .y = mi_tensor(call->y),
                            .dx =
                                call->pass == RMCP_BATCHNORM_BACKWARD ? mi_tensor(call->dx) : NULL,
                            .epsilon = call->epsilon,
                            .momentum = call->momentum,
                            .running = call->running,
                            .saved = call->saved,
                            .activation =
                                call->with_activation ? mi_activation(call->activation) : NULL };
    for (int i = 0; i < 4; i++) norm.parameters[i] = mi_tensor(call->parameters[i]);
    for (int i = 0; i < 2; i++)
        if ((call->one[i] || call->zero[i] || !i) &&
            (!is_scalar(call->one[i], 1) || !is_scalar(call->zero[i], 0)))
            return mi_fail(miopenStatusBadParm, "batch norm: only alpha 1 and beta 0");
    if (call->with_activation && !norm.activation) return miopenStatusBadParm;
    struct mi_key key;
    miopenStatus_t status = mi_norm_translate(&norm, &key);
    if (status != miopenStatusSuccess) return status;
    struct mi_handle *handle = mi_handle_enter(name);
    if (!handle) return miopenStatusBadParm;
    if (mi_log_wants_commands()) mi_command_batchnorm(&key);
    status = mi_norm_run(handle, &key, &call->tensors);
    mi_handle_leave(handle);
    return status;
}

struct mi_tensor mi_norm_parameters(const struct mi_tensor *x, miopenBatchNormMode_t mode)
{
    struct mi_tensor shape = { .type = miopenFloat, .dims = x->dims, .cast_type = -1 };
    for (int i = 0; i < x->dims; i++)
        shape.size[i] = i == 1 || (i > 1 && mode == miopenBNPerActivation) ? x->size[i] : 1;
    return mi_tensor_packed(&shape, RMCP_NCHW);
}

miopenStatus_t miopenDeriveBNTensorDescriptor(miopenTensorDescriptor_t derived,
                                              miopenTensorDescriptor_t x_name,
                                              miopenBatchNormMode_t mode)
{
    const struct mi_tensor *x = mi_tensor(x_name);
    if (!x || !mi_object(derived, MI_TENSOR) || x->dims < 3 || x->dims > 5)
        return mi_fail(miopenStatusBadParm, "miopenDeriveBNTensorDescriptor: bad argument");
    const struct mi_tensor shape = mi_norm_parameters(x, mode);
    size_t size[MI_DIMS];
    for (int i = 0; i < x->dims; i++) size[i] = (size_t)shape.size[i];
    return miopenSetTensorDescriptorV2(derived, miopenFloat, x->dims, size, NULL);
}

/* ---- training ---- */

struct training {
    miopenBatchNormMode_t mode;
    void *alpha, *beta;
    miopenTensorDescriptor_t x_name, y_name;
    const void *x;
    void *y, *scale, *bias;
    double factor, epsilon;
    void *running_mean, *running_variance, *saved_mean, *saved_inverse;
};

static miopenStatus_t train(miopenHandle_t handle, const struct training *t, struct call call)
{
    if (!t->x || !t->y || !t->scale || !t->bias)
        return mi_fail(miopenStatusBadParm, "batch norm: an argument is NULL");
    call.pass = RMCP_BATCHNORM_TRAIN;
    call.mode = t->mode;
    call.one[0] = t->alpha;
    call.zero[0] = t->beta;
    call.x = t->x_name;
    call.y = t->y_name;
    call.epsilon = t->epsilon;
    call.momentum = t->factor;
    /* A factor of 0 leaves the running statistics as they are. */
    call.running = t->running_mean && t->running_variance && t->factor != 0;
    call.saved = t->saved_mean && t->saved_inverse;
    call.tensors = (rmcp_batchnorm_tensors){ .x = at(t->x),
                                             .y = at(t->y),
                                             .scale = at(t->scale),
                                             .bias = at(t->bias),
                                             .running_mean = at(t->running_mean),
                                             .running_variance = at(t->running_variance),
                                             .saved_mean = at(t->saved_mean),
                                             .saved_inverse = at(t->saved_inverse) };
    return run(handle, &call);
}

miopenStatus_t miopenBatchNormalizationForwardTraining(
    miopenHandle_t handle, miopenBatchNormMode_t mode, void *alpha, void *beta,
    miopenTensorDescriptor_t x_name, const void *x, miopenTensorDescriptor_t y_name, void *y,
    miopenTensorDescriptor_t parameters, void *scale, void *bias, double factor, void *running_mean,
    void *running_variance, double epsilon, void *saved_mean, void *saved_inverse)
{
    return miopenBatchNormalizationForwardTraining_V2(
        handle, mode, alpha, beta, x_name, x, y_name, y, parameters, parameters, parameters,
        parameters, scale, bias, factor, running_mean, running_variance, epsilon, saved_mean,
        saved_inverse);
}

miopenStatus_t miopenBatchNormalizationForwardTraining_V2(
    miopenHandle_t handle, miopenBatchNormMode_t mode, void *alpha, void *beta,
    miopenTensorDescriptor_t x_name, const void *x, miopenTensorDescriptor_t y_name, void *y,
    miopenTensorDescriptor_t scale_name, miopenTensorDescriptor_t bias_name,
    miopenTensorDescriptor_t mean_name, miopenTensorDescriptor_t variance_name, void *scale,
    void *bias, double factor, void *running_mean, void *running_variance, double epsilon,
    void *saved_mean, void *saved_inverse)
{
    struct training t = { mode,
                          alpha,
                          beta,
                          x_name,
                          y_name,
                          x,
                          y,
                          scale,
                          bias,
                          factor,
                          epsilon,
                          running_mean,
                          running_variance,
                          saved_mean,
                          saved_inverse };
    return train(
        handle, &t,
        (struct call){ .parameters = { scale_name, bias_name, mean_name, variance_name } });
}

miopenStatus_t miopenBatchNormForwardTrainingActivation(
    miopenHandle_t handle, miopenBatchNormMode_t mode, void *alpha, void *beta,
    miopenTensorDescriptor_t x_name, const void *x, miopenTensorDescriptor_t y_name, void *y,
    miopenTensorDescriptor_t scale_name, miopenTensorDescriptor_t bias_name,
    miopenTensorDescriptor_t mean_name, miopenTensorDescriptor_t variance_name, void *scale,
    void *bias, double factor, void *running_mean, void *running_variance, double epsilon,
    void *saved_mean, void *saved_inverse, miopenActivationDescriptor_t activation)
{
    struct training t = { mode,
                          alpha,
                          beta,
                          x_name,
                          y_name,
                          x,
                          y,
                          scale,
                          bias,
                          factor,
                          epsilon,
                          running_mean,
                          running_variance,
                          saved_mean,
                          saved_inverse };
    return train(handle, &t,
                 (struct call){ .parameters = { scale_name, bias_name, mean_name, variance_name },
                                .with_activation = true,
                                .activation = activation });
}

/* ---- inference ---- */

struct inference {
    miopenBatchNormMode_t mode;
    void *alpha, *beta;
    miopenTensorDescriptor_t x_name, y_name;
    const void *x;
    void *y, *scale, *bias, *mean, *variance;
    double epsilon;
};

/* Without estimates the batch's own statistics are taken, as the original does. */
static miopenStatus_t infer(miopenHandle_t handle, const struct inference *t, struct call call)
{
    if (!t->x || !t->y || !t->scale || !t->bias)
        return mi_fail(miopenStatusBadParm, "batch norm: an argument is NULL");
    call.pass = t->mean && t->variance ? RMCP_BATCHNORM_INFER : RMCP_BATCHNORM_TRAIN;
    call.mode = t->mode;
    call.one[0] = t->alpha;
    call.zero[0] = t->beta;
    call.x = t->x_name;
    call.y = t->y_name;
    call.epsilon = t->epsilon;
    call.tensors = (rmcp_batchnorm_tensors){ .x = at(t->x),
                                             .y = at(t->y),
                                             .scale = at(t->scale),
                                             .bias = at(t->bias),
                                             .running_mean = at(t->mean),
                                             .running_variance = at(t->variance) };
    return run(handle, &call);
}

miopenStatus_t
miopenBatchNormalizationForwardInference(miopenHandle_t handle, miopenBatchNormMode_t mode,
                                         void *alpha, void *beta, miopenTensorDescriptor_t x_name,
                                         const void *x, miopenTensorDescriptor_t y_name, void *y,
                                         miopenTensorDescriptor_t parameters, void *scale,
                                         void *bias, void *mean, void *variance, double epsilon)
{
    return miopenBatchNormalizationForwardInference_V2(
        handle, mode, alpha, beta, x_name, x, y_name, y, parameters, parameters, parameters,
        parameters, scale, bias, mean, variance, epsilon);
}

miopenStatus_t miopenBatchNormalizationForwardInference_V2(
    miopenHandle_t handle, miopenBatchNormMode_t mode, void *alpha, void *beta,
    miopenTensorDescriptor_t x_name, const void *x, miopenTensorDescriptor_t y_name, void *y,
    miopenTensorDescriptor_t scale_name, miopenTensorDescriptor_t bias_name,
    miopenTensorDescriptor_t mean_name, miopenTensorDescriptor_t variance_name, void *scale,
    void *bias, void *mean, void *variance, double epsilon)
{
    struct inference t = { mode, alpha, beta, x_name, y_name,   x,
                           y,    scale, bias, mean,   variance, epsilon };
    return infer(
        handle, &t,
        (struct call){ .parameters = { scale_name, bias_name, mean_name, variance_name } });
}

miopenStatus_t miopenBatchNormForwardInferenceActivation(
    miopenHandle_t handle, miopenBatchNormMode_t mode, void *alpha, void *beta,
    miopenTensorDescriptor_t x_name, const void *x, miopenTensorDescriptor_t y_name, void *y,
    miopenTensorDescriptor_t scale_name, miopenTensorDescriptor_t bias_name,
    miopenTensorDescriptor_t mean_name, miopenTensorDescriptor_t variance_name, void *scale,
    void *bias, void *mean, void *variance, double epsilon, miopenActivationDescriptor_t activation)
{
    struct inference t = { mode, alpha, beta, x_name, y_name,   x,
                           y,    scale, bias, mean,   variance, epsilon };
    return infer(handle, &t,
                 (struct call){ .parameters = { scale_name, bias_name, mean_name, variance_name },
                                .with_activation = true,
                                .activation = activation });
}

/* ---- backward ---- */

struct backward {
    miopenBatchNormMode_t mode;
    const void *one[2], *zero[2];
    miopenTensorDescriptor_t x_name, dy_name, dx_name;
    const void *x, *dy;
    void *dx;
    const void *scale, *bias;
    void *dscale, *dbias;
    double epsilon;
    const void *saved_mean, *saved_inverse;
};

static miopenStatus_t back(miopenHandle_t handle, const struct backward *t, struct call call)
{
    if (!t->x || !t->dy || !t->dx || !t->scale || !t->dscale || !t->dbias ||
        (call.with_activation && !t->bias))
        return mi_fail(miopenStatusBadParm, "batch norm: an argument is NULL");
    if (!t->one[0] || !t->one[1] || !t->zero[0] || !t->zero[1])
        return mi_fail(miopenStatusBadParm, "batch norm: a scalar is NULL");
    call.pass = RMCP_BATCHNORM_BACKWARD;
    call.mode = t->mode;
    for (int i = 0; i < 2; i++) {
        call.one[i] = t->one[i];
        call.zero[i] = t->zero[i];
    }
    call.x = t->x_name;
    call.y = t->dy_name;
    call.dx = t->dx_name;
    call.epsilon = t->epsilon;
    call.saved = t->saved_mean && t->saved_inverse;
    call.tensors = (rmcp_batchnorm_tensors){ .x = at(t->x),
                                             .dy = at(t->dy),
                                             .dx = at(t->dx),
                                             .scale = at(t->scale),
                                             .bias = at(t->bias),
                                             .dscale = at(t->dscale),
                                             .dbias = at(t->dbias),
                                             .saved_mean = at(t->saved_mean),
                                             .saved_inverse = at(t->saved_inverse) };
    return run(handle, &call);
}

miopenStatus_t miopenBatchNormalizationBackward(
    miopenHandle_t handle, miopenBatchNormMode_t mode, const void *alpha_data,
    const void *beta_data, const void *alpha_parameters, const void *beta_parameters,
    miopenTensorDescriptor_t x_name, const void *x, miopenTensorDescriptor_t dy_name,
    const void *dy, miopenTensorDescriptor_t dx_name, void *dx, miopenTensorDescriptor_t parameters,
    const void *scale, void *dscale, void *dbias, double epsilon, const void *saved_mean,
    const void *saved_inverse)
{
    return miopenBatchNormalizationBackward_V2(
        handle, mode, alpha_data, beta_data, alpha_parameters, beta_parameters, x_name, x, dy_name,
        dy, dx_name, dx, parameters, parameters, parameters, parameters, scale, dscale, dbias,
        epsilon, saved_mean, saved_inverse);
}

miopenStatus_t miopenBatchNormalizationBackward_V2(
    miopenHandle_t handle, miopenBatchNormMode_t mode, const void *alpha_data,
    const void *beta_data, const void *alpha_parameters, const void *beta_parameters,
    miopenTensorDescriptor_t x_name, const void *x, miopenTensorDescriptor_t dy_name,
    const void *dy, miopenTensorDescriptor_t dx_name, void *dx, miopenTensorDescriptor_t scale_name,
    miopenTensorDescriptor_t bias_name, miopenTensorDescriptor_t mean_name,
    miopenTensorDescriptor_t variance_name, const void *scale, void *dscale, void *dbias,
    double epsilon, const void *saved_mean, const void *saved_inverse)
{
    struct backward t = { mode,
                          { alpha_data, alpha_parameters },
                          { beta_data, beta_parameters },
                          x_name,
                          dy_name,
                          dx_name,
                          x,
                          dy,
                          dx,
                          scale,
                          NULL,
                          dscale,
                          dbias,
                          epsilon,
                          saved_mean,
                          saved_inverse };
    return back(handle, &t,
                (struct call){ .parameters = { scale_name, bias_name, mean_name, variance_name } });
}

miopenStatus_t miopenBatchNormBackwardActivation(
    miopenHandle_t handle, miopenBatchNormMode_t mode, const void *alpha_data,
    const void *beta_data, const void *alpha_parameters, const void *beta_parameters,
    miopenTensorDescriptor_t x_name, const void *x, miopenTensorDescriptor_t dy_name,
    const void *dy, miopenTensorDescriptor_t dx_name, void *dx, miopenTensorDescriptor_t scale_name,
    miopenTensorDescriptor_t bias_name, miopenTensorDescriptor_t mean_name,
    miopenTensorDescriptor_t variance_name, const void *scale, const void *bias, void *dscale,
    void *dbias, double epsilon, const void *saved_mean, const void *saved_inverse,
    miopenActivationDescriptor_t activation)
{
    struct backward t = { mode,
                          { alpha_data, alpha_parameters },
                          { beta_data, beta_parameters },
                          x_name,
                          dy_name,
                          dx_name,
                          x,
                          dy,
                          dx,
                          scale,
                          bias,
                          dscale,
                          dbias,
                          epsilon,
                          saved_mean,
                          saved_inverse };
    return back(handle, &t,
                (struct call){ .parameters = { scale_name, bias_name, mean_name, variance_name },
                               .with_activation = true,
                               .activation = activation });
}
