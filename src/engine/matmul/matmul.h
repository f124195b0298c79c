/* matmul.h: matrix products for the algorithms of any operation: what they cost on a device, which
 * workspace they need, and their launches on the caller's own slots.
 *
 * An algorithm fills a struct rmcp_matmul, asks rmcp_matmul_refuse, _seconds and _workspace where
 * the planner asks it, and calls rmcp_matmul_emit from its emit. The same product on the same
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

/* NULL when the device can do it, else the reason. Static storage. */
const char *rmcp_matmul_refuse(const struct rmcp_matmul *p, const struct rmcp_caps *caps);

/* Estimated seconds of the fastest way on a device, its launches included. */
double rmcp_matmul_seconds(const struct rmcp_matmul *p, const struct rmcp_caps *caps);

/* Bytes of workspace that the launches will use; 0: none. */
uint64_t rmcp_matmul_workspace(const struct rmcp_matmul *p, const struct rmcp_caps *caps);

/* Append the launches. Their workspace is that of the plan from `workspace` bytes on, a multiple of
 * 256. Products one after the other in a list may share it. */
rmcp_status rmcp_matmul_emit(const struct rmcp_matmul *p, const struct rmcp_caps *caps,
                             uint64_t workspace, struct rmcp_launch_list *list);

/* ---- on the host ---- */

/* The same at once, on memory that the host has: slots are indices into `memory`, `workspace` is
 * where rmcp_matmul_workspace bytes are, which may be NULL when they are none. */
rmcp_status rmcp_matmul_run(const struct rmcp_matmul *p, const rmcp_memory *memory, void *workspace,
                            unsigned threads);

#endif
