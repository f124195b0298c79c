/* walk: one workgroup for each sequence, forward and back through its steps, in numbers whose
 * exponents do not end; what each step has for itself before and behind, over the whole device. */
#include "engine/figures/figures.h"
#include "engine/gpu/launch.h"
#include "engine/ops/ctc/ctc.h"
#include "engine/ops/ctc/kernels/args.h"

#include <math.h>

enum { THREADS = 256, LABEL_THREADS = 64 };

/* Where things lie in the workspace, in bytes. */
struct places {
    uint64_t sums, states, carry, total, links, end;
};

static uint64_t take(uint64_t *end, int64_t count, uint64_t bytes)
{
    const uint64_t at = *end;
    *end += ((uint64_t)count * bytes + 255) / 256 * 256;
    return at;
}

static struct places places_of(const struct rmcp_form *form)
{
    const int64_t batch = form->size[RMCP_CTC_BATCH], rows = batch * form->size[RMCP_CTC_STEPS];
    const int64_t labels = (int64_t)form->number[RMCP_CTC_LABELS], states = 2 * labels + 1;
    struct places p = { 0 };
    p.sums = take(&p.end, rows, 2 * sizeof(float));
    p.states = take(&p.end, rows * states, 8);
    p.carry = take(&p.end, batch * states, 8);
    p.total = take(&p.end, batch, 8);
    p.links = take(&p.end, batch * labels, 4);
    return p;
}

/* A step waits for its neighbours and for memory, whatever there is to compute. */
static double step_seconds(const struct rmcp_request *request)
{
    const struct rmcp_form *form = rmcp_form_of(request);
    const double units = (double)rmcp_launch_units(request->caps);
    const double each = ceil((2 * form->number[RMCP_CTC_LABELS] + 1) / THREADS);
    return ceil((double)form->size[RMCP_CTC_BATCH] / units) *
           (rmcp_figure(request->caps, RMCP_FIGURE_CTC_STEP) +
            rmcp_figure(request->caps, RMCP_FIGURE_CTC_STATE) * each);
}

static double row_seconds(const struct rmcp_request *request)
{
    const struct rmcp_form *form = rmcp_form_of(request);
    const double bytes =
        3 * (double)form->size[RMCP_CTC_CLASSES] * (double)rmcp_type_bytes((rmcp_type)form->type) +
        8 * (2 * form->number[RMCP_CTC_LABELS] + 1);
    return bytes / request->caps->bytes_per_second;
}

struct walk_way {
    struct places places;
    double step_seconds, row_seconds;
};

static rmcp_status consider(const struct rmcp_request *request, struct rmcp_way *way)
{
    const struct rmcp_form *form = rmcp_form_of(request);
    struct walk_way *mine = RMCP_WAY_DETAILS(way, struct walk_way);
    if (2 * form->number[RMCP_CTC_LABELS] + 1 > RMCP_CTC_MOST_STATES)
        return rmcp_refuse(way, "more than 1023 labels of a sequence");
    if (form->size[RMCP_CTC_STEPS] * form->size[RMCP_CTC_BATCH] > INT32_MAX / 2)
        return rmcp_refuse(way, "2^30 steps of all sequences or more");
    if (request->caps->local_bytes < 16 * RMCP_CTC_MOST_STATES)
        return rmcp_refuse(way, "too little local memory");
    *mine = (struct walk_way){ places_of(form), step_seconds(request), row_seconds(request) };
    const double steps = (double)form->size[RMCP_CTC_STEPS];
    way->seconds = 4 * request->caps->launch_seconds + 2 * steps * mine->step_seconds +
                   2 * steps * (double)form->size[RMCP_CTC_BATCH] * mine->row_seconds;
    way->workspace_bytes = mine->places.end;
    return RMCP_OK;
}

static struct rmcp_ctc_args args_of(const struct rmcp_form *form)
{
    const struct rmcp_form_tensor *t = form->tensor;
    struct rmcp_ctc_args args = {
        .targets_stride = { t[RMCP_CTC_TARGETS].stride[0], t[RMCP_CTC_TARGETS].stride[1] },
        .lengths_stride = { t[RMCP_CTC_LENGTHS].stride[0], t[RMCP_CTC_LENGTHS].stride[1] },
        .loss_stride = t[RMCP_CTC_LOSS].stride[0],
        .steps = (unsigned)form->size[RMCP_CTC_STEPS],
        .batch = (unsigned)form->size[RMCP_CTC_BATCH],
        .classes = (unsigned)form->size[RMCP_CTC_CLASSES],
        .labels = (unsigned)form->number[RMCP_CTC_LABELS],
        .blank = (unsigned)form->number[RMCP_CTC_BLANK],
        .softmax = form->word[RMCP_CTC_MODE] == RMCP_CTC_SOFTMAX,
    };
    for (unsigned d = 0; d < 3; d++) {
        args.x_stride[d] = t[RMCP_CTC_X].stride[d];
        args.dx_stride[d] = t[RMCP_CTC_DX].stride[d];
    }
    while (args.lane_bits < 8 && (1u << args.lane_bits) < args.classes) args.lane_bits++;
    return args;
}

static void in_workspace(struct rmcp_kernel_launch *launch, uint64_t offset)
{
    rmcp_arg_memory(launch, RMCP_SLOT_WORKSPACE, offset);
}

static rmcp_status emit_rows(const struct rmcp_request *request, struct rmcp_ctc_args args,
                             const struct walk_way *way, struct rmcp_launch_list *list)
{
    const rmcp_type type = (rmcp_type)rmcp_form_of(request)->type;
    const int64_t rows = (int64_t)args.steps * args.batch, several = THREADS >> args.lane_bits;
    const int64_t quota = rmcp_launch_quota(rows, 1 << 14, (double)rows * way->row_seconds);
    rmcp_status status = RMCP_OK;
    for (int64_t first = 0; first < rows && !status; first += quota) {
        struct rmcp_kernel_launch *launch = NULL;
        args.first = (unsigned)first;
        args.count = (unsigned)(rows - first < quota ? rows - first : quota);
        status = rmcp_kernel_append(list, "ctc_rows", type, "",
                                    (args.count + several - 1) / several * THREADS, &launch);
        if (status) return status;
        rmcp_arg_memory(launch, RMCP_CTC_X, 0);
        rmcp_arg_memory(launch, RMCP_CTC_LENGTHS, 0);
        in_workspace(launch, way->places.sums);
        rmcp_arg_memory(launch, RMCP_CTC_DX, 0);
        rmcp_arg_value(launch, &args, sizeof args);
    }
    return status;
}

static rmcp_status emit_walk(const struct rmcp_request *request, struct rmcp_ctc_args args,
                             const struct walk_way *way, struct rmcp_launch_list *list)
{
    const rmcp_type type = (rmcp_type)rmcp_form_of(request)->type;
    const int64_t quota = rmcp_launch_quota(args.steps, 64, args.steps * way->step_seconds);
    rmcp_status status = RMCP_OK;
    for (int64_t first = 0; first < args.steps && !status; first += quota) {
        struct rmcp_kernel_launch *launch = NULL;
        args.first = (unsigned)first;
        args.count = (unsigned)(args.steps - first < quota ? args.steps - first : quota);
        status =
            rmcp_kernel_append(list, "ctc_walk", type, "", (int64_t)args.batch * THREADS, &launch);
        if (status) return status;
        rmcp_arg_memory(launch, RMCP_CTC_X, 0);
        rmcp_arg_memory(launch, RMCP_CTC_TARGETS, 0);
        rmcp_arg_memory(launch, RMCP_CTC_LENGTHS, 0);
        in_workspace(launch, way->places.sums);
        in_workspace(launch, way->places.states);
        in_workspace(launch, way->places.carry);
        in_workspace(launch, way->places.total);
        in_workspace(launch, way->places.links);
        rmcp_arg_memory(launch, RMCP_CTC_LOSS, 0);
        rmcp_arg_value(launch, &args, sizeof args);
    }
    return status;
}

static rmcp_status emit_labels(const struct rmcp_request *request, struct rmcp_ctc_args args,
                               const struct walk_way *way, struct rmcp_launch_list *list)
{
    const rmcp_type type = (rmcp_type)rmcp_form_of(request)->type;
    const int64_t rows = (int64_t)args.steps * args.batch;
    const int64_t quota = rmcp_launch_quota(rows, 1 << 14, (double)rows * way->row_seconds);
    rmcp_status status = RMCP_OK;
    for (int64_t first = 0; first < rows && !status; first += quota) {
        struct rmcp_kernel_launch *launch = NULL;
        const int64_t count = rows - first < quota ? rows - first : quota;
        args.first = (unsigned)first;
        args.count = (unsigned)count;
        status = rmcp_kernel_append(list, "ctc_labels", type, "", count * LABEL_THREADS, &launch);
        if (status) return status;
        rmcp_arg_memory(launch, RMCP_CTC_X, 0);
        rmcp_arg_memory(launch, RMCP_CTC_TARGETS, 0);
        rmcp_arg_memory(launch, RMCP_CTC_LENGTHS, 0);
        in_workspace(launch, way->places.sums);
        in_workspace(launch, way->places.states);
        in_workspace(launch, way->places.links);
        rmcp_arg_memory(launch, RMCP_CTC_DX, 0);
        rmcp_arg_value(launch, &args, sizeof args);
    }
    return status;
}

static rmcp_status emit(const struct rmcp_request *request, const struct rmcp_way *way,
                        struct rmcp_launch_list *list)
{
    const struct walk_way *mine = RMCP_WAY_DETAILS_CONST(way, struct walk_way);
    struct rmcp_ctc_args args = args_of(rmcp_form_of(request));
    rmcp_status status = emit_rows(request, args, mine, list);
    if (!status) status = emit_walk(request, args, mine, list);
    args.reverse = 1;
    if (!status) status = emit_walk(request, args, mine, list);
    return status ? status : emit_labels(request, args, mine, list);
}

extern const struct rmcp_algo rmcp_algo_ctc_walk;
const struct rmcp_algo rmcp_algo_ctc_walk = {
    .name = "walk",
    .version = 1,
    .kind = RMCP_LAUNCH_KERNEL,
    .consider = consider,
    .emit = emit,
};
