/* api.c: the public functions of matrix products over the planner. */
#include "engine/core/plan.h"
#include "engine/ops/gemm/gemm.h"

rmcp_status rmcp_gemm_plan(rmcp_device *device, const rmcp_gemm *gemm,
                           const rmcp_plan_options *options, rmcp_plan **out)
{
    if (!out) return rmcp_fail(RMCP_E_ARG, "out is NULL");
    *out = NULL;
    struct rmcp_gemm_form form;
    rmcp_status status = rmcp_gemm_form_init(&form, gemm);
    return status ? status : rmcp_plan_make(device, &rmcp_operation_gemm, &form, options, out);
}

rmcp_status rmcp_gemm_candidates(rmcp_device *device, const rmcp_gemm *gemm,
                                 const rmcp_plan_options *options, rmcp_candidate *list,
                                 size_t *count)
{
    struct rmcp_gemm_form form;
    rmcp_status status = rmcp_gemm_form_init(&form, gemm);
    return status ? status
                  : rmcp_plan_ask(device, &rmcp_operation_gemm, &form, options, list, count);
}

static rmcp_status execute(const rmcp_plan *plan, void *stream, const rmcp_gemm_matrices *matrices,
                           double *seconds)
{
    if (!rmcp_plan_problem(plan, &rmcp_operation_gemm)) return RMCP_E_ARG;
    rmcp_gemm_matrices m;
    rmcp_status status =
        rmcp_struct_read(matrices, &m, sizeof m, RMCP_FIRST_GEMM_MATRICES, "rmcp_gemm_matrices");
    if (status) return status;
    if (m.reserved)
        return rmcp_fail(RMCP_E_ARG, "reserved is %u; it must be 0", (unsigned)m.reserved);
    const rmcp_memory memory[RMCP_MOST_SLOTS] = {
        [RMCP_GEMM_A] = m.a,
        [RMCP_GEMM_B] = m.b,
        [RMCP_GEMM_C] = m.c,
        [RMCP_GEMM_BIAS] = m.bias,
        [RMCP_SLOT_WORKSPACE] = m.workspace,
    };
    return rmcp_plan_execute(plan, stream, memory, m.workspace_bytes, seconds);
}

rmcp_status rmcp_gemm_execute(const rmcp_plan *plan, void *stream,
                              const rmcp_gemm_matrices *matrices)
{
    return execute(plan, stream, matrices, NULL);
}

rmcp_status rmcp_gemm_execute_timed(const rmcp_plan *plan, void *stream,
                                    const rmcp_gemm_matrices *matrices, double *seconds)
{
    if (!seconds) return rmcp_fail(RMCP_E_ARG, "seconds is NULL");
    return execute(plan, stream, matrices, seconds);
}
