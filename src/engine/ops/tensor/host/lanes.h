/* lanes.h: stretches of a tensor in host memory to and from f32, for the algorithms of the host. */
#ifndef RMCP_OPS_TENSOR_HOST_LANES_H
#define RMCP_OPS_TENSOR_HOST_LANES_H

#include "engine/core/algo.h"
#include "engine/ops/tensor/tensor.h"

/* The first byte of a tensor's element. */
void *rmcp_tensor_address(const rmcp_memory *memory, const struct rmcp_tensor_form *form,
                          unsigned slot, int64_t element);

/* `n` elements, `stride` elements apart, as floats: in `room`, or where they are when they are
 * floats side by side. */
const float *rmcp_tensor_gather(float *room, const void *data, rmcp_type type, int64_t stride,
                                int64_t n);

/* The other way round; each is rounded once. */
void rmcp_tensor_scatter(void *data, rmcp_type type, int64_t stride, const float *values,
                         int64_t n);

/* Append a host call whose state is the problem of the plan and `threads`. */
struct rmcp_tensor_state {
    const struct rmcp_tensor_form *form;
    unsigned threads;
};
rmcp_status rmcp_tensor_append(const struct rmcp_request *request, rmcp_host_function *function,
                               struct rmcp_launch_list *list);

#endif
