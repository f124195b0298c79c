/* gemm.h: the host side of gemm.cl: which tile, how many splits, and the launches. */
#ifndef RMCP_CONV_GPU_GEMM_H
#define RMCP_CONV_GPU_GEMM_H

#include "engine/ops/conv/conv.h"
#include "engine/ops/conv/gpu/cells.h"
#include "engine/ops/conv/gpu/shape.h"

struct rmcp_gemm_tile;

/* The products of a convolution in a form: one, or those of all phases that have outputs. */
struct rmcp_gemm_products {
    enum rmcp_form form;
    int64_t launches;             /* of gemm.cl                               */
    int64_t rows, count, longest; /* longest reduction                        */
    bool padded;                  /* some pixel and tap meet outside          */
    bool strided, lone;           /* strides; only one of their phases has taps */
    uint64_t arranged_bytes;      /* of weights in the workspace              */
    struct {
        int64_t columns, reduction;
    } each[RMCP_GEMM_MOST_PHASES];
};
void rmcp_gemm_products_of(const struct rmcp_convolution *conv, enum rmcp_form form,
                           struct rmcp_gemm_products *products);

/* A way to compute a request. It follows from the request's shape and the device's figures alone,
 * so the same request gives the same bits each time. */
struct rmcp_gemm_way {
    enum rmcp_form form;
    const struct rmcp_gemm_tile *tile;
    int64_t splits; /* workgroups that share one reduction; more than 1 needs workspace */
    double seconds; /* estimated */

    /* What follows from the above (rmcp_gemm_fit): terms of a part, whole slices; and the seconds
     * by which launches are cut. */
    int64_t share;
    double work_seconds;

    /* Zero but for a piece of a filter (algo/pieces.c): where its taps begin in the weights; its
     * first part in the workspace; and whether it leaves a part there also when unsplit. */
    int64_t first_tap, first_part;
    bool partial;
};

/* The fastest way by estimate: unsplit, or with two splits and more. */
struct rmcp_gemm_way rmcp_gemm_choose(const struct rmcp_request *request,
                                      const struct rmcp_gemm_products *products, bool split);

/* All tiles of that, with as many splits as may help, estimated. Returns how many. */
enum { RMCP_GEMM_MOST_WAYS = 96 };
size_t rmcp_gemm_list(const struct rmcp_request *request, const struct rmcp_gemm_products *products,
                      bool split, struct rmcp_gemm_way ways[static RMCP_GEMM_MOST_WAYS]);

/* Fit a way to the products of a request: those that it was chosen for, or of another piece. */
void rmcp_gemm_fit(const struct rmcp_request *request, const struct rmcp_gemm_products *products,
                   struct rmcp_gemm_way *way);

/* Bytes of workspace: an f32 copy of the output for each split, none unsplit; and arranged weights.
 */
uint64_t rmcp_gemm_workspace(const struct rmcp_convolution *conv, const struct rmcp_gemm_way *way);

/* Append the launches: of arrange.cl where the form needs it, of gemm.cl, and of reduce.cl when
 * split. */
rmcp_status rmcp_gemm_emit(const struct rmcp_request *request, const struct rmcp_gemm_way *way,
                           struct rmcp_launch_list *list);

#endif
