/* margin_loss.c: the soft margin loss and the multi margin loss. */
#include "dropin/miopen/elements.h"
#include "dropin/miopen/log.h"

static const char *const reductions[] = { "none", "sum", "mean" };

static bool known(miopenLossReductionMode_t reduction)
{
    return (unsigned)reduction < sizeof reductions / sizeof *reductions;
}

/* Whether y has what a reduction of x gives. */
static bool reduces(const struct mi_tensor *x, const struct mi_tensor *y,
                    miopenLossReductionMode_t reduction)
{
    return reduction == MIOPEN_LOSS_REDUCTION_NONE
               ? mi_elements_same(x, y)
               : y->type == x->type && mi_tensor_elements(y) == 1;
}

static miopenStatus_t misfit(void)
{
    return mi_fail(miopenStatusBadParm, "the loss's tensors do not fit each other");
}

/* What the original asks for; ours takes memory of its own. */
static miopenStatus_t ask(miopenHandle_t name, size_t elements, miopenLossReductionMode_t reduction,
                          size_t *bytes)
{
    struct mi_handle *handle = mi_handle_enter(name);
    if (!handle) return miopenStatusBadParm;
    mi_handle_leave(handle);
    *bytes = reduction == MIOPEN_LOSS_REDUCTION_NONE ? 0 : mi_parts_bytes(elements);
    return miopenStatusSuccess;
}

miopenStatus_t miopenGetSoftMarginLossForwardWorkspaceSize(
    miopenHandle_t handle, miopenTensorDescriptor_t x_name, miopenTensorDescriptor_t t_name,
    miopenTensorDescriptor_t y_name, miopenLossReductionMode_t reduction, size_t *bytes)
{
    const struct mi_tensor *x = mi_tensor(x_name), *t = mi_tensor(t_name), *y = mi_tensor(y_name);
    if (!x || !t || !y || !bytes || !known(reduction)) return miopenStatusBadParm;
    if (!mi_elements_same(x, t) || !reduces(x, y, reduction)) return misfit();
    return ask(handle, (size_t)mi_tensor_elements(x), reduction, bytes);
}

miopenStatus_t miopenSoftMarginLossForward(miopenHandle_t handle, miopenTensorDescriptor_t x_name,
                                           const void *x, miopenTensorDescriptor_t t_name,
                                           const void *t, miopenTensorDescriptor_t y_name, void *y,
                                           miopenLossReductionMode_t reduction, void *workspace,
                                           size_t workspace_bytes)
{
    const struct mi_tensor *x_tensor = mi_tensor(x_name), *t_tensor = mi_tensor(t_name),
                           *y_tensor = mi_tensor(y_name);
    (void)workspace, (void)workspace_bytes;
    if (!x_tensor || !t_tensor || !y_tensor || !x || !t || !y || !known(reduction))
        return miopenStatusBadParm;
    if (!mi_elements_same(x_tensor, t_tensor) || !reduces(x_tensor, y_tensor, reduction))
        return misfit();
    struct mi_case c;
    mi_case_begin(&c, "softmargin", x_tensor);
    mi_case_put(&c, ":fwd:%s", reductions[reduction]);
    mi_case_tensor(&c, MI_X, x_tensor, x);
    mi_case_tensor(&c, MI_T, t_tensor, t);
    if (reduction == MIOPEN_LOSS_REDUCTION_NONE)
        mi_case_tensor(&c, MI_Y, y_tensor, y);
    else
        mi_case_memory(&c, MI_Y, y);
    return mi_case_call(handle, &c);
}

miopenStatus_t miopenSoftMarginLossBackward(miopenHandle_t handle, miopenTensorDescriptor_t x_name,
                                            const void *x, miopenTensorDescriptor_t t_name,
                                            const void *t, miopenTensorDescriptor_t dy_name,
                                            const void *dy, miopenTensorDescriptor_t dx_name,
                                            void *dx, miopenLossReductionMode_t reduction)
{
    const struct mi_tensor *x_tensor = mi_tensor(x_name), *t_tensor = mi_tensor(t_name),
                           *dy_tensor = mi_tensor(dy_name), *dx_tensor = mi_tensor(dx_name);
    if (!x_tensor || !t_tensor || !dy_tensor || !dx_tensor || !x || !t || !dy || !dx ||
        !known(reduction))
        return miopenStatusBadParm;
    if (!mi_elements_same(x_tensor, t_tensor) || !mi_elements_same(x_tensor, dy_tensor) ||
        !mi_elements_same(x_tensor, dx_tensor))
        return misfit();
    struct mi_case c;
    mi_case_begin(&c, "softmargin", x_tensor);
    mi_case_put(&c, ":bwd:%s", reductions[reduction]);
    mi_case_tensor(&c, MI_X, x_tensor, x);
    mi_case_tensor(&c, MI_T, t_tensor, t);
    mi_case_tensor(&c, MI_DY, dy_tensor, dy);
    mi_case_tensor(&c, MI_DX, dx_tensor, dx);
    return mi_case_call(handle, &c);
}

/* ---- classes ---- */

/* Rows of scores, a class for each, a weight for each class, a loss for each row or one for all. */
static bool classes_fit(const struct mi_tensor *x, const struct mi_tensor *t,
                        const struct mi_tensor *w, const struct mi_tensor *y, long p,
                        miopenLossReductionMode_t reduction)
{
    return x->dims == 2 && t->dims == 1 && t->size[0] == x->size[0] && t->type == miopenInt64 &&
           w->dims == 1 && w->size[0] == x->size[1] && w->type == x->type && y->dims == 1 &&
           y->type == x->type &&
           y->size[0] == (reduction == MIOPEN_LOSS_REDUCTION_NONE ? x->size[0] : 1) &&
           (p == 1 || p == 2);
}

miopenStatus_t miopenGetMultiMarginLossForwardWorkspaceSize(
    miopenHandle_t handle, miopenTensorDescriptor_t x_name, miopenTensorDescriptor_t t_name,
    miopenTensorDescriptor_t w_name, miopenTensorDescriptor_t y_name, long p, float margin,
    miopenLossReductionMode_t reduction, size_t *bytes)
{
    const struct mi_tensor *x = mi_tensor(x_name), *t = mi_tensor(t_name), *w = mi_tensor(w_name),
                           *y = mi_tensor(y_name);
    (void)margin;
    if (!x || !t || !w || !y || !bytes || !known(reduction)) return miopenStatusBadParm;
    if (!classes_fit(x, t, w, y, p, reduction)) return misfit();
    return ask(handle, (size_t)x->size[0], reduction, bytes);
}

miopenStatus_t miopenMultiMarginLossForward(miopenHandle_t handle, miopenTensorDescriptor_t x_name,
                                            const void *x, miopenTensorDescriptor_t t_name,
                                            const void *t, miopenTensorDescriptor_t w_name,
                                            const void *w, miopenTensorDescriptor_t y_name, void *y,
                                            long p, float margin,
                                            miopenLossReductionMode_t reduction, void *workspace,
                                            size_t workspace_bytes)
{
    const struct mi_tensor *x_tensor = mi_tensor(x_name), *t_tensor = mi_tensor(t_name),
                           *w_tensor = mi_tensor(w_name), *y_tensor = mi_tensor(y_name);
    (void)workspace, (void)workspace_bytes;
    if (!x_tensor || !t_tensor || !w_tensor || !y_tensor || !x || !t || !w || !y ||
        !known(reduction))
        return miopenStatusBadParm;
    if (!classes_fit(x_tensor, t_tensor, w_tensor, y_tensor, p, reduction)) return misfit();
    struct mi_case c;
    mi_case_begin(&c, "multimargin", x_tensor);
    mi_case_put(&c, ":%s:p%ld", reductions[reduction], p);
    mi_case_number(&c, "margin", (double)margin);
    mi_case_tensor(&c, MI_X, x_tensor, x);
    mi_case_tensor(&c, MI_T, t_tensor, t);
    mi_case_tensor(&c, MI_W, w_tensor, w);
    mi_case_tensor(&c, MI_Y, y_tensor, y);
    return mi_case_call(handle, &c);
}
