/* stream: activations element by element on a GPU, any strides, at the memory's speed where
 * neighbours are neighbours in all tensors. */
#include "engine/ops/act/gpu.h"

static const char *refuse(const struct rmcp_request *request)
{
    struct rmcp_streams streams;
    rmcp_act_cut(request, &streams);
    return rmcp_streams_refuse(&streams);
}

static double cost(const struct rmcp_request *request)
{
    struct rmcp_streams streams;
    rmcp_act_cut(request, &streams);
    return rmcp_streams_cost(&streams, request);
}

static rmcp_status emit(const struct rmcp_request *request, const struct rmcp_way *way,
                        struct rmcp_launch_list *list)
{
    (void)way;
    const struct rmcp_form *form = rmcp_form_of(request);
    const struct rmcp_act_math math = rmcp_act_math_of(form);
    struct rmcp_streams streams;
    rmcp_act_cut(request, &streams);
    return rmcp_streams_emit(&streams, list, "act", (rmcp_type)form->type, &math, sizeof math);
}

extern const struct rmcp_algo rmcp_algo_act_stream;
const struct rmcp_algo rmcp_algo_act_stream = {
    .name = "stream",
    .version = 2,
    .kind = RMCP_LAUNCH_KERNEL,
    .refuse = refuse,
    .cost = cost,
    .emit = emit,
};
