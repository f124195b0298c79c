/* digits: k-th values on a GPU by counting digits, a workgroup for each line of any strides. */
#include "engine/figures/figures.h"
#include "engine/gpu/lines.h"
#include "engine/ops/kth/kernels/args.h"
#include "engine/ops/kth/kth.h"

static struct rmcp_line_problem problem_of(const struct rmcp_form *form)
{
    const unsigned slots[] = { RMCP_KTH_X, RMCP_KTH_X, RMCP_KTH_Y, RMCP_KTH_INDICES };
    const unsigned bytes = (unsigned)rmcp_type_bytes((rmcp_type)form->type);
    struct rmcp_line_problem p = {
        .dims = form->dims, .bytes = { bytes, 0, bytes, 8 }, .lanes = 1, .keep = 1
    };
    for (unsigned d = 0; d < form->dims; d++) {
        p.size[d] = form->size[d];
        p.along[d] = d == rmcp_kth_dimension(form);
        for (unsigned t = 0; t < 4; t++)
            p.stride[t][d] = p.along[d] && t > 1 ? 0 : form->tensor[slots[t]].stride[d];
    }
    return p;
}

static rmcp_status consider(const struct rmcp_request *request, struct rmcp_way *way)
{
    const struct rmcp_form *form = request->problem;
    const struct rmcp_caps *caps = request->caps;
    if (form->size[rmcp_kth_dimension(form)] > 1 << 24)
        return rmcp_refuse(way, "one workgroup would take long for a line of more than "
                                "2^24 elements");
    const struct rmcp_line_problem problem = problem_of(form);
    struct rmcp_line_plan *plan = RMCP_WAY_DETAILS(way, struct rmcp_line_plan);
    rmcp_line_plan_make(plan, &problem, request);
    const char *why = rmcp_line_refuse(plan);
    if (why) return rmcp_refuse(way, why);
    way->seconds = rmcp_figure(caps, RMCP_FIGURE_KTH_READS) * request->operation->bytes(form) /
                       caps->bytes_per_second +
                   (double)plan->count * caps->launch_seconds;
    return RMCP_OK;
}

static rmcp_status append(const struct rmcp_form *form, const struct rmcp_line_plan *plan,
                          const struct rmcp_line_piece *piece, struct rmcp_launch_list *list)
{
    const struct rmcp_lines *l = &piece->lines;
    const bool along = plan->columns ? l->n_along > 0 : true;
    struct rmcp_kth_args args = {
        .count = l->count,
        .step = plan->columns ? (along ? l->turn[0].a : 0) : l->vector.a,
        .k = (unsigned)form->number[RMCP_KTH_K],
    };
    if (plan->columns) args.across[args.n_across++] = l->vector;
    for (unsigned i = l->n_along; i < l->n_turns; i++) args.across[args.n_across++] = l->turn[i];
    struct rmcp_kernel_launch *launch = NULL;
    rmcp_status status = rmcp_kernel_append(list, "kth", (rmcp_type)form->type, "",
                                            (int64_t)l->lines * 256, &launch);
    if (status) return status;
    const unsigned slots[] = { RMCP_KTH_X, RMCP_KTH_X, RMCP_KTH_Y, RMCP_KTH_INDICES };
    for (unsigned t = 0; t < 4; t++)
        if (plan->problem.bytes[t])
            rmcp_arg_memory(launch, slots[t], (uint64_t)piece->offset[t] * plan->problem.bytes[t]);
    rmcp_arg_value(launch, &args, sizeof args);
    return RMCP_OK;
}

static rmcp_status emit(const struct rmcp_request *request, const struct rmcp_way *way,
                        struct rmcp_launch_list *list)
{
    const struct rmcp_form *form = request->problem;
    const struct rmcp_line_plan *plan = RMCP_WAY_DETAILS_CONST(way, struct rmcp_line_plan);
    rmcp_status status = RMCP_OK;
    for (int64_t i = 0; i < plan->count && !status; i++) {
        const struct rmcp_line_piece piece = rmcp_line_piece_at(plan, i, false);
        status = append(form, plan, &piece, list);
    }
    return status;
}

extern const struct rmcp_algo rmcp_algo_kth_digits;
const struct rmcp_algo rmcp_algo_kth_digits = {
    .name = "digits",
    .version = 1,
    .kind = RMCP_LAUNCH_KERNEL,
    .consider = consider,
    .emit = emit,
};
