/* whole: layer and T5 normalisation of rows that work-items share evenly and keep in registers:
 * every tensor is read once. A workgroup adds up its rows' gradients of weights and leaves them as
 * one part. */
#include "gpu/launch.h"
#include "ops/norm/kernels/args.h"
#include "ops/norm/norm.h"

enum {
    THREADS = RMCP_LN_THREADS,
    UNIT_GROUPS = 2, /* of a compute unit, of those that stay */
    MOST_ROWS = 256, /* of one sum, so that it keeps its digits */
    WIDE = RMCP_LN_FINISH,
};

static int64_t ceil_divide(int64_t a, int64_t b)
{
    return (a + b - 1) / b;
}

static int64_t units_of(const struct rmcp_request *request)
{
    return request->caps->compute_units ? request->caps->compute_units : 1;
}

static bool is_backward(const struct rmcp_form *form)
{
    return form->word[RMCP_LN_PASS] == RMCP_LN_BACKWARD;
}

static bool sums_of(const struct rmcp_form *form)
{
    return is_backward(form) && form->word[RMCP_LN_GRADIENTS] == RMCP_LN_ALL;
}

/* Work-items of a row: as few as can keep it; 0: it cannot be shared evenly. */
static int64_t lanes_of(int64_t inner)
{
    if (inner % 4 || inner > 4 * RMCP_LN_CHUNKS * THREADS) return 0;
    int64_t lanes = 1;
    while (lanes < THREADS && lanes * 4 * RMCP_LN_CHUNKS < inner) lanes *= 2;
    return inner % (4 * lanes) ? 0 : lanes;
}

static const char *refuse(const struct rmcp_request *request)
{
    const struct rmcp_form *form = rmcp_form_of(request);
    const struct rmcp_ln_rows r = rmcp_ln_rows(form);
    for (unsigned slot = 0; slot < RMCP_LN_SLOTS; slot++)
        if (form->tensor[slot].dims && !rmcp_form_packed(&form->tensor[slot]))
            return "a tensor is not packed";
    if (form->word[RMCP_LN_KIND] == RMCP_LN_GROUP) return "groups";
    if (!lanes_of(r.inner)) return "rows that work-items cannot share evenly, or too long ones";
    if (r.rows > INT32_MAX) return "2^31 rows or more";
    return NULL;
}

/* How the rows are shared: workgroups of each launch, and launches. */
struct shares {
    int64_t lanes, lines; /* rows of a workgroup at a time */
    int64_t rows;         /* of a launch                   */
    int64_t groups;       /* of a whole launch             */
    int64_t launches;
};

static double seconds_of(const struct rmcp_request *request)
{
    return rmcp_form_bytes(request->problem) / (0.85 * request->caps->bytes_per_second) + 1e-6;
}

static struct shares divide(const struct rmcp_request *request)
{
    const struct rmcp_ln_rows r = rmcp_ln_rows(rmcp_form_of(request));
    struct shares s = { .lanes = lanes_of(r.inner) };
    s.lines = THREADS / s.lanes;
    s.rows = rmcp_launch_quota(ceil_divide(r.rows, s.lines), units_of(request) * 8,
                               seconds_of(request)) *
             s.lines;
    if (s.rows > r.rows) s.rows = r.rows;
    s.launches = ceil_divide(r.rows, s.rows);
    s.groups = ceil_divide(s.rows, s.lines);
    if (sums_of(request->problem)) {
        const int64_t least = ceil_divide(s.groups, MOST_ROWS),
                      wanted = units_of(request) * UNIT_GROUPS, most = s.groups;
        s.groups = wanted > least ? wanted : least;
        if (s.groups > most) s.groups = most;
    }
    return s;
}

static rmcp_status workspace(const struct rmcp_request *request, uint64_t *bytes)
{
    const struct rmcp_form *form = rmcp_form_of(request);
    const struct shares s = divide(request);
    *bytes = sums_of(form)
                 ? (uint64_t)(s.launches * s.groups * rmcp_ln_rows(form).inner) * 2 * sizeof(float)
                 : 0;
    return RMCP_OK;
}

/* What stays in few workgroups waits longer for 16-bit elements than it wins, without sums. */
static double cost(const struct rmcp_request *request)
{
    const struct rmcp_form *form = rmcp_form_of(request);
    const bool late = is_backward(form) && !sums_of(form) && form->type != RMCP_F32;
    if (!lanes_of(rmcp_ln_rows(form).inner)) return 0; /* which nobody asks for */
    return (late ? 1.3 : 1) * seconds_of(request) +
           (double)(divide(request).launches + (sums_of(form) ? 1 : 0)) *
               request->caps->launch_seconds;
}

static rmcp_status finish(const struct rmcp_request *request, const struct shares *shares,
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
    const rmcp_status status = rmcp_kernel_append(list, "norm_finish", (rmcp_type)form->type, "",
                                                  ceil_divide(s.inner, WIDE) * THREADS, &launch);
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

static rmcp_status emit(const struct rmcp_request *request, struct rmcp_launch_list *list)
{
    const struct rmcp_form *form = rmcp_form_of(request);
    const struct rmcp_ln_rows r = rmcp_ln_rows(form);
    const struct shares s = divide(request);
    const bool backward = is_backward(form), sums = sums_of(form);
    static const unsigned forwards[] = { RMCP_LN_X, RMCP_LN_X2,   RMCP_LN_WEIGHT, RMCP_LN_BIAS,
                                         RMCP_LN_Y, RMCP_LN_MEAN, RMCP_LN_RSTD };
    static const unsigned backwards[] = { RMCP_LN_X,    RMCP_LN_DY,   RMCP_LN_WEIGHT,
                                          RMCP_LN_MEAN, RMCP_LN_RSTD, RMCP_LN_DX };
    for (int64_t i = 0; i < s.launches; i++) {
        const int64_t first = i * s.rows, count = r.rows - first < s.rows ? r.rows - first : s.rows;
        const struct rmcp_ln_whole a = {
            .first = (unsigned)first,
            .count = (unsigned)count,
            .inner = (unsigned)r.inner,
            .lanes = (unsigned)s.lanes,
            .chunks = (unsigned)(r.inner / 4 / s.lanes),
            .groups = (unsigned)s.groups,
            .split = (unsigned)(i * s.groups),
            .t5 = form->word[RMCP_LN_KIND] == RMCP_LN_T5,
            .add = form->word[RMCP_LN_INPUT],
            .saved = form->word[RMCP_LN_STATS],
            .weights = form->word[RMCP_LN_WEIGHTS] == RMCP_LN_AFFINE,
            .bias = form->tensor[RMCP_LN_BIAS].dims > 0,
            .sums = sums,
            .share = (float)(1 / (double)r.inner),
            .epsilon = (float)form->number[RMCP_LN_EPSILON],
        };
        struct rmcp_kernel_launch *launch = NULL;
        const rmcp_status status =
            rmcp_kernel_append(list, "norm_whole", (rmcp_type)form->type,
                               backward ? "_backward" : "_forward", s.groups * THREADS, &launch);
        if (status) return status;
        for (unsigned slot = 0; slot < (backward ? 6u : 7u); slot++)
            add_memory(launch, form, backward ? backwards[slot] : forwards[slot],
                       backward ? RMCP_LN_DX : RMCP_LN_Y);
        if (backward) rmcp_arg_memory(launch, sums ? RMCP_SLOT_WORKSPACE : RMCP_LN_DX, 0);
        rmcp_arg_value(launch, &a, sizeof a);
    }
    return sums ? finish(request, &s, list) : RMCP_OK;
}

extern const struct rmcp_algo rmcp_algo_norm_whole;
const struct rmcp_algo rmcp_algo_norm_whole = {
    .name = "whole",
    .version = 1,
    .kind = RMCP_LAUNCH_KERNEL,
    .refuse = refuse,
    .cost = cost,
    .workspace = workspace,
    .emit = emit,
};
