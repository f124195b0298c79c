/* stream: PReLU's gradients on a GPU: of data element by element, of weights in parts by many
 * workgroups; any strides. */
#include "engine/gpu/fold.h"
#include "engine/ops/prelu/prelu.h"

static bool wants_data(const struct rmcp_form *form)
{
    return form->tensor[RMCP_PRELU_DX].dims;
}

static bool wants_weights(const struct rmcp_form *form)
{
    return form->tensor[RMCP_PRELU_DW].dims;
}

static void cut_data(const struct rmcp_request *request, struct rmcp_streams *streams)
{
    const struct rmcp_form *form = rmcp_form_of(request);
    int64_t stride[RMCP_FORM_DIMS] = { 0 };
    if (form->word[0]) stride[1] = form->tensor[RMCP_PRELU_W].stride[0];
    rmcp_streams_begin(streams, form->dims, form->size);
    rmcp_streams_add(streams, form, RMCP_PRELU_DX, NULL, 0);
    rmcp_streams_add(streams, form, RMCP_PRELU_X, NULL, 0);
    rmcp_streams_add(streams, form, RMCP_PRELU_DY, NULL, 0);
    rmcp_streams_add(streams, form, RMCP_PRELU_W, stride, 0);
    rmcp_streams_cut(streams, request);
}

static void cut_weights(const struct rmcp_request *request, struct rmcp_folds *folds)
{
    const struct rmcp_form *form = rmcp_form_of(request);
    int64_t size[RMCP_FORM_DIMS];
    for (uint32_t d = 0; d < form->dims; d++) size[d] = form->size[d];
    *folds = (struct rmcp_folds){ .outputs = rmcp_prelu_weights(form) };
    if (form->word[0]) {
        size[1] = 1;
        folds->step[0] = form->tensor[RMCP_PRELU_X].stride[1];
        folds->step[1] = form->tensor[RMCP_PRELU_DY].stride[1];
    }
    rmcp_streams_begin(&folds->streams, form->dims, size);
    rmcp_streams_add(&folds->streams, form, RMCP_PRELU_X, NULL, 0);
    rmcp_streams_add(&folds->streams, form, RMCP_PRELU_DY, NULL, 0);
    rmcp_folds_cut(folds, request);
}

static const char *refuse(const struct rmcp_request *request)
{
    const struct rmcp_form *form = rmcp_form_of(request);
    struct rmcp_streams streams;
    struct rmcp_folds folds;
    if (wants_data(form)) {
        cut_data(request, &streams);
        const char *reason = rmcp_streams_refuse(&streams);
        if (reason) return reason;
    }
    if (!wants_weights(form)) return NULL;
    cut_weights(request, &folds);
    return rmcp_folds_refuse(&folds);
}

static double cost(const struct rmcp_request *request)
{
    const struct rmcp_form *form = rmcp_form_of(request);
    struct rmcp_streams streams;
    struct rmcp_folds folds;
    double seconds = 0;
    if (wants_data(form)) {
        cut_data(request, &streams);
        seconds += rmcp_streams_cost(&streams, request);
    }
    if (wants_weights(form)) {
        cut_weights(request, &folds);
        seconds += rmcp_folds_cost(&folds, request);
    }
    return seconds;
}

static rmcp_status workspace(const struct rmcp_request *request, uint64_t *bytes)
{
    struct rmcp_folds folds;
    *bytes = 0;
    if (!wants_weights(rmcp_form_of(request))) return RMCP_OK;
    cut_weights(request, &folds);
    *bytes = rmcp_folds_workspace(&folds);
    return RMCP_OK;
}

static rmcp_status emit(const struct rmcp_request *request, const struct rmcp_way *way,
                        struct rmcp_launch_list *list)
{
    (void)way;
    const struct rmcp_form *form = rmcp_form_of(request);
    const rmcp_type type = (rmcp_type)form->type;
    const struct rmcp_prelu_math math = { 0 };
    struct rmcp_streams streams;
    struct rmcp_folds folds;
    rmcp_status status = RMCP_OK;
    if (wants_data(form)) {
        cut_data(request, &streams);
        status = rmcp_streams_emit(&streams, list, "prelu", type, &math, sizeof math);
    }
    if (status || !wants_weights(form)) return status;
    cut_weights(request, &folds);
    status = rmcp_folds_emit(&folds, list, "prelu", type, &math, sizeof math);
    return status ? status
                  : rmcp_folds_end(&folds, list, "prelu", type, RMCP_PRELU_DW,
                                   form->tensor[RMCP_PRELU_DW].stride[0], 1);
}

extern const struct rmcp_algo rmcp_algo_prelu_stream;
const struct rmcp_algo rmcp_algo_prelu_stream = {
    .name = "stream",
    .version = 1,
    .kind = RMCP_LAUNCH_KERNEL,
    .refuse = refuse,
    .cost = cost,
    .workspace = workspace,
    .emit = emit,
};
