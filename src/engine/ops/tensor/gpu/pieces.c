/* pieces.c: cuts a tensor operation into launches, for the algorithms that use kernels. */
#include "engine/ops/tensor/gpu/pieces.h"
#include "base/round.h"

enum { UNIT_ITEMS = 2048 }; /* that keep a compute unit busy */

/* The loop with the widest reach in one tensor, when the piece spans too many of its bytes. */
static int too_wide(const struct rmcp_tensor_pieces *p)
{
    const struct rmcp_tensor_form *form = p->form;
    for (unsigned slot = 0; slot < RMCP_TENSOR_N; slot++) {
        const int64_t most = ((INT64_C(1) << 32) - 64) / (int64_t)rmcp_type_bytes(form->type[slot]);
        int64_t span = 1, widest = 0;
        int found = -1;
        for (unsigned i = 0; i < form->n_loops; i++) {
            const int64_t reach = (p->block[i] - 1) * form->loop[i].stride[slot];
            span += reach;
            if (reach > widest) widest = reach, found = (int)i;
        }
        if (span > most) return found;
    }
    return -1;
}

static int slowest(const struct rmcp_tensor_pieces *p)
{
    int i = 0;
    while (p->block[i] == 1) i++;
    return i;
}

static int64_t elements(const struct rmcp_tensor_pieces *p)
{
    int64_t product = 1;
    for (unsigned i = 0; i < p->form->n_loops; i++) product *= p->block[i];
    return product;
}

void rmcp_tensor_cut(struct rmcp_tensor_pieces *p, const struct rmcp_request *request,
                     double seconds)
{
    p->form = request->problem;
    const int64_t all = p->form->outputs * p->form->terms, limit = INT64_C(1) << 29;
    const int64_t busy = (int64_t)request->caps->compute_units * UNIT_ITEMS;
    int64_t most = rmcp_launch_quota(all, busy, seconds);
    if (most > limit) most = limit;
    for (unsigned i = 0; i < p->form->n_loops; i++) p->block[i] = p->form->loop[i].size;
    for (int i; (i = too_wide(p)) >= 0;) p->block[i] = rmcp_ceil_divide(p->block[i], 2);
    while (elements(p) > most) {
        const int i = slowest(p);
        p->block[i] = rmcp_ceil_divide(p->block[i], 2);
    }
    p->count = 1; /* no more than there are elements, which fit in 61 bits */
    for (unsigned i = 0; i < p->form->n_loops; i++)
        p->count *= rmcp_ceil_divide(p->form->loop[i].size, p->block[i]);
}

struct rmcp_tensor_piece rmcp_tensor_piece_at(const struct rmcp_tensor_pieces *p, int64_t index)
{
    struct rmcp_tensor_piece piece = { .n_loops = p->form->n_loops };
    for (unsigned i = piece.n_loops; i-- > 0;) {
        const struct rmcp_tensor_loop *whole = &p->form->loop[i];
        const int64_t blocks = rmcp_ceil_divide(whole->size, p->block[i]);
        const int64_t first = index % blocks * p->block[i];
        index /= blocks;
        piece.loop[i] = *whole;
        piece.loop[i].size = whole->size - first < p->block[i] ? whole->size - first : p->block[i];
        for (unsigned slot = 0; slot < RMCP_TENSOR_N; slot++)
            piece.offset[slot] += first * whole->stride[slot];
    }
    return piece;
}

const char *rmcp_tensor_cut_refuse(const struct rmcp_tensor_pieces *p)
{
    return p->count > RMCP_TENSOR_MOST_PIECES ? "the tensors reach so far that it would take more "
                                                "than 1024 launches"
                                              : NULL;
}

rmcp_status rmcp_tensor_consider(const struct rmcp_request *request, double seconds,
                                 struct rmcp_way *way)
{
    struct rmcp_tensor_pieces *pieces = RMCP_WAY_DETAILS(way, struct rmcp_tensor_pieces);
    rmcp_tensor_cut(pieces, request, 0); /* however fast it is */
    const char *why = rmcp_tensor_cut_refuse(pieces);
    if (why) return rmcp_refuse(way, why);
    rmcp_tensor_cut(pieces, request, seconds);
    way->seconds = seconds + (double)pieces->count * request->caps->launch_seconds;
    return RMCP_OK;
}

/* ---- arguments ---- */

int64_t rmcp_tensor_lanes(const struct rmcp_tensor_form *form)
{
    return 16 / (int64_t)rmcp_type_bytes(form->type[RMCP_TENSOR_C]);
}

int64_t rmcp_tensor_chunks(int64_t length, int64_t lanes, bool align)
{
    return rmcp_ceil_divide(length + (align ? lanes - 1 : 0), lanes);
}

bool rmcp_tensor_worth_aligning(int64_t length, int64_t lanes)
{
    return length >= 16 * lanes;
}

struct rmcp_tensor_turn rmcp_tensor_turn_of(const struct rmcp_tensor_loop *loop)
{
    const bool turns = loop->size > 1; /* the stride of one that does not may be anything */
    return (struct rmcp_tensor_turn){
        .size = rmcp_divider_of(loop->size),
        .a = turns ? (unsigned)loop->stride[RMCP_TENSOR_A] : 0,
        .b = turns ? (unsigned)loop->stride[RMCP_TENSOR_B] : 0,
        .c = turns ? (unsigned)loop->stride[RMCP_TENSOR_C] : 0,
    };
}

struct rmcp_tensor_math rmcp_tensor_math_of(const struct rmcp_tensor_form *form)
{
    return (struct rmcp_tensor_math){
        .kind = rmcp_tensor_moves(form) ? RMCP_TENSOR_MOVE : (unsigned)form->kind,
        .a_type = form->type[RMCP_TENSOR_A],
        .b_type = form->type[RMCP_TENSOR_B],
        .update = form->beta != 0,
        .alpha = form->alpha,
        .alpha_b = form->alpha_b,
        .beta = form->beta,
    };
}

void rmcp_tensor_argument(struct rmcp_kernel_launch *launch, const struct rmcp_tensor_form *form,
                          const struct rmcp_tensor_piece *piece, unsigned slot)
{
    if (!form->span[slot]) slot = RMCP_TENSOR_C;
    rmcp_arg_memory(launch, slot,
                    (uint64_t)piece->offset[slot] * rmcp_type_bytes(form->type[slot]));
}

double rmcp_tensor_seconds(const struct rmcp_request *request)
{
    return request->operation->bytes(request->problem) / request->caps->bytes_per_second;
}
