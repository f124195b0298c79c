/* stream: rotary embeddings on a GPU, a chunk of whole pairs at a time. */
#include "engine/gpu/stream.h"
#include "engine/ops/rope/rope.h"

static void cut(const struct rmcp_request *request, struct rmcp_streams *streams)
{
    const struct rmcp_form *form = rmcp_form_of(request);
    const bool backward = rmcp_rope_backward(form);
    int64_t shared[RMCP_FORM_DIMS] = { 0 }; /* by all rows */
    shared[form->dims - 1] = 1;
    rmcp_streams_begin(streams, form->dims, form->size);
    streams->steady = true;
    rmcp_streams_add(streams, form, backward ? RMCP_ROPE_DX : RMCP_ROPE_Y, NULL, 0);
    rmcp_streams_add(streams, form, backward ? RMCP_ROPE_DY : RMCP_ROPE_X, NULL, 0);
    rmcp_streams_add(streams, form, RMCP_ROPE_COS, shared, 0);
    rmcp_streams_add(streams, form, RMCP_ROPE_SIN, shared, 0);
    rmcp_streams_cut(streams, request);
}

static const char *refuse(const struct rmcp_request *request)
{
    struct rmcp_streams streams;
    cut(request, &streams);
    /* Of a row that is cut pieces begin at even elements, as all but tiny ones do. */
    return streams.block[streams.n_loops - 1] % 2 && streams.launches > 1
               ? "rows so long that a launch would tear pairs"
               : rmcp_streams_refuse(&streams);
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
    const struct rmcp_rope_math math = { .backward = rmcp_rope_backward(form) };
    struct rmcp_streams streams;
    cut(request, &streams);
    return rmcp_streams_emit(&streams, list, "rope", (rmcp_type)form->type, &math, sizeof math);
}

extern const struct rmcp_algo rmcp_algo_rope_stream;
const struct rmcp_algo rmcp_algo_rope_stream = {
    .name = "stream",
    .version = 1,
    .kind = RMCP_LAUNCH_KERNEL,
    .refuse = refuse,
    .cost = cost,
    .emit = emit,
};
