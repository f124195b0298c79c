/* stream: activations element by element on a GPU, any strides, at the memory's speed where
 * neighbours are neighbours in all tensors. */
#include "gpu/stream.h"
#include "ops/act/act.h"

static void cut(const struct rmcp_request *request, struct rmcp_streams *streams)
{
    const struct rmcp_form *form = rmcp_form_of(request);
    rmcp_streams_begin(streams, form->dims, form->size);
    rmcp_streams_add(streams, form, rmcp_act_result(form), NULL, 0);
    rmcp_streams_add(streams, form, RMCP_ACT_X, NULL, 0);
    if (form->word[RMCP_ACT_PASS])
        rmcp_streams_add(streams, form, RMCP_ACT_Y, NULL, 0);
    else
        rmcp_streams_add(streams, form, RMCP_ACT_X, NULL, 0); /* y is the result */
    rmcp_streams_add(streams, form, RMCP_ACT_DY, NULL, 0);
    rmcp_streams_cut(streams, request);
}

static const char *refuse(const struct rmcp_request *request)
{
    struct rmcp_streams streams;
    cut(request, &streams);
    return rmcp_streams_refuse(&streams);
}

static double cost(const struct rmcp_request *request)
{
    struct rmcp_streams streams;
    cut(request, &streams);
    return rmcp_streams_cost(&streams, request);
}

static rmcp_status emit(const struct rmcp_request *request, struct rmcp_launch_list *list)
{
    const struct rmcp_form *form = rmcp_form_of(request);
    const struct rmcp_act_math math = rmcp_act_math_of(form);
    struct rmcp_streams streams;
    cut(request, &streams);
    return rmcp_streams_emit(&streams, list, "act", (rmcp_type)form->type, &math, sizeof math);
}

extern const struct rmcp_algo rmcp_algo_act_stream;
const struct rmcp_algo rmcp_algo_act_stream = {
    .name = "stream",
    .version = 1,
    .kind = RMCP_LAUNCH_KERNEL,
    .refuse = refuse,
    .cost = cost,
    .emit = emit,
};
