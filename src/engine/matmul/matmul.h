/* matmul.h: matrix products for the algorithms of any operation: what they cost on a device, which
 * workspace they need, and their launches on the caller's own slots.
 *
 * An algorithm fills a struct rmcp_matmul for each of its products, calls rmcp_matmul_consider
 * where the planner asks it, and rmcp_matmul_emit from its emit. The same product on the same
 * device always gives the same launches, and the same bits. */
#ifndef RMCP_MATMUL_MATMUL_H
#define RMCP_MATMUL_MATMUL_H

#include "engine/core/algo.h"

/* Where a matrix lies. Lines are its rows, or its columns when it is stored transposed; neighbours
 * in a line are neighbours in memory. */
struct rmcp_matrix {
    unsigned slot;
    uint64_t offset; /* bytes behind the slot's beginning                              */
    int64_t pitch;   /* elements between lines                                         */
    int64_t stride;  /* elements between the matrices of a batch; a and b: 0 is shared */
    bool transposed; /* never c                                                        */
};

enum rmcp_matmul_bias { RMCP_MATMUL_NO_BIAS, RMCP_MATMUL_ROW_BIAS, RMCP_MATMUL_COLUMN_BIAS };

/* c[i] = activation(alpha * a[i] b[i] + beta * c[i] + bias) for each i of the batch, where a is m x
 * k, b is k x n and c is m x n, all of one type; sums are in f32. With beta 0 c is not read; with k
 * or alpha 0 a and b are not. c overlaps nothing else, and its matrices not each other. */
struct rmcp_matmul {
    rmcp_type type;
    int64_t batch, m, n, k; /* any may be 0 */
    struct rmcp_matrix a, b, c;
    float alpha, beta;
    enum rmcp_matmul_bias
        bias; /* one for each row or each column of c, the same for all of a batch */
    unsigned bias_slot;
    uint64_t bias_offset;
    rmcp_activation activation;
    float slope, low, high;
};

/* Which kernels. Each follows from the product and the device's figures alone. */
enum rmcp_matmul_family {
    RMCP_MATMUL_TILED,   /* matmul.cl, each sum by one workgroup                              */
    RMCP_MATMUL_SPLIT,   /* matmul.cl, several workgroups a sum, and matmul_finish.cl after it */
    RMCP_MATMUL_THIN,    /* matmul_thin.cl, and matmul_finish.cl when that pays                */
    RMCP_MATMUL_FAMILIES /* their number; all of them */
};

/* How a GPU computes one (ways.h). */
struct rmcp_matmul_way {
    enum rmcp_matmul_family family;
    const struct rmcp_matmul_tile_kind *tile; /* NULL: thin                                 */
    int64_t few;                              /* thin: lines of a workgroup                  */
    bool turned;                              /* thin: b has the few lines, not a            */
    int64_t splits, share;                    /* parts of the reduction, and terms of one    */
    double seconds;                           /* estimated                                   */
};

/* What the way of a product follows from, and the ways of the first few of these, for the
 * algorithm's own part of its way: many products of a plan are alike. Zero: none is known. */
struct rmcp_matmul_shape {
    int64_t batch, m, n, k, pitch[3], stride[3];
    uint32_t type, flags;
};
enum { RMCP_MATMUL_KNOWN = 6 };
struct rmcp_matmul_known {
    unsigned count;
    struct rmcp_matmul_shape shape[RMCP_MATMUL_KNOWN];
    struct rmcp_matmul_way way[RMCP_MATMUL_KNOWN];
};

/* What a product takes on a device: why it cannot be (static storage) or NULL; seconds of the
 * fastest way, its launches included; bytes of workspace that these will use. */
struct rmcp_matmul_cost {
    const char *refusal;
    double seconds;
    uint64_t workspace_bytes;
};
struct rmcp_matmul_cost rmcp_matmul_consider(const struct rmcp_matmul *p,
                                             const struct rmcp_caps *caps,
                                             struct rmcp_matmul_known *known);

/* Append the launches. Their workspace is that of the plan from `workspace` bytes on, a multiple of
 * 256. Products one after the other in a list may share it. */
rmcp_status rmcp_matmul_emit(const struct rmcp_matmul *p, const struct rmcp_caps *caps,
                             const struct rmcp_matmul_known *known, uint64_t workspace,
                             struct rmcp_launch_list *list);

/* ---- on the host ---- */

/* The same at once, on memory that the host has: slots are indices into `memory`, `workspace` is
 * where rmcp_matmul_host_workspace bytes are, which may be NULL when they are none. */
rmcp_status rmcp_matmul_run(const struct rmcp_matmul *p, const rmcp_memory *memory, void *workspace,
                            unsigned threads);

#endif
