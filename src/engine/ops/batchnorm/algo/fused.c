/* fused: one launch; each workgroup has whole channels, and finds them in its cache the second
 * time. */
#include "engine/ops/batchnorm/gpu.h"

static const char *refuse(const struct rmcp_request *request)
{
    enum { MOST_ELEMENTS = 1 << 14 }; /* of a work-item: a few ms at the most */
    if (rmcp_norm_of(request)->pass == RMCP_BATCHNORM_INFER)
        return "inference is one launch anyway";
    const char *reason = rmcp_norm_refuse(request, RMCP_NORM_WHOLE);
    if (reason) return reason;
    if (rmcp_norm_divide(request, RMCP_NORM_WHOLE).elements > MOST_ELEMENTS)
        return "too many elements of a channel for one workgroup";
    return NULL;
}

static double cost(const struct rmcp_request *request)
{
    const struct rmcp_norm *norm = rmcp_norm_of(request);
    const struct rmcp_norm_division d = rmcp_norm_divide(request, RMCP_NORM_WHOLE);
    const bool backward = norm->pass == RMCP_BATCHNORM_BACKWARD;
    const double passes = backward ? (rmcp_norm_computes(norm) ? 5 : 4) : 2;
    return rmcp_norm_seconds(request, &d, passes) + request->caps->launch_seconds;
}

static struct rmcp_norm_memory slot(unsigned number, bool used)
{
    return (struct rmcp_norm_memory){ used ? number : RMCP_NORM_SCALE, 0 };
}

static rmcp_status emit(const struct rmcp_request *request, const struct rmcp_way *way,
                        struct rmcp_launch_list *list)
{
    (void)way;
    const struct rmcp_norm *norm = rmcp_norm_of(request);
    const struct rmcp_norm_division d = rmcp_norm_divide(request, RMCP_NORM_WHOLE);
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
               ? rmcp_norm_append(request, &d, "train", train, 8, false, list)
               : rmcp_norm_append(request, &d, "backward", backward, 9, false, list);
}

const struct rmcp_algo rmcp_algo_batchnorm_fused = {
    .name = "fused",
    .version = 2,
    .kind = RMCP_LAUNCH_KERNEL,
    .refuse = refuse,
    .cost = cost,
    .emit = emit,
};
