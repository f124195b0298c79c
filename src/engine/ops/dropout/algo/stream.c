/* stream: dropout element by element on a GPU, any strides; a generator's block serves four
 * neighbours. */
#include "engine/gpu/stream.h"
#include "engine/gpu/launch.h"
#include "engine/ops/dropout/dropout.h"

static void cut(const struct rmcp_request *request, struct rmcp_streams *streams)
{
    const struct rmcp_form *form = rmcp_form_of(request);
    const bool backward = form->word[RMCP_DROPOUT_PASS];
    /* The mask's places are also the elements' numbers, whether it is there or not. */
    int64_t stride[RMCP_FORM_DIMS], next = 1;
    for (uint32_t d = form->dims; d-- > 0; next *= form->size[d]) stride[d] = next;
    rmcp_streams_begin(streams, form->dims, form->size);
    rmcp_streams_add(streams, form, backward ? RMCP_DROPOUT_DX : RMCP_DROPOUT_Y, NULL, 0);
    rmcp_streams_add(streams, form, backward ? RMCP_DROPOUT_DY : RMCP_DROPOUT_X, NULL, 0);
    rmcp_streams_add(streams, form, RMCP_DROPOUT_RESERVE, stride, 0);
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
    return rmcp_streams_cost(&streams, request) +
           (rmcp_dropout_counts(rmcp_form_of(request)) ? request->caps->launch_seconds : 0);
}

static rmcp_status emit(const struct rmcp_request *request, const struct rmcp_way *way,
                        struct rmcp_launch_list *list)
{
    (void)way;
    const struct rmcp_form *form = rmcp_form_of(request);
    struct rmcp_dropout_math math = rmcp_dropout_math_of(form);
    struct rmcp_streams streams;
    cut(request, &streams);
    for (int64_t i = 0; i < streams.launches; i++) {
        struct rmcp_stream_launch launch;
        const rmcp_status status =
            rmcp_streams_append(&streams, i, list, "dropout", (rmcp_type)form->type, &launch);
        if (status) return status;
        const bool draws = math.mask != RMCP_DROPOUT_GIVEN;
        rmcp_arg_memory(launch.kernel, draws ? RMCP_DROPOUT_STATE : streams.tensor[0].slot, 0);
        rmcp_arg_value(launch.kernel, &launch.args, sizeof launch.args);
        math.index = launch.first[2];
        rmcp_arg_value(launch.kernel, &math, sizeof math);
    }
    if (!rmcp_dropout_counts(form)) return RMCP_OK;
    struct rmcp_kernel_launch *launch = NULL;
    const rmcp_status status = rmcp_kernel_append(list, "dropout_count", RMCP_F32, "", 1, &launch);
    if (status) return status;
    rmcp_arg_memory(launch, RMCP_DROPOUT_STATE, 0);
    return RMCP_OK;
}

extern const struct rmcp_algo rmcp_algo_dropout_stream;
const struct rmcp_algo rmcp_algo_dropout_stream = {
    .name = "stream",
    .version = 1,
    .kind = RMCP_LAUNCH_KERNEL,
    .refuse = refuse,
    .cost = cost,
    .emit = emit,
};
