/* api.c: the public functions of tensor operations over the planner. */
#include "engine/core/plan.h"
#include "engine/ops/tensor/tensor.h"

rmcp_status rmcp_tensor_plan(rmcp_device *device, const rmcp_tensor *tensor,
                             const rmcp_plan_options *options, rmcp_plan **out)
{
    if (!out) return rmcp_fail(RMCP_E_ARG, "out is NULL");
    *out = NULL;
    struct rmcp_tensor_form form;
    rmcp_status status = rmcp_tensor_init(&form, tensor);
    return status ? status : rmcp_plan_make(device, &rmcp_operation_tensor, &form, options, out);
}

rmcp_status rmcp_tensor_candidates(rmcp_device *device, const rmcp_tensor *tensor,
                                   const rmcp_plan_options *options, rmcp_candidate *list,
                                   size_t *count)
{
    struct rmcp_tensor_form form;
    rmcp_status status = rmcp_tensor_init(&form, tensor);
    return status ? status
                  : rmcp_plan_ask(device, &rmcp_operation_tensor, &form, options, list, count);
}

static rmcp_status execute(const rmcp_plan *plan, void *stream,
                           const rmcp_tensor_operands *operands, double *seconds)
{
    if (!rmcp_plan_problem(plan, &rmcp_operation_tensor)) return RMCP_E_ARG;
    rmcp_tensor_operands t;
    rmcp_status status = rmcp_struct_read(operands, &t, sizeof t, RMCP_FIRST_TENSOR_OPERANDS,
                                          "rmcp_tensor_operands");
    if (status) return status;
    if (t.reserved)
        return rmcp_fail(RMCP_E_ARG, "reserved is %u; it must be 0", (unsigned)t.reserved);
    const rmcp_memory memory[RMCP_MOST_SLOTS] = {
        [RMCP_TENSOR_A] = t.a,
        [RMCP_TENSOR_B] = t.b,
        [RMCP_TENSOR_C] = t.c,
        [RMCP_SLOT_WORKSPACE] = t.workspace,
    };
    return rmcp_plan_execute(plan, stream, memory, t.workspace_bytes, seconds);
}

rmcp_status rmcp_tensor_execute(const rmcp_plan *plan, void *stream,
                                const rmcp_tensor_operands *operands)
{
    return execute(plan, stream, operands, NULL);
}

rmcp_status rmcp_tensor_execute_timed(const rmcp_plan *plan, void *stream,
                                      const rmcp_tensor_operands *operands, double *seconds)
{
    if (!seconds) return rmcp_fail(RMCP_E_ARG, "seconds is NULL");
    return execute(plan, stream, operands, seconds);
}
