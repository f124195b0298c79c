/* chunks: local response normalisation with the usual window of tensors that lie alike, four
 * neighbours in memory a work-item, at the memory's speed. */
#include "base/round.h"
#include "engine/figures/figures.h"
#include "engine/gpu/launch.h"
#include "engine/ops/lrn/kernels/args.h"
#include "engine/ops/lrn/lrn.h"

enum {
    WIDTH = 4,
    USUAL = 5,
    UNIT_ITEMS = 2048 /* that keep a compute unit busy */
};

/* The tensors as planes of rows of neighbours. */
struct planes {
    const char *rest; /* of the kernel's name, forward and backward; NULL: they cannot be seen so */
    int64_t planes, rows, width;
    int64_t most; /* rows of a work-item */
    bool meet;    /* the kernel's MEET */
};

/* Whether channels are neighbours and nothing else is between or around the elements. */
static bool is_last(const struct rmcp_form_tensor *t)
{
    int64_t step = t->size[1];
    if (t->size[1] > 1 && t->stride[1] != 1) return false;
    for (unsigned d = t->dims; d-- > 0;) {
        if (d == 1) continue;
        if (t->size[d] > 1 && t->stride[d] != step) return false;
        step *= t->size[d];
    }
    return true;
}

static bool all_are(const struct rmcp_form *form, bool (*order)(const struct rmcp_form_tensor *))
{
    for (unsigned slot = 0; slot < RMCP_LRN_SLOTS; slot++)
        if (form->tensor[slot].dims && !order(&form->tensor[slot])) return false;
    return true;
}

static struct planes planes_of(const struct rmcp_form *form)
{
    const struct rmcp_lrn lrn = rmcp_lrn_of(form);
    const int64_t *const size = form->size;
    /* As an H200 liked best; backward reads three tensors again for the rows above and below. */
    struct planes p = { .planes = size[0], .most = lrn.backward ? 64 : 32 };
    int64_t space = 1;
    for (unsigned d = 2; d < form->dims; d++) space *= size[d];
    if (all_are(form, rmcp_form_packed) && lrn.within) {
        p.rest = lrn.backward ? "_within_backward" : "_within_forward", p.meet = true;
        p.rows = size[lrn.strip_axis], p.width = size[lrn.column_axis];
        p.planes = size[0] * size[1] * (space / (p.rows * p.width));
    } else if (all_are(form, rmcp_form_packed) && space > 1) {
        p.rest = lrn.backward ? "_across_backward" : "_across_forward";
        p.rows = size[1], p.width = space;
    } else if (all_are(form, is_last) && !lrn.within) {
        p.rest = lrn.backward ? "_along_backward" : "_along_forward";
        p.rows = space, p.width = size[1], p.most = 4, p.meet = lrn.backward;
    }
    return p;
}

/* How the planes are cut: rows of a work-item, and planes of a launch. */
struct cut {
    int64_t strip, strips, planes;
};

static struct cut cut(const struct rmcp_request *request, const struct planes *p, double seconds)
{
    const int64_t busy = (int64_t)request->caps->compute_units * UNIT_ITEMS,
                  chunks = p->width / WIDTH;
    struct cut c = { .strip = p->most };
    while (c.strip > 4 && rmcp_ceil_divide(p->rows, c.strip) * chunks * p->planes < busy)
        c.strip /= 2;
    /* Of equal length, in as many rows as are loaded at once. */
    c.strips = rmcp_ceil_divide(p->rows, c.strip);
    c.strip = rmcp_ceil_divide(rmcp_ceil_divide(p->rows, c.strips), 4) * 4;
    c.strips = rmcp_ceil_divide(p->rows, c.strip);
    const int64_t each = c.strips * chunks, limit = INT64_C(1) << 30;
    c.planes = rmcp_launch_quota(p->planes, rmcp_ceil_divide(busy, each), seconds);
    if (c.planes * each > limit) c.planes = limit / each > 0 ? limit / each : 1;
    if (c.planes > p->planes) c.planes = p->planes;
    return c;
}

struct chunks_way {
    struct planes planes;
    struct cut cut;
};

static rmcp_status consider(const struct rmcp_request *request, struct rmcp_way *way)
{
    const struct rmcp_form *form = request->problem;
    const struct rmcp_caps *caps = request->caps;
    struct chunks_way *mine = RMCP_WAY_DETAILS(way, struct chunks_way);
    mine->planes = planes_of(form);
    const struct planes *p = &mine->planes;
    if (rmcp_lrn_of(form).n != USUAL) return rmcp_refuse(way, "a window of another size than 5");
    if (!p->rest) return rmcp_refuse(way, "tensors have gaps or different orders");
    if (p->width % WIDTH) return rmcp_refuse(way, "rows that are no whole chunks of 4 elements");
    if (p->rows * p->width > INT64_C(1) << 29)
        return rmcp_refuse(way, "a plane of more than 2^29 elements");
    const double seconds =
        request->operation->bytes(form) /
            (rmcp_figure(caps, RMCP_FIGURE_LRN_CHUNKS_EFFICIENCY) * caps->bytes_per_second) +
        rmcp_figure(caps, RMCP_FIGURE_LRN_CHUNKS_START);
    mine->cut = cut(request, p, seconds);
    way->seconds =
        seconds + (double)rmcp_ceil_divide(p->planes, mine->cut.planes) * caps->launch_seconds;
    return RMCP_OK;
}

static rmcp_status emit(const struct rmcp_request *request, const struct rmcp_way *way,
                        struct rmcp_launch_list *list)
{
    const struct chunks_way *mine = RMCP_WAY_DETAILS_CONST(way, struct chunks_way);
    const struct rmcp_form *form = request->problem;
    const struct rmcp_lrn lrn = rmcp_lrn_of(form);
    const struct planes p = mine->planes;
    const struct cut c = mine->cut;
    for (int64_t first = 0; first < p.planes; first += c.planes) {
        const int64_t planes = p.planes - first < c.planes ? p.planes - first : c.planes;
        const struct rmcp_lrn_chunks args = {
            .plane = p.rows * p.width,
            .step = (unsigned)p.width,
            .rows = (unsigned)p.rows,
            .strip = (unsigned)c.strip,
            .count = (unsigned)(planes * c.strips * (p.width / WIDTH)),
            .chunks = rmcp_divider_of(p.width / WIDTH),
            .strips = rmcp_divider_of(c.strips),
            .saved = lrn.saved,
            .share = (float)(lrn.alpha / lrn.area * (lrn.backward ? 2 * lrn.beta : 1)),
            .beta = (float)lrn.beta,
            .k = (float)lrn.k,
        };
        const int64_t items =
            p.meet ? rmcp_ceil_divide(args.count, RMCP_LRN_LANES - 2) * RMCP_LRN_LANES : args.count;
        struct rmcp_kernel_launch *launch = NULL;
        const rmcp_status status =
            rmcp_kernel_append(list, "lrn_chunks", (rmcp_type)form->type, p.rest, items, &launch);
        if (status) return status;
        for (unsigned slot = 0; slot < (lrn.backward ? RMCP_LRN_SLOTS : RMCP_LRN_DY); slot++) {
            const unsigned there = form->tensor[slot].dims ? slot : RMCP_LRN_Y;
            const rmcp_type type = (rmcp_type)form->tensor[there].type;
            rmcp_arg_memory(launch, there, (uint64_t)(first * args.plane) * rmcp_type_bytes(type));
        }
        rmcp_arg_value(launch, &args, sizeof args);
    }
    return RMCP_OK;
}

extern const struct rmcp_algo rmcp_algo_lrn_chunks;
const struct rmcp_algo rmcp_algo_lrn_chunks = {
    .name = "chunks",
    .version = 2,
    .kind = RMCP_LAUNCH_KERNEL,
    .consider = consider,
    .emit = emit,
};
