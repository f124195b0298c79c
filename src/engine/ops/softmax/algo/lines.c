/* lines: softmax on a GPU along lines of any strides, some of them shared by workgroups. */
#include "engine/gpu/lines.h"
#include "engine/figures/figures.h"
#include "engine/ops/softmax/kernels/args.h"
#include "engine/ops/softmax/softmax.h"

enum { KEPT = 16 }; /* elements of a work-item in registers */

static bool is_forward(const struct rmcp_form *form)
{
    return form->word[RMCP_SOFTMAX_PASS] == RMCP_SOFTMAX_FORWARD;
}

/* The slots that are a, b and c of the kernels. */
static const unsigned *slots_of(const struct rmcp_form *form)
{
    static const unsigned forward[] = { RMCP_SOFTMAX_X, RMCP_SOFTMAX_X, RMCP_SOFTMAX_Y };
    static const unsigned backward[] = { RMCP_SOFTMAX_Y, RMCP_SOFTMAX_DY, RMCP_SOFTMAX_DX };
    return is_forward(form) ? forward : backward;
}

static struct rmcp_line_problem problem_of(const struct rmcp_form *form)
{
    const unsigned *slots = slots_of(form),
                   bytes = (unsigned)rmcp_type_bytes((rmcp_type)form->type);
    struct rmcp_line_problem p = { .dims = form->dims,
                                   .lanes = 16 / bytes,
                                   .keep = KEPT * bytes / 16 };
    for (unsigned d = 0; d < form->dims; d++) {
        p.size[d] = form->size[d];
        p.along[d] = rmcp_softmax_along(form, d);
        for (unsigned t = 0; t < 3; t++) p.stride[t][d] = form->tensor[slots[t]].stride[d];
    }
    for (unsigned t = 0; t < 3; t++) p.bytes[t] = bytes;
    return p;
}

static rmcp_status consider(const struct rmcp_request *request, struct rmcp_way *way)
{
    const struct rmcp_form *form = request->problem;
    const struct rmcp_caps *caps = request->caps;
    const struct rmcp_line_problem problem = problem_of(form);
    struct rmcp_line_plan *plan = RMCP_WAY_DETAILS(way, struct rmcp_line_plan);
    rmcp_line_plan_make(plan, &problem, request);
    const char *why = rmcp_line_refuse(plan);
    if (why) return rmcp_refuse(way, why);
    const struct rmcp_line_piece piece = rmcp_line_piece_at(plan, 0, true);
    const double once = request->operation->bytes(form) / caps->bytes_per_second;
    way->seconds = once * rmcp_figure(caps, piece.once ? RMCP_FIGURE_SOFTMAX_LINES_KEPT
                                                       : RMCP_FIGURE_SOFTMAX_LINES_LONG) +
                   (double)(plan->count * (piece.parts > 1 ? 2 : 1)) * caps->launch_seconds;
    way->workspace_bytes =
        (uint64_t)rmcp_line_parts(plan) * (is_forward(form) ? 2 : 1) * sizeof(float);
    return RMCP_OK;
}

static rmcp_status append(const struct rmcp_form *form, const struct rmcp_line_plan *plan,
                          const struct rmcp_line_piece *piece, unsigned stage,
                          struct rmcp_launch_list *list)
{
    const struct rmcp_softmax_args args = {
        .lines = piece->lines,
        .log = rmcp_softmax_log(form),
        .stage = stage,
        .parts = (unsigned)piece->parts,
        .alpha = (float)form->number[RMCP_SOFTMAX_ALPHA],
        .beta = (float)form->number[RMCP_SOFTMAX_BETA],
    };
    const bool forward = is_forward(form);
    struct rmcp_kernel_launch *launch = NULL;
    rmcp_status status = rmcp_kernel_append(
        list, forward ? "softmax_forward" : "softmax_backward", (rmcp_type)form->type,
        plan->columns ? "_columns" : "_rows", piece->groups * 256, &launch);
    if (status) return status;
    launch->grid[1] = (uint32_t)piece->parts;
    const unsigned *slots = slots_of(form);
    for (unsigned t = forward; t < 3; t++)
        rmcp_arg_memory(launch, slots[t], (uint64_t)piece->offset[t] * plan->problem.bytes[t]);
    if (piece->parts > 1)
        rmcp_arg_memory(launch, RMCP_SLOT_WORKSPACE, 0);
    else
        rmcp_arg_memory(launch, slots[2], 0); /* some memory in its place */
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
        const struct rmcp_line_piece piece = rmcp_line_piece_at(plan, i, true);
        if (piece.parts == 1) {
            status = append(form, plan, &piece, RMCP_SOFTMAX_ALL, list);
            continue;
        }
        status = append(form, plan, &piece, RMCP_SOFTMAX_PARTS, list);
        if (!status) status = append(form, plan, &piece, RMCP_SOFTMAX_APPLY, list);
    }
    return status;
}

extern const struct rmcp_algo rmcp_algo_softmax_lines;
const struct rmcp_algo rmcp_algo_softmax_lines = {
    .name = "lines",
    .version = 1,
    .kind = RMCP_LAUNCH_KERNEL,
    .consider = consider,
    .emit = emit,
};
