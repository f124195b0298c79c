/* fusion.c: fusion plans: operations added one after the other, compiled, executed. */
#include "dropin/miopen/fusion.h"

#include "dropin/miopen/log.h"

static struct mi_fusion_plan *plan_of(miopenFusionPlanDescriptor_t name)
{
    struct mi_fusion_plan *plan = mi_object(name, MI_FUSION_PLAN);
    if (!plan) mi_log(MI_ERROR, "%p is no fusion plan", (void *)name);
    return plan;
}

miopenStatus_t miopenCreateFusionPlan(miopenFusionPlanDescriptor_t *out,
                                      miopenFusionDirection_t direction,
                                      miopenTensorDescriptor_t input)
{
    const struct mi_tensor *tensor = mi_tensor(input);
    if (!out || !tensor)
        return mi_fail(miopenStatusBadParm, "miopenCreateFusionPlan: bad argument");
    struct mi_fusion_plan *plan = mi_object_new(MI_FUSION_PLAN, sizeof *plan);
    if (!plan) return mi_fail(miopenStatusAllocFailed, "out of memory");
    plan->direction = direction;
    plan->parts.input = plan->parts.output = *tensor;
    *out = (miopenFusionPlanDescriptor_t)(void *)plan;
    return miopenStatusSuccess;
}

miopenStatus_t miopenDestroyFusionPlan(miopenFusionPlanDescriptor_t name)
{
    if (!name) return miopenStatusSuccess;
    struct mi_fusion_plan *plan = plan_of(name);
    if (!plan) return miopenStatusBadParm;
    for (int i = 0; i < plan->parts.n; i++) mi_object_delete(plan->op[i]);
    mi_object_delete(plan);
    return miopenStatusSuccess;
}

miopenStatus_t miopenFusionPlanGetOp(miopenFusionPlanDescriptor_t name, int index,
                                     miopenFusionOpDescriptor_t *out)
{
    const struct mi_fusion_plan *plan = plan_of(name);
    if (!plan || !out || index < 0 || index >= plan->parts.n)
        return mi_fail(miopenStatusBadParm, "miopenFusionPlanGetOp: bad argument");
    *out = (miopenFusionOpDescriptor_t)(void *)plan->op[index];
    return miopenStatusSuccess;
}

/* ---- operations ---- */

static miopenStatus_t add(miopenFusionPlanDescriptor_t name, miopenFusionOpDescriptor_t *out,
                          const struct mi_part *part)
{
    struct mi_fusion_plan *plan = plan_of(name);
    if (!plan || !out) return mi_fail(miopenStatusUnknownError, "no fusion plan, or no operation");
    struct mi_fusion_op *op = mi_object_new(MI_FUSION_OP, sizeof *op);
    if (!op) return mi_fail(miopenStatusAllocFailed, "out of memory");
    op->index = plan->parts.n;
    op->kind = part->kind;
    miopenStatus_t status = mi_parts_add(&plan->parts, part);
    if (status != miopenStatusSuccess) {
        mi_object_delete(op);
        return status;
    }
    plan->op[op->index] = op;
    plan->compiled = false;
    *out = (miopenFusionOpDescriptor_t)(void *)op;
    return miopenStatusSuccess;
}

miopenStatus_t miopenCreateOpConvForward(miopenFusionPlanDescriptor_t plan,
                                         miopenFusionOpDescriptor_t *op,
                                         miopenConvolutionDescriptor_t convolution_name,
                                         miopenTensorDescriptor_t w_name)
{
    const struct mi_convolution *convolution = mi_convolution(convolution_name);
    const struct mi_tensor *w = mi_tensor(w_name);
    if (!convolution || !w)
        return mi_fail(miopenStatusUnknownError, "miopenCreateOpConvForward: bad argument");
    return add(plan, op,
               &(struct mi_part){ .kind = MI_PART_CONV, .convolution = *convolution, .shape = *w });
}

static miopenStatus_t add_activation(miopenFusionPlanDescriptor_t plan,
                                     miopenFusionOpDescriptor_t *op, enum mi_part_kind kind,
                                     miopenActivationMode_t mode)
{
    if ((unsigned)mode > miopenActivationCLAMP)
        return mi_fail(miopenStatusBadParm, "no activation %d", (int)mode);
    return add(plan, op, &(struct mi_part){ .kind = kind, .activation = mode });
}

miopenStatus_t miopenCreateOpActivationForward(miopenFusionPlanDescriptor_t plan,
                                               miopenFusionOpDescriptor_t *op,
                                               miopenActivationMode_t mode)
{
    return add_activation(plan, op, MI_PART_ACTIVATION, mode);
}

miopenStatus_t miopenCreateOpActivationBackward(miopenFusionPlanDescriptor_t plan,
                                                miopenFusionOpDescriptor_t *op,
                                                miopenActivationMode_t mode)
{
    return add_activation(plan, op, MI_PART_ACTIVATION_BACKWARD, mode);
}

miopenStatus_t miopenCreateOpBiasForward(miopenFusionPlanDescriptor_t plan,
                                         miopenFusionOpDescriptor_t *op,
                                         miopenTensorDescriptor_t bias_name)
{
    const struct mi_tensor *bias = mi_tensor(bias_name);
    if (!bias) return mi_fail(miopenStatusUnknownError, "miopenCreateOpBiasForward: no bias");
    return add(plan, op, &(struct mi_part){ .kind = MI_PART_BIAS, .shape = *bias });
}

miopenStatus_t miopenCreateOpBatchNormInference(miopenFusionPlanDescriptor_t plan,
                                                miopenFusionOpDescriptor_t *op,
                                                miopenBatchNormMode_t mode,
                                                miopenTensorDescriptor_t parameters)
{
    const struct mi_tensor *shape = mi_tensor(parameters);
    if (!shape)
        return mi_fail(miopenStatusUnknownError, "miopenCreateOpBatchNormInference: no shape");
    return add(plan, op,
               &(struct mi_part){ .kind = MI_PART_NORM_INFER, .norm = mode, .shape = *shape });
}

/* Running statistics are updated when they are given. */
miopenStatus_t miopenCreateOpBatchNormForward(miopenFusionPlanDescriptor_t plan,
                                              miopenFusionOpDescriptor_t *op,
                                              miopenBatchNormMode_t mode, bool running)
{
    (void)running;
    return add(plan, op, &(struct mi_part){ .kind = MI_PART_NORM_TRAIN, .norm = mode });
}

miopenStatus_t miopenCreateOpBatchNormBackward(miopenFusionPlanDescriptor_t plan,
                                               miopenFusionOpDescriptor_t *op,
                                               miopenBatchNormMode_t mode)
{
    return add(plan, op, &(struct mi_part){ .kind = MI_PART_NORM_BACKWARD, .norm = mode });
}

/* ---- arguments ---- */

miopenStatus_t miopenCreateOperatorArgs(miopenOperatorArgs_t *out)
{
    if (!out) return mi_fail(miopenStatusBadParm, "miopenCreateOperatorArgs: NULL");
    struct mi_operator_args *args = mi_object_new(MI_OPERATOR_ARGS, sizeof *args);
    if (!args) return mi_fail(miopenStatusAllocFailed, "out of memory");
    *out = (miopenOperatorArgs_t)(void *)args;
    return miopenStatusSuccess;
}

miopenStatus_t miopenDestroyOperatorArgs(miopenOperatorArgs_t name)
{
    struct mi_operator_args *args = mi_object(name, MI_OPERATOR_ARGS);
    if (name && !args) return mi_fail(miopenStatusBadParm, "no operator arguments");
    if (args) mi_object_delete(args);
    return miopenStatusSuccess;
}

static miopenStatus_t set(miopenOperatorArgs_t name, miopenFusionOpDescriptor_t op_name,
                          enum mi_part_kind kind, struct mi_part_values values)
{
    struct mi_operator_args *args = mi_object(name, MI_OPERATOR_ARGS);
    const struct mi_fusion_op *op = mi_object(op_name, MI_FUSION_OP);
    if (!args || !op) return mi_fail(miopenStatusBadParm, "no arguments, or no operation");
    if (op->kind != kind)
        return mi_fail(miopenStatusUnknownError, "arguments of another operation");
    values.given = true;
    args->values[op->index] = values;
    return miopenStatusSuccess;
}

/* The factors of the other operations mean nothing, as with the original. */
miopenStatus_t miopenSetOpArgsConvForward(miopenOperatorArgs_t args, miopenFusionOpDescriptor_t op,
                                          const void *alpha, const void *beta, const void *w)
{
    if ((alpha && *(const float *)alpha != 1) || (beta && *(const float *)beta != 0))
        return mi_fail(miopenStatusNotImplemented, "fusion: only alpha 1 and beta 0");
    return set(args, op, MI_PART_CONV, (struct mi_part_values){ .w = w });
}

miopenStatus_t miopenSetOpArgsBiasForward(miopenOperatorArgs_t args, miopenFusionOpDescriptor_t op,
                                          const void *alpha, const void *beta, const void *bias)
{
    (void)alpha, (void)beta;
    return set(args, op, MI_PART_BIAS, (struct mi_part_values){ .w = bias });
}

miopenStatus_t miopenSetOpArgsActivForward(miopenOperatorArgs_t args, miopenFusionOpDescriptor_t op,
                                           const void *alpha, const void *beta,
                                           double activation_alpha, double activation_beta,
                                           double activation_gamma)
{
    (void)alpha, (void)beta;
    return set(args, op, MI_PART_ACTIVATION,
               (struct mi_part_values){
                   .alpha = activation_alpha, .beta = activation_beta, .gamma = activation_gamma });
}

miopenStatus_t miopenSetOpArgsActivBackward(miopenOperatorArgs_t args,
                                            miopenFusionOpDescriptor_t op, const void *alpha,
                                            const void *beta, const void *y, const void *reserved,
                                            double activation_alpha, double activation_beta,
                                            double activation_gamma)
{
    (void)alpha, (void)beta, (void)reserved;
    return set(args, op, MI_PART_ACTIVATION_BACKWARD,
               (struct mi_part_values){ .y = y,
                                        .alpha = activation_alpha,
                                        .beta = activation_beta,
                                        .gamma = activation_gamma });
}

miopenStatus_t miopenSetOpArgsBatchNormInference(miopenOperatorArgs_t args,
                                                 miopenFusionOpDescriptor_t op, const void *alpha,
                                                 const void *beta, const void *scale,
                                                 const void *bias, const void *mean,
                                                 const void *variance, double epsilon)
{
    (void)alpha, (void)beta;
    return set(
        args, op, MI_PART_NORM_INFER,
        (struct mi_part_values){
            .scale = scale, .bias = bias, .mean = mean, .variance = variance, .epsilon = epsilon });
}

miopenStatus_t miopenSetOpArgsBatchNormForward(
    miopenOperatorArgs_t args, miopenFusionOpDescriptor_t op, const void *alpha, const void *beta,
    const void *scale, const void *bias, void *saved_mean, void *saved_inverse, void *running_mean,
    void *running_variance, double factor, double epsilon)
{
    (void)alpha, (void)beta;
    return set(args, op, MI_PART_NORM_TRAIN,
               (struct mi_part_values){ .scale = scale,
                                        .bias = bias,
                                        .saved_mean = saved_mean,
                                        .saved_inverse = saved_inverse,
                                        .running_mean = running_mean,
                                        .running_variance = running_variance,
                                        .factor = factor,
                                        .epsilon = epsilon });
}

miopenStatus_t miopenSetOpArgsBatchNormBackward(miopenOperatorArgs_t args,
                                                miopenFusionOpDescriptor_t op, const void *alpha,
                                                const void *beta, const void *x, const void *scale,
                                                const void *bias, void *dscale, void *dbias,
                                                const void *saved_mean, const void *saved_inverse)
{
    (void)alpha, (void)beta;
    return set(args, op, MI_PART_NORM_BACKWARD,
               (struct mi_part_values){ .x = x,
                                        .scale = scale,
                                        .bias = bias,
                                        .dscale = dscale,
                                        .dbias = dbias,
                                        .saved_mean = (void *)(uintptr_t)saved_mean,
                                        .saved_inverse = (void *)(uintptr_t)saved_inverse,
                                        .epsilon = 1e-5 });
}

/* ---- plans ---- */

static miopenStatus_t plan_parts(miopenHandle_t handle_name, struct mi_fusion_plan *plan,
                                 uint64_t *workspace)
{
    struct mi_handle *handle = mi_handle_enter(handle_name);
    if (!handle) return miopenStatusUnknownError;
    miopenStatus_t status = plan->direction == miopenVerticalFusion
                                ? mi_parts_plan(handle, &plan->parts, workspace)
                                : mi_fail(miopenStatusUnsupportedOp, "no horizontal fusion");
    mi_handle_leave(handle);
    return status;
}

miopenStatus_t miopenCompileFusionPlan(miopenHandle_t handle, miopenFusionPlanDescriptor_t name)
{
    struct mi_fusion_plan *plan = plan_of(name);
    if (!plan || !plan->parts.n) return mi_fail(miopenStatusUnknownError, "nothing to fuse");
    uint64_t workspace;
    miopenStatus_t status = plan_parts(handle, plan, &workspace);
    plan->compiled = status == miopenStatusSuccess;
    return status;
}

miopenStatus_t miopenFusionPlanGetWorkSpaceSize(miopenHandle_t handle,
                                                miopenFusionPlanDescriptor_t name, size_t *bytes,
                                                miopenConvFwdAlgorithm_t algorithm)
{
    (void)algorithm;
    struct mi_fusion_plan *plan = plan_of(name);
    if (!plan || !bytes) return miopenStatusUnknownError;
    uint64_t workspace = 0;
    miopenStatus_t status = plan_parts(handle, plan, &workspace);
    *bytes = status == miopenStatusSuccess ? (size_t)workspace : 0;
    return status;
}

/* The names that the original has; whichever is set, the engine chooses. */
miopenStatus_t miopenFusionPlanConvolutionGetAlgo(miopenFusionPlanDescriptor_t name, int room,
                                                  int *n, miopenConvFwdAlgorithm_t *list)
{
    static const miopenConvFwdAlgorithm_t all[] = { miopenConvolutionFwdAlgoDirect,
                                                    miopenConvolutionFwdAlgoWinograd };
    if (!plan_of(name) || !n || (room > 0 && !list)) return miopenStatusUnknownError;
    *n = 0;
    for (int i = 0; i < room && i < 2; i++) list[(*n)++] = all[i];
    return miopenStatusSuccess;
}

miopenStatus_t miopenFusionPlanConvolutionSetAlgo(miopenFusionPlanDescriptor_t name,
                                                  miopenConvFwdAlgorithm_t algorithm)
{
    (void)algorithm;
    return plan_of(name) ? miopenStatusSuccess : miopenStatusUnknownError;
}

static bool equal(const struct mi_tensor *a, const struct mi_tensor *b)
{
    bool same = a->dims == b->dims && a->type == b->type;
    for (int i = 0; same && i < a->dims; i++)
        same = a->size[i] == b->size[i] && (a->size[i] == 1 || a->stride[i] == b->stride[i]);
    return same;
}

miopenStatus_t miopenExecuteFusionPlan_v2(miopenHandle_t handle_name,
                                          miopenFusionPlanDescriptor_t name,
                                          miopenTensorDescriptor_t input_name, const void *input,
                                          miopenTensorDescriptor_t output_name, void *output,
                                          miopenOperatorArgs_t args_name, void *workspace,
                                          size_t workspace_bytes)
{
    const struct mi_fusion_plan *plan = plan_of(name);
    const struct mi_tensor *x = mi_tensor(input_name), *y = mi_tensor(output_name);
    const struct mi_operator_args *args = mi_object(args_name, MI_OPERATOR_ARGS);
    if (!plan || !x || !y || !args)
        return mi_fail(miopenStatusBadParm, "miopenExecuteFusionPlan: bad argument");
    if (!equal(x, &plan->parts.input) || !equal(y, &plan->parts.output))
        return mi_fail(miopenStatusBadParm, "the tensors are not those of the fusion plan");
    if (!plan->compiled) return mi_fail(miopenStatusBadParm, "the fusion plan was not compiled");
    struct mi_handle *handle = mi_handle_enter(handle_name);
    if (!handle) return miopenStatusBadParm;
    miopenStatus_t status =
        mi_parts_run(handle, &plan->parts, args->values, input, output, workspace, workspace_bytes);
    mi_handle_leave(handle);
    return status;
}

miopenStatus_t miopenExecuteFusionPlan(miopenHandle_t handle, miopenFusionPlanDescriptor_t name,
                                       miopenTensorDescriptor_t input_name, const void *input,
                                       miopenTensorDescriptor_t output_name, void *output,
                                       miopenOperatorArgs_t args)
{
    return miopenExecuteFusionPlan_v2(handle, name, input_name, input, output_name, output, args,
                                      NULL, 0);
}
