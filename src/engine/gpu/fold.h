/* fold.h: launches that sum over streams of elements: parts by many workgroups, then their sums
 * (engine/kernels/fold.h). */
#ifndef RMCP_GPU_FOLD_H
#define RMCP_GPU_FOLD_H

#include "engine/gpu/stream.h"
#include "engine/kernels/fold_args.h"

/* A sum for each of `outputs`; streams are the elements of one of them. */
struct rmcp_folds {
    struct rmcp_streams streams; /* cut; launches after each other make parts of their own */
    int64_t outputs, parts;      /* parts of an output, of all launches                    */
    int64_t share;               /* chunks of a part                                       */
    int64_t step[RMCP_STREAMS];  /* elements between two outputs                           */
};

/* Set parts and share; streams, outputs and steps are set. */
void rmcp_folds_cut(struct rmcp_folds *folds, const struct rmcp_request *request);

const char *rmcp_folds_refuse(const struct rmcp_folds *folds);

/* Bytes of workspace: one f32 for each part. */
uint64_t rmcp_folds_workspace(const struct rmcp_folds *folds);

/* The launches of `stem`_sums, whose arguments are the tensors, the workspace, both structs and
 * `math`; and of `stem`_end, which writes scale * sum to the elements of `slot`, `step` apart. */
rmcp_status rmcp_folds_emit(const struct rmcp_folds *folds, struct rmcp_launch_list *list,
                            const char *stem, rmcp_type type, const void *math, size_t bytes);
rmcp_status rmcp_folds_end(const struct rmcp_folds *folds, struct rmcp_launch_list *list,
                           const char *stem, rmcp_type type, unsigned slot, int64_t step,
                           double scale);

/* Seconds of all of it. */
double rmcp_folds_cost(const struct rmcp_folds *folds, const struct rmcp_request *request);

#endif
