/* lines.c: plans launches of kernels that go along lines of tensors. */
#include "engine/gpu/lines.h"
#include "base/round.h"

#include <string.h>

enum {
    THREADS = 256,
    UNIT_GROUPS = 8, /* workgroups that keep a compute unit busy */
    LEAST_OUTS =
        4, /* chunks side by side in columns, so that whole sectors of memory are fetched */
    USUAL_LANES = 16, /* of a column that does not fit into registers */
    FEW_LANES = 32,   /* of a row whose elements are needed once      */
    LEAST_BLOCKS =
        4, /* of `keep` chunks for each work-item, before a line is shared by workgroups  */
    UNIT_ITEMS = 2048, /* work-items of a compute unit */
};

/* ---- loops ---- */

static bool joins(const struct rmcp_line_loop *outer, const struct rmcp_line_loop *inner)
{
    for (unsigned t = 0; t < 4; t++)
        if (outer->stride[t] != inner->stride[t] * inner->size) return false;
    return outer->along == inner->along;
}

/* Loops with more than one turn, those with the largest strides of a first; neighbours that are one
 * loop in all tensors are joined. */
static void find_loops(struct rmcp_line_plan *plan)
{
    const struct rmcp_line_problem *p = &plan->problem;
    unsigned n = 0;
    for (unsigned d = 0; d < p->dims; d++) {
        if (p->size[d] == 1) continue;
        struct rmcp_line_loop loop = { .size = p->size[d], .along = p->along[d] };
        for (unsigned t = 0; t < 4; t++) loop.stride[t] = p->bytes[t] ? p->stride[t][d] : 0;
        unsigned at = n++;
        for (; at > 0 && plan->loop[at - 1].stride[0] < loop.stride[0]; at--)
            plan->loop[at] = plan->loop[at - 1];
        plan->loop[at] = loop;
    }
    plan->n_loops = 0;
    for (unsigned i = 0; i < n; i++) {
        struct rmcp_line_loop loop = plan->loop[i];
        if (plan->n_loops && joins(&plan->loop[plan->n_loops - 1], &loop)) {
            loop.size *= plan->loop[plan->n_loops - 1].size;
            plan->n_loops--;
        }
        plan->loop[plan->n_loops++] = loop;
    }
    if (!plan->n_loops) {
        plan->n_loops = 1;
        plan->loop[0] =
            (struct rmcp_line_loop){ .size = 1, .stride = { 1, 1, 1, 1 }, .along = true };
    }
}

/* ---- pieces ---- */

static int64_t span_of(const struct rmcp_line_plan *plan, unsigned t)
{
    int64_t span = 1;
    for (unsigned i = 0; i < plan->n_loops; i++)
        span += (plan->block[i] - 1) * plan->loop[i].stride[t];
    return span;
}

/* Whether a piece is too wide for 32-bit offsets in bytes, or has too many elements. */
static bool too_large(const struct rmcp_line_plan *plan, int64_t most)
{
    int64_t elements = 1;
    for (unsigned t = 0; t < 4; t++)
        if (plan->problem.bytes[t] &&
            span_of(plan, t) > ((INT64_C(1) << 32) - 64) / (int64_t)plan->problem.bytes[t])
            return true;
    for (unsigned i = 0; i < plan->n_loops; i++) elements *= plan->block[i];
    return elements > most;
}

/* The loop across with the widest reach in a that can still be cut; -1: none. */
static int widest(const struct rmcp_line_plan *plan)
{
    int found = -1;
    int64_t reach = -1;
    for (unsigned i = 0; i < plan->n_loops; i++) {
        const int64_t this = (plan->block[i] - 1) * plan->loop[i].stride[0];
        if (plan->loop[i].along || plan->block[i] == 1 || this <= reach) continue;
        found = (int)i;
        reach = this;
    }
    return found;
}

void rmcp_line_plan_make(struct rmcp_line_plan *plan, const struct rmcp_line_problem *problem,
                         const struct rmcp_request *request)
{
    *plan = (struct rmcp_line_plan){ .problem = *problem,
                                     .compute_units = (int64_t)request->caps->compute_units };
    find_loops(plan);
    plan->columns = !plan->loop[plan->n_loops - 1].along;
    int64_t all = 1;
    for (unsigned i = 0; i < plan->n_loops; i++) all *= plan->block[i] = plan->loop[i].size;
    const double seconds =
        request->operation->bytes(request->problem) / request->caps->bytes_per_second;
    const int64_t limit = INT64_C(1) << 30;
    int64_t most = rmcp_launch_quota(all, plan->compute_units * UNIT_ITEMS, 2 * seconds);
    if (most > limit) most = limit;
    for (int i; too_large(plan, most) && (i = widest(plan)) >= 0;)
        plan->block[i] = rmcp_ceil_divide(plan->block[i], 2);
    plan->count = 1;
    for (unsigned i = 0; i < plan->n_loops; i++)
        plan->count *= rmcp_ceil_divide(plan->loop[i].size, plan->block[i]);
}

const char *rmcp_line_refuse(const struct rmcp_line_plan *plan)
{
    if (too_large(plan, INT64_C(1) << 30))
        return "a line reaches over more than 4 GiB, or has more than 2^30 elements";
    if (plan->count > RMCP_LINE_MOST_PIECES)
        return "the tensors reach so far that it would take more than 1024 launches";
    return NULL;
}

/* ---- launches ---- */

static struct rmcp_line_turn turn_of(const struct rmcp_line_loop *loop, int64_t size)
{
    const bool turns = size > 1; /* the stride of one that does not may be anything */
    return (struct rmcp_line_turn){
        .size = rmcp_divider_of(size),
        .a = turns ? (unsigned)loop->stride[0] : 0,
        .b = turns ? (unsigned)loop->stride[1] : 0,
        .c = turns ? (unsigned)loop->stride[2] : 0,
        .d = turns ? (unsigned)loop->stride[3] : 0,
    };
}

/* Whether rows of neighbours begin at places that are no multiples of a chunk. */
static bool begins_anywhere(const struct rmcp_line_plan *plan, int64_t lanes)
{
    const unsigned last = plan->n_loops - 1;
    bool anywhere = last == 0; /* a single one begins where the tensor does */
    for (unsigned i = 0; i < last; i++) anywhere = anywhere || plan->loop[i].stride[0] % lanes;
    return anywhere && plan->loop[last].stride[0] == 1;
}

/* How work-items and workgroups share the lines; `count` and `lines` are set. */
static void share_out(const struct rmcp_line_plan *plan, struct rmcp_line_piece *piece, bool split)
{
    struct rmcp_lines *l = &piece->lines;
    const int64_t count = l->count, lines = l->lines, keep = plan->problem.keep;
    const int64_t most = plan->columns ? THREADS / LEAST_OUTS : THREADS;
    const int64_t busy = plan->compute_units * UNIT_GROUPS;
    /* Work-items that take many chunks meet less often; a row still has whole lines of caches. */
    const int64_t enough = plan->problem.passing && !plan->columns ? FEW_LANES : most;
    int64_t lanes = rmcp_power_of_two(rmcp_ceil_divide(count, keep), enough);
    if (plan->columns && lanes * keep < count) lanes = USUAL_LANES;
    while (lanes < most && lanes < count && rmcp_ceil_divide(lines * lanes, THREADS) < busy)
        lanes *= 2;
    int64_t outs = THREADS / lanes;
    if (outs > rmcp_power_of_two(lines, THREADS))
        outs = rmcp_power_of_two(lines, THREADS), lanes = THREADS / outs;
    piece->groups = rmcp_ceil_divide(lines, outs);
    int64_t parts = 1;
    piece->once = count <= lanes * keep;
    if (split && !piece->once && piece->groups < busy) {
        parts = busy / piece->groups;
        const int64_t worth = count / (lanes * keep * LEAST_BLOCKS);
        if (parts > worth) parts = worth;
        if (parts < 1) parts = 1;
    }
    const int64_t share = rmcp_ceil_divide(rmcp_ceil_divide(count, parts), lanes) * lanes;
    piece->parts = rmcp_ceil_divide(count, share);
    l->lanes = (unsigned)lanes;
    l->outs = (unsigned)outs;
    l->share = (unsigned)share;
}

struct rmcp_line_piece rmcp_line_piece_at(const struct rmcp_line_plan *plan, int64_t index,
                                          bool split)
{
    struct rmcp_line_piece piece;
    memset(&piece, 0, sizeof piece);
    int64_t size[RMCP_FORM_DIMS];
    for (unsigned i = plan->n_loops; i-- > 0;) {
        const struct rmcp_line_loop *whole = &plan->loop[i];
        const int64_t blocks = rmcp_ceil_divide(whole->size, plan->block[i]);
        const int64_t first = index % blocks * plan->block[i], left = whole->size - first;
        index /= blocks;
        size[i] = left < plan->block[i] ? left : plan->block[i];
        for (unsigned t = 0; t < 4; t++) piece.offset[t] += first * whole->stride[t];
    }

    struct rmcp_lines *l = &piece.lines;
    const unsigned last = plan->n_loops - 1;
    const int64_t lanes = plan->problem.lanes;
    l->vector = turn_of(&plan->loop[last], size[last]);
    l->align = !plan->columns && size[last] >= 16 * lanes && begins_anywhere(plan, lanes);
    const int64_t chunks = rmcp_ceil_divide(size[last] + (l->align ? lanes - 1 : 0), lanes);
    l->chunks = rmcp_divider_of(chunks);
    int64_t count = plan->columns ? 1 : chunks, lines = plan->columns ? chunks : 1;
    for (int along = 1; along >= 0; along--)
        for (unsigned i = last; i-- > 0;) {
            if (plan->loop[i].along != along) continue;
            l->turn[l->n_turns++] = turn_of(&plan->loop[i], size[i]);
            *(along ? &count : &lines) *= size[i];
            l->n_along += (unsigned)along;
        }
    l->count = (unsigned)count;
    l->lines = (unsigned)lines;
    piece.width = plan->columns ? lanes : 1;
    share_out(plan, &piece, split);
    return piece;
}

int64_t rmcp_line_parts(const struct rmcp_line_plan *plan)
{
    int64_t most = 0;
    for (int64_t i = 0; i < plan->count; i++) {
        const struct rmcp_line_piece piece = rmcp_line_piece_at(plan, i, true);
        const int64_t values = piece.parts > 1 ? piece.parts * piece.lines.lines * piece.width : 0;
        if (values > most) most = values;
    }
    return most;
}
