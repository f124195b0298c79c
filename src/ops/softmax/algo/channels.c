/* channels: softmax on a GPU along lines whose neighbours lie side by side (over channels of
 * pixels), at the memory's speed. */
#include "gpu/launch.h"
#include "ops/softmax/kernels/packed_args.h"
#include "ops/softmax/softmax.h"

enum { THREADS = 256, MANY_FORWARD = 512, MANY_BACKWARD = 1024, ACROSS = 16 };

static bool is_forward(const struct rmcp_form *form)
{
    return form->word[RMCP_SOFTMAX_PASS] == RMCP_SOFTMAX_FORWARD;
}

/* Lines of a column. */
static int64_t lines_of(const struct rmcp_form *form)
{
    return RMCP_SOFTMAX_COLUMN_BYTES / (int64_t)rmcp_type_bytes((rmcp_type)form->type);
}

/* How columns are shared: work-items of a workgroup, and of a column. */
struct shares {
    int64_t threads, lanes;
    bool once; /* they keep all of it */
};

/* As few as can keep a column, and neighbours of 64 bytes: in a larger workgroup where a small one
 * does not have both. */
static struct shares shares_of(const struct rmcp_request *request, int64_t length)
{
    const bool forward = is_forward(request->problem);
    const int64_t keep = forward ? RMCP_SOFTMAX_KEEP_FORWARD : RMCP_SOFTMAX_KEEP_BACKWARD;
    const int64_t many = forward ? MANY_FORWARD : MANY_BACKWARD;
    struct shares s = { THREADS, 1, true };
    if (length > THREADS / ACROSS * keep && request->caps->max_block >= many) s.threads = many;
    while (s.lanes < s.threads / ACROSS && s.lanes * keep < length) s.lanes *= 2;
    s.once = s.lanes * keep >= length;
    return s;
}

static const char *refuse(const struct rmcp_request *request)
{
    const struct rmcp_form *form = request->problem;
    struct rmcp_softmax_box box;
    if (!rmcp_softmax_box_of(form, &box)) return "tensors have gaps or different orders";
    if (box.length == 1 || box.inner == 1) return "lines lie one behind the other";
    if (box.inner % lines_of(form)) return "an odd number of pixels of 16 bits";
    if (box.length * box.inner > INT64_C(1) << 30) return "an image of more than 2^30 elements";
    if (box.outer * (box.inner / lines_of(form)) > INT32_MAX) return "2^31 columns or more";
    return NULL;
}

static double seconds(const struct rmcp_request *request, const struct rmcp_softmax_box *box)
{
    const struct shares s = shares_of(request, box->length);
    const int64_t columns = box->outer * (box->inner / lines_of(request->problem));
    return rmcp_softmax_seconds(request, s.once ? 1 : 1.3, (double)(columns * s.lanes) / THREADS);
}

static double cost(const struct rmcp_request *request)
{
    struct rmcp_softmax_box box;
    if (!rmcp_softmax_box_of(request->problem, &box)) return 0;
    return seconds(request, &box) + request->caps->launch_seconds;
}

static rmcp_status emit(const struct rmcp_request *request, struct rmcp_launch_list *list)
{
    const struct rmcp_form *form = request->problem;
    const bool forward = is_forward(form);
    struct rmcp_softmax_box box;
    if (!rmcp_softmax_box_of(form, &box)) return rmcp_fail(RMCP_E_INTERNAL, "softmax: no lines");
    const struct shares s = shares_of(request, box.length);
    const int64_t columns = box.inner / lines_of(form), across = s.threads / s.lanes;
    const int64_t all = box.outer * columns;
    const int64_t quota = rmcp_launch_quota(
        all, (int64_t)request->caps->compute_units * RMCP_SOFTMAX_UNIT_GROUPS * THREADS / s.lanes,
        seconds(request, &box));
    for (int64_t first = 0; first < all; first += quota) {
        const int64_t now = all - first < quota ? all - first : quota;
        const struct rmcp_softmax_channels args = {
            .columns = rmcp_divider_of(columns),
            .first = (unsigned)first,
            .count = (unsigned)now,
            .length = (unsigned)box.length,
            .lanes = (unsigned)s.lanes,
            .step = (unsigned)(box.inner * (int64_t)rmcp_type_bytes((rmcp_type)form->type)),
            .log = rmcp_softmax_log(form),
            .alpha = (float)form->number[RMCP_SOFTMAX_ALPHA],
            .beta = (float)form->number[RMCP_SOFTMAX_BETA],
        };
        static const unsigned slots[2][3] = { { RMCP_SOFTMAX_Y, RMCP_SOFTMAX_DY, RMCP_SOFTMAX_DX },
                                              { RMCP_SOFTMAX_X, RMCP_SOFTMAX_Y } };
        static const char *const rest[2][2] = { { "_backward", "_backward_long" },
                                                { "_forward", "_forward_long" } };
        struct rmcp_kernel_launch *launch = NULL;
        const rmcp_status status = rmcp_kernel_append(
            list, "softmax_channels", (rmcp_type)form->type,
            rest[forward][s.threads > THREADS], (now + across - 1) / across * s.threads, &launch);
        if (status) return status;
        for (unsigned t = 0; t < (forward ? 2u : 3u); t++)
            rmcp_arg_memory(launch, slots[forward][t], 0);
        rmcp_arg_value(launch, &args, sizeof args);
    }
    return RMCP_OK;
}

extern const struct rmcp_algo rmcp_algo_softmax_channels;
const struct rmcp_algo rmcp_algo_softmax_channels = {
    .name = "channels",
    .version = 2,
    .kind = RMCP_LAUNCH_KERNEL,
    .refuse = refuse,
    .cost = cost,
    .emit = emit,
};
