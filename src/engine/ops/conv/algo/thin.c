/* thin: the implicit matrix product for few rows: forward with few filters in a group, data
 * gradients of few channels. Each work-item has all rows of some pixels. */
#include "engine/ops/conv/gpu/thin.h"
#include "engine/ops/conv/conv.h"
#include "engine/ops/conv/gpu/shape.h"

enum { MOST_APART = 8 };

static rmcp_status consider(const struct rmcp_request *request, struct rmcp_way *way)
{
    const struct rmcp_convolution *conv = request->problem;
    if (conv->pass == RMCP_CONV_BACKWARD_WEIGHTS) return rmcp_refuse(way, "no weight gradients");
    if (rmcp_thin_rows(conv, RMCP_FORM_PHASES) > RMCP_THIN_MOST)
        return rmcp_refuse(way, "more than 32 channels to write in a group");
    const int64_t channels = conv->pass == RMCP_CONV_FORWARD ? conv->c : conv->k;
    if (conv->layout == RMCP_NHWC && channels > MOST_APART)
        return rmcp_refuse(way, "pixels that are read lie more than 8 elements apart");
    const char *reason = rmcp_gemm_refuse(conv);
    if (reason) return rmcp_refuse(way, reason);
    struct rmcp_thin_way *thin = RMCP_CONV_WAY(way, struct rmcp_thin_way);
    *thin = rmcp_thin_choose(request, RMCP_FORM_PHASES);
    way->seconds = thin->seconds;
    return RMCP_OK;
}

static rmcp_status emit(const struct rmcp_request *request, const struct rmcp_way *way,
                        struct rmcp_launch_list *list)
{
    return rmcp_thin_emit(request, RMCP_CONV_WAY_CONST(way, struct rmcp_thin_way), list);
}

const struct rmcp_algo rmcp_algo_conv_thin = {
    .name = "thin",
    .version = 2,
    .kind = RMCP_LAUNCH_KERNEL,
    .consider = consider,
    .emit = emit,
};
