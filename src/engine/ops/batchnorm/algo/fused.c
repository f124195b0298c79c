/* fused: one launch; each workgroup has whole channels, and finds them in its cache the second
 * time. */
#include "engine/ops/batchnorm/gpu.h"

static rmcp_status consider(const struct rmcp_request *request, struct rmcp_way *way)
{
    enum { MOST_ELEMENTS = 1 << 14 }; /* of a work-item: a few ms at the most */
    const struct rmcp_norm *norm = rmcp_norm_of(request);
    struct rmcp_norm_division *d = RMCP_WAY_DETAILS(way, struct rmcp_norm_division);
    if (norm->pass == RMCP_BATCHNORM_INFER)
        return rmcp_refuse(way, "inference is one launch anyway");
    const char *why = rmcp_norm_refuse(request, RMCP_NORM_WHOLE, d);
    if (why) return rmcp_refuse(way, why);
    if (d->elements > MOST_ELEMENTS)
        return rmcp_refuse(way, "too many elements of a channel for one workgroup");
    const bool backward = norm->pass == RMCP_BATCHNORM_BACKWARD;
    const double passes = backward ? (rmcp_norm_computes(norm) ? 5 : 4) : 2;
    way->seconds = rmcp_norm_seconds(request, d, passes) + request->caps->launch_seconds;
    return RMCP_OK;
}

static struct rmcp_norm_memory slot(unsigned number, bool used)
{
    return (struct rmcp_norm_memory){ used ? number : RMCP_NORM_SCALE, 0 };
}

static rmcp_status emit(const struct rmcp_request *request, const struct rmcp_way *way,
                        struct rmcp_launch_list *list)
{
    const struct rmcp_norm *norm = rmcp_norm_of(request);
    const struct rmcp_norm_division *d = RMCP_WAY_DETAILS_CONST(way, struct rmcp_norm_division);
    const bool runs = rmcp_norm_runs(norm), saves = rmcp_norm_saves(norm);
    const bool biased = rmcp_norm_biased(norm);
    const struct rmcp_norm_memory train[] = {
        slot(RMCP_NORM_X, true),
        slot(RMCP_NORM_Y, true),
        slot(RMCP_NORM_SCALE, true),
        slot(RMCP_NORM_BIAS, true),
        slot(RMCP_NORM_RUNNING_MEAN, runs),
        slot(RMCP_NORM_RUNNING_VARIANCE, runs),
        slot(RMCP_NORM_SAVED_MEAN, saves),
        slot(RMCP_NORM_SAVED_INVERSE, saves),
    };
    const struct rmcp_norm_memory backward[] = {
        slot(RMCP_NORM_X, true),
        slot(RMCP_NORM_DY, true),
        slot(RMCP_NORM_DX, true),
        slot(RMCP_NORM_SCALE, true),
        slot(RMCP_NORM_BIAS, biased),
        slot(RMCP_NORM_SAVED_MEAN, saves),
        slot(RMCP_NORM_SAVED_INVERSE, saves),
        slot(RMCP_NORM_DSCALE, true),
        slot(RMCP_NORM_DBIAS, true),
    };
    return norm->pass == RMCP_BATCHNORM_TRAIN
               ? rmcp_norm_append(request, d, "train", train, 8, false, list)
               : rmcp_norm_append(request, d, "backward", backward, 9, false, list);
}

const struct rmcp_algo rmcp_algo_batchnorm_fused = {
    .name = "fused",
    .version = 2,
    .kind = RMCP_LAUNCH_KERNEL,
    .consider = consider,
    .emit = emit,
};
