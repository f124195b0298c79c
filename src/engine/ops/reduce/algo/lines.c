/* lines: reductions on a GPU along lines of any strides. Where there are few results, several
 * workgroups share one: what they have goes to the workspace, and the same kernel merges it, in a
 * fixed order. */
#include "engine/gpu/lines.h"
#include "engine/ops/reduce/kernels/args.h"
#include "engine/ops/reduce/reduce.h"

enum { KEPT = 16 }; /* elements that a work-item loads at a time */

static struct rmcp_line_problem problem_of(const struct rmcp_form *form)
{
    const struct rmcp_form_tensor *a = &form->tensor[RMCP_REDUCE_A],
                                  *c = &form->tensor[RMCP_REDUCE_C],
                                  *indices = &form->tensor[RMCP_REDUCE_I];
    const unsigned bytes = (unsigned)rmcp_type_bytes((rmcp_type)form->type);
    struct rmcp_line_problem p = {
        .dims = form->dims,
        .bytes = { bytes, indices->dims ? 1 : 0, c->dims ? bytes : 0, indices->dims ? 4 : 0 },
        .lanes = 16 / bytes,
        .keep = KEPT * bytes / 16,
        .passing = true,
    };
    int64_t place = 1; /* between two turns of a dimension, in the numbers of elements */
    for (unsigned d = form->dims; d-- > 0;) {
        p.size[d] = form->size[d];
        p.along[d] = rmcp_reduce_along(form, d);
        p.stride[0][d] = a->stride[d];
        p.stride[1][d] = p.along[d] ? place : 0;
        p.stride[2][d] = p.along[d] ? 0 : c->stride[d];
        p.stride[3][d] = p.along[d] ? 0 : indices->stride[d];
        if (p.along[d]) place *= form->size[d];
    }
    return p;
}

static rmcp_status consider(const struct rmcp_request *request, struct rmcp_way *way)
{
    const struct rmcp_form *form = request->problem;
    const struct rmcp_line_problem problem = problem_of(form);
    struct rmcp_line_plan *plan = RMCP_WAY_DETAILS(way, struct rmcp_line_plan);
    rmcp_line_plan_make(plan, &problem, request);
    const char *why = rmcp_line_refuse(plan);
    if (why) return rmcp_refuse(way, why);
    const struct rmcp_line_piece piece = rmcp_line_piece_at(plan, 0, true);
    way->seconds =
        request->operation->bytes(form) / request->caps->bytes_per_second +
        (double)(plan->count * (piece.parts > 1 ? 2 : 1)) * request->caps->launch_seconds;
    way->workspace_bytes = (uint64_t)rmcp_line_parts(plan) * sizeof(float) *
                           (form->tensor[RMCP_REDUCE_I].dims ? 2 : 1);
    return RMCP_OK;
}

static struct rmcp_reduce_args args_of(const struct rmcp_form *form)
{
    static const struct {
        unsigned merge, before;
    } ways[] = {
        [RMCP_REDUCE_ADD] = { RMCP_REDUCE_SUM, RMCP_REDUCE_AS_IT_IS },
        [RMCP_REDUCE_MUL] = { RMCP_REDUCE_PRODUCT, RMCP_REDUCE_AS_IT_IS },
        [RMCP_REDUCE_MIN] = { RMCP_REDUCE_LARGEST, RMCP_REDUCE_NEGATED },
        [RMCP_REDUCE_MAX] = { RMCP_REDUCE_LARGEST, RMCP_REDUCE_AS_IT_IS },
        [RMCP_REDUCE_AMAX] = { RMCP_REDUCE_LARGEST, RMCP_REDUCE_ABSOLUTE },
        [RMCP_REDUCE_AVG] = { RMCP_REDUCE_SUM, RMCP_REDUCE_AS_IT_IS },
        [RMCP_REDUCE_NORM1] = { RMCP_REDUCE_SUM, RMCP_REDUCE_ABSOLUTE },
        [RMCP_REDUCE_NORM2] = { RMCP_REDUCE_SUM, RMCP_REDUCE_SQUARED },
        [RMCP_REDUCE_MUL_NONZERO] = { RMCP_REDUCE_PRODUCT, RMCP_REDUCE_NOT_ZERO },
        [RMCP_REDUCE_ARGMIN] = { RMCP_REDUCE_LARGEST, RMCP_REDUCE_NEGATED },
        [RMCP_REDUCE_ARGMAX] = { RMCP_REDUCE_LARGEST, RMCP_REDUCE_AS_IT_IS },
    };
    const unsigned kind = rmcp_reduce_kind(form);
    double terms = 1;
    for (unsigned d = 0; d < form->dims; d++)
        if (rmcp_reduce_along(form, d)) terms *= (double)form->size[d];
    return (struct rmcp_reduce_args){
        .merge = ways[kind].merge,
        .before = ways[kind].before,
        .ignore = rmcp_reduce_ignores(form),
        .values = form->tensor[RMCP_REDUCE_C].dims > 0,
        .indices = form->tensor[RMCP_REDUCE_I].dims > 0,
        .root = kind == RMCP_REDUCE_NORM2,
        .scale = kind == RMCP_REDUCE_AVG ? (float)(1 / terms) : 1,
        .alpha = (float)form->number[RMCP_REDUCE_ALPHA],
        .beta = (float)form->number[RMCP_REDUCE_BETA],
    };
}

static rmcp_status append(const struct rmcp_form *form, const struct rmcp_line_plan *plan,
                          const struct rmcp_line_piece *piece, unsigned stage,
                          struct rmcp_launch_list *list)
{
    struct rmcp_reduce_args args = args_of(form);
    args.lines = piece->lines;
    args.stage = stage;
    args.parts = (unsigned)piece->parts;
    struct rmcp_kernel_launch *launch = NULL;
    rmcp_status status =
        rmcp_kernel_append(list, "reduce_lines", (rmcp_type)form->type,
                           plan->columns ? "_columns" : "_rows", piece->groups * 256, &launch);
    if (status) return status;
    if (stage == RMCP_REDUCE_PARTS) launch->grid[1] = (uint32_t)piece->parts;
    const unsigned c = args.values ? RMCP_REDUCE_C : RMCP_REDUCE_I,
                   i = args.indices ? RMCP_REDUCE_I : c;
    const struct rmcp_line_problem *p = &plan->problem;
    rmcp_arg_memory(launch, RMCP_REDUCE_A, (uint64_t)piece->offset[0] * p->bytes[0]);
    rmcp_arg_memory(launch, c, args.values ? (uint64_t)piece->offset[2] * p->bytes[2] : 0);
    rmcp_arg_memory(launch, i, args.indices ? (uint64_t)piece->offset[3] * p->bytes[3] : 0);
    rmcp_arg_memory(launch, piece->parts > 1 ? RMCP_SLOT_WORKSPACE : c, 0);
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
            status = append(form, plan, &piece, RMCP_REDUCE_ALL, list);
            continue;
        }
        status = append(form, plan, &piece, RMCP_REDUCE_PARTS, list);
        if (!status) status = append(form, plan, &piece, RMCP_REDUCE_APPLY, list);
    }
    return status;
}

extern const struct rmcp_algo rmcp_algo_reduce_lines;
const struct rmcp_algo rmcp_algo_reduce_lines = {
    .name = "lines",
    .version = 2,
    .kind = RMCP_LAUNCH_KERNEL,
    .consider = consider,
    .emit = emit,
};
