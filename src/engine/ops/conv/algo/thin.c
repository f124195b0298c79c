/* thin: the implicit matrix product for few rows: forward with few filters in a group, data
 * gradients of few channels. Each work-item has all rows of some pixels. */
#include "engine/ops/conv/gpu/thin.h"
#include "engine/ops/conv/conv.h"
#include "engine/ops/conv/gpu/shape.h"

enum { MOST_APART = 8 };

static const char *refuse(const struct rmcp_request *request)
{
    const struct rmcp_convolution *conv = request->problem;
    if (conv->pass == RMCP_CONV_BACKWARD_WEIGHTS) return "no weight gradients";
    if (rmcp_thin_rows(conv, RMCP_FORM_PHASES) > RMCP_THIN_MOST)
        return "more than 32 channels to write in a group";
    const int64_t channels = conv->pass == RMCP_CONV_FORWARD ? conv->c : conv->k;
    if (conv->layout == RMCP_NHWC && channels > MOST_APART)
        return "pixels that are read lie more than 8 elements apart";
    return rmcp_gemm_refuse(conv);
}

static double cost(const struct rmcp_request *request)
{
    return rmcp_thin_choose(request, RMCP_FORM_PHASES).seconds;
}

static rmcp_status emit(const struct rmcp_request *request, const struct rmcp_way *asked,
                        struct rmcp_launch_list *list)
{
    (void)asked;
    const struct rmcp_thin_way way = rmcp_thin_choose(request, RMCP_FORM_PHASES);
    return rmcp_thin_emit(request, &way, list);
}

const struct rmcp_algo rmcp_algo_conv_thin = {
    .name = "thin",
    .version = 2,
    .kind = RMCP_LAUNCH_KERNEL,
    .refuse = refuse,
    .cost = cost,
    .emit = emit,
};
