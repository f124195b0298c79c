/* dropout_execute.c: dropout by itself, forward and backward. The reserve space is a byte for each
 * element, as the original's; the numbers are engine/kernels/philox.h's, from the states' seed and
 * counter. */
#include "dropin/miopen/elements.h"
#include "dropin/miopen/log.h"
#include "dropin/miopen/rnn.h"

enum { STATE_BYTES = 16 };

miopenStatus_t miopenDropoutGetReserveSpaceSize(miopenTensorDescriptor_t x_name, size_t *bytes)
{
    const struct mi_tensor *x = mi_tensor(x_name);
    if (!x || !bytes) return miopenStatusBadParm;
    *bytes = (size_t)mi_tensor_elements(x);
    return miopenStatusSuccess;
}

/* Forward from x to y, or backward from dy to dx. */
static miopenStatus_t run(miopenHandle_t handle, miopenDropoutDescriptor_t name,
                          miopenTensorDescriptor_t noise_name, const struct mi_tensor *from_tensor,
                          const void *from, const struct mi_tensor *to_tensor, void *to,
                          void *reserve, size_t bytes, bool backward)
{
    const struct mi_dropout *dropout = mi_dropout(name);
    const struct mi_tensor *noise = mi_tensor(noise_name);
    if (!dropout || !noise || !from_tensor || !to_tensor || !from || !to)
        return miopenStatusBadParm;
    const int64_t elements = mi_tensor_elements(from_tensor);
    if (noise->dims != from_tensor->dims || mi_tensor_elements(noise) != elements)
        return mi_fail(miopenStatusUnknownError, "noise of another shape than the tensor's");
    if ((reserve || dropout->use_mask) && (!reserve || bytes < (size_t)elements))
        return mi_fail(miopenStatusUnknownError, "%zu bytes of reserve space; dropout needs %lld",
                       reserve ? bytes : 0, (long long)elements);
    const bool given = reserve && (backward || dropout->use_mask);
    if (!given && (!dropout->states || dropout->states_bytes < STATE_BYTES))
        return mi_fail(miopenStatusUnknownError, "dropout without states");
    struct mi_case c;
    mi_elements_begin(&c, "dropout", (const struct mi_tensor *const[]){ from_tensor, to_tensor },
                      2);
    mi_case_put(&c, "%s%s%s", backward ? ":bwd" : ":fwd",
                given     ? ":given"
                : reserve ? ":saved"
                          : ":drawn",
                dropout->state_evo && !given ? ":counting" : "");
    mi_case_number(&c, "drop", (double)dropout->rate);
    mi_case_tensor(&c, backward ? MI_DY : MI_X, from_tensor, from);
    mi_case_tensor(&c, backward ? MI_DX : MI_Y, to_tensor, to);
    if (!given) mi_case_memory(&c, MI_STATE, dropout->states);
    if (reserve) mi_case_memory(&c, MI_RESERVE, reserve);
    return mi_case_call(handle, &c);
}

miopenStatus_t miopenDropoutForward(miopenHandle_t handle, miopenDropoutDescriptor_t dropout,
                                    miopenTensorDescriptor_t noise, miopenTensorDescriptor_t x_name,
                                    const void *x, miopenTensorDescriptor_t y_name, void *y,
                                    void *reserve, size_t bytes)
{
    return run(handle, dropout, noise, mi_tensor(x_name), x, mi_tensor(y_name), y, reserve, bytes,
               false);
}

miopenStatus_t miopenDropoutBackward(miopenHandle_t handle, miopenDropoutDescriptor_t dropout,
                                     miopenTensorDescriptor_t noise,
                                     miopenTensorDescriptor_t dy_name, const void *dy,
                                     miopenTensorDescriptor_t dx_name, void *dx, void *reserve,
                                     size_t bytes)
{
    return run(handle, dropout, noise, mi_tensor(dy_name), dy, mi_tensor(dx_name), dx, reserve,
               bytes, true);
}
