/* groups: group normalisation of long rows, a workgroup a group and some of its work-items a
 * channel: what fits into registers is read once, and sums of channels are all that gradients of
 * weights need. */
#include "base/round.h"
#include "engine/figures/figures.h"
#include "engine/gpu/launch.h"
#include "engine/ops/norm/kernels/args.h"
#include "engine/ops/norm/norm.h"

enum {
    THREADS = RMCP_LN_THREADS,
    MOST_SAMPLES = 4096, /* of one sum, so that it keeps its digits */
};

static bool is_backward(const struct rmcp_form *form)
{
    return form->word[RMCP_LN_PASS] == RMCP_LN_BACKWARD;
}

static bool sums_of(const struct rmcp_form *form)
{
    return is_backward(form) && form->word[RMCP_LN_GRADIENTS] == RMCP_LN_ALL;
}

/* How a group is shared. */
struct shares {
    int64_t each, chunks; /* channels, and their chunks of 16 bytes           */
    int64_t threads;      /* of a workgroup                                   */
    int64_t lanes, steps; /* work-items of a channel, and chunks of each      */
};

static struct shares divide(const struct rmcp_request *request)
{
    const struct rmcp_form *form = rmcp_form_of(request);
    const struct rmcp_ln_rows r = rmcp_ln_rows(form);
    const int64_t bytes = (int64_t)rmcp_type_bytes((rmcp_type)form->type);
    const int64_t many = RMCP_LN_GROUP_MANY(bytes, is_backward(form));
    struct shares s = { .each = r.channels / r.groups,
                        .chunks = r.space * bytes / 16,
                        .threads = THREADS,
                        .lanes = 1 };
    const int64_t kept = is_backward(form) ? RMCP_LN_GROUP_KEPT_BACKWARD : RMCP_LN_GROUP_KEPT;
    if (s.each * s.chunks > THREADS * kept && request->caps->max_block >= many) s.threads = many;
    while (s.lanes < s.chunks && s.lanes * 2 * s.each <= s.threads) s.lanes *= 2;
    s.steps = rmcp_ceil_divide(s.chunks, s.lanes);
    return s;
}

struct groups_way {
    struct shares shares;
    int64_t quota; /* rows of a launch */
};

static rmcp_status consider(const struct rmcp_request *request, struct rmcp_way *way)
{
    const struct rmcp_form *form = rmcp_form_of(request);
    const struct rmcp_caps *caps = request->caps;
    const struct rmcp_ln_rows r = rmcp_ln_rows(form);
    const int64_t bytes = (int64_t)rmcp_type_bytes((rmcp_type)form->type);
    const bool sums = sums_of(form);
    if (form->word[RMCP_LN_KIND] != RMCP_LN_GROUP) return rmcp_refuse(way, "no groups");
    for (unsigned slot = 0; slot < RMCP_LN_SLOTS; slot++)
        if (form->tensor[slot].dims && !rmcp_form_packed(&form->tensor[slot]))
            return rmcp_refuse(way, "a tensor is not packed");
    if (form->word[RMCP_LN_INPUT]) return rmcp_refuse(way, "a second tensor");
    if (r.space * bytes % 16)
        return rmcp_refuse(way, "channels that are no whole chunks of 16 bytes");
    if (r.channels / r.groups > RMCP_LN_GROUP_EACH)
        return rmcp_refuse(way, "more than 128 channels of a group");
    if (r.inner * bytes > INT64_C(1) << 31) return rmcp_refuse(way, "2 GiB of a group or more");
    if (r.rows > INT32_MAX) return rmcp_refuse(way, "2^31 rows or more");
    if (sums && form->size[0] > MOST_SAMPLES) return rmcp_refuse(way, "more than 4096 samples");
    struct groups_way *mine = RMCP_WAY_DETAILS(way, struct groups_way);
    mine->shares = divide(request);
    const struct shares *s = &mine->shares;
    if (s->each * s->lanes * 4 < s->threads)
        return rmcp_refuse(way, "groups that leave most work-items idle");
    const double seconds =
        rmcp_form_bytes(form) /
            (rmcp_figure(caps, RMCP_FIGURE_NORM_GROUPS_EFFICIENCY) * caps->bytes_per_second) +
        rmcp_figure(caps, RMCP_FIGURE_NORM_GROUPS_START);
    mine->quota = rmcp_launch_quota(r.rows, (int64_t)caps->compute_units * 2, seconds);
    const double launches = (double)rmcp_ceil_divide(r.rows, mine->quota) + sums;
    way->seconds = seconds + launches * caps->launch_seconds;
    way->workspace_bytes = sums ? (uint64_t)(form->size[0] * form->size[1]) * 2 * sizeof(float) : 0;
    return RMCP_OK;
}

static rmcp_status finish(const struct rmcp_form *form, struct rmcp_launch_list *list)
{
    const struct rmcp_ln_sums s = {
        .inner = (unsigned)form->size[1],
        .splits = (unsigned)form->size[0],
        .space = rmcp_divider_of(1),
    };
    struct rmcp_kernel_launch *launch = NULL;
    const rmcp_status status =
        rmcp_kernel_append(list, "norm_finish", (rmcp_type)form->type, "",
                           rmcp_ceil_divide(s.inner, RMCP_LN_FINISH) * THREADS, &launch);
    if (status) return status;
    rmcp_arg_memory(launch, RMCP_SLOT_WORKSPACE, 0);
    rmcp_arg_memory(launch, RMCP_LN_DWEIGHT, 0);
    rmcp_arg_memory(launch, RMCP_LN_DBIAS, 0);
    rmcp_arg_value(launch, &s, sizeof s);
    return RMCP_OK;
}

static rmcp_status emit(const struct rmcp_request *request, const struct rmcp_way *way,
                        struct rmcp_launch_list *list)
{
    const struct groups_way *mine = RMCP_WAY_DETAILS_CONST(way, struct groups_way);
    const struct rmcp_form *form = rmcp_form_of(request);
    const struct rmcp_ln_rows r = rmcp_ln_rows(form);
    const struct shares s = mine->shares;
    const bool backward = is_backward(form), sums = sums_of(form);
    static const unsigned forwards[] = { RMCP_LN_X, RMCP_LN_WEIGHT, RMCP_LN_BIAS,
                                         RMCP_LN_Y, RMCP_LN_MEAN,   RMCP_LN_RSTD };
    static const unsigned backwards[] = { RMCP_LN_X,    RMCP_LN_DY,   RMCP_LN_WEIGHT,
                                          RMCP_LN_MEAN, RMCP_LN_RSTD, RMCP_LN_DX };
    static const char *const rest[2][2] = { { "_forward", "_forward_long" },
                                            { "_backward", "_backward_long" } };
    const int64_t quota = mine->quota;
    for (int64_t first = 0; first < r.rows; first += quota) {
        const int64_t count = r.rows - first < quota ? r.rows - first : quota;
        const struct rmcp_ln_groups a = {
            .first = (unsigned)first,
            .each = (unsigned)s.each,
            .chunks = (unsigned)s.chunks,
            .lanes = (unsigned)s.lanes,
            .steps = (unsigned)s.steps,
            .saved = form->word[RMCP_LN_STATS],
            .weights = form->word[RMCP_LN_WEIGHTS] == RMCP_LN_AFFINE,
            .bias = form->tensor[RMCP_LN_BIAS].dims > 0,
            .sums = sums,
            .groups = rmcp_divider_of(r.groups),
            .share = (float)(1 / (double)r.inner),
            .epsilon = (float)form->number[RMCP_LN_EPSILON],
        };
        struct rmcp_kernel_launch *launch = NULL;
        const rmcp_status status =
            rmcp_kernel_append(list, "norm_groups", (rmcp_type)form->type,
                               rest[backward][s.threads > THREADS], count * s.threads, &launch);
        if (status) return status;
        /* A tensor that the problem does not have is some memory that is not followed. */
        for (unsigned i = 0; i < 6; i++) {
            const unsigned slot = (backward ? backwards : forwards)[i];
            rmcp_arg_memory(launch,
                            form->tensor[slot].dims ? slot
                            : backward              ? RMCP_LN_DX
                                                    : RMCP_LN_Y,
                            0);
        }
        if (backward) rmcp_arg_memory(launch, sums ? RMCP_SLOT_WORKSPACE : RMCP_LN_DX, 0);
        rmcp_arg_value(launch, &a, sizeof a);
    }
    return sums ? finish(form, list) : RMCP_OK;
}

extern const struct rmcp_algo rmcp_algo_norm_groups;
const struct rmcp_algo rmcp_algo_norm_groups = {
    .name = "groups",
    .version = 2,
    .kind = RMCP_LAUNCH_KERNEL,
    .consider = consider,
    .emit = emit,
};
