/* whole: normalisation of rows that work-items keep in registers: every tensor is read once. A
 * workgroup adds up its rows' gradients of weights and leaves them as one part. */
#include "base/round.h"
#include "engine/figures/figures.h"
#include "engine/gpu/launch.h"
#include "engine/ops/norm/kernels/args.h"
#include "engine/ops/norm/norm.h"

enum {
    THREADS = RMCP_LN_THREADS,
    MOST_ROWS = 256, /* of one sum, so that it keeps its digits */
    WIDE = RMCP_LN_FINISH,
};

static bool is_backward(const struct rmcp_form *form)
{
    return form->word[RMCP_LN_PASS] == RMCP_LN_BACKWARD;
}

static bool sums_of(const struct rmcp_form *form)
{
    return is_backward(form) && form->word[RMCP_LN_GRADIENTS] == RMCP_LN_ALL;
}

static bool is_group(const struct rmcp_form *form)
{
    return form->word[RMCP_LN_KIND] == RMCP_LN_GROUP;
}

static int64_t bytes_of(const struct rmcp_form *form)
{
    return (int64_t)rmcp_type_bytes((rmcp_type)form->type);
}

/* Elements that workgroups of `threads` keep of a row. */
static int64_t kept(const struct rmcp_form *form, int64_t threads)
{
    return threads *
           RMCP_LN_CHUNKS(bytes_of(form), threads > THREADS, is_backward(form), sums_of(form)) *
           16 / bytes_of(form);
}

/* Work-items of a workgroup. Sums of long rows take too many registers in f32. */
static int64_t threads_of(const struct rmcp_request *request)
{
    const struct rmcp_form *form = rmcp_form_of(request);
    const bool two = form->word[RMCP_LN_INPUT] && form->type != RMCP_F32; /* takes as many again */
    const int64_t most =
        two || is_backward(form) ? kept(form, THREADS) : RMCP_LN_LONG(bytes_of(form));
    const bool many = rmcp_ln_rows(form).inner > most && request->caps->max_block >= RMCP_LN_MANY &&
                      !two && !(sums_of(form) && form->type == RMCP_F32);
    return many ? RMCP_LN_MANY : THREADS;
}

/* Workgroups of a compute unit that stay, for sums. */
static int64_t stay_of(int64_t threads)
{
    return 2 * THREADS / threads;
}

static struct rmcp_ln_shares divide(const struct rmcp_request *request, int64_t threads,
                                    double seconds)
{
    const struct rmcp_ln_rows r = rmcp_ln_rows(rmcp_form_of(request));
    struct rmcp_ln_shares s = { .threads = threads, .lanes = 1 };
    while (s.lanes < s.threads && kept(request->problem, s.threads) / s.threads * s.lanes < r.inner)
        s.lanes *= 2;
    /* More where the device would be idle. */
    while (s.lanes < s.threads && s.lanes * 16 < r.inner * bytes_of(request->problem) &&
           r.rows * s.lanes < rmcp_launch_units(request->caps) * 4 * THREADS)
        s.lanes *= 2;
    s.lines = s.threads / s.lanes;
    s.rows = rmcp_launch_quota(rmcp_ceil_divide(r.rows, s.lines),
                               rmcp_launch_units(request->caps) * 8, seconds) *
             s.lines;
    if (s.rows > r.rows) s.rows = r.rows;
    s.launches = rmcp_ceil_divide(r.rows, s.rows);
    s.groups = rmcp_ceil_divide(s.rows, s.lines);
    if (sums_of(request->problem)) {
        const int64_t least = rmcp_ceil_divide(s.groups, MOST_ROWS),
                      wanted = rmcp_launch_units(request->caps) * stay_of(s.threads),
                      most = s.groups;
        s.groups = wanted > least ? wanted : least;
        if (s.groups > most) s.groups = most;
    }
    return s;
}

static rmcp_status consider(const struct rmcp_request *request, struct rmcp_way *way)
{
    const struct rmcp_form *form = rmcp_form_of(request);
    const struct rmcp_caps *caps = request->caps;
    const struct rmcp_ln_rows r = rmcp_ln_rows(form);
    const bool sums = sums_of(form);
    for (unsigned slot = 0; slot < RMCP_LN_SLOTS; slot++)
        if (form->tensor[slot].dims && !rmcp_form_packed(&form->tensor[slot]))
            return rmcp_refuse(way, "a tensor is not packed");
    if (is_group(form) && sums) return rmcp_refuse(way, "gradients of channels");
    if ((is_group(form) ? r.space : r.inner) % (16 / bytes_of(form)))
        return rmcp_refuse(way, "rows or channels that are no whole chunks of 16 bytes");
    const int64_t threads = threads_of(request);
    if (r.inner > kept(form, threads))
        return rmcp_refuse(way, "rows that do not fit into registers");
    if (r.rows > INT32_MAX) return rmcp_refuse(way, "2^31 rows or more");
    const double seconds =
        rmcp_form_bytes(form) /
            (rmcp_figure(caps, RMCP_FIGURE_NORM_WHOLE_EFFICIENCY) * caps->bytes_per_second) +
        rmcp_figure(caps, RMCP_FIGURE_NORM_WHOLE_START);
    struct rmcp_ln_shares *s = RMCP_WAY_DETAILS(way, struct rmcp_ln_shares);
    *s = divide(request, threads, seconds);
    /* Finding the channels of a long group takes longer than algo/groups.c does. */
    const bool slow = is_group(form) && threads > THREADS;
    way->seconds = seconds * (slow ? rmcp_figure(caps, RMCP_FIGURE_NORM_WHOLE_LONG_GROUPS) : 1) +
                   (double)(s->launches + (sums ? 1 : 0)) * caps->launch_seconds;
    way->workspace_bytes =
        sums ? (uint64_t)(s->launches * s->groups * r.inner) * 2 * sizeof(float) : 0;
    return RMCP_OK;
}

static rmcp_status finish(const struct rmcp_request *request, const struct rmcp_ln_shares *shares,
                          struct rmcp_launch_list *list)
{
    const struct rmcp_form *form = rmcp_form_of(request);
    const struct rmcp_ln_sums s = {
        .inner = (unsigned)rmcp_ln_rows(form).inner,
        .splits = (unsigned)(shares->launches * shares->groups),
        .t5 = form->word[RMCP_LN_KIND] == RMCP_LN_T5,
        .space = rmcp_divider_of(1),
    };
    struct rmcp_kernel_launch *launch = NULL;
    const rmcp_status status =
        rmcp_kernel_append(list, "norm_finish", (rmcp_type)form->type, "",
                           rmcp_ceil_divide(s.inner, WIDE) * THREADS, &launch);
    if (status) return status;
    rmcp_arg_memory(launch, RMCP_SLOT_WORKSPACE, 0);
    rmcp_arg_memory(launch, RMCP_LN_DWEIGHT, 0);
    rmcp_arg_memory(launch, s.t5 ? RMCP_LN_DWEIGHT : RMCP_LN_DBIAS, 0);
    rmcp_arg_value(launch, &s, sizeof s);
    return RMCP_OK;
}

/* A tensor that the problem does not have is some memory that is not followed. */
static void add_memory(struct rmcp_kernel_launch *launch, const struct rmcp_form *form,
                       unsigned slot, unsigned other)
{
    rmcp_arg_memory(launch, form->tensor[slot].dims ? slot : other, 0);
}

static rmcp_status emit(const struct rmcp_request *request, const struct rmcp_way *way,
                        struct rmcp_launch_list *list)
{
    const struct rmcp_form *form = rmcp_form_of(request);
    const struct rmcp_ln_rows r = rmcp_ln_rows(form);
    const struct rmcp_ln_shares s = *RMCP_WAY_DETAILS_CONST(way, struct rmcp_ln_shares);
    const bool backward = is_backward(form), sums = sums_of(form);
    static const unsigned forwards[] = { RMCP_LN_X, RMCP_LN_X2,   RMCP_LN_WEIGHT, RMCP_LN_BIAS,
                                         RMCP_LN_Y, RMCP_LN_MEAN, RMCP_LN_RSTD };
    static const unsigned backwards[] = { RMCP_LN_X,    RMCP_LN_DY,   RMCP_LN_WEIGHT,
                                          RMCP_LN_MEAN, RMCP_LN_RSTD, RMCP_LN_DX };
    static const char *const rest[3][2] = { { "_forward", "_forward_long" },
                                            { "_data", "_data_long" },
                                            { "_backward", "_backward_long" } };
    for (int64_t i = 0; i < s.launches; i++) {
        const int64_t first = i * s.rows, count = r.rows - first < s.rows ? r.rows - first : s.rows;
        const struct rmcp_ln_whole a = {
            .first = (unsigned)first,
            .count = (unsigned)count,
            .inner = (unsigned)r.inner,
            .lanes = (unsigned)s.lanes,
            .groups = (unsigned)s.groups,
            .split = (unsigned)(i * s.groups),
            .t5 = form->word[RMCP_LN_KIND] == RMCP_LN_T5,
            .add = form->word[RMCP_LN_INPUT],
            .saved = form->word[RMCP_LN_STATS],
            .weights = form->word[RMCP_LN_WEIGHTS] != RMCP_LN_AFFINE ? 0
                       : is_group(form)                              ? 2
                                                                     : 1,
            .bias = form->tensor[RMCP_LN_BIAS].dims > 0,
            .each = (unsigned)(r.channels / r.groups),
            .parts = rmcp_divider_of(r.groups),
            .space = rmcp_divider_of(r.space),
            .share = (float)(1 / (double)r.inner),
            .epsilon = (float)form->number[RMCP_LN_EPSILON],
        };
        struct rmcp_kernel_launch *launch = NULL;
        const rmcp_status status = rmcp_kernel_append(
            list, "norm_whole", (rmcp_type)form->type,
            rest[sums ? 2 : backward][s.threads > THREADS], s.groups * s.threads, &launch);
        if (status) return status;
        for (unsigned slot = 0; slot < (backward ? 6u : 7u); slot++)
            add_memory(launch, form, backward ? backwards[slot] : forwards[slot],
                       backward ? RMCP_LN_DX : RMCP_LN_Y);
        if (backward) rmcp_arg_memory(launch, sums ? RMCP_SLOT_WORKSPACE : RMCP_LN_DX, 0);
        rmcp_arg_value(launch, &a, sizeof a);
    }
    return sums ? finish(request, &s, list) : RMCP_OK;
}

const struct rmcp_algo rmcp_algo_norm_whole = {
    .name = "whole",
    .version = 3,
    .kind = RMCP_LAUNCH_KERNEL,
    .consider = consider,
    .emit = emit,
};
