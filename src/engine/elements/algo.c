/* algo.c: the algorithms of operations that go element by element: on a GPU with any strides, and
 * the same where each tensor is one row of neighbours. */
#include "engine/elements/element.h"
#include "engine/figures/figures.h"
#include "engine/gpu/launch.h"

#include <stdio.h>

const char *const rmcp_element_passes[] = { "fwd", "bwd", NULL };

void rmcp_element_pass(const struct rmcp_form *form, const int64_t *first, void *math)
{
    (void)first;
    *(struct rmcp_pass_math *)math = (struct rmcp_pass_math){ .backward = form->word[0] };
}

rmcp_status rmcp_element_consider(const struct rmcp_request *request, struct rmcp_way *way)
{
    struct rmcp_element_work *work = RMCP_WAY_DETAILS(way, struct rmcp_element_work);
    *work = (struct rmcp_element_work){ 0 };
    rmcp_element_of(rmcp_form_of(request))->work(request, work);
    const char *refusal = work->each ? rmcp_streams_refuse(&work->streams) : NULL;
    if (!refusal && work->sums) refusal = rmcp_folds_refuse(&work->folds);
    if (refusal) return rmcp_refuse(way, refusal);
    if (work->each) way->seconds += rmcp_streams_cost(&work->streams, request) + work->seconds;
    if (work->sums) {
        way->seconds += rmcp_folds_cost(&work->folds, request);
        way->workspace_bytes = rmcp_folds_workspace(&work->folds);
    }
    return RMCP_OK;
}

/* What a kernel takes by value in an execution that brings scalars. */
static void make(const void *problem, const double *scalars, void *math)
{
    struct rmcp_form form = *(const struct rmcp_form *)problem;
    rmcp_form_set_scalars(&form, scalars);
    rmcp_element_of(&form)->math(&form, NULL, math);
}

static rmcp_status emit_each(const struct rmcp_request *request,
                             const struct rmcp_element_work *work, const char *stem,
                             struct rmcp_launch_list *list)
{
    const struct rmcp_form *form = rmcp_form_of(request);
    const struct rmcp_element *element = rmcp_element_of(form);
    _Alignas(8) unsigned char math[RMCP_ELEMENT_MATH_BYTES] = { 0 };
    for (int64_t i = 0; i < work->streams.launches; i++) {
        struct rmcp_stream_launch launch;
        const rmcp_status status =
            rmcp_streams_append(&work->streams, i, list, stem, (rmcp_type)form->type, &launch);
        if (status) return status;
        for (unsigned k = 0; k < work->n_more; k++)
            rmcp_arg_memory(launch.kernel, work->more[k], 0);
        rmcp_arg_value(launch.kernel, &launch.args, sizeof launch.args);
        if (element->math) element->math(form, launch.first, math);
        if (element->rules.n_scalars)
            rmcp_arg_made(launch.kernel, math, element->math_bytes, make, form);
        else
            rmcp_arg_value(launch.kernel, math, element->math_bytes);
    }
    return RMCP_OK;
}

rmcp_status rmcp_element_emit(const struct rmcp_request *request, const struct rmcp_way *way,
                              struct rmcp_launch_list *list)
{
    const struct rmcp_element_work *work = RMCP_WAY_DETAILS_CONST(way, struct rmcp_element_work);
    const struct rmcp_form *form = rmcp_form_of(request);
    const struct rmcp_element *element = rmcp_element_of(form);
    const char *name = request->operation->name;
    rmcp_status status = RMCP_OK;
    if (work->each) status = emit_each(request, work, name, list);
    if (!status && work->sums) {
        _Alignas(8) unsigned char math[RMCP_ELEMENT_MATH_BYTES] = { 0 };
        const rmcp_type type = (rmcp_type)form->type;
        if (element->math) element->math(form, NULL, math);
        status = rmcp_folds_emit(&work->folds, list, name, type, math, element->math_bytes);
        if (!status)
            status = rmcp_folds_end(&work->folds, list, name, type, work->sum, work->sum_step,
                                    work->scale);
    }
    return status || !element->finish ? status : element->finish(form, list);
}

rmcp_status rmcp_element_consider_packed(const struct rmcp_request *request, struct rmcp_way *way)
{
    const rmcp_status status = rmcp_element_consider(request, way);
    struct rmcp_streams *streams = &RMCP_WAY_DETAILS(way, struct rmcp_element_work)->streams;
    for (unsigned t = 0; t < streams->n; t++)
        if (streams->n_loops != 1 ||
            (streams->loop[0].stride[t] != 1 && !streams->tensor[t].absent))
            return rmcp_refuse(way, "a tensor has gaps or another order");
    streams->chunks = RMCP_PACKED_CHUNKS;
    way->seconds *= rmcp_figure(request->caps, RMCP_FIGURE_ELEMENTS_PACKED);
    return status;
}

rmcp_status rmcp_element_emit_packed(const struct rmcp_request *request, const struct rmcp_way *way,
                                     struct rmcp_launch_list *list)
{
    char stem[48];
    snprintf(stem, sizeof stem, "%s_packed", request->operation->name);
    return emit_each(request, RMCP_WAY_DETAILS_CONST(way, struct rmcp_element_work), stem, list);
}
