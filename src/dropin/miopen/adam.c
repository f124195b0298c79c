/* adam.c: Adam, AdamW and the AdamW of the package transformers. Ours work in place: with outputs
 * apart, the inputs are copied there first. */
#include "dropin/miopen/elements.h"
#include "dropin/miopen/log.h"

#include <string.h>

/* The tensors of a call, and what the operation "adam" calls them. */
enum { PARAM, GRAD, MEAN, SQUARE, MOST, COPY, GRAD_SCALE, INF, STEP, TENSORS };
static const enum mi_slot slots[TENSORS] = {
    [PARAM] = MI_PARAM,      [GRAD] = MI_GRAD, [MEAN] = MI_MEAN,
    [SQUARE] = MI_SQUARE,    [MOST] = MI_MOST, [COPY] = MI_COPY,
    [GRAD_SCALE] = MI_SCALE, [INF] = MI_INF,   [STEP] = MI_STEP,
};

/* A call that is being put together. */
struct adam {
    const struct mi_tensor *tensor[TENSORS],
        *old_tensor[TENSORS]; /* old: read, where it is not in place */
    void *memory[TENSORS];
    const void *old[TENSORS];
    bool wrong;
    const char *kind;
    bool amsgrad, maximize;
    unsigned step;
    float lr, beta1, beta2, decay, eps, step_size;
};

/* A tensor that must be there, or may be. */
static void must(struct adam *a, unsigned slot, miopenTensorDescriptor_t name, const void *memory)
{
    a->tensor[slot] = mi_tensor(name);
    a->memory[slot] = (void *)(uintptr_t)memory;
    a->wrong = a->wrong || !a->tensor[slot] || !memory;
}

static void may(struct adam *a, unsigned slot, miopenTensorDescriptor_t name, const void *memory)
{
    if (name || memory) must(a, slot, name, memory);
}

/* The same with an input apart. */
static void from(struct adam *a, unsigned slot, miopenTensorDescriptor_t name, const void *memory)
{
    a->old_tensor[slot] = mi_tensor(name);
    a->old[slot] = memory;
    a->wrong = a->wrong || !a->old_tensor[slot] || !memory || !a->memory[slot];
}

static bool scalar_of(const struct mi_tensor *tensor, size_t bytes)
{
    return !tensor || (mi_tensor_elements(tensor) == 1 && mi_type_bytes(tensor->type) == bytes);
}

/* Parameter and moments are of one type, or the moments f32; so are inputs and outputs. */
static bool fits(const struct adam *a, bool *states_apart)
{
    const struct mi_tensor *param = a->tensor[PARAM];
    const int64_t n = mi_tensor_elements(param);
    for (unsigned slot = PARAM; slot <= COPY; slot++) {
        const struct mi_tensor *t = a->tensor[slot], *old = a->old_tensor[slot];
        if (t && (mi_tensor_elements(t) != n || !mi_tensor_is_packed(t, RMCP_NCHW))) return false;
        if (old && (mi_tensor_elements(old) != n || old->type != t->type ||
                    !mi_tensor_is_packed(old, RMCP_NCHW)))
            return false;
    }
    const miopenDataType_t state = a->tensor[MEAN]->type;
    *states_apart = state != param->type;
    return (state == param->type || state == miopenFloat) && a->tensor[SQUARE]->type == state &&
           (!a->tensor[MOST] || a->tensor[MOST]->type == state) &&
           (!a->tensor[COPY] || a->tensor[COPY]->type == miopenHalf) &&
           (!*states_apart || a->tensor[GRAD]->type == param->type) &&
           scalar_of(a->tensor[GRAD_SCALE], 4) && scalar_of(a->tensor[INF], 1) &&
           scalar_of(a->tensor[STEP], 4) && (!a->amsgrad || a->tensor[MOST]);
}

/* Inputs that are apart to where the outputs are. A number of steps is copied as an f32, whose bits
 * are kept. */
static miopenStatus_t copy_in(struct mi_handle *handle, const struct adam *a)
{
    miopenStatus_t status = miopenStatusSuccess;
    for (unsigned slot = 0; slot < TENSORS && status == miopenStatusSuccess; slot++) {
        if (!a->old[slot] || a->old[slot] == a->memory[slot]) continue;
        struct mi_tensor row = { .type = slot == STEP ? miopenFloat : a->tensor[slot]->type,
                                 .dims = 1 };
        row.size[0] = mi_tensor_elements(a->tensor[slot]);
        row.stride[0] = 1;
        status =
            mi_tensor_copy(handle, 1, &row, (rmcp_memory){ (void *)(uintptr_t)a->old[slot], 0 }, 0,
                           &row, (rmcp_memory){ a->memory[slot], 0 });
    }
    return status;
}

static miopenStatus_t run(miopenHandle_t name, const struct adam *a)
{
    bool states_apart = false;
    if (a->wrong) return miopenStatusBadParm;
    if (!fits(a, &states_apart))
        return mi_fail(miopenStatusBadParm, "Adam: the tensors do not fit each other");
    /* As the engine has it; here, so that nothing is copied in vain. */
    if (!(a->beta1 >= 0 && a->beta1 < 1 && a->beta2 >= 0 && a->beta2 < 1))
        return mi_fail(miopenStatusBadParm, "Adam: betas of %g and %g", (double)a->beta1,
                       (double)a->beta2);
    if (!a->tensor[STEP] && !a->step) return mi_fail(miopenStatusBadParm, "Adam: step number 0");
    const int64_t n = mi_tensor_elements(a->tensor[PARAM]);
    const miopenDataType_t grad = a->tensor[GRAD]->type;
    const bool grad_apart = grad != a->tensor[PARAM]->type;
    if (grad_apart && grad != miopenFloat && grad != miopenHalf && grad != miopenBFloat16)
        return mi_fail(miopenStatusBadParm, "Adam: gradients of type %d", (int)grad);
    struct mi_case c;
    mi_case_begin_sizes(&c, "adam", &n, 1, a->tensor[PARAM]->type);
    mi_case_put(&c, ":%s%s%s%s%s%s", a->kind, a->amsgrad ? ":amsgrad" : "",
                a->maximize ? ":maximize" : "", a->tensor[STEP] ? ":counted" : "",
                a->tensor[GRAD_SCALE] ? (a->tensor[INF] ? ":amp" : ":scaled")
                : a->tensor[INF]      ? ":guarded"
                                      : "",
                a->tensor[COPY] ? ":copied" : "");
    if (states_apart)
        mi_case_put(&c, ":states_f32");
    else if (grad_apart)
        mi_case_put(&c, grad == miopenFloat  ? ":grad_f32"
                        : grad == miopenHalf ? ":grad_f16"
                                             : ":grad_bf16");
    /* One plan for all steps, whatever a schedule makes of these. */
    mi_case_scalar(&c, MI_LR, (double)a->lr);
    mi_case_scalar(&c, MI_BETA1, (double)a->beta1);
    mi_case_scalar(&c, MI_BETA2, (double)a->beta2);
    mi_case_scalar(&c, MI_EPS, (double)a->eps);
    mi_case_scalar(&c, MI_DECAY, (double)a->decay);
    if (a->step_size >= 0) mi_case_scalar(&c, MI_SIZE, (double)a->step_size);
    if (!a->tensor[STEP]) mi_case_scalar(&c, MI_NUMBER, (double)a->step);
    for (unsigned slot = 0; slot < TENSORS; slot++)
        if (a->tensor[slot] && (slot != MOST || a->amsgrad))
            mi_case_memory(&c, slots[slot], a->memory[slot]);

    struct mi_handle *handle = mi_handle_enter(name);
    if (!handle) return miopenStatusBadParm;
    handle->kernel_ms = 0;
    miopenStatus_t status = mi_case_plan(handle, &c); /* nothing is copied in vain */
    if (status == miopenStatusSuccess) status = copy_in(handle, a);
    if (status == miopenStatusSuccess) status = mi_case_run(handle, &c);
    mi_handle_leave(handle);
    return status;
}

miopenStatus_t miopenFusedAdam(miopenHandle_t handle, miopenTensorDescriptor_t param_name,
                               void *param, miopenTensorDescriptor_t grad_name, const void *grad,
                               miopenTensorDescriptor_t mean_name, void *mean,
                               miopenTensorDescriptor_t square_name, void *square,
                               miopenTensorDescriptor_t most_name, void *most,
                               miopenTensorDescriptor_t step_name, void *step, unsigned number,
                               float lr, float beta1, float beta2, float decay, float eps,
                               bool amsgrad, bool maximize, bool adamw,
                               miopenTensorDescriptor_t scale_name, const void *scale,
                               miopenTensorDescriptor_t inf_name, const void *inf)
{
    struct adam a = { .kind = adamw ? "adamw" : "adam",
                      .amsgrad = amsgrad,
                      .maximize = maximize,
                      .step = number,
                      .lr = lr,
                      .beta1 = beta1,
                      .beta2 = beta2,
                      .decay = decay,
                      .eps = eps,
                      .step_size = -1 };
    must(&a, PARAM, param_name, param);
    must(&a, GRAD, grad_name, grad);
    must(&a, MEAN, mean_name, mean);
    must(&a, SQUARE, square_name, square);
    if (amsgrad) must(&a, MOST, most_name, most);
    may(&a, STEP, step_name, step);
    may(&a, GRAD_SCALE, scale_name, scale);
    may(&a, INF, inf_name, inf);
    return run(handle, &a);
}

miopenStatus_t miopenFusedAdamWithOutput(
    miopenHandle_t handle, miopenTensorDescriptor_t param_in_name, void *param_in,
    miopenTensorDescriptor_t param_name, void *param, miopenTensorDescriptor_t copy_name,
    void *copy, miopenTensorDescriptor_t grad_name, const void *grad,
    miopenTensorDescriptor_t mean_in_name, void *mean_in, miopenTensorDescriptor_t mean_name,
    void *mean, miopenTensorDescriptor_t square_in_name, void *square_in,
    miopenTensorDescriptor_t square_name, void *square, miopenTensorDescriptor_t most_in_name,
    void *most_in, miopenTensorDescriptor_t most_name, void *most,
    miopenTensorDescriptor_t step_in_name, void *step_in, miopenTensorDescriptor_t step_name,
    void *step, unsigned number, float lr, float beta1, float beta2, float decay, float eps,
    bool amsgrad, bool maximize, bool adamw, miopenTensorDescriptor_t scale_name, const void *scale,
    miopenTensorDescriptor_t inf_name, const void *inf)
{
    struct adam a = { .kind = adamw ? "adamw" : "adam",
                      .amsgrad = amsgrad,
                      .maximize = maximize,
                      .step = number,
                      .lr = lr,
                      .beta1 = beta1,
                      .beta2 = beta2,
                      .decay = decay,
                      .eps = eps,
                      .step_size = -1 };
    must(&a, PARAM, param_name, param);
    from(&a, PARAM, param_in_name, param_in);
    may(&a, COPY, copy_name, copy);
    must(&a, GRAD, grad_name, grad);
    must(&a, MEAN, mean_name, mean);
    from(&a, MEAN, mean_in_name, mean_in);
    must(&a, SQUARE, square_name, square);
    from(&a, SQUARE, square_in_name, square_in);
    if (amsgrad) {
        must(&a, MOST, most_name, most);
        from(&a, MOST, most_in_name, most_in);
    }
    if (step_name || step || step_in_name || step_in) {
        must(&a, STEP, step_name, step);
        from(&a, STEP, step_in_name, step_in);
    }
    may(&a, GRAD_SCALE, scale_name, scale);
    may(&a, INF, inf_name, inf);
    return run(handle, &a);
}

miopenStatus_t miopenTransformersAdamW(miopenHandle_t handle, miopenTensorDescriptor_t param_name,
                                       void *param, miopenTensorDescriptor_t grad_name,
                                       const void *grad, miopenTensorDescriptor_t mean_name,
                                       void *mean, miopenTensorDescriptor_t square_name,
                                       void *square, miopenTensorDescriptor_t step_name, void *step,
                                       unsigned number, float lr, float beta1, float beta2,
                                       float decay, float eps, bool correct_bias,
                                       miopenTensorDescriptor_t scale_name, const void *scale,
                                       miopenTensorDescriptor_t inf_name, const void *inf)
{
    struct adam a = { .kind = correct_bias ? "transformers" : "uncorrected",
                      .step = number,
                      .lr = lr,
                      .beta1 = beta1,
                      .beta2 = beta2,
                      .decay = decay,
                      .eps = eps,
                      .step_size = -1 };
    must(&a, PARAM, param_name, param);
    must(&a, GRAD, grad_name, grad);
    must(&a, MEAN, mean_name, mean);
    must(&a, SQUARE, square_name, square);
    may(&a, STEP, step_name, step);
    may(&a, GRAD_SCALE, scale_name, scale);
    may(&a, INF, inf_name, inf);
    return run(handle, &a);
}

miopenStatus_t miopenTransformersAdamWWithOutput(
    miopenHandle_t handle, miopenTensorDescriptor_t param_in_name, void *param_in,
    miopenTensorDescriptor_t param_name, void *param, miopenTensorDescriptor_t copy_name,
    void *copy, miopenTensorDescriptor_t grad_name, const void *grad,
    miopenTensorDescriptor_t mean_in_name, void *mean_in, miopenTensorDescriptor_t mean_name,
    void *mean, miopenTensorDescriptor_t square_in_name, void *square_in,
    miopenTensorDescriptor_t square_name, void *square, miopenTensorDescriptor_t step_in_name,
    void *step_in, miopenTensorDescriptor_t step_name, void *step, unsigned number, float lr,
    float beta1, float beta2, float decay, float eps, float step_size, bool correct_bias,
    miopenTensorDescriptor_t scale_name, const void *scale, miopenTensorDescriptor_t inf_name,
    const void *inf)
{
    struct adam a = { .kind = correct_bias ? "transformers" : "uncorrected",
                      .step = number,
                      .lr = lr,
                      .beta1 = beta1,
                      .beta2 = beta2,
                      .decay = decay,
                      .eps = eps,
                      .step_size = step_size };
    must(&a, PARAM, param_name, param);
    from(&a, PARAM, param_in_name, param_in);
    may(&a, COPY, copy_name, copy);
    must(&a, GRAD, grad_name, grad);
    must(&a, MEAN, mean_name, mean);
    from(&a, MEAN, mean_in_name, mean_in);
    must(&a, SQUARE, square_name, square);
    from(&a, SQUARE, square_in_name, square_in);
    if (step_name || step || step_in_name || step_in) {
        must(&a, STEP, step_name, step);
        from(&a, STEP, step_in_name, step_in);
    }
    may(&a, GRAD_SCALE, scale_name, scale);
    may(&a, INF, inf_name, inf);
    return run(handle, &a);
}
