/* stream: a step of Adam element by element on a GPU, any strides. */
#include "engine/gpu/stream.h"
#include "engine/gpu/launch.h"
#include "engine/ops/adam/adam.h"

#include <string.h>

static void cut(const struct rmcp_request *request, struct rmcp_streams *streams)
{
    const struct rmcp_form *form = rmcp_form_of(request);
    rmcp_streams_begin(streams, form->dims, form->size);
    streams->chunks = 1;
    for (unsigned slot = RMCP_ADAM_PARAM; slot <= RMCP_ADAM_COPY; slot++)
        rmcp_streams_add(streams, form, slot, NULL, 0);
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

/* The arguments of an execution. */
static void make(const void *problem, const double *scalars, void *math)
{
    struct rmcp_form form = *(const struct rmcp_form *)problem;
    rmcp_form_set_scalars(&form, scalars);
    const struct rmcp_adam_math ours = rmcp_adam_math_of(&form);
    memcpy(math, &ours, sizeof ours);
}

static rmcp_status emit(const struct rmcp_request *request, const struct rmcp_way *way,
                        struct rmcp_launch_list *list)
{
    (void)way;
    const struct rmcp_form *form = rmcp_form_of(request);
    const struct rmcp_adam_math math = rmcp_adam_math_of(form);
    const bool present[] = { math.scaled, math.guarded, math.counted };
    struct rmcp_streams streams;
    cut(request, &streams);
    for (int64_t i = 0; i < streams.launches; i++) {
        struct rmcp_stream_launch launch;
        const rmcp_status status =
            rmcp_streams_append(&streams, i, list, "adam", (rmcp_type)form->type, &launch);
        if (status) return status;
        for (unsigned k = 0; k < 3; k++)
            rmcp_arg_memory(launch.kernel, present[k] ? RMCP_ADAM_SCALE + k : RMCP_ADAM_PARAM, 0);
        rmcp_arg_value(launch.kernel, &launch.args, sizeof launch.args);
        rmcp_arg_made(launch.kernel, &math, sizeof math, make, request->problem);
    }
    if (!math.counted) return RMCP_OK;
    struct rmcp_kernel_launch *launch = NULL;
    const rmcp_status status = rmcp_kernel_append(list, "adam_count", RMCP_F32, "", 1, &launch);
    if (status) return status;
    rmcp_arg_memory(launch, RMCP_ADAM_STEP, 0);
    rmcp_arg_memory(launch, math.guarded ? RMCP_ADAM_INF : RMCP_ADAM_STEP, 0);
    rmcp_arg_value(launch, &math.guarded, sizeof math.guarded);
    return RMCP_OK;
}

extern const struct rmcp_algo rmcp_algo_adam_stream;
const struct rmcp_algo rmcp_algo_adam_stream = {
    .name = "stream",
    .version = 1,
    .kind = RMCP_LAUNCH_KERNEL,
    .refuse = refuse,
    .cost = cost,
    .emit = emit,
};
