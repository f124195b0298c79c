/* rows: element by element on a GPU, neighbours of c by neighbouring work-items: any strides, any
 * types; at the memory's speed when the neighbours of c are neighbours in a and b, too. */
#include "base/round.h"
#include "engine/figures/figures.h"
#include "engine/ops/tensor/gpu/pieces.h"

/* Memory is read in sectors; some of what is fetched beside an element is found in a cache when its
 * turn comes. */
static double seconds(const struct rmcp_request *request)
{
    const struct rmcp_tensor_form *form = request->problem;
    const struct rmcp_tensor_loop *inner = &form->loop[form->n_loops - 1];
    const double sector = rmcp_figure(request->caps, RMCP_FIGURE_TENSOR_SECTOR);
    const double share = rmcp_figure(request->caps, RMCP_FIGURE_TENSOR_WASTE);
    double wasted = 0;
    for (unsigned slot = 0; slot < RMCP_TENSOR_N; slot++) {
        const double element = (double)rmcp_type_bytes(form->type[slot]);
        const double apart = (double)inner->stride[slot] * element;
        if (form->span[slot] && inner->stride[slot] > 1)
            wasted += (double)form->outputs * ((apart < sector ? apart : sector) - element) * share;
    }
    return rmcp_tensor_seconds(request) + wasted / request->caps->bytes_per_second;
}

static rmcp_status consider(const struct rmcp_request *request, struct rmcp_way *way)
{
    const struct rmcp_tensor_form *form = request->problem;
    if (form->kind == RMCP_TENSOR_SUM) return rmcp_refuse(way, "does not sum");
    return rmcp_tensor_consider(request, seconds(request), way);
}

static rmcp_status emit_piece(const struct rmcp_tensor_form *form,
                              const struct rmcp_tensor_piece *piece, struct rmcp_launch_list *list)
{
    const struct rmcp_tensor_turn inner = rmcp_tensor_turn_of(&piece->loop[piece->n_loops - 1]);
    const int64_t lanes = rmcp_tensor_lanes(form), length = piece->loop[piece->n_loops - 1].size;
    const bool align = inner.c == 1 && rmcp_tensor_worth_aligning(length, lanes);
    int64_t count = rmcp_tensor_chunks(length, lanes, align);
    struct rmcp_tensor_rows r = {
        .n_outer = piece->n_loops - 1,
        .chunks = rmcp_divider_of(count),
        .length = (unsigned)length,
        .a = inner.a,
        .b = inner.b,
        .c = inner.c,
        .align = align,
        .math = rmcp_tensor_math_of(form),
    };
    for (unsigned i = 0; i < r.n_outer; i++) {
        const struct rmcp_tensor_loop *loop = &piece->loop[r.n_outer - 1 - i];
        r.outer[i] = rmcp_tensor_turn_of(loop);
        count *= loop->size;
    }
    r.count = (unsigned)count;

    struct rmcp_kernel_launch *launch = NULL;
    const int64_t work_items = rmcp_ceil_divide(count, RMCP_TENSOR_ROWS_CHUNKS);
    rmcp_status status =
        rmcp_kernel_append(list, "tensor_rows", form->type[RMCP_TENSOR_C], "", work_items, &launch);
    if (status) return status;
    for (unsigned slot = 0; slot < RMCP_TENSOR_N; slot++)
        rmcp_tensor_argument(launch, form, piece, slot);
    rmcp_arg_value(launch, &r, sizeof r);
    return RMCP_OK;
}

static rmcp_status emit(const struct rmcp_request *request, const struct rmcp_way *way,
                        struct rmcp_launch_list *list)
{
    const struct rmcp_tensor_pieces pieces = rmcp_tensor_pieces_of(request, way);
    rmcp_status status = RMCP_OK;
    for (int64_t i = 0; i < pieces.count && !status; i++) {
        const struct rmcp_tensor_piece piece = rmcp_tensor_piece_at(&pieces, i);
        status = emit_piece(request->problem, &piece, list);
    }
    return status;
}

const struct rmcp_algo rmcp_algo_tensor_rows = {
    .name = "rows",
    .version = 1,
    .kind = RMCP_LAUNCH_KERNEL,
    .consider = consider,
    .emit = emit,
};
