/* pieces: the implicit matrix product for filters whose taps do not fit into a mask of 32 bits,
 * such as a 1-D filter of 128: cut along their dimensions into pieces that do, each a product of
 * its own. Their parts of a sum are added up in a fixed order; of a weight gradient each makes its
 * own taps. */
#include "base/round.h"
#include "engine/ops/conv/conv.h"
#include "engine/ops/conv/gpu/gemm.h"
#include "engine/ops/conv/gpu/shape.h"

enum { MOST_TAPS = 31, MOST_LAUNCHES = 256 };

/* How a filter is cut: taps of a piece along each dimension, the last perhaps fewer; and pieces. */
struct cut {
    int64_t taps[RMCP_MAX_DIMS], count[RMCP_MAX_DIMS], pieces;
};

/* Always cut the longest, until what is left fits. */
static struct cut cut_of(const struct rmcp_convolution *conv)
{
    struct cut cut = { .pieces = 1 };
    for (int i = 0; i < RMCP_MAX_DIMS; i++) cut.taps[i] = conv->filter[i];
    while (cut.taps[0] + cut.taps[1] + cut.taps[2] > MOST_TAPS) {
        int longest = 0;
        for (int i = 1; i < RMCP_MAX_DIMS; i++)
            if (cut.taps[i] > cut.taps[longest]) longest = i;
        cut.taps[longest]--;
    }
    for (int i = 0; i < RMCP_MAX_DIMS; i++) {
        cut.count[i] = rmcp_ceil_divide(conv->filter[i], cut.taps[i]);
        cut.taps[i] = rmcp_ceil_divide(conv->filter[i], cut.count[i]);
        cut.count[i] = rmcp_ceil_divide(conv->filter[i], cut.taps[i]);
        cut.pieces *= cut.count[i];
    }
    return cut;
}

/* One piece as a convolution with the same tensors, whose padding is less by the taps before it and
 * so may be negative. Returns where its taps begin in the weights. */
static int64_t piece_of(struct rmcp_convolution *piece, const struct rmcp_convolution *conv,
                        const struct cut *cut, int64_t index)
{
    *piece = *conv;
    int64_t begin = 0;
    for (int i = RMCP_MAX_DIMS - 1; i >= 0; i--) {
        const int64_t first = index % cut->count[i] * cut->taps[i];
        const int64_t left = conv->filter[i] - first;
        index /= cut->count[i];
        piece->filter[i] = left < cut->taps[i] ? left : cut->taps[i];
        piece->pad_begin[i] -= first * conv->dilation[i];
        begin += first * conv->w.space[i];
    }
    return begin;
}

static struct rmcp_gemm_way choose(const struct rmcp_request *request,
                                   const struct rmcp_convolution *piece)
{
    struct rmcp_request part = *request;
    struct rmcp_gemm_products products;
    part.problem = piece;
    rmcp_gemm_products_of(piece, RMCP_FORM_PHASES, &products);
    const struct rmcp_gemm_way whole = rmcp_gemm_choose(&part, &products, false);
    const struct rmcp_gemm_way split = rmcp_gemm_choose(&part, &products, true);
    return split.seconds < whole.seconds ? split : whole;
}

static bool makes_weights(const struct rmcp_convolution *conv)
{
    return conv->pass == RMCP_CONV_BACKWARD_WEIGHTS;
}

/* Copies of the output in the workspace. */
static int64_t parts_of(const struct rmcp_convolution *conv, const struct cut *cut,
                        const struct rmcp_gemm_way *way)
{
    if (makes_weights(conv)) return way->splits > 1 ? way->splits : 0;
    return way->splits * cut->pieces;
}

static double bytes_of(const struct rmcp_convolution *conv, int64_t parts)
{
    return (double)parts * sizeof(float) *
           (double)rmcp_conv_elements(conv, rmcp_conv_output_slot(conv));
}

struct pieces {
    struct cut cut;
    struct rmcp_gemm_way gemm; /* of each piece, with the tile and the splits of the first */
    int64_t parts;
};

static rmcp_status consider(const struct rmcp_request *request, struct rmcp_way *way)
{
    const struct rmcp_convolution *conv = request->problem;
    if (!rmcp_gemm_refuse(conv)) return rmcp_refuse(way, "the filter needs no cutting");
    for (int i = 0; i < RMCP_MAX_DIMS; i++)
        if (conv->filter[i] > MOST_TAPS * MOST_LAUNCHES)
            return rmcp_refuse(way, "more than 256 products");
    struct pieces *pieces = RMCP_CONV_WAY(way, struct pieces);
    pieces->cut = cut_of(conv);
    struct rmcp_convolution piece;
    piece_of(&piece, conv, &pieces->cut, 0);
    const char *reason = rmcp_gemm_refuse(&piece);
    if (reason) return rmcp_refuse(way, reason);
    if (pieces->cut.pieces * rmcp_gemm_launches(conv) > MOST_LAUNCHES)
        return rmcp_refuse(way, "more than 256 products");

    pieces->gemm = choose(request, &piece);
    pieces->parts = parts_of(conv, &pieces->cut, &pieces->gemm);
    pieces->gemm.partial = pieces->parts > 0;
    const double bytes = bytes_of(conv, pieces->parts);
    if (bytes > (double)request->caps->max_buffer_bytes)
        return rmcp_refuse(way, "the workspace would exceed the device's largest buffer");
    way->seconds = (double)pieces->cut.pieces * pieces->gemm.seconds +
                   2 * bytes / request->caps->bytes_per_second + request->caps->launch_seconds;
    way->workspace_bytes = (uint64_t)bytes;
    return RMCP_OK;
}

static rmcp_status emit(const struct rmcp_request *request, const struct rmcp_way *way,
                        struct rmcp_launch_list *list)
{
    const struct pieces *pieces = RMCP_CONV_WAY_CONST(way, struct pieces);
    const struct rmcp_convolution *conv = request->problem;
    struct rmcp_gemm_way gemm = pieces->gemm;
    rmcp_status status = RMCP_OK;
    for (int64_t i = 0; i < pieces->cut.pieces && !status; i++) {
        struct rmcp_convolution piece;
        struct rmcp_request part = *request;
        struct rmcp_gemm_products products;
        part.problem = &piece;
        gemm.first_tap = piece_of(&piece, conv, &pieces->cut, i);
        gemm.first_part = makes_weights(conv) ? 0 : i * gemm.splits;
        rmcp_gemm_products_of(&piece, RMCP_FORM_PHASES, &products);
        rmcp_gemm_fit(&part, &products, &gemm);
        status = rmcp_gemm_emit(&part, &gemm, list);
    }
    return status || !pieces->parts ? status : rmcp_parts_emit(request, pieces->parts, 0, list);
}

const struct rmcp_algo rmcp_algo_conv_pieces = {
    .name = "pieces",
    .version = 1,
    .kind = RMCP_LAUNCH_KERNEL,
    .consider = consider,
    .emit = emit,
};
