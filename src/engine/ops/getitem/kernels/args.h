/* args.h: what the kernels of getitem's gradient take by value, the same text for C and OpenCL C.
 */
#ifndef RMCP_GETITEM_KERNELS_ARGS_H
#define RMCP_GETITEM_KERNELS_ARGS_H

#include "engine/kernels/args.h"

#define RMCP_GETITEM_INDICES 5

/* targets.cl and links.cl: where in dx each of `count` indices leads to, in elements; and how those
 * that lead to the same place follow each other. */
struct rmcp_getitem_targets {
    unsigned count, n_indices;
    struct {
        int size;                     /* of the dimension                     */
        unsigned stride, step, error; /* of dx; of the indices; of the errors */
    } index[RMCP_GETITEM_INDICES];
};

/* add.cl */
struct rmcp_getitem_add {
    unsigned elements;         /* of dy                                                       */
    unsigned n_loops, indexed; /* loops over dy, fastest first; which of them counts indices  */
    struct {
        struct rmcp_divider size;
        unsigned dy, dx; /* elements between two turns */
    } loop[5];
    unsigned next; /* elements of dy between two indices */
};

#endif
