/* case_api.c: the public functions that take any operation, by its case string. */
#include "engine/core/plan.h"
#include "engine/core/scalars.h"

#include <stdio.h>
#include <string.h>

static rmcp_status parse_one(const char *text, const struct rmcp_operation **operation,
                             struct rmcp_any_problem *problem)
{
    struct rmcp_any_problem problems[RMCP_MOST_PASSES];
    size_t count;
    rmcp_status status = rmcp_case_parse(text, operation, problems, &count);
    if (status) return status;
    if (count != 1)
        return rmcp_fail(RMCP_E_ARG, "case '%.60s': names no pass, and there are %zu", text, count);
    *problem = problems[0];
    return RMCP_OK;
}

rmcp_status rmcp_case_plan(rmcp_device *device, const char *text, const rmcp_plan_options *options,
                           rmcp_plan **out)
{
    if (!out) return rmcp_fail(RMCP_E_ARG, "out is NULL");
    *out = NULL;
    const struct rmcp_operation *operation;
    struct rmcp_any_problem problem;
    rmcp_status status = parse_one(text, &operation, &problem);
    return status ? status : rmcp_plan_make(device, operation, &problem, options, out);
}

rmcp_status rmcp_case_candidates(rmcp_device *device, const char *text,
                                 const rmcp_plan_options *options, rmcp_candidate *list,
                                 size_t *count)
{
    const struct rmcp_operation *operation;
    struct rmcp_any_problem problem;
    rmcp_status status = parse_one(text, &operation, &problem);
    return status ? status : rmcp_plan_ask(device, operation, &problem, options, list, count);
}

rmcp_status rmcp_plan_slot(const rmcp_plan *plan, uint32_t slot, rmcp_slot_info *info)
{
    if (!plan) return rmcp_fail(RMCP_E_ARG, "plan is NULL");
    const struct rmcp_operation *operation = plan->request.operation;
    if (slot >= operation->n_slots)
        return rmcp_fail(RMCP_E_ARG, "slot %u: %s has %u", (unsigned)slot, operation->name,
                         operation->n_slots);
    const struct rmcp_slot s = operation->slot(plan->problem, slot);
    rmcp_slot_info ours = { .type = s.type,
                            .read = s.read && s.elements,
                            .written = s.written && s.elements,
                            .bytes = (uint64_t)s.elements * rmcp_type_bytes(s.type) };
    snprintf(ours.name, sizeof ours.name, "%s", s.name);
    return rmcp_struct_write(&ours, sizeof ours, info, RMCP_FIRST_SLOT_INFO, "rmcp_slot_info");
}

rmcp_status rmcp_plan_scalar(const rmcp_plan *plan, uint32_t scalar, rmcp_scalar_info *info)
{
    if (!plan) return rmcp_fail(RMCP_E_ARG, "plan is NULL");
    const struct rmcp_operation *operation = plan->request.operation;
    if (scalar >= plan->n_scalars)
        return rmcp_fail(RMCP_E_ARG, "scalar %u: %s has %u", (unsigned)scalar, operation->name,
                         plan->n_scalars);
    const struct rmcp_scalar s = operation->scalar(plan->problem, scalar);
    rmcp_scalar_info ours = { .value = s.value, .least = s.least, .most = s.most };
    snprintf(ours.name, sizeof ours.name, "%s", s.name);
    return rmcp_struct_write(&ours, sizeof ours, info, RMCP_FIRST_SCALAR_INFO, "rmcp_scalar_info");
}

static rmcp_status run(const rmcp_plan *plan, void *stream, const rmcp_slots *slots,
                       double *seconds)
{
    if (!plan) return rmcp_fail(RMCP_E_ARG, "plan is NULL");
    rmcp_slots s;
    rmcp_status status = rmcp_struct_read(slots, &s, sizeof s, RMCP_FIRST_SLOTS, "rmcp_slots");
    if (status) return status;
    if (s.count > plan->request.operation->n_slots)
        return rmcp_fail(RMCP_E_ARG, "count is %u; %s has %u tensors", (unsigned)s.count,
                         plan->request.operation->name, plan->request.operation->n_slots);
    if (s.reserved)
        return rmcp_fail(RMCP_E_ARG, "reserved is %u; it must be 0", (unsigned)s.reserved);
    if (s.count && !s.memory) return rmcp_fail(RMCP_E_ARG, "memory is NULL");
    rmcp_memory memory[RMCP_MOST_SLOTS] = { { NULL, 0 } };
    if (s.count) memcpy(memory, s.memory, s.count * sizeof *memory);
    memory[RMCP_SLOT_WORKSPACE] = s.workspace;
    double scalars[RMCP_MOST_SCALARS];
    if (s.n_scalars)
        status = rmcp_scalars_read(plan->request.operation, plan->problem, s.scalars, s.n_scalars,
                                   scalars);
    if (status) return status;
    return rmcp_plan_execute_given(plan, stream, memory, s.n_scalars ? scalars : NULL,
                                   s.workspace_bytes, seconds);
}

rmcp_status rmcp_plan_run(const rmcp_plan *plan, void *stream, const rmcp_slots *slots)
{
    return run(plan, stream, slots, NULL);
}

rmcp_status rmcp_plan_run_timed(const rmcp_plan *plan, void *stream, const rmcp_slots *slots,
                                double *seconds)
{
    if (!seconds) return rmcp_fail(RMCP_E_ARG, "seconds is NULL");
    return run(plan, stream, slots, seconds);
}
