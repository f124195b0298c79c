/* gpu.h: what batch normalisation's GPU algorithms share: how a problem is divided among
 * workgroups, and launches of its kernels. */
#ifndef RMCP_OPS_BATCHNORM_GPU_H
#define RMCP_OPS_BATCHNORM_GPU_H

#include "engine/ops/batchnorm/batchnorm.h"
#include "engine/ops/batchnorm/kernels/args.h"

/* How a problem is divided. It follows from the shape and the device's figures alone, so the same
 * request gives the same bits each time. */
struct rmcp_norm_division {
    bool columns;           /* neighbours in memory belong to different parameters       */
    int64_t groups, splits; /* workgroups: over parameters, and over the elements of each */
    int64_t share;          /* elements of a parameter, or rows, that one workgroup takes */
    int64_t elements;       /* that a work-item takes, at the most                        */
    struct rmcp_norm_rows row_args;
    struct rmcp_norm_columns column_args;
};

/* Whether several workgroups may share the elements of a parameter, and what for: parts of sums
 * cost something at the end of each, values do not. */
enum rmcp_norm_split { RMCP_NORM_WHOLE, RMCP_NORM_SUMS, RMCP_NORM_VALUES };
struct rmcp_norm_division rmcp_norm_divide(const struct rmcp_request *request,
                                           enum rmcp_norm_split split);

/* The same where the kernels can do a problem so divided: NULL, else the reason why not. */
const char *rmcp_norm_refuse(const struct rmcp_request *request, enum rmcp_norm_split split,
                             struct rmcp_norm_division *division);

/* Estimated seconds of one read or write of everything: `passes` over `bytes` in workgroups so
 * divided, the last of which may leave units idle. */
double rmcp_norm_seconds(const struct rmcp_request *request,
                         const struct rmcp_norm_division *division, double passes);

/* A memory argument: a slot and the bytes from its beginning. */
struct rmcp_norm_memory {
    unsigned slot;
    uint64_t offset;
};

/* Append launches of kernel batchnorm_<rows or columns>_<stem>: memory arguments, the struct of the
 * division and, for kernels that leave parts behind, the number of splits. */
rmcp_status rmcp_norm_append(const struct rmcp_request *request,
                             const struct rmcp_norm_division *division, const char *stem,
                             const struct rmcp_norm_memory *memory, size_t n_memory, bool parts,
                             struct rmcp_launch_list *list);

/* The same for batchnorm_<stem>, which merges parts. */
rmcp_status rmcp_norm_append_finish(const struct rmcp_request *request,
                                    const struct rmcp_norm_division *division, const char *stem,
                                    const struct rmcp_norm_memory *memory, size_t n_memory,
                                    struct rmcp_launch_list *list);

#endif
