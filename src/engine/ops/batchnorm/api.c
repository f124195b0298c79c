/* api.c: batch normalisation's public functions over the planner. */
#include "engine/core/plan.h"
#include "engine/ops/batchnorm/batchnorm.h"

rmcp_status rmcp_batchnorm_plan(rmcp_device *device, const rmcp_batchnorm *problem,
                                rmcp_batchnorm_pass pass, const rmcp_plan_options *options,
                                rmcp_plan **out)
{
    if (!out) return rmcp_fail(RMCP_E_ARG, "out is NULL");
    *out = NULL;
    struct rmcp_norm norm;
    rmcp_status status = rmcp_norm_init(&norm, problem, (int)pass);
    return status ? status : rmcp_plan_make(device, &rmcp_operation_batchnorm, &norm, options, out);
}

rmcp_status rmcp_batchnorm_candidates(rmcp_device *device, const rmcp_batchnorm *problem,
                                      rmcp_batchnorm_pass pass, const rmcp_plan_options *options,
                                      rmcp_candidate *list, size_t *count)
{
    struct rmcp_norm norm;
    rmcp_status status = rmcp_norm_init(&norm, problem, (int)pass);
    return status ? status
                  : rmcp_plan_ask(device, &rmcp_operation_batchnorm, &norm, options, list, count);
}

static rmcp_status execute(const rmcp_plan *plan, void *stream,
                           const rmcp_batchnorm_tensors *tensors, double *seconds)
{
    if (!rmcp_plan_problem(plan, &rmcp_operation_batchnorm)) return RMCP_E_ARG;
    rmcp_batchnorm_tensors t;
    rmcp_status status = rmcp_struct_read(tensors, &t, sizeof t, RMCP_FIRST_BATCHNORM_TENSORS,
                                          "rmcp_batchnorm_tensors");
    if (status) return status;
    const rmcp_memory memory[RMCP_MOST_SLOTS] = {
        [RMCP_NORM_X] = t.x,
        [RMCP_NORM_Y] = t.y,
        [RMCP_NORM_DX] = t.dx,
        [RMCP_NORM_DY] = t.dy,
        [RMCP_NORM_SCALE] = t.scale,
        [RMCP_NORM_BIAS] = t.bias,
        [RMCP_NORM_DSCALE] = t.dscale,
        [RMCP_NORM_DBIAS] = t.dbias,
        [RMCP_NORM_RUNNING_MEAN] = t.running_mean,
        [RMCP_NORM_RUNNING_VARIANCE] = t.running_variance,
        [RMCP_NORM_SAVED_MEAN] = t.saved_mean,
        [RMCP_NORM_SAVED_INVERSE] = t.saved_inverse,
        [RMCP_SLOT_WORKSPACE] = t.workspace,
    };
    return rmcp_plan_execute(plan, stream, memory, t.workspace_bytes, seconds);
}

rmcp_status rmcp_batchnorm_execute(const rmcp_plan *plan, void *stream,
                                   const rmcp_batchnorm_tensors *tensors)
{
    return execute(plan, stream, tensors, NULL);
}

rmcp_status rmcp_batchnorm_execute_timed(const rmcp_plan *plan, void *stream,
                                         const rmcp_batchnorm_tensors *tensors, double *seconds)
{
    if (!seconds) return rmcp_fail(RMCP_E_ARG, "seconds is NULL");
    return execute(plan, stream, tensors, seconds);
}
