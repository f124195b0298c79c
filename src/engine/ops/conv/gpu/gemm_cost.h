/* gemm_cost.h: what gemm.c and its estimates (gemm_cost.c) both know of tiles and products. */
#ifndef RMCP_CONV_GPU_GEMM_COST_H
#define RMCP_CONV_GPU_GEMM_COST_H

#include "engine/figures/figures.h"
#include "engine/ops/conv/gpu/gemm.h"

enum { RMCP_GEMM_UNIT_THREADS = 256 }; /* work-items that a compute unit has at once */

struct rmcp_gemm_tile {
    const char *name;
    int64_t rows, columns, threads, slices;
    unsigned variants; /* a mask: those that are compiled */
    /* What was measured or modelled of it. */
    enum rmcp_figure efficiency, busy;
    enum rmcp_figure crowd, crowd_turn, crowd_efficiency, crowd_preamble;
    enum rmcp_figure pair, pair_efficiency, pair_preamble, pair_stall, pair_first;
};

/* Tiles of one product, of one group. */
int64_t rmcp_gemm_tiles_of(int64_t rows, int64_t columns, const struct rmcp_gemm_tile *tile);

/* Terms that each of so many splits of a reduction has: whole slices. */
int64_t rmcp_gemm_share_of(int64_t reduction, const struct rmcp_gemm_tile *tile, int64_t splits);

/* Bytes of the parts that splits leave in the workspace. */
uint64_t rmcp_gemm_parts_bytes(const struct rmcp_convolution *conv,
                               const struct rmcp_gemm_way *way);

/* Seconds of the products' arithmetic. */
double rmcp_gemm_compute_seconds(const struct rmcp_request *request,
                                 const struct rmcp_gemm_products *p,
                                 const struct rmcp_gemm_way *way);

/* Fill in way->seconds, those of everything; and way->work_seconds where they are found on the way,
 * else 0. */
void rmcp_gemm_estimate(const struct rmcp_request *request, const struct rmcp_gemm_products *p,
                        struct rmcp_gemm_way *way);

#endif
