/* rows: the multi margin loss on a GPU: 32 work-items share a row; sums of rows by workgroup, then
 * their sum. */
#include "base/round.h"
#include "engine/figures/figures.h"
#include "engine/gpu/launch.h"
#include "engine/ops/multimargin/multimargin.h"

enum { THREADS = 256, ROWS = THREADS / RMCP_MULTIMARGIN_WIDTH, MOST = 1024 };

struct rows_way {
    int64_t groups, each; /* workgroups, and how many times each takes ROWS rows */
};

static rmcp_status consider(const struct rmcp_request *request, struct rmcp_way *way)
{
    const struct rmcp_form *form = rmcp_form_of(request);
    struct rows_way *mine = RMCP_WAY_DETAILS(way, struct rows_way);
    for (unsigned slot = 0; slot < RMCP_MULTIMARGIN_SLOTS; slot++)
        if (form->tensor[slot].span >= INT64_C(1) << 31)
            return rmcp_refuse(way, "tensors that reach beyond 2^31 elements");
    const bool summed = rmcp_multimargin_reduction(form) != RMCP_MULTIMARGIN_NONE;
    const int64_t turns = rmcp_ceil_divide(form->size[0], ROWS);
    mine->each = summed ? rmcp_ceil_divide(turns, MOST) : 1;
    mine->groups = rmcp_ceil_divide(turns, mine->each);
    const double waste = form->tensor[RMCP_MULTIMARGIN_X].stride[1] > 1
                             ? rmcp_figure(request->caps, RMCP_FIGURE_MULTIMARGIN_APART)
                             : 1;
    way->seconds = request->operation->bytes(form) * waste / request->caps->bytes_per_second +
                   2 * request->caps->launch_seconds;
    way->workspace_bytes = summed ? (uint64_t)mine->groups * sizeof(float) : 0;
    return RMCP_OK;
}

static rmcp_status emit(const struct rmcp_request *request, const struct rmcp_way *way,
                        struct rmcp_launch_list *list)
{
    const struct rows_way *mine = RMCP_WAY_DETAILS_CONST(way, struct rows_way);
    const struct rmcp_form *form = rmcp_form_of(request);
    const rmcp_type type = (rmcp_type)form->type;
    const unsigned reduction = rmcp_multimargin_reduction(form);
    const int64_t groups = mine->groups;
    const struct rmcp_multimargin_math math = {
        .rows = (unsigned)form->size[0],
        .classes = (unsigned)form->size[1],
        .each = (unsigned)mine->each,
        .summed = reduction != RMCP_MULTIMARGIN_NONE,
        .square = rmcp_multimargin_square(form),
        .x_row = (unsigned)form->tensor[RMCP_MULTIMARGIN_X].stride[0],
        .x_class = (unsigned)form->tensor[RMCP_MULTIMARGIN_X].stride[1],
        .t_step = (unsigned)form->tensor[RMCP_MULTIMARGIN_T].stride[0],
        .w_step = (unsigned)form->tensor[RMCP_MULTIMARGIN_W].stride[0],
        .y_step = (unsigned)form->tensor[RMCP_MULTIMARGIN_Y].stride[0],
        .margin = rmcp_multimargin_margin(form),
        .scale = (float)(1 / (double)form->size[1]),
    };
    struct rmcp_kernel_launch *launch = NULL;
    rmcp_status status =
        rmcp_kernel_append(list, "multimargin", type, "", groups * THREADS, &launch);
    if (status) return status;
    for (unsigned slot = RMCP_MULTIMARGIN_X; slot <= RMCP_MULTIMARGIN_W; slot++)
        rmcp_arg_memory(launch, slot, 0);
    rmcp_arg_memory(launch, math.summed ? RMCP_SLOT_WORKSPACE : RMCP_MULTIMARGIN_Y, 0);
    rmcp_arg_value(launch, &math, sizeof math);
    if (!math.summed) return RMCP_OK;
    const struct rmcp_fold_end end = {
        .parts = (unsigned)groups,
        .scale = (float)(reduction == RMCP_MULTIMARGIN_MEAN ? 1 / (double)form->size[0] : 1),
    };
    status = rmcp_kernel_append(list, "multimargin_end", type, "", THREADS, &launch);
    if (status) return status;
    rmcp_arg_memory(launch, RMCP_SLOT_WORKSPACE, 0);
    rmcp_arg_memory(launch, RMCP_MULTIMARGIN_Y, 0);
    rmcp_arg_value(launch, &end, sizeof end);
    return RMCP_OK;
}

extern const struct rmcp_algo rmcp_algo_multimargin_rows;
const struct rmcp_algo rmcp_algo_multimargin_rows = {
    .name = "rows",
    .version = 1,
    .kind = RMCP_LAUNCH_KERNEL,
    .consider = consider,
    .emit = emit,
};
