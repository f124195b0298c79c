/* strided: data gradients of strided convolutions, in the form that suits them
 * (engine/ops/conv/gpu/cells.h): where only one phase of the stride has taps, its product with
 * zeros around it; where channels are few, all inputs of a cell as rows of one product; else the
 * phases beside each other. Weights are first put in the order in which they are read. */
#include "engine/ops/conv/conv.h"
#include "engine/ops/conv/gpu/cells.h"
#include "engine/ops/conv/gpu/gemm.h"
#include "engine/ops/conv/gpu/last.h"
#include "engine/ops/conv/gpu/shape.h"
#include "engine/ops/conv/gpu/thin.h"

/* One of the two. */
struct way {
    bool thin;
    struct rmcp_gemm_way gemm;
    struct rmcp_thin_way few;
    double seconds; /* estimated; 0: there is none */
};

static void consider_gemm(const struct rmcp_request *request, enum rmcp_form form, struct way *best)
{
    enum { SHORTEST = 32 }; /* reduction that is worth splitting */
    const struct rmcp_convolution *conv = request->problem;
    if (rmcp_cells_refuse(conv, form)) return;
    const bool splits = rmcp_gemm_reduction(conv, form) >= SHORTEST;
    for (int split = 0; split <= splits; split++) {
        const struct rmcp_gemm_way way = rmcp_gemm_choose(request, form, split);
        if (rmcp_gemm_workspace(conv, &way) > request->caps->max_buffer_bytes) continue;
        if (!best->seconds || way.seconds < best->seconds)
            *best = (struct way){ .gemm = way, .seconds = way.seconds };
    }
}

static void consider_thin(const struct rmcp_request *request, struct way *best)
{
    const struct rmcp_convolution *conv = request->problem;
    const enum rmcp_form form = RMCP_FORM_CELLS;
    if (rmcp_cells_refuse(conv, form) || rmcp_thin_rows(conv, form) > RMCP_THIN_MOST_CELLS ||
        rmcp_arranged_bytes(conv, form) > request->caps->max_buffer_bytes)
        return;
    const struct rmcp_thin_way way = rmcp_thin_choose(request, form);
    if (!best->seconds || way.seconds < best->seconds)
        *best = (struct way){ .thin = true, .few = way, .seconds = way.seconds };
}

static struct way choose_anew(const struct rmcp_request *request)
{
    struct way best = { .seconds = 0 };
    if (!rmcp_cells_refuse(request->problem, RMCP_FORM_LONE)) {
        consider_gemm(request, RMCP_FORM_LONE, &best);
        return best;
    }
    consider_gemm(request, RMCP_FORM_TURNED, &best);
    consider_gemm(request, RMCP_FORM_CELLS, &best);
    consider_thin(request, &best);
    return best;
}

static struct way choose(const struct rmcp_request *request)
{
    static _Thread_local struct rmcp_last last;
    static _Thread_local struct way way;
    if (!rmcp_last_is(&last, request)) way = choose_anew(request);
    return way;
}

static const char *refuse(const struct rmcp_request *request)
{
    const struct rmcp_convolution *conv = request->problem;
    const enum rmcp_form form = rmcp_cells_lone(conv) ? RMCP_FORM_LONE : RMCP_FORM_TURNED;
    const char *reason = rmcp_cells_refuse(conv, form);
    if (reason) return reason;
    return choose(request).seconds > 0 ? NULL
                                       : "the workspace would exceed the device's largest buffer";
}

static double cost(const struct rmcp_request *request)
{
    return choose(request).seconds;
}

static rmcp_status workspace(const struct rmcp_request *request, uint64_t *bytes)
{
    const struct way way = choose(request);
    *bytes = way.thin ? rmcp_arranged_bytes(request->problem, way.few.form)
                      : rmcp_gemm_workspace(request->problem, &way.gemm);
    return RMCP_OK;
}

static rmcp_status emit(const struct rmcp_request *request, const struct rmcp_way *asked,
                        struct rmcp_launch_list *list)
{
    (void)asked;
    const struct way way = choose(request);
    return way.thin ? rmcp_thin_emit(request, &way.few, list)
                    : rmcp_gemm_emit(request, &way.gemm, list);
}

const struct rmcp_algo rmcp_algo_conv_strided = {
    .name = "strided",
    .version = 1,
    .kind = RMCP_LAUNCH_KERNEL,
    .refuse = refuse,
    .cost = cost,
    .workspace = workspace,
    .emit = emit,
};
