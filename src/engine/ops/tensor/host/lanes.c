/* lanes.c: stretches of a tensor in host memory to and from f32, for the algorithms of the host. */
#include "engine/ops/tensor/host/lanes.h"

#include "base/convert.h"

void *rmcp_tensor_address(const rmcp_memory *memory, const struct rmcp_tensor_form *form,
                          unsigned slot, int64_t element)
{
    if (!form->span[slot]) return NULL;
    return (char *)memory[slot].base + memory[slot].offset +
           (uint64_t)element * rmcp_type_bytes(form->type[slot]);
}

/* A loop for each type, once for neighbours and once for any stride: both vectorise. */
const float *rmcp_tensor_gather(float *out, const void *data, rmcp_type type, int64_t stride,
                                int64_t n)
{
    if (type == RMCP_F32 && stride == 1) return data;
    const float *whole = data;
    const uint16_t *half = data;
    if (stride == 0) {
        const float value = rmcp_load(data, type, 0);
        for (int64_t i = 0; i < n; i++) out[i] = value;
    } else if (type == RMCP_F32) {
        for (int64_t i = 0; i < n; i++) out[i] = whole[i * stride];
    } else if (type == RMCP_F16 && stride == 1) {
        for (int64_t i = 0; i < n; i++) out[i] = rmcp_float_of_f16(half[i]);
    } else if (type == RMCP_F16) {
        for (int64_t i = 0; i < n; i++) out[i] = rmcp_float_of_f16(half[i * stride]);
    } else if (stride == 1) {
        for (int64_t i = 0; i < n; i++) out[i] = rmcp_float_of_bf16(half[i]);
    } else {
        for (int64_t i = 0; i < n; i++) out[i] = rmcp_float_of_bf16(half[i * stride]);
    }
    return out;
}

void rmcp_tensor_scatter(void *data, rmcp_type type, int64_t stride, const float *values, int64_t n)
{
    float *whole = data;
    uint16_t *half = data;
    if (type == RMCP_F32 && stride == 1) {
        memcpy(data, values, (size_t)n * sizeof *values);
    } else if (type == RMCP_F32) {
        for (int64_t i = 0; i < n; i++) whole[i * stride] = values[i];
    } else if (type == RMCP_F16 && stride == 1) {
        for (int64_t i = 0; i < n; i++) half[i] = rmcp_f16_of_float(values[i]);
    } else if (type == RMCP_F16) {
        for (int64_t i = 0; i < n; i++) half[i * stride] = rmcp_f16_of_float(values[i]);
    } else if (stride == 1) {
        for (int64_t i = 0; i < n; i++) half[i] = rmcp_bf16_of_float(values[i]);
    } else {
        for (int64_t i = 0; i < n; i++) half[i * stride] = rmcp_bf16_of_float(values[i]);
    }
}

rmcp_status rmcp_tensor_append(const struct rmcp_request *request, rmcp_host_function *function,
                               struct rmcp_launch_list *list)
{
    const struct rmcp_tensor_state state = { request->problem, request->caps->threads };
    return rmcp_launch_host(list, function, &state, sizeof state);
}
