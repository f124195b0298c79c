/* args.h: what the kernels of attention take by value, and the numbers of its factors, the same
 * text for C and for OpenCL C. */
#ifndef RMCP_OPS_ATTENTION_KERNELS_ARGS_H
#define RMCP_OPS_ATTENTION_KERNELS_ARGS_H

#include "engine/kernels/args.h"

/* What inputs are multiplied by as they are read. */
#define RMCP_ATT_FROM_Q 0
#define RMCP_ATT_FROM_K 1
#define RMCP_ATT_FROM_V 2
#define RMCP_ATT_FROM_S 3 /* the weights, after the product with them */
#define RMCP_ATT_FROM_DO 4
#define RMCP_ATT_FROM_DS 5 /* their gradients, after the products      */
/* What is multiplied as it is written. */
#define RMCP_ATT_TO_S 6
#define RMCP_ATT_TO_O 7
#define RMCP_ATT_TO_DS 8
#define RMCP_ATT_TO_DQ 9
#define RMCP_ATT_TO_DK 10
#define RMCP_ATT_TO_DV 11
#define RMCP_ATT_DROP 12 /* the share of weights that become 0: none below, all above 0 to 1 */
#define RMCP_ATT_N_FACTORS 13

struct rmcp_att_args {
    unsigned queries, keys;
    unsigned causal, bias, saved, scaled;
    unsigned first; /* row of the problem where this launch's scores begin */
    float scale;    /* of scores, for the largest gradient                  */
};

/* A result: from * factor[left] * factor[right], written times factor[to]. */
struct rmcp_att_result {
    rmcp_long count;
    unsigned left, right, to;
};
#define RMCP_ATT_RESULTS 1024 /* elements for each workgroup */

#endif
