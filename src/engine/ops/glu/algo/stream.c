/* stream: gated linear units element by element on a GPU, any strides. */
#include "engine/gpu/stream.h"
#include "engine/ops/glu/glu.h"

static void cut(const struct rmcp_request *request, struct rmcp_streams *streams)
{
    const struct rmcp_form *form = rmcp_form_of(request);
    const uint32_t dim = rmcp_glu_dim(form);
    const unsigned result = rmcp_glu_backward(form) ? RMCP_GLU_DX : RMCP_GLU_Y;
    int64_t size[RMCP_FORM_DIMS];
    for (uint32_t d = 0; d < form->dims; d++) size[d] = form->size[d];
    size[dim] /= 2;
    rmcp_streams_begin(streams, form->dims, size);
    rmcp_streams_add(streams, form, result, NULL, 0);
    rmcp_streams_add(streams, form, RMCP_GLU_DX, NULL,
                     size[dim] * form->tensor[RMCP_GLU_DX].stride[dim]);
    rmcp_streams_add(streams, form, RMCP_GLU_X, NULL, 0);
    rmcp_streams_add(streams, form, RMCP_GLU_X, NULL,
                     size[dim] * form->tensor[RMCP_GLU_X].stride[dim]);
    rmcp_streams_add(streams, form, RMCP_GLU_DY, NULL, 0);
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

static rmcp_status emit(const struct rmcp_request *request, const struct rmcp_way *way,
                        struct rmcp_launch_list *list)
{
    (void)way;
    const struct rmcp_form *form = rmcp_form_of(request);
    const struct rmcp_glu_math math = { .backward = rmcp_glu_backward(form) };
    struct rmcp_streams streams;
    cut(request, &streams);
    return rmcp_streams_emit(&streams, list, "glu", (rmcp_type)form->type, &math, sizeof math);
}

extern const struct rmcp_algo rmcp_algo_glu_stream;
const struct rmcp_algo rmcp_algo_glu_stream = {
    .name = "stream",
    .version = 1,
    .kind = RMCP_LAUNCH_KERNEL,
    .refuse = refuse,
    .cost = cost,
    .emit = emit,
};
