/* fold.c: launches that sum over streams of elements. */
#include "engine/gpu/fold.h"

#include "base/round.h"
#include "engine/gpu/launch.h"

#include <stdio.h>

enum { THREADS = 256, LEAST = 4 * THREADS /* chunks of a part */, MOST_PARTS = 1024, GROUPS = 16 };

/* Chunks of the largest launch, with one more for each row: rows may begin anywhere. */
static int64_t chunks_of(const struct rmcp_streams *streams)
{
    const unsigned inner = streams->n_loops - 1;
    int64_t rows = 1;
    for (unsigned i = 0; i < inner; i++) rows *= streams->block[i];
    return rows * (rmcp_ceil_divide(streams->block[inner], streams->lanes) + 1);
}

void rmcp_folds_cut(struct rmcp_folds *folds, const struct rmcp_request *request)
{
    rmcp_streams_cut(&folds->streams, request);
    const int64_t chunks = chunks_of(&folds->streams);
    int64_t most = (int64_t)request->caps->compute_units * GROUPS / folds->outputs;
    most = most < 1 ? 1 : most > MOST_PARTS ? MOST_PARTS : most;
    folds->share = rmcp_ceil_divide(rmcp_ceil_divide(chunks, most), THREADS) * THREADS;
    if (folds->share < LEAST) folds->share = LEAST;
    folds->parts = rmcp_ceil_divide(chunks, folds->share) * folds->streams.launches;
}

const char *rmcp_folds_refuse(const struct rmcp_folds *folds)
{
    if (folds->outputs > 65535) return "more than 65535 sums";
    for (unsigned t = 0; t < folds->streams.n; t++)
        if (folds->outputs * folds->step[t] >= INT64_C(1) << 31)
            return "tensors that reach beyond 2^31 elements";
    return rmcp_streams_refuse(&folds->streams);
}

uint64_t rmcp_folds_workspace(const struct rmcp_folds *folds)
{
    return (uint64_t)folds->outputs * (uint64_t)folds->parts * sizeof(float);
}

rmcp_status rmcp_folds_emit(const struct rmcp_folds *folds, struct rmcp_launch_list *list,
                            const char *stem, rmcp_type type, const void *math, size_t bytes)
{
    const int64_t each = folds->parts / folds->streams.launches;
    char name[48];
    snprintf(name, sizeof name, "%s_sums", stem);
    for (int64_t i = 0; i < folds->streams.launches; i++) {
        struct rmcp_stream_launch launch;
        const rmcp_status status =
            rmcp_streams_append(&folds->streams, i, list, name, type, &launch);
        if (status) return status;
        struct rmcp_fold fold = { .share = (unsigned)folds->share,
                                  .part = (unsigned)(i * each),
                                  .parts = (unsigned)folds->parts };
        for (unsigned t = 0; t < folds->streams.n; t++) fold.step[t] = (unsigned)folds->step[t];
        launch.kernel->grid[0] = (uint32_t)each;
        launch.kernel->grid[1] = (uint32_t)folds->outputs;
        rmcp_arg_memory(launch.kernel, RMCP_SLOT_WORKSPACE, 0);
        rmcp_arg_value(launch.kernel, &launch.args, sizeof launch.args);
        rmcp_arg_value(launch.kernel, &fold, sizeof fold);
        rmcp_arg_value(launch.kernel, math, bytes);
    }
    return RMCP_OK;
}

rmcp_status rmcp_folds_end(const struct rmcp_folds *folds, struct rmcp_launch_list *list,
                           const char *stem, rmcp_type type, unsigned slot, int64_t step,
                           double scale)
{
    const struct rmcp_fold_end end = { .parts = (unsigned)folds->parts,
                                       .step = (unsigned)step,
                                       .scale = (float)scale };
    struct rmcp_kernel_launch *launch = NULL;
    char name[48];
    snprintf(name, sizeof name, "%s_end", stem);
    const rmcp_status status =
        rmcp_kernel_append(list, name, type, "", folds->outputs * THREADS, &launch);
    if (status) return status;
    rmcp_arg_memory(launch, RMCP_SLOT_WORKSPACE, 0);
    rmcp_arg_memory(launch, slot, 0);
    rmcp_arg_value(launch, &end, sizeof end);
    return RMCP_OK;
}

double rmcp_folds_cost(const struct rmcp_folds *folds, const struct rmcp_request *request)
{
    return rmcp_streams_cost(&folds->streams, request) + request->caps->launch_seconds;
}
