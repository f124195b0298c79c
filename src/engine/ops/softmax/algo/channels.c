/* channels: softmax on a GPU along lines whose neighbours lie side by side (over channels of
 * pixels), at the memory's speed. */
#include "base/round.h"
#include "engine/figures/figures.h"
#include "engine/gpu/launch.h"
#include "engine/ops/softmax/kernels/packed_args.h"
#include "engine/ops/softmax/softmax.h"

enum { THREADS = 256, MANY_FORWARD = 512, MANY_BACKWARD = 1024 };
enum { SECTOR_BYTES = 32, NEAR_BYTES = 64, SIDE_BYTES = 128, WARP = 32 };

static bool is_forward(const struct rmcp_form *form)
{
    return form->word[RMCP_SOFTMAX_PASS] == RMCP_SOFTMAX_FORWARD;
}

static int64_t bytes_of(const struct rmcp_form *form)
{
    return (int64_t)rmcp_type_bytes((rmcp_type)form->type);
}

/* Lines of a column. */
static int64_t lines_of(const struct rmcp_form *form)
{
    return RMCP_SOFTMAX_COLUMN_BYTES(bytes_of(form)) / bytes_of(form);
}

/* Columns of an image: the last one begins earlier where lines are left over. */
static int64_t columns_of(const struct rmcp_form *form, const struct rmcp_softmax_box *box)
{
    return rmcp_ceil_divide(box->inner, lines_of(form));
}

/* How columns are shared: work-items of a workgroup, and of a column. */
struct shares {
    int64_t threads, lanes;
    int64_t side;        /* columns that neighbouring work-items have, in half a warp perhaps */
    bool once;           /* they keep all of it */
    const char *variant; /* of the kernel */
};

/* As few as can keep a column, and neighbours of NEAR_BYTES: in a larger workgroup where a small
 * one does not have both. In 16 bits a small one has them with more registers, too, and two of
 * these are better where rows begin with a sector of memory; else the large one, whose neighbours
 * have more bytes. */
static struct shares shares_of(const struct rmcp_request *request,
                               const struct rmcp_softmax_box *box)
{
    const struct rmcp_form *form = request->problem;
    const bool forward = is_forward(form), narrow = form->type != RMCP_F32;
    const int64_t bytes = bytes_of(form), column = RMCP_SOFTMAX_COLUMN_BYTES(bytes),
                  across = NEAR_BYTES / column, many = forward ? MANY_FORWARD : MANY_BACKWARD,
                  most = THREADS / across;
    int64_t keep = forward ? RMCP_SOFTMAX_KEEP_FORWARD(bytes) : RMCP_SOFTMAX_KEEP_BACKWARD(bytes);
    struct shares s = { THREADS, 1, WARP, true, forward ? "_forward" : "_backward" };
    if (box->length > most * keep) {
        if (forward && narrow && box->length <= most * RMCP_SOFTMAX_KEEP_MANY &&
            box->inner * bytes % SECTOR_BYTES == 0) {
            s.variant = "_forward_deep";
            keep = RMCP_SOFTMAX_KEEP_MANY;
        } else if (request->caps->max_block >= many) {
            s.threads = many;
            s.variant = forward ? "_forward_long" : "_backward_long";
            if (forward) keep = RMCP_SOFTMAX_KEEP_MANY;
        }
    }
    while (s.lanes < s.threads / across && s.lanes * keep < box->length) s.lanes *= 2;
    if (s.lanes > 1) s.side = SIDE_BYTES / column;
    while (s.side * s.lanes > s.threads) s.side /= 2;
    s.once = s.lanes * keep >= box->length;
    return s;
}

static unsigned log_of(int64_t power)
{
    unsigned log = 0;
    while (power >> (log + 1)) log++;
    return log;
}

struct channels_way {
    struct rmcp_softmax_box box;
    struct shares shares;
    double seconds; /* without launches */
};

static rmcp_status consider(const struct rmcp_request *request, struct rmcp_way *way)
{
    const struct rmcp_form *form = request->problem;
    struct channels_way *mine = RMCP_WAY_DETAILS(way, struct channels_way);
    struct rmcp_softmax_box *box = &mine->box;
    if (!rmcp_softmax_box_of(form, box))
        return rmcp_refuse(way, "tensors have gaps or different orders");
    if (box->length == 1 || box->inner == 1)
        return rmcp_refuse(way, "lines lie one behind the other");
    if (box->inner < lines_of(form)) return rmcp_refuse(way, "2 or 3 pixels of 16 bits");
    if (box->length * box->inner > INT64_C(1) << 30)
        return rmcp_refuse(way, "an image of more than 2^30 elements");
    const int64_t columns = box->outer * columns_of(form, box);
    if (columns > INT32_MAX) return rmcp_refuse(way, "2^31 columns or more");
    if (rmcp_softmax_is_steep(form)) return rmcp_refuse(way, "an alpha beyond 2^32");
    mine->shares = shares_of(request, box);
    const bool whole = box->inner % lines_of(form) == 0;
    mine->seconds = rmcp_softmax_seconds(
        request,
        mine->shares.once && whole ? 1
                                   : rmcp_figure(request->caps, RMCP_FIGURE_SOFTMAX_CHANNELS_LONG),
        (double)(columns * mine->shares.lanes) / THREADS);
    way->seconds = mine->seconds + request->caps->launch_seconds;
    return RMCP_OK;
}

static rmcp_status emit(const struct rmcp_request *request, const struct rmcp_way *way,
                        struct rmcp_launch_list *list)
{
    const struct channels_way *mine = RMCP_WAY_DETAILS_CONST(way, struct channels_way);
    const struct rmcp_form *form = request->problem;
    const bool forward = is_forward(form);
    const struct rmcp_softmax_box box = mine->box;
    const struct shares s = mine->shares;
    const int64_t columns = columns_of(form, &box), across = s.threads / s.lanes;
    const int64_t all = box.outer * columns;
    const int64_t quota = rmcp_launch_quota(
        all, (int64_t)request->caps->compute_units * RMCP_SOFTMAX_UNIT_GROUPS * THREADS / s.lanes,
        mine->seconds);
    for (int64_t first = 0; first < all; first += quota) {
        const int64_t now = all - first < quota ? all - first : quota;
        const struct rmcp_softmax_channels args = {
            .columns = rmcp_divider_of(columns),
            .first = (unsigned)first,
            .count = (unsigned)now,
            .length = (unsigned)box.length,
            .inner = (unsigned)box.inner,
            .lanes_log = log_of(s.lanes),
            .side_log = log_of(s.side),
            .log = rmcp_softmax_log(form),
            .alpha = (float)form->number[RMCP_SOFTMAX_ALPHA],
            .beta = (float)form->number[RMCP_SOFTMAX_BETA],
        };
        static const unsigned slots[2][3] = { { RMCP_SOFTMAX_Y, RMCP_SOFTMAX_DY, RMCP_SOFTMAX_DX },
                                              { RMCP_SOFTMAX_X, RMCP_SOFTMAX_Y } };
        struct rmcp_kernel_launch *launch = NULL;
        const rmcp_status status =
            rmcp_kernel_append(list, "softmax_channels", (rmcp_type)form->type, s.variant,
                               rmcp_ceil_divide(now, across) * s.threads, &launch);
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
    .version = 3,
    .kind = RMCP_LAUNCH_KERNEL,
    .consider = consider,
    .emit = emit,
};
