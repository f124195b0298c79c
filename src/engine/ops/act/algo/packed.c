/* packed: activations on a GPU where every tensor is one row of neighbours, at the memory's speed.
 */
#include "engine/ops/act/gpu.h"

static const char *refuse(const struct rmcp_request *request)
{
    struct rmcp_streams streams;
    rmcp_act_cut(request, &streams);
    for (unsigned t = 0; t < streams.n; t++)
        if (streams.n_loops != 1 || (streams.loop[0].stride[t] != 1 && !streams.tensor[t].absent))
            return "a tensor has gaps or another order";
    return rmcp_streams_refuse(&streams);
}

/* A tenth less than any strides take: places are found once for a workgroup. */
static double cost(const struct rmcp_request *request)
{
    struct rmcp_streams streams;
    rmcp_act_cut(request, &streams);
    return 0.9 * rmcp_streams_cost(&streams, request);
}

static rmcp_status emit(const struct rmcp_request *request, const struct rmcp_way *way,
                        struct rmcp_launch_list *list)
{
    (void)way;
    const struct rmcp_form *form = rmcp_form_of(request);
    const struct rmcp_act_math math = rmcp_act_math_of(form);
    struct rmcp_streams streams;
    rmcp_act_cut(request, &streams);
    streams.chunks = RMCP_ACT_CHUNKS;
    return rmcp_streams_emit(&streams, list, "act_packed", (rmcp_type)form->type, &math,
                             sizeof math);
}

extern const struct rmcp_algo rmcp_algo_act_packed;
const struct rmcp_algo rmcp_algo_act_packed = {
    .name = "packed",
    .version = 2,
    .kind = RMCP_LAUNCH_KERNEL,
    .refuse = refuse,
    .cost = cost,
    .emit = emit,
};
