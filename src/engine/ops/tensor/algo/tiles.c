/* tiles: element by element on a GPU where a lies across c, as between NCHW and NHWC: tiles are
 * read along a, turned in local memory and written along c. */
#include "base/round.h"
#include "engine/figures/figures.h"
#include "engine/ops/tensor/gpu/pieces.h"

enum { SIDE = 64, THREADS = 256 };

/* The loop along which a's elements are closest to each other. */
static unsigned fastest_of_a(const struct rmcp_tensor_loop *loop, unsigned n_loops)
{
    unsigned found = n_loops - 1;
    for (unsigned i = 0; i < n_loops; i++) {
        const int64_t stride = loop[i].stride[RMCP_TENSOR_A];
        const int64_t least = loop[found].stride[RMCP_TENSOR_A];
        if (stride && (!least || stride < least)) found = i;
    }
    return found;
}

static double filled(int64_t size)
{
    return (double)size / (double)(rmcp_ceil_divide(size, SIDE) * SIDE);
}

/* Half of its work-items keep a device busy. */
static double seconds(const struct rmcp_request *request)
{
    const struct rmcp_tensor_form *form = request->problem;
    const unsigned x = fastest_of_a(form->loop, form->n_loops);
    const double share = filled(form->loop[x].size) * filled(form->loop[form->n_loops - 1].size);
    return rmcp_figure(request->caps, RMCP_FIGURE_TENSOR_TILES) * rmcp_tensor_seconds(request) /
           (share < 0.5 ? 2 * share : 1);
}

static rmcp_status consider(const struct rmcp_request *request, struct rmcp_way *way)
{
    const struct rmcp_tensor_form *form = request->problem;
    if (form->kind == RMCP_TENSOR_SUM) return rmcp_refuse(way, "does not sum");
    if (!form->span[RMCP_TENSOR_A]) return rmcp_refuse(way, "there is no a");
    const struct rmcp_tensor_loop *y = &form->loop[form->n_loops - 1];
    if (fastest_of_a(form->loop, form->n_loops) == form->n_loops - 1 ||
        y->stride[RMCP_TENSOR_A] == 0)
        return rmcp_refuse(way, "a does not lie across c");
    return rmcp_tensor_consider(request, seconds(request), way);
}

static rmcp_status emit_piece(const struct rmcp_tensor_form *form,
                              const struct rmcp_tensor_piece *piece, struct rmcp_launch_list *list)
{
    const unsigned last = piece->n_loops - 1, x = fastest_of_a(form->loop, form->n_loops);
    const int64_t x_tiles = rmcp_ceil_divide(piece->loop[x].size, SIDE),
                  y_tiles = rmcp_ceil_divide(piece->loop[last].size, SIDE);
    int64_t tiles = x_tiles * y_tiles;
    struct rmcp_tensor_tiles t = {
        .x_tiles = rmcp_divider_of(x_tiles),
        .y_tiles = rmcp_divider_of(y_tiles),
        .x = rmcp_tensor_turn_of(&piece->loop[x]),
        .y = rmcp_tensor_turn_of(&piece->loop[last]),
        .math = rmcp_tensor_math_of(form),
    };
    for (unsigned i = last; i-- > 0;) {
        if (i == x) continue;
        t.outer[t.n_outer++] = rmcp_tensor_turn_of(&piece->loop[i]);
        tiles *= piece->loop[i].size;
    }

    struct rmcp_kernel_launch *launch = NULL;
    rmcp_status status = rmcp_kernel_append(list, "tensor_tiles", form->type[RMCP_TENSOR_C], "",
                                            tiles * THREADS, &launch);
    if (status) return status;
    for (unsigned slot = 0; slot < RMCP_TENSOR_N; slot++)
        rmcp_tensor_argument(launch, form, piece, slot);
    rmcp_arg_value(launch, &t, sizeof t);
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

const struct rmcp_algo rmcp_algo_tensor_tiles = {
    .name = "tiles",
    .version = 1,
    .kind = RMCP_LAUNCH_KERNEL,
    .consider = consider,
    .emit = emit,
};
