/* gemm_cost.h: what gemm.c and its estimates (gemm_cost.c) both know of tiles and products. */
#ifndef RMCP_CONV_GPU_GEMM_COST_H
#define RMCP_CONV_GPU_GEMM_COST_H

#include "engine/ops/conv/gpu/gemm.h"

enum { RMCP_GEMM_UNIT_THREADS = 256 }; /* work-items that a compute unit has at once */

struct rmcp_gemm_tile {
    const char *name;
    int64_t rows, columns, threads, slices;
    double efficiency; /* share of peak that its inner loop reaches */
    double busy;       /* work-items that keep a compute unit at that, when it has no others */
    unsigned variants; /* a mask of the enum above: those that are compiled */
    struct {
        double at_once;    /* workgroups that a compute unit has at once          */
        double turn;       /* seconds of a turn of a workgroup that is alone      */
        double efficiency; /* share of peak that many workgroups reach            */
        double preamble;   /* turns' worth of work before the first and after the last */
    } crowd;               /* as measured on an H200, for products in a crowd of workgroups */
};

/* Tiles of one product, of one group. */
int64_t rmcp_gemm_tiles_of(int64_t rows, int64_t columns, const struct rmcp_gemm_tile *tile);

/* Terms that each of so many splits of a reduction has: whole slices. */
int64_t rmcp_gemm_share_of(int64_t reduction, const struct rmcp_gemm_tile *tile, int64_t splits);

/* Bytes of the parts that splits leave in the workspace. */
uint64_t rmcp_gemm_parts_bytes(const struct rmcp_convolution *conv,
                               const struct rmcp_gemm_way *way);

/* Seconds of the products' arithmetic, and of everything. */
double rmcp_gemm_compute_seconds(const struct rmcp_request *request,
                                 const struct rmcp_gemm_products *p,
                                 const struct rmcp_gemm_way *way);
double rmcp_gemm_seconds(const struct rmcp_request *request, const struct rmcp_gemm_products *p,
                         const struct rmcp_gemm_way *way);

#endif
