/* sum: sums over some dimensions on a GPU. Where there are few outputs, several workgroups share
 * one: their sums go to the workspace, and the same kernel adds these up. The order is fixed, so
 * the same inputs give the same bits. */
#include "base/round.h"
#include "engine/ops/tensor/gpu/pieces.h"

enum {
    THREADS = 256,
    MOST_LOOPS = 6,
    WIDTH = 64,       /* outputs of a workgroup whose work-items have one each               */
    UNIT_GROUPS = 8,  /* workgroups that keep a compute unit busy                            */
    LEAST_CHUNKS = 8, /* of a work-item, before an output is shared by several workgroups   */
    MOST_CHUNKS = RMCP_TENSOR_BLOCK * RMCP_TENSOR_BLOCK, /* as rmcp_tensor_roundings counts */
};

/* One launch: the loops that are summed, then the others, fastest first. */
struct launch {
    struct rmcp_tensor_loop loop[MOST_LOOPS];
    unsigned n_summed, n_loops;
    int64_t outputs, chunks, count, lanes, outs, share, parts;
    bool along, align;
};

/* How workgroups share the work; the loops are set. `most_parts` workgroups keep the device busy;
 * with 1 of them no output is shared. */
static void share_out(struct launch *l, int64_t vector, int64_t most_parts)
{
    l->align = l->loop[0].stride[RMCP_TENSOR_A] == 1 &&
               rmcp_tensor_worth_aligning(l->loop[0].size, vector);
    l->chunks = rmcp_tensor_chunks(l->loop[0].size, vector, l->align);
    l->count = l->chunks;
    for (unsigned i = 1; i < l->n_summed; i++) l->count *= l->loop[i].size;
    l->outputs = 1;
    for (unsigned i = l->n_summed; i < l->n_loops; i++) l->outputs *= l->loop[i].size;

    if (l->along) {
        l->lanes = rmcp_power_of_two(l->count, THREADS);
    } else {
        const int64_t outs = rmcp_power_of_two(l->outputs, WIDTH);
        l->lanes = rmcp_power_of_two(l->count, THREADS / outs);
    }
    l->outs = THREADS / l->lanes;
    const int64_t groups = rmcp_ceil_divide(l->outputs, l->outs);
    const int64_t needed = most_parts > 1 ? rmcp_ceil_divide(l->count, l->lanes * MOST_CHUNKS) : 1;
    int64_t parts = most_parts / groups;
    if (parts > l->count / (l->lanes * LEAST_CHUNKS)) parts = l->count / (l->lanes * LEAST_CHUNKS);
    if (parts < needed) parts = needed;
    if (parts < 1) parts = 1;
    l->share = rmcp_ceil_divide(rmcp_ceil_divide(l->count, parts), l->lanes) * l->lanes;
    l->parts = rmcp_ceil_divide(l->count, l->share);
}

/* The sum of a piece of a. */
static struct launch first_launch(const struct rmcp_request *request,
                                  const struct rmcp_tensor_piece *piece)
{
    struct launch l = { 0 };
    for (unsigned i = piece->n_loops; i-- > 0;)
        if (!piece->loop[i].stride[RMCP_TENSOR_C] && piece->loop[i].size > 1)
            l.loop[l.n_summed++] = piece->loop[i];
    if (!l.n_summed) l.loop[l.n_summed++] = (struct rmcp_tensor_loop){ .size = 1 };
    l.n_loops = l.n_summed;
    for (unsigned i = piece->n_loops; i-- > 0;)
        if (piece->loop[i].stride[RMCP_TENSOR_C]) l.loop[l.n_loops++] = piece->loop[i];
    l.along = !piece->loop[piece->n_loops - 1].stride[RMCP_TENSOR_C];
    share_out(&l, rmcp_tensor_lanes(request->problem),
              (int64_t)request->caps->compute_units * UNIT_GROUPS);
    return l;
}

/* The sum of the parts, which lie one after the other in the workspace. */
static struct launch second_launch(const struct rmcp_request *request, const struct launch *first,
                                   int64_t parts)
{
    struct launch l = { .n_summed = 1, .n_loops = 1, .along = first->outputs == 1 };
    l.loop[0] = (struct rmcp_tensor_loop){ .size = parts, .stride = { first->outputs } };
    int64_t apart = 1;
    for (unsigned i = first->n_summed; i < first->n_loops; i++) {
        struct rmcp_tensor_loop *loop = &l.loop[l.n_loops++];
        *loop = first->loop[i];
        loop->stride[RMCP_TENSOR_A] = apart;
        apart *= loop->size;
    }
    share_out(&l, rmcp_tensor_lanes(request->problem), 1);
    return l;
}

/* How a sum is cut: pieces of the loops that are not summed, each with all pieces of those that
 * are. */
struct cut {
    struct rmcp_tensor_pieces pieces;
    int64_t summed; /* pieces behind one output */
};

static struct cut cut_of(const struct rmcp_request *request)
{
    struct cut cut = { .summed = 1 };
    rmcp_tensor_cut(&cut.pieces, request, rmcp_tensor_seconds(request));
    const struct rmcp_tensor_form *form = cut.pieces.form;
    for (unsigned i = 0; i < form->n_loops; i++)
        if (!form->loop[i].stride[RMCP_TENSOR_C])
            cut.summed *= rmcp_ceil_divide(form->loop[i].size, cut.pieces.block[i]);
    return cut;
}

/* Piece `summed` of output piece `kept`: their digits belong to different loops. */
static struct rmcp_tensor_piece piece_of(const struct cut *cut, int64_t kept, int64_t summed)
{
    const struct rmcp_tensor_form *form = cut->pieces.form;
    int64_t index = 0, weight = 1;
    for (unsigned i = form->n_loops; i-- > 0;) {
        const int64_t blocks = rmcp_ceil_divide(form->loop[i].size, cut->pieces.block[i]);
        int64_t *from = form->loop[i].stride[RMCP_TENSOR_C] ? &kept : &summed;
        index += *from % blocks * weight;
        *from /= blocks;
        weight *= blocks;
    }
    return rmcp_tensor_piece_at(&cut->pieces, index);
}

/* The parts that all pieces behind an output leave, and the outputs of the piece. */
static int64_t parts_of(const struct rmcp_request *request, const struct cut *cut, int64_t kept,
                        int64_t *outputs)
{
    int64_t parts = 0;
    for (int64_t summed = 0; summed < cut->summed; summed++) {
        const struct rmcp_tensor_piece piece = piece_of(cut, kept, summed);
        const struct launch l = first_launch(request, &piece);
        parts += l.parts;
        *outputs = l.outputs;
    }
    return parts;
}

static rmcp_status consider(const struct rmcp_request *request, struct rmcp_way *way)
{
    const struct rmcp_tensor_form *form = request->problem;
    const struct rmcp_caps *caps = request->caps;
    struct cut *cut = RMCP_WAY_DETAILS(way, struct cut);
    if (form->kind != RMCP_TENSOR_SUM) return rmcp_refuse(way, "only sums");
    *cut = cut_of(request);
    const char *why = rmcp_tensor_cut_refuse(&cut->pieces);
    if (why) return rmcp_refuse(way, why);
    uint64_t bytes = 0;
    for (int64_t kept = 0; kept < cut->pieces.count / cut->summed; kept++) {
        int64_t outputs = 0;
        const int64_t parts = parts_of(request, cut, kept, &outputs);
        const uint64_t needed = parts > 1 ? (uint64_t)(parts * outputs) * sizeof(float) : 0;
        if (needed > bytes) bytes = needed;
    }
    way->seconds = rmcp_tensor_seconds(request) + 2 * (double)bytes / caps->bytes_per_second +
                   (double)(cut->pieces.count + (bytes > 0)) * caps->launch_seconds;
    way->workspace_bytes = bytes;
    return RMCP_OK;
}

/* `part` < 0: sums go to c. Otherwise they are parts of that number on. `second`: a is the parts.
 */
static rmcp_status append(const struct rmcp_tensor_form *form, const struct launch *l,
                          const struct rmcp_tensor_piece *piece, int64_t part, bool second,
                          struct rmcp_launch_list *list)
{
    struct rmcp_tensor_sum s = {
        .n_summed = l->n_summed,
        .n_loops = l->n_loops,
        .chunks = rmcp_divider_of(l->chunks),
        .count = (unsigned)l->count,
        .share = (unsigned)l->share,
        .outputs = (unsigned)l->outputs,
        .lanes = (unsigned)l->lanes,
        .outs = (unsigned)l->outs,
        .along = l->along,
        .align = l->align,
        .last = part < 0,
        .part = part < 0 ? 0 : (unsigned)part,
        .math = rmcp_tensor_math_of(form),
    };
    if (second) s.math.a_type = RMCP_F32;
    for (unsigned i = 0; i < l->n_loops; i++) s.loop[i] = rmcp_tensor_turn_of(&l->loop[i]);

    struct rmcp_kernel_launch *launch = NULL;
    const int64_t groups = rmcp_ceil_divide(l->outputs, l->outs);
    rmcp_status status = rmcp_kernel_append(list, "tensor_sum", form->type[RMCP_TENSOR_C], "",
                                            groups * THREADS, &launch);
    if (status) return status;
    launch->grid[1] = (uint32_t)l->parts;
    if (second)
        rmcp_arg_memory(launch, RMCP_SLOT_WORKSPACE, 0);
    else
        rmcp_tensor_argument(launch, form, piece, RMCP_TENSOR_A);
    rmcp_tensor_argument(launch, form, piece, RMCP_TENSOR_C);
    if (part < 0)
        rmcp_tensor_argument(launch, form, piece, RMCP_TENSOR_C); /* some memory in its place */
    else
        rmcp_arg_memory(launch, RMCP_SLOT_WORKSPACE, 0);
    rmcp_arg_value(launch, &s, sizeof s);
    return RMCP_OK;
}

static rmcp_status emit(const struct rmcp_request *request, const struct rmcp_way *way,
                        struct rmcp_launch_list *list)
{
    const struct rmcp_tensor_form *form = request->problem;
    struct cut cut = *RMCP_WAY_DETAILS_CONST(way, struct cut);
    cut.pieces.form = form; /* which may be a copy of the one that was considered */
    rmcp_status status = RMCP_OK;
    for (int64_t kept = 0; kept < cut.pieces.count / cut.summed && !status; kept++) {
        int64_t outputs = 0, part = 0;
        const int64_t parts = parts_of(request, &cut, kept, &outputs);
        for (int64_t summed = 0; summed < cut.summed && !status; summed++) {
            const struct rmcp_tensor_piece piece = piece_of(&cut, kept, summed);
            const struct launch l = first_launch(request, &piece);
            status = append(form, &l, &piece, parts > 1 ? part : -1, false, list);
            part += l.parts;
            if (status || parts == 1 || part < parts) continue;
            const struct launch last = second_launch(request, &l, parts);
            status = append(form, &last, &piece, -1, true, list);
        }
    }
    return status;
}

const struct rmcp_algo rmcp_algo_tensor_sum = {
    .name = "sum",
    .version = 1,
    .kind = RMCP_LAUNCH_KERNEL,
    .consider = consider,
    .emit = emit,
};
