/* pieces.h: cuts a tensor operation into launches, for the algorithms that use kernels. */
#ifndef RMCP_OPS_TENSOR_GPU_PIECES_H
#define RMCP_OPS_TENSOR_GPU_PIECES_H

#include "engine/core/algo.h"
#include "engine/gpu/launch.h"
#include "engine/ops/tensor/kernels/args.h"
#include "engine/ops/tensor/tensor.h"

/* Boxes of all loops, so small that 32 bits hold every offset in bytes and that none runs long. */
struct rmcp_tensor_pieces {
    const struct rmcp_tensor_form *form;
    int64_t block[RMCP_TENSOR_DIMS]; /* turns of each loop in one piece  */
    int64_t count;                   /* of pieces                        */
};

struct rmcp_tensor_piece {
    unsigned n_loops; /* as in the form, but with the sizes of the piece */
    struct rmcp_tensor_loop loop[RMCP_TENSOR_DIMS];
    int64_t offset[RMCP_TENSOR_N]; /* of its first elements */
};

enum { RMCP_TENSOR_MOST_PIECES = 1024 };

/* Cut; `seconds` is how long all of it takes. */
void rmcp_tensor_cut(struct rmcp_tensor_pieces *pieces, const struct rmcp_request *request,
                     double seconds);

/* Piece number `index`; the fastest loop's pieces follow each other. */
struct rmcp_tensor_piece rmcp_tensor_piece_at(const struct rmcp_tensor_pieces *pieces,
                                              int64_t index);

/* NULL when the number of launches is reasonable, else the reason why not. */
const char *rmcp_tensor_cut_refuse(const struct rmcp_tensor_pieces *pieces);

/* What an algorithm whose launches are the pieces answers: `seconds` is how long all of it takes
 * without launches. The way's details are a struct rmcp_tensor_pieces. */
rmcp_status rmcp_tensor_consider(const struct rmcp_request *request, double seconds,
                                 struct rmcp_way *way);

/* These for emit, whose problem may be a copy of the one that was considered. */
static inline struct rmcp_tensor_pieces rmcp_tensor_pieces_of(const struct rmcp_request *request,
                                                              const struct rmcp_way *way)
{
    struct rmcp_tensor_pieces pieces = *RMCP_WAY_DETAILS_CONST(way, struct rmcp_tensor_pieces);
    pieces.form = request->problem;
    return pieces;
}

/* ---- arguments ---- */

/* Elements of c in 16 bytes: LANES of the kernels. */
int64_t rmcp_tensor_lanes(const struct rmcp_tensor_form *form);

/* Chunks of `lanes` elements that cover a row, aligned to its first element or to any address. */
int64_t rmcp_tensor_chunks(int64_t length, int64_t lanes, bool align);

/* Rows so long that the chunks at their ends do not count. */
bool rmcp_tensor_worth_aligning(int64_t length, int64_t lanes);

struct rmcp_tensor_turn rmcp_tensor_turn_of(const struct rmcp_tensor_loop *loop);
struct rmcp_tensor_math rmcp_tensor_math_of(const struct rmcp_tensor_form *form);

/* The memory argument of a tensor of a piece; of one that is not there, c's. */
void rmcp_tensor_argument(struct rmcp_kernel_launch *launch, const struct rmcp_tensor_form *form,
                          const struct rmcp_tensor_piece *piece, unsigned slot);

/* Seconds to read and write everything once. */
double rmcp_tensor_seconds(const struct rmcp_request *request);

#endif
