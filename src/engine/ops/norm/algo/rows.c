/* rows: as many work-items for each row as keep it in registers, one workgroup at most; gradients
 * of weights as sums over parts of the rows, and dx beside them by `whole` where it can. */
#include "base/round.h"
#include "engine/figures/figures.h"
#include "engine/gpu/launch.h"
#include "engine/ops/norm/kernels/args.h"
#include "engine/ops/norm/norm.h"

enum { THREADS = RMCP_LN_THREADS, WIDE = 32, MOST_SPLITS = 512 };

static bool sums_of(const struct rmcp_form *form)
{
    return form->word[RMCP_LN_PASS] == RMCP_LN_BACKWARD &&
           form->word[RMCP_LN_GRADIENTS] == RMCP_LN_ALL;
}

static double seconds_of(const struct rmcp_request *request)
{
    return rmcp_form_bytes(request->problem) /
               (rmcp_figure(request->caps, RMCP_FIGURE_NORM_ROWS_EFFICIENCY) *
                request->caps->bytes_per_second) +
           rmcp_figure(request->caps, RMCP_FIGURE_NORM_ROWS_START);
}

/* dx alone, which `whole` may compute: it reads rows once. `data` is where its problem goes. */
static struct rmcp_request data_alone(const struct rmcp_request *request, struct rmcp_form *data)
{
    struct rmcp_request alone = *request;
    *data = *rmcp_form_of(request);
    data->word[RMCP_LN_GRADIENTS] = RMCP_LN_DATA;
    alone.problem = data;
    return alone;
}

/* ---- sums ---- */

static struct rmcp_ln_sums divide(const struct rmcp_request *request)
{
    const struct rmcp_form *form = rmcp_form_of(request);
    const struct rmcp_ln_rows r = rmcp_ln_rows(form);
    const bool group = form->word[RMCP_LN_KIND] == RMCP_LN_GROUP;
    struct rmcp_ln_sums s = {
        .rows = group ? form->size[0] : r.rows,
        .inner = (unsigned)r.weights,
        .fours = !group && r.weights % 4 == 0,
        .t5 = form->word[RMCP_LN_KIND] == RMCP_LN_T5,
        .each = (unsigned)(r.channels / r.groups),
        .groups = (unsigned)r.groups,
        .space = rmcp_divider_of(r.space),
    };
    const int64_t tiles =
        group ? r.channels : rmcp_ceil_divide(r.weights, WIDE * (s.fours ? 4 : 1));
    const int64_t least = group ? 1 : 64;
    int64_t splits = rmcp_ceil_divide(rmcp_launch_units(request->caps) * 8, tiles);
    if (splits > MOST_SPLITS) splits = MOST_SPLITS;
    if (splits > rmcp_ceil_divide(s.rows, least)) splits = rmcp_ceil_divide(s.rows, least);
    s.share = rmcp_ceil_divide(s.rows, splits);
    s.splits = (unsigned)rmcp_ceil_divide(s.rows, s.share);
    return s;
}

struct rows_way {
    double seconds;           /* without launches                                       */
    struct rmcp_ln_sums sums; /* of gradients of weights, where they are wanted         */
    bool by_whole;            /* dx beside them is by `whole`, so shared                */
    struct rmcp_ln_shares whole;
};

static rmcp_status consider(const struct rmcp_request *request, struct rmcp_way *way)
{
    const struct rmcp_form *form = rmcp_form_of(request);
    const struct rmcp_caps *caps = request->caps;
    const struct rmcp_ln_rows r = rmcp_ln_rows(form);
    const bool sums = sums_of(form);
    for (unsigned slot = 0; slot < RMCP_LN_SLOTS; slot++)
        if (form->tensor[slot].dims && !rmcp_form_packed(&form->tensor[slot]))
            return rmcp_refuse(way, "a tensor is not packed");
    if (r.inner > INT32_MAX / 2) return rmcp_refuse(way, "2^30 elements of a row or more");
    if (r.rows > INT32_MAX) return rmcp_refuse(way, "2^31 rows or more");
    if (form->word[RMCP_LN_KIND] == RMCP_LN_GROUP && form->size[0] * r.space > INT32_MAX)
        return rmcp_refuse(way, "2^31 elements of a channel or more");
    struct rows_way *mine = RMCP_WAY_DETAILS(way, struct rows_way);
    *mine = (struct rows_way){ .seconds = seconds_of(request) };
    way->seconds = (sums ? rmcp_figure(caps, RMCP_FIGURE_NORM_ROWS_SUMS) : 1) * mine->seconds +
                   (sums ? 3 : 1) * caps->launch_seconds;
    if (!sums) return RMCP_OK;
    mine->sums = divide(request);
    way->workspace_bytes = (uint64_t)mine->sums.splits * mine->sums.inner * 2 * sizeof(float);
    struct rmcp_form data;
    struct rmcp_way whole;
    const struct rmcp_request alone = data_alone(request, &data);
    const rmcp_status status = rmcp_algo_consider(&rmcp_algo_norm_whole, &alone, &whole);
    mine->by_whole = !status && !whole.refusal;
    if (mine->by_whole) mine->whole = *RMCP_WAY_DETAILS(&whole, struct rmcp_ln_shares);
    return status;
}

static rmcp_status emit_sums(const struct rmcp_request *request, const struct rows_way *way,
                             struct rmcp_launch_list *list)
{
    const struct rmcp_form *form = rmcp_form_of(request);
    const rmcp_type type = (rmcp_type)form->type;
    const bool group = form->word[RMCP_LN_KIND] == RMCP_LN_GROUP;
    struct rmcp_ln_sums s = way->sums;
    const int64_t tiles = group ? s.inner : rmcp_ceil_divide(s.inner, WIDE * (s.fours ? 4 : 1));
    const int64_t quota = rmcp_launch_quota(
        s.splits, rmcp_ceil_divide(rmcp_launch_units(request->caps) * 8, tiles), way->seconds);
    struct rmcp_kernel_launch *launch = NULL;
    for (int64_t first = 0; first < s.splits; first += quota) {
        rmcp_status status = rmcp_kernel_append(list, group ? "norm_channels" : "norm_columns",
                                                type, "", tiles * THREADS, &launch);
        if (status) return status;
        s.first = (unsigned)first;
        launch->grid[1] = (uint32_t)(s.splits - first < quota ? s.splits - first : quota);
        rmcp_arg_memory(launch, RMCP_LN_X, 0);
        rmcp_arg_memory(launch, RMCP_LN_DY, 0);
        rmcp_arg_memory(launch, s.t5 ? RMCP_LN_RSTD : RMCP_LN_MEAN, 0);
        rmcp_arg_memory(launch, RMCP_LN_RSTD, 0);
        rmcp_arg_memory(launch, RMCP_SLOT_WORKSPACE, 0);
        rmcp_arg_value(launch, &s, sizeof s);
    }
    rmcp_status status =
        rmcp_kernel_append(list, "norm_finish", type, "",
                           rmcp_ceil_divide(s.inner, RMCP_LN_FINISH) * THREADS, &launch);
    if (status) return status;
    rmcp_arg_memory(launch, RMCP_SLOT_WORKSPACE, 0);
    rmcp_arg_memory(launch, RMCP_LN_DWEIGHT, 0);
    rmcp_arg_memory(launch, s.t5 ? RMCP_LN_DWEIGHT : RMCP_LN_DBIAS, 0);
    rmcp_arg_value(launch, &s, sizeof s);
    return RMCP_OK;
}

/* ---- rows ---- */

static struct rmcp_ln_args args_of(const struct rmcp_request *request)
{
    const struct rmcp_form *form = rmcp_form_of(request);
    const struct rmcp_ln_rows r = rmcp_ln_rows(form);
    const bool group = form->word[RMCP_LN_KIND] == RMCP_LN_GROUP;
    const bool affine = form->word[RMCP_LN_WEIGHTS] == RMCP_LN_AFFINE;
    const int64_t block = RMCP_LN_BLOCK;
    struct rmcp_ln_args a = {
        .rows = r.rows,
        .inner = (unsigned)r.inner,
        .fours = r.inner % 4 == 0 && (!group || r.space % 4 == 0),
        .t5 = form->word[RMCP_LN_KIND] == RMCP_LN_T5,
        .add = form->word[RMCP_LN_INPUT],
        .saved = form->word[RMCP_LN_STATS],
        .weights = !affine ? 0
                   : group ? 2
                           : 1,
        .bias = form->tensor[RMCP_LN_BIAS].dims > 0,
        .each = (unsigned)(r.channels / r.groups),
        .groups = rmcp_divider_of(r.groups),
        .space = rmcp_divider_of(r.space),
        .share = (float)(1 / (double)r.inner),
        .epsilon = (float)form->number[RMCP_LN_EPSILON],
    };
    /* More work-items for a row than it needs where the device would be idle. */
    while (a.lane_bits < 8 && (block << a.lane_bits) < r.inner) a.lane_bits++;
    while (a.lane_bits < 8 && (INT64_C(4) << a.lane_bits) < r.inner &&
           r.rows << a.lane_bits < rmcp_launch_units(request->caps) * 4 * THREADS)
        a.lane_bits++;
    return a;
}

/* What a kernel is given for a tensor that the problem does not have: it is not followed. */
static unsigned slot_or(const struct rmcp_form *form, unsigned slot, unsigned other)
{
    return form->tensor[slot].dims ? slot : other;
}

static rmcp_status emit_whole(const struct rmcp_request *request, const struct rows_way *way,
                              struct rmcp_launch_list *list)
{
    struct rmcp_form data;
    struct rmcp_way whole;
    const struct rmcp_request alone = data_alone(request, &data);
    *RMCP_WAY_DETAILS(&whole, struct rmcp_ln_shares) = way->whole;
    return rmcp_algo_norm_whole.emit(&alone, &whole, list);
}

static rmcp_status emit(const struct rmcp_request *request, const struct rmcp_way *way,
                        struct rmcp_launch_list *list)
{
    const struct rows_way *mine = RMCP_WAY_DETAILS_CONST(way, struct rows_way);
    const struct rmcp_form *form = rmcp_form_of(request);
    const bool backward = form->word[RMCP_LN_PASS] == RMCP_LN_BACKWARD;
    if (mine->by_whole) {
        const rmcp_status status = emit_whole(request, mine, list);
        return status ? status : emit_sums(request, mine, list);
    }
    struct rmcp_ln_args a = args_of(request);
    const int64_t several = THREADS >> a.lane_bits;
    const int64_t quota = rmcp_launch_quota(rmcp_ceil_divide(a.rows, several),
                                            rmcp_launch_units(request->caps) * 8, mine->seconds) *
                          several;
    static const unsigned forwards[] = { RMCP_LN_X, RMCP_LN_X2,   RMCP_LN_WEIGHT, RMCP_LN_BIAS,
                                         RMCP_LN_Y, RMCP_LN_MEAN, RMCP_LN_RSTD };
    static const unsigned backwards[] = { RMCP_LN_X,    RMCP_LN_DY,   RMCP_LN_WEIGHT,
                                          RMCP_LN_MEAN, RMCP_LN_RSTD, RMCP_LN_DX };
    const unsigned *slots = backward ? backwards : forwards;
    const size_t n_slots =
        backward ? sizeof backwards / sizeof *backwards : sizeof forwards / sizeof *forwards;
    for (int64_t first = 0; first < a.rows; first += quota) {
        struct rmcp_kernel_launch *launch = NULL;
        a.first = (unsigned)first;
        a.count = (unsigned)(a.rows - first < quota ? a.rows - first : quota);
        rmcp_status status = rmcp_kernel_append(
            list, backward ? "norm_backward" : "norm_forward", (rmcp_type)form->type, "",
            rmcp_ceil_divide(a.count, several) * THREADS, &launch);
        if (status) return status;
        for (size_t i = 0; i < n_slots; i++)
            rmcp_arg_memory(launch, slot_or(form, slots[i], slots[backward ? 5 : 4]), 0);
        rmcp_arg_value(launch, &a, sizeof a);
    }
    return sums_of(form) ? emit_sums(request, mine, list) : RMCP_OK;
}

extern const struct rmcp_algo rmcp_algo_norm_rows;
const struct rmcp_algo rmcp_algo_norm_rows = {
    .name = "rows",
    .version = 3, /* raise it with that of `whole`, whose launches it may have */
    .kind = RMCP_LAUNCH_KERNEL,
    .consider = consider,
    .emit = emit,
};
