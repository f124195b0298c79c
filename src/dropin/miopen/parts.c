/* parts.c: operations that follow each other, as few launches as the engine allows. */
#include "dropin/miopen/parts.h"

#include "dropin/miopen/batchnorm.h"
#include "dropin/miopen/command_line.h"
#include "dropin/miopen/elements.h"
#include "dropin/miopen/log.h"

/* One stage: a part, and those behind it that are done with it. */
struct stage {
    const struct mi_part *part, *bias, *activation; /* the last two may be NULL */
    const struct mi_part_values *values, *bias_values, *activation_values;
    struct mi_tensor x, y;
    rmcp_memory input, output;
    void *workspace;
    size_t workspace_bytes;
    bool only_plan;
    uint64_t needs; /* workspace, when only planned */
};

/* Numbers with which an activation can be planned before its own are known. */
static const struct mi_part_values unknown = { .given = true, .beta = 1, .epsilon = 1e-5 };

/* ---- shapes ---- */

static bool is_last(const struct mi_tensor *x)
{
    return !mi_tensor_is_packed(x, RMCP_NCHW) && mi_tensor_is_packed(x, RMCP_NHWC);
}

miopenStatus_t mi_parts_add(struct mi_parts *parts, const struct mi_part *part)
{
    if (parts->n == MI_PARTS)
        return mi_fail(miopenStatusUnsupportedOp, "more than %d operations to fuse", MI_PARTS);
    struct mi_tensor out = parts->n ? parts->output : parts->input;
    if (part->kind == MI_PART_CONV) {
        struct mi_tensor y = { .type = out.type, .dims = out.dims, .cast_type = -1 };
        miopenStatus_t status = mi_conv_output(&part->convolution, &out, &part->shape, y.size);
        if (status != miopenStatusSuccess) return status;
        out = mi_tensor_packed(&y, is_last(&out) ? RMCP_NHWC : RMCP_NCHW);
    }
    parts->output = out;
    parts->part[parts->n++] = *part;
    return miopenStatusSuccess;
}

/* ---- stages ---- */

static struct mi_activation activation_of(const struct mi_part *part,
                                          const struct mi_part_values *values)
{
    return (struct mi_activation){ .mode = part->activation,
                                   .alpha = values->alpha,
                                   .beta = values->beta,
                                   .gamma = values->gamma };
}

static miopenStatus_t run_conv(struct mi_handle *handle, struct stage *s)
{
    struct mi_conv_call call = { RMCP_CONV_FORWARD, s->x, s->part->shape, s->y,
                                 s->part->convolution };
    struct mi_conv conv;
    miopenStatus_t status = mi_conv_translate(&call, &conv);
    if (status != miopenStatusSuccess) return status;
    rmcp_conv *p = &conv.key.problem.conv;
    if (s->activation) {
        const struct mi_activation a = activation_of(s->activation, s->activation_values);
        struct mi_engine_activation translated;
        status = mi_activation_translate(&a, &translated);
        if (status != miopenStatusSuccess) return status;
        p->activation = translated.kind;
        p->slope = translated.slope;
        p->clamp_low = translated.low;
        p->clamp_high = translated.high;
    }
    p->bias = s->bias != NULL;
    if (s->only_plan) {
        const struct mi_plans *plans;
        status = mi_plans_get(handle, &conv.key, &plans);
        if (status == miopenStatusSuccess) s->needs = plans->choice[0].workspace;
        return status;
    }
    if (mi_log_wants_commands()) mi_command_conv(&conv);
    const struct mi_conv_memory memory = { .x = s->input.base,
                                           .w = s->values->w,
                                           .y = s->output.base,
                                           .bias = s->bias ? s->bias_values->w : NULL,
                                           .workspace = s->workspace,
                                           .workspace_bytes = s->workspace_bytes,
                                           .alpha = 1,
                                           .best = true };
    return mi_conv_execute(handle, &conv, 0, -1, &memory);
}

static rmcp_memory at(const void *pointer)
{
    return (rmcp_memory){ (void *)(uintptr_t)pointer, 0 };
}

static miopenStatus_t run_norm(struct mi_handle *handle, struct stage *s)
{
    const struct mi_part_values *v = s->values;
    const bool backward = s->part->kind == MI_PART_NORM_BACKWARD;
    const struct mi_tensor derived = mi_norm_parameters(&s->x, s->part->norm);
    const struct mi_tensor *parameters = s->part->shape.dims ? &s->part->shape : &derived;
    struct mi_activation activation;
    struct mi_norm norm = { .mode = s->part->norm,
                            .x = &s->x,
                            .y = &s->y,
                            .dx = &s->y,
                            .parameters = { parameters, parameters, parameters, parameters },
                            .epsilon = v->epsilon };
    rmcp_batchnorm_tensors tensors = { .scale = at(v->scale), .bias = at(v->bias) };
    if (s->activation) {
        activation = activation_of(s->activation, s->activation_values);
        norm.activation = &activation;
    }
    if (backward) {
        norm.pass = RMCP_BATCHNORM_BACKWARD;
        norm.saved = s->only_plan || (v->saved_mean && v->saved_inverse);
        tensors.x = at(v->x);
        tensors.dy = s->input;
        tensors.dx = s->output;
        tensors.dscale = at(v->dscale);
        tensors.dbias = at(v->dbias);
    } else {
        norm.pass =
            s->part->kind == MI_PART_NORM_TRAIN ? RMCP_BATCHNORM_TRAIN : RMCP_BATCHNORM_INFER;
        tensors.x = s->input;
        tensors.y = s->output;
    }
    if (s->part->kind == MI_PART_NORM_TRAIN) {
        norm.momentum = v->factor;
        norm.running = v->running_mean && v->running_variance && v->factor != 0;
        norm.saved = v->saved_mean && v->saved_inverse;
        tensors.running_mean = at(v->running_mean);
        tensors.running_variance = at(v->running_variance);
    } else if (!backward) {
        tensors.running_mean = at(v->mean);
        tensors.running_variance = at(v->variance);
    }
    tensors.saved_mean = at(v->saved_mean);
    tensors.saved_inverse = at(v->saved_inverse);
    struct mi_key key;
    miopenStatus_t status = mi_norm_translate(&norm, &key);
    if (status != miopenStatusSuccess) return status;
    const struct mi_plans *plans;
    if (s->only_plan) return mi_plans_get(handle, &key, &plans);
    if (!v->scale || (!backward && !v->bias) || (backward && (!v->x || !v->dscale || !v->dbias)) ||
        (backward && s->activation && !v->bias) ||
        (s->part->kind == MI_PART_NORM_INFER && (!v->mean || !v->variance)))
        return mi_fail(miopenStatusBadParm, "batch norm: an argument is NULL");
    if (mi_log_wants_commands()) mi_command_batchnorm(&key);
    return mi_norm_run(handle, &key, &tensors);
}

/* y = x + bias, which is one for each channel, or as large as any broadcast. */
static miopenStatus_t run_bias(struct mi_handle *handle, struct stage *s)
{
    const struct mi_tensor *b = &s->part->shape;
    bool fits = b->dims == s->x.dims && b->type == s->x.type;
    for (int i = 0; fits && i < b->dims; i++) fits = b->size[i] == 1 || b->size[i] == s->x.size[i];
    if (!fits) return mi_fail(miopenStatusBadParm, "the bias does not fit the tensor");
    if (s->only_plan) return miopenStatusSuccess;
    const rmcp_tensor add = { .kind = RMCP_TENSOR_ADD, .alpha = 1, .alpha_b = 1 };
    handle->kernel_ms = 0;
    return mi_tensor_run(handle, add, &s->x, s->input, b, at(s->values->w), &s->y, s->output);
}

static miopenStatus_t run_activation(struct mi_handle *handle, struct stage *s)
{
    const bool backward = s->part->kind == MI_PART_ACTIVATION_BACKWARD;
    const struct mi_activation activation = activation_of(s->part, s->values);
    const struct mi_tensor *tensors[] = { &s->x, &s->y };
    struct mi_case c;
    mi_elements_begin(&c, "act", tensors, 2);
    mi_case_put(&c, backward ? ":bwd" : ":fwd");
    mi_elements_activation(&c, &activation);
    if (backward) {
        const bool with_x = mi_activation_reads_x(activation.mode);
        const bool with_y = mi_activation_reads_y(activation.mode);
        if (!s->only_plan && ((with_x && !s->values->x) || (with_y && !s->values->y)))
            return mi_fail(miopenStatusBadParm,
                           "the gradient of activation %d needs another tensor",
                           (int)activation.mode);
        if (with_x) mi_case_tensor(&c, MI_X, &s->x, s->values->x);
        if (with_y) mi_case_tensor(&c, MI_Y, &s->x, s->values->y);
        mi_case_tensor(&c, MI_DY, &s->x, s->input.base);
        mi_case_tensor(&c, MI_DX, &s->y, s->output.base);
    } else {
        mi_case_tensor(&c, MI_X, &s->x, s->input.base);
        mi_case_tensor(&c, MI_Y, &s->y, s->output.base);
    }
    handle->kernel_ms = 0;
    return s->only_plan ? mi_case_plan(handle, &c) : mi_case_run(handle, &c);
}

static miopenStatus_t run_stage(struct mi_handle *handle, struct stage *s)
{
    switch (s->part->kind) {
    case MI_PART_CONV: return run_conv(handle, s);
    case MI_PART_BIAS: return run_bias(handle, s);
    case MI_PART_ACTIVATION:
    case MI_PART_ACTIVATION_BACKWARD: return run_activation(handle, s);
    default: return run_norm(handle, s);
    }
}

/* ---- from parts to stages ---- */

/* Whether the engine does this activation together with another operation. */
static bool goes_along(const struct mi_part *part)
{
    switch (part->activation) {
    case miopenActivationPASTHRU:
    case miopenActivationRELU:
    case miopenActivationLEAKYRELU:
    case miopenActivationCLIPPEDRELU:
    case miopenActivationCLAMP: return true;
    default: return false;
    }
}

static bool bias_goes_along(const struct mi_part *conv, const struct mi_part *bias)
{
    return bias->kind == MI_PART_BIAS && bias->shape.type == conv->shape.type &&
           mi_tensor_elements(&bias->shape) == conv->shape.size[0];
}

/* The stage that begins with part `i`, and where the next one begins. */
static int next_stage(const struct mi_parts *parts, const struct mi_part_values *values, int i,
                      struct stage *s)
{
    const struct mi_part *part = &parts->part[i];
    const int n = parts->n;
    s->part = part;
    s->values = &values[i++];
    s->bias = s->activation = NULL;
    s->needs = 0;
    if (part->kind == MI_PART_CONV && part->convolution.mode != miopenTranspose) {
        if (i < n && bias_goes_along(part, &parts->part[i])) {
            s->bias = &parts->part[i];
            s->bias_values = &values[i++];
        }
        if (i < n && parts->part[i].kind == MI_PART_ACTIVATION && goes_along(&parts->part[i])) {
            s->activation = &parts->part[i];
            s->activation_values = &values[i++];
        }
    } else if (part->kind == MI_PART_NORM_INFER || part->kind == MI_PART_NORM_TRAIN) {
        if (i < n && parts->part[i].kind == MI_PART_ACTIVATION && goes_along(&parts->part[i])) {
            s->activation = &parts->part[i];
            s->activation_values = &values[i++];
        }
    } else if (i < n && part->kind == MI_PART_NORM_BACKWARD &&
               parts->part[i].kind == MI_PART_ACTIVATION_BACKWARD && goes_along(&parts->part[i])) {
        s->activation = &parts->part[i];
        s->activation_values = &values[i++];
    } else if (i < n && part->kind == MI_PART_ACTIVATION_BACKWARD && goes_along(part) &&
               parts->part[i].kind == MI_PART_NORM_BACKWARD) {
        s->activation = part;
        s->activation_values = s->values;
        s->part = &parts->part[i];
        s->values = &values[i++];
    }
    return i;
}

/* A backward activation behind the batch norm whose output it belongs to cannot be a stage of its
 * own: it comes first. */
static bool is_backwards(const struct mi_parts *parts, int i, int next)
{
    return parts->part[i].kind == MI_PART_NORM_BACKWARD && next < parts->n &&
           parts->part[next].kind == MI_PART_ACTIVATION_BACKWARD;
}

static miopenStatus_t shape_of(const struct stage *s, struct mi_tensor *y)
{
    struct mi_parts one = { .input = s->x };
    miopenStatus_t status = mi_parts_add(&one, s->part);
    *y = one.output;
    return status;
}

/* All stages, in order, with what lies between them in two halves of `between`. */
static miopenStatus_t go(struct mi_handle *handle, const struct mi_parts *parts,
                         const struct mi_part_values *values, struct stage *s,
                         const rmcp_memory ends[2], const rmcp_memory between[2])
{
    miopenStatus_t status = parts->n ? miopenStatusSuccess : miopenStatusUnsupportedOp;
    float ms = 0;
    uint64_t needs = 0;
    int turn = 0;
    s->x = parts->input;
    s->input = ends[0];
    for (int i = 0; i < parts->n && status == miopenStatusSuccess;) {
        const int next = next_stage(parts, values, i, s);
        if (is_backwards(parts, i, next))
            return mi_fail(miopenStatusUnsupportedOp,
                           "batch norm with the gradient of activation "
                           "%d",
                           (int)parts->part[next].activation);
        status = shape_of(s, &s->y);
        s->output = next == parts->n ? ends[1] : between[turn];
        if (next == parts->n) s->y = parts->output;
        if (status == miopenStatusSuccess) status = run_stage(handle, s);
        ms += handle->kernel_ms;
        needs = s->needs > needs ? s->needs : needs;
        s->x = s->y;
        s->input = s->output;
        turn = !turn;
        i = next;
    }
    s->needs = needs;
    handle->kernel_ms = ms;
    return status;
}

miopenStatus_t mi_parts_plan(struct mi_handle *handle, const struct mi_parts *parts,
                             uint64_t *workspace)
{
    struct mi_part_values values[MI_PARTS];
    for (int i = 0; i < MI_PARTS; i++) values[i] = unknown;
    struct stage s = { .only_plan = true };
    const rmcp_memory nowhere[2] = { { NULL, 0 }, { NULL, 0 } };
    miopenStatus_t status = go(handle, parts, values, &s, nowhere, nowhere);
    handle->kernel_ms = 0;
    if (status != miopenStatusSuccess)
        return status == miopenStatusAllocFailed ? status : miopenStatusUnsupportedOp;
    *workspace = s.needs;
    return miopenStatusSuccess;
}

/* Bytes of the largest tensor between two parts. */
static uint64_t largest(const struct mi_parts *parts)
{
    struct mi_parts some = { .input = parts->input };
    int64_t most = 0;
    for (int i = 0; i < parts->n - 1; i++) {
        if (mi_parts_add(&some, &parts->part[i]) != miopenStatusSuccess) break;
        const int64_t span = mi_tensor_span(&some.output);
        most = span > most ? span : most;
    }
    return ((uint64_t)most * mi_type_bytes(parts->input.type) + 255) / 256 * 256;
}

miopenStatus_t mi_parts_run(struct mi_handle *handle, const struct mi_parts *parts,
                            const struct mi_part_values *values, const void *input, void *output,
                            void *workspace, size_t workspace_bytes)
{
    for (int i = 0; i < parts->n; i++) {
        const enum mi_part_kind kind = parts->part[i].kind;
        if (!values[i].given)
            return mi_fail(miopenStatusUnknownError, "operation %d has no arguments", i);
        if ((kind == MI_PART_CONV || kind == MI_PART_BIAS) && !values[i].w)
            return mi_fail(miopenStatusBadParm, "operation %d: an argument is NULL", i);
    }
    if (!input || !output) return mi_fail(miopenStatusBadParm, "an argument is NULL");
    struct stage s = { .workspace = workspace, .workspace_bytes = workspace_bytes };
    int stages = 0;
    for (int i = 0; i < parts->n; stages++) i = next_stage(parts, values, i, &s);
    const uint64_t bytes = stages > 1 ? largest(parts) : 0;
    rmcp_memory between[2];
    miopenStatus_t status = mi_handle_between(handle, stages > 2 ? 2 * bytes : bytes, &between[0]);
    if (status != miopenStatusSuccess) return status;
    between[0] = at((char *)between[0].base + between[0].offset);
    between[1] = at((char *)between[0].base + bytes);
    const rmcp_memory ends[2] = { at(input), at(output) };
    return go(handle, parts, values, &s, ends, between);
}
