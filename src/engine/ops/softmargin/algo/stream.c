/* stream: the soft margin loss on a GPU: element by element, or parts of the sum by many
 * workgroups; any strides. */
#include "engine/gpu/fold.h"
#include "engine/ops/softmargin/softmargin.h"

static bool sums(const struct rmcp_form *form)
{
    return !rmcp_softmargin_backward(form) &&
           rmcp_softmargin_reduction(form) != RMCP_SOFTMARGIN_NONE;
}

static void cut(const struct rmcp_request *request, struct rmcp_folds *folds)
{
    const struct rmcp_form *form = rmcp_form_of(request);
    struct rmcp_streams *streams = &folds->streams;
    *folds = (struct rmcp_folds){ .outputs = 1 };
    rmcp_streams_begin(streams, form->dims, form->size);
    if (!sums(form))
        rmcp_streams_add(streams, form,
                         rmcp_softmargin_backward(form) ? RMCP_SOFTMARGIN_DX : RMCP_SOFTMARGIN_Y,
                         NULL, 0);
    rmcp_streams_add(streams, form, RMCP_SOFTMARGIN_X, NULL, 0);
    rmcp_streams_add(streams, form, RMCP_SOFTMARGIN_T, NULL, 0);
    if (!sums(form)) rmcp_streams_add(streams, form, RMCP_SOFTMARGIN_DY, NULL, 0);
    rmcp_folds_cut(folds, request);
}

static const char *refuse(const struct rmcp_request *request)
{
    struct rmcp_folds folds;
    cut(request, &folds);
    return rmcp_folds_refuse(&folds);
}

static double cost(const struct rmcp_request *request)
{
    struct rmcp_folds folds;
    cut(request, &folds);
    return sums(rmcp_form_of(request)) ? rmcp_folds_cost(&folds, request)
                                       : rmcp_streams_cost(&folds.streams, request);
}

static rmcp_status workspace(const struct rmcp_request *request, uint64_t *bytes)
{
    struct rmcp_folds folds;
    cut(request, &folds);
    *bytes = sums(rmcp_form_of(request)) ? rmcp_folds_workspace(&folds) : 0;
    return RMCP_OK;
}

static rmcp_status emit(const struct rmcp_request *request, const struct rmcp_way *way,
                        struct rmcp_launch_list *list)
{
    (void)way;
    const struct rmcp_form *form = rmcp_form_of(request);
    const rmcp_type type = (rmcp_type)form->type;
    const double scale = rmcp_softmargin_scale(form);
    const struct rmcp_softmargin_math math = { .backward = rmcp_softmargin_backward(form),
                                               .scale = (float)scale };
    struct rmcp_folds folds;
    cut(request, &folds);
    if (!sums(form))
        return rmcp_streams_emit(&folds.streams, list, "softmargin", type, &math, sizeof math);
    const rmcp_status status =
        rmcp_folds_emit(&folds, list, "softmargin", type, &math, sizeof math);
    return status ? status
                  : rmcp_folds_end(&folds, list, "softmargin", type, RMCP_SOFTMARGIN_Y, 0, scale);
}

extern const struct rmcp_algo rmcp_algo_softmargin_stream;
const struct rmcp_algo rmcp_algo_softmargin_stream = {
    .name = "stream",
    .version = 1,
    .kind = RMCP_LAUNCH_KERNEL,
    .refuse = refuse,
    .cost = cost,
    .workspace = workspace,
    .emit = emit,
};
