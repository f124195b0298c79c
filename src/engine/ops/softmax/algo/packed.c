/* packed: softmax on a GPU along lines that lie one behind the other, at the memory's speed. */
#include "engine/figures/figures.h"
#include "engine/gpu/launch.h"
#include "engine/ops/softmax/kernels/packed_args.h"
#include "engine/ops/softmax/softmax.h"

enum { THREADS = 256, NEIGHBOURS = 32 };

static bool is_forward(const struct rmcp_form *form)
{
    return form->word[RMCP_SOFTMAX_PASS] == RMCP_SOFTMAX_FORWARD;
}

/* Whether lines are whole chunks of 16 bytes. */
static bool is_wide(const struct rmcp_form *form, int64_t length)
{
    return length * (int64_t)rmcp_type_bytes((rmcp_type)form->type) % 16 == 0;
}

/* How lines are shared. */
struct shares {
    int64_t threads; /* of a workgroup                                  */
    int64_t lanes;   /* work-items of a line                            */
    int64_t keep;    /* elements of a work-item                         */
};

/* As few work-items as can keep a line, in a large workgroup where a small one cannot. Where they
 * have single elements, neighbours read neighbours. */
static struct shares shares_of(const struct rmcp_request *request, int64_t length)
{
    const struct rmcp_form *form = request->problem;
    const int64_t keep = RMCP_SOFTMAX_CHUNKS * 16 / (int64_t)rmcp_type_bytes((rmcp_type)form->type);
    const bool all = form->type == RMCP_F32 || !is_forward(form); /* as an H200 liked best */
    const int64_t more = all ? 1024 : 512;
    const bool many = length > THREADS * keep && request->caps->max_block >= more;
    struct shares s = { many ? more : THREADS, 1, keep };
    while (s.lanes < s.threads && s.lanes * s.keep < length) s.lanes *= 2;
    if (!is_wide(form, length))
        while (s.lanes < NEIGHBOURS && s.lanes * 4 < length) s.lanes *= 2;
    return s;
}

/* Lines of length 1 have no order: each is one behind the other. */
static bool box_of(const struct rmcp_form *form, struct rmcp_softmax_box *box)
{
    if (!rmcp_softmax_box_of(form, box)) return false;
    if (box->length == 1) *box = (struct rmcp_softmax_box){ box->outer * box->inner, 1, 1 };
    return box->inner == 1;
}

struct packed_way {
    struct rmcp_softmax_box box;
    struct shares shares;
    double seconds; /* without launches */
};

static rmcp_status consider(const struct rmcp_request *request, struct rmcp_way *way)
{
    struct packed_way *mine = RMCP_WAY_DETAILS(way, struct packed_way);
    struct rmcp_softmax_box *box = &mine->box;
    if (!box_of(request->problem, box))
        return rmcp_refuse(way, "tensors have gaps or different orders, or elements of a line are "
                                "not neighbours");
    if (box->length > INT32_MAX / 2) return rmcp_refuse(way, "a line has 2^30 elements or more");
    if (box->outer > INT32_MAX) return rmcp_refuse(way, "2^31 lines or more");
    if (rmcp_softmax_is_steep(request->problem)) return rmcp_refuse(way, "an alpha beyond 2^32");
    mine->shares = shares_of(request, box->length);
    const struct shares *s = &mine->shares;
    mine->seconds =
        rmcp_softmax_seconds(request,
                             box->length <= s->keep * s->lanes
                                 ? 1
                                 : rmcp_figure(request->caps, RMCP_FIGURE_SOFTMAX_PACKED_LONG),
                             (double)(box->outer * s->lanes) / THREADS);
    way->seconds = mine->seconds + request->caps->launch_seconds;
    return RMCP_OK;
}

static rmcp_status emit(const struct rmcp_request *request, const struct rmcp_way *way,
                        struct rmcp_launch_list *list)
{
    const struct packed_way *mine = RMCP_WAY_DETAILS_CONST(way, struct packed_way);
    const struct rmcp_form *form = request->problem;
    const bool forward = is_forward(form);
    const struct rmcp_softmax_box box = mine->box;
    const struct shares shares = mine->shares;
    const int64_t quota = rmcp_launch_quota(box.outer,
                                            (int64_t)request->caps->compute_units *
                                                RMCP_SOFTMAX_UNIT_GROUPS * THREADS / shares.lanes,
                                            mine->seconds);
    const uint64_t line_bytes = (uint64_t)box.length * rmcp_type_bytes((rmcp_type)form->type);
    rmcp_status status = RMCP_OK;
    for (int64_t first = 0; first < box.outer && !status; first += quota) {
        const int64_t now = box.outer - first < quota ? box.outer - first : quota;
        const struct rmcp_softmax_packed args = {
            .lines = (unsigned)now,
            .length = (unsigned)box.length,
            .lanes = (unsigned)shares.lanes,
            .wide = is_wide(form, box.length),
            .log = rmcp_softmax_log(form),
            .alpha = (float)form->number[RMCP_SOFTMAX_ALPHA],
            .beta = (float)form->number[RMCP_SOFTMAX_BETA],
        };
        static const unsigned slots[2][3] = { { RMCP_SOFTMAX_Y, RMCP_SOFTMAX_DY, RMCP_SOFTMAX_DX },
                                              { RMCP_SOFTMAX_X, RMCP_SOFTMAX_Y } };
        struct rmcp_kernel_launch *launch = NULL;
        static const char *const rest[2][2] = { { "_backward", "_backward_long" },
                                                { "_forward", "_forward_long" } };
        status = rmcp_kernel_append(list, "softmax_packed", (rmcp_type)form->type,
                                    rest[forward][shares.threads > THREADS], now * shares.lanes,
                                    &launch);
        if (status) break;
        for (unsigned t = 0; t < (forward ? 2u : 3u); t++)
            rmcp_arg_memory(launch, slots[forward][t], (uint64_t)first * line_bytes);
        rmcp_arg_value(launch, &args, sizeof args);
    }
    return status;
}

extern const struct rmcp_algo rmcp_algo_softmax_packed;
const struct rmcp_algo rmcp_algo_softmax_packed = {
    .name = "packed",
    .version = 4,
    .kind = RMCP_LAUNCH_KERNEL,
    .consider = consider,
    .emit = emit,
};
