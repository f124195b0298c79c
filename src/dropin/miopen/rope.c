/* rope.c: rotary position embeddings. */
#include "dropin/miopen/elements.h"
#include "dropin/miopen/log.h"

/* Packed tensors, as the original takes them; cosines and sines go on from their beginning when
 * they end. */
static miopenStatus_t run(miopenHandle_t handle, bool backward, const struct mi_tensor *from_tensor,
                          const void *from, const struct mi_tensor *cos_tensor, const void *cosines,
                          const struct mi_tensor *sin_tensor, const void *sines,
                          const struct mi_tensor *to_tensor, void *to)
{
    if (!from_tensor || !cos_tensor || !sin_tensor || !to_tensor || !from || !cosines || !sines ||
        !to)
        return miopenStatusBadParm;
    const int64_t elements = mi_tensor_elements(from_tensor), row = mi_tensor_elements(cos_tensor);
    if (!mi_elements_same(from_tensor, to_tensor) || !mi_elements_same(cos_tensor, sin_tensor) ||
        cos_tensor->type != from_tensor->type || row % 2 || elements % row)
        return mi_fail(miopenStatusBadParm, "RoPE: the tensors do not fit each other");
    if (!mi_tensor_is_packed(from_tensor, RMCP_NCHW) ||
        !mi_tensor_is_packed(to_tensor, RMCP_NCHW) || !mi_tensor_is_packed(cos_tensor, RMCP_NCHW) ||
        !mi_tensor_is_packed(sin_tensor, RMCP_NCHW))
        return mi_fail(miopenStatusUnknownError, "RoPE of tensors with gaps");
    struct mi_case c;
    const int64_t size[] = { elements / row, row };
    mi_case_begin_sizes(&c, "rope", size, 2, from_tensor->type);
    mi_case_put(&c, backward ? ":bwd" : ":fwd");
    mi_case_memory(&c, backward ? MI_DY : MI_X, from);
    mi_case_memory(&c, backward ? MI_DX : MI_Y, to);
    mi_case_memory(&c, MI_COS, cosines);
    mi_case_memory(&c, MI_SIN, sines);
    return mi_case_call(handle, &c);
}

miopenStatus_t miopenRoPEForward(miopenHandle_t handle, miopenTensorDescriptor_t x_name,
                                 const void *x, miopenTensorDescriptor_t cos_name,
                                 const void *cosines, miopenTensorDescriptor_t sin_name,
                                 const void *sines, miopenTensorDescriptor_t y_name, void *y)
{
    return run(handle, false, mi_tensor(x_name), x, mi_tensor(cos_name), cosines,
               mi_tensor(sin_name), sines, mi_tensor(y_name), y);
}

miopenStatus_t miopenRoPEBackward(miopenHandle_t handle, miopenTensorDescriptor_t dy_name,
                                  const void *dy, miopenTensorDescriptor_t cos_name,
                                  const void *cosines, miopenTensorDescriptor_t sin_name,
                                  const void *sines, miopenTensorDescriptor_t dx_name, void *dx)
{
    return run(handle, true, mi_tensor(dy_name), dy, mi_tensor(cos_name), cosines,
               mi_tensor(sin_name), sines, mi_tensor(dx_name), dx);
}
