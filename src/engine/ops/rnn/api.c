/* api.c: recurrent networks' public functions over the planner. */
#include "engine/core/plan.h"
#include "engine/ops/rnn/rnn.h"

rmcp_status rmcp_rnn_describe(const rmcp_rnn *problem, rmcp_rnn_info *info)
{
    struct rmcp_recurrence rec;
    rmcp_status status = rmcp_rec_init(&rec, problem, RMCP_RNN_TRAIN);
    if (status) return status;
    const rmcp_rnn_info ours = {
        .struct_size = sizeof ours,
        .directions = (uint32_t)rec.directions,
        .gates = (uint32_t)rec.gates,
        .rows = rec.rows,
        .x = rec.rows * rec.problem.input,
        .y = rec.rows * rec.width,
        .states = rec.problem.layers * rec.problem.batch * rec.width,
        .w = rmcp_rec_weight_elements(&rec),
        .reserve = rmcp_rec_reserve_elements(&rec),
        .gradients = rmcp_rec_gradient_elements(&rec),
        .flops = rmcp_rec_flops(&rec),
    };
    return rmcp_struct_write(&ours, sizeof ours, info, RMCP_FIRST_RNN_INFO, "rmcp_rnn_info");
}

rmcp_status rmcp_rnn_plan(rmcp_device *device, const rmcp_rnn *problem, rmcp_rnn_pass pass,
                          const rmcp_plan_options *options, rmcp_plan **out)
{
    if (!out) return rmcp_fail(RMCP_E_ARG, "out is NULL");
    *out = NULL;
    struct rmcp_recurrence rec;
    rmcp_status status = rmcp_rec_init(&rec, problem, (int)pass);
    return status ? status : rmcp_plan_make(device, &rmcp_operation_rnn, &rec, options, out);
}

rmcp_status rmcp_rnn_candidates(rmcp_device *device, const rmcp_rnn *problem, rmcp_rnn_pass pass,
                                const rmcp_plan_options *options, rmcp_candidate *list,
                                size_t *count)
{
    struct rmcp_recurrence rec;
    rmcp_status status = rmcp_rec_init(&rec, problem, (int)pass);
    return status ? status : rmcp_plan_ask(device, &rmcp_operation_rnn, &rec, options, list, count);
}

static rmcp_status execute(const rmcp_plan *plan, void *stream, const rmcp_rnn_tensors *tensors,
                           double *seconds)
{
    const struct rmcp_recurrence *rec = rmcp_plan_problem(plan, &rmcp_operation_rnn);
    if (!rec) return RMCP_E_ARG;
    rmcp_rnn_tensors t;
    rmcp_status status =
        rmcp_struct_read(tensors, &t, sizeof t, RMCP_FIRST_RNN_TENSORS, "rmcp_rnn_tensors");
    if (status) return status;
    const bool data = rec->pass == RMCP_RNN_BACKWARD_DATA;
    const rmcp_memory memory[RMCP_MOST_SLOTS] = {
        [RMCP_REC_X] = t.x,
        [RMCP_REC_W] = t.w,
        [RMCP_REC_HX] = t.hx,
        [RMCP_REC_CX] = t.cx,
        [RMCP_REC_Y] = data ? t.dy : t.y,
        [RMCP_REC_HY] = data ? t.dhy : t.hy,
        [RMCP_REC_CY] = data ? t.dcy : t.cy,
        [RMCP_REC_DX] = t.dx,
        [RMCP_REC_DW] = t.dw,
        [RMCP_REC_DHX] = t.dhx,
        [RMCP_REC_DCX] = t.dcx,
        [RMCP_REC_RESERVE] = t.reserve,
        [RMCP_REC_GRADIENTS] = t.gradients,
        [RMCP_REC_STATE] = t.state,
        [RMCP_SLOT_WORKSPACE] = t.workspace,
    };
    return rmcp_plan_execute(plan, stream, memory, t.workspace_bytes, seconds);
}

rmcp_status rmcp_rnn_execute(const rmcp_plan *plan, void *stream, const rmcp_rnn_tensors *tensors)
{
    return execute(plan, stream, tensors, NULL);
}

rmcp_status rmcp_rnn_execute_timed(const rmcp_plan *plan, void *stream,
                                   const rmcp_rnn_tensors *tensors, double *seconds)
{
    if (!seconds) return rmcp_fail(RMCP_E_ARG, "seconds is NULL");
    return execute(plan, stream, tensors, seconds);
}
