/* api.c: convolution's public functions over the planner. */
#include "engine/ops/conv/conv.h"

rmcp_status rmcp_conv_plan(rmcp_device *device, const rmcp_conv *problem, rmcp_conv_pass pass,
                           const rmcp_plan_options *options, rmcp_plan **out)
{
    if (!out) return rmcp_fail(RMCP_E_ARG, "out is NULL");
    *out = NULL;
    struct rmcp_convolution conv;
    rmcp_status status = rmcp_conv_init(&conv, problem, (int)pass);
    return status ? status : rmcp_plan_make(device, &rmcp_operation_conv, &conv, options, out);
}

rmcp_status rmcp_conv_candidates(rmcp_device *device, const rmcp_conv *problem, rmcp_conv_pass pass,
                                 const rmcp_plan_options *options, rmcp_candidate *list,
                                 size_t *count)
{
    struct rmcp_convolution conv;
    rmcp_status status = rmcp_conv_init(&conv, problem, (int)pass);
    return status ? status
                  : rmcp_plan_ask(device, &rmcp_operation_conv, &conv, options, list, count);
}

static rmcp_status execute(const rmcp_plan *plan, void *stream, const rmcp_conv_tensors *tensors,
                           double *seconds)
{
    if (!rmcp_plan_problem(plan, &rmcp_operation_conv)) return RMCP_E_ARG;
    rmcp_conv_tensors t;
    rmcp_status status =
        rmcp_struct_read(tensors, &t, sizeof t, RMCP_FIRST_CONV_TENSORS, "rmcp_conv_tensors");
    if (status) return status;
    const rmcp_memory fixed = plan->request.fixed_weights;
    const rmcp_memory memory[RMCP_MOST_SLOTS] = {
        [RMCP_CONV_X] = t.x,       [RMCP_CONV_W] = fixed.base ? fixed : t.w, [RMCP_CONV_Y] = t.y,
        [RMCP_CONV_BIAS] = t.bias, [RMCP_SLOT_WORKSPACE] = t.workspace,
    };
    return rmcp_plan_execute(plan, stream, memory, t.workspace_bytes, seconds);
}

rmcp_status rmcp_conv_execute(const rmcp_plan *plan, void *stream, const rmcp_conv_tensors *tensors)
{
    return execute(plan, stream, tensors, NULL);
}

rmcp_status rmcp_conv_execute_timed(const rmcp_plan *plan, void *stream,
                                    const rmcp_conv_tensors *tensors, double *seconds)
{
    if (!seconds) return rmcp_fail(RMCP_E_ARG, "seconds is NULL");
    return execute(plan, stream, tensors, seconds);
}

rmcp_status rmcp_conv_judge(rmcp_device *device, const rmcp_conv *problem, rmcp_conv_pass pass,
                            const char *algorithm, enum rmcp_data data, uint64_t seed,
                            double effort, struct rmcp_judgement *judgement)
{
    struct rmcp_convolution conv;
    rmcp_status status = rmcp_conv_init(&conv, problem, (int)pass);
    return status ? status
                  : rmcp_judge_problem(device, &rmcp_operation_conv, &conv, algorithm, data, seed,
                                       effort, judgement);
}
