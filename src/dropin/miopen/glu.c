/* glu.c: gated linear units, and the gradients of PReLU. */
#include "dropin/miopen/elements.h"
#include "dropin/miopen/log.h"

/* Whether `half` is `whole` cut in two along a dimension. */
static bool halves(const struct mi_tensor *whole, const struct mi_tensor *half, uint32_t dim)
{
    if (half->dims != whole->dims || dim >= (uint32_t)whole->dims || half->type != whole->type)
        return false;
    for (int i = 0; i < whole->dims; i++)
        if (half->size[i] * (i == (int)dim ? 2 : 1) != whole->size[i]) return false;
    return true;
}

static miopenStatus_t misfit(void)
{
    return mi_fail(miopenStatusBadParm, "the tensors are no halves of each other");
}

miopenStatus_t miopenGLUForward(miopenHandle_t handle, miopenTensorDescriptor_t x_name,
                                const void *x, miopenTensorDescriptor_t y_name, void *y,
                                uint32_t dim)
{
    const struct mi_tensor *x_tensor = mi_tensor(x_name), *y_tensor = mi_tensor(y_name);
    if (!x_tensor || !y_tensor || !x || !y) return miopenStatusBadParm;
    if (!halves(x_tensor, y_tensor, dim)) return misfit();
    struct mi_case c;
    mi_case_begin(&c, "glu", x_tensor);
    mi_case_put(&c, ":fwd:dim%u", (unsigned)dim);
    mi_case_tensor(&c, MI_X, x_tensor, x);
    mi_case_tensor(&c, MI_Y, y_tensor, y);
    return mi_case_call(handle, &c);
}

miopenStatus_t miopenGLUBackward(miopenHandle_t handle, miopenTensorDescriptor_t x_name,
                                 const void *x, miopenTensorDescriptor_t dy_name, const void *dy,
                                 miopenTensorDescriptor_t dx_name, void *dx, uint32_t dim)
{
    const struct mi_tensor *x_tensor = mi_tensor(x_name), *dy_tensor = mi_tensor(dy_name),
                           *dx_tensor = mi_tensor(dx_name);
    if (!x_tensor || !dy_tensor || !dx_tensor || !x || !dy || !dx) return miopenStatusBadParm;
    if (!halves(x_tensor, dy_tensor, dim) || !halves(dx_tensor, dy_tensor, dim)) return misfit();
    struct mi_case c;
    mi_case_begin(&c, "glu", x_tensor);
    mi_case_put(&c, ":bwd:dim%u", (unsigned)dim);
    mi_case_tensor(&c, MI_X, x_tensor, x);
    mi_case_tensor(&c, MI_DY, dy_tensor, dy);
    mi_case_tensor(&c, MI_DX, dx_tensor, dx);
    return mi_case_call(handle, &c);
}

/* ---- PReLU ---- */

static bool fits(const struct mi_tensor *x, const struct mi_tensor *w)
{
    const int64_t n = mi_tensor_elements(w);
    return w->dims == 1 && w->type == x->type && (n == 1 || (x->dims > 1 && n == x->size[1]));
}

/* What the original asks for; ours takes memory of its own. */
miopenStatus_t miopenGetPReLUBackwardWorkspaceSize(miopenHandle_t name,
                                                   miopenTensorDescriptor_t x_name,
                                                   miopenTensorDescriptor_t w_name, size_t *bytes)
{
    const struct mi_tensor *x = mi_tensor(x_name), *w = mi_tensor(w_name);
    if (!x || !w || !bytes || !fits(x, w)) return miopenStatusBadParm;
    struct mi_handle *handle = mi_handle_enter(name);
    if (!handle) return miopenStatusBadParm;
    mi_handle_leave(handle);
    const size_t n = (size_t)mi_tensor_elements(x);
    *bytes = mi_tensor_elements(w) > 1 ? n * sizeof(float) : mi_parts_bytes(n);
    return miopenStatusSuccess;
}

miopenStatus_t miopenPReLUBackward(miopenHandle_t handle, void *workspace, size_t workspace_bytes,
                                   miopenTensorDescriptor_t x_name, const void *x,
                                   miopenTensorDescriptor_t w_name, const void *w,
                                   miopenTensorDescriptor_t dy_name, const void *dy,
                                   miopenTensorDescriptor_t dx_name, void *dx,
                                   miopenTensorDescriptor_t dw_name, void *dw)
{
    const struct mi_tensor *x_tensor = mi_tensor(x_name), *w_tensor = mi_tensor(w_name),
                           *dy_tensor = mi_tensor(dy_name), *dx_tensor = mi_tensor(dx_name),
                           *dw_tensor = mi_tensor(dw_name);
    (void)workspace, (void)workspace_bytes;
    if (!x_tensor || !w_tensor || !dy_tensor || !dx_tensor || !dw_tensor || !x || !dy ||
        (dx && !w) || (!dx && !dw))
        return miopenStatusBadParm;
    if (!mi_elements_same(x_tensor, dy_tensor) || !mi_elements_same(x_tensor, dx_tensor) ||
        !fits(x_tensor, w_tensor) || !fits(x_tensor, dw_tensor) ||
        mi_tensor_elements(w_tensor) != mi_tensor_elements(dw_tensor))
        return mi_fail(miopenStatusBadParm, "PReLU: the tensors do not fit each other");
    struct mi_case c;
    mi_case_begin(&c, "prelu", x_tensor);
    mi_case_put(&c, ":%s:%s", mi_tensor_elements(w_tensor) > 1 ? "channels" : "shared",
                !dw   ? "data"
                : !dx ? "weights"
                      : "both");
    mi_case_tensor(&c, MI_X, x_tensor, x);
    mi_case_tensor(&c, MI_DY, dy_tensor, dy);
    if (dx) {
        mi_case_tensor(&c, MI_W, w_tensor, w);
        mi_case_tensor(&c, MI_DX, dx_tensor, dx);
    }
    if (dw) mi_case_tensor(&c, MI_DW, dw_tensor, dw);
    return mi_case_call(handle, &c);
}
