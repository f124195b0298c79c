/* strided: data gradients of strided convolutions, in the form that suits them
 * (engine/ops/conv/gpu/cells.h): where only one phase of the stride has taps, its product with
 * zeros around it; where channels are few, all inputs of a cell as rows of one product; else the
 * phases beside each other. Weights are first put in the order in which they are read. */
#include "engine/ops/conv/conv.h"
#include "engine/ops/conv/gpu/cells.h"
#include "engine/ops/conv/gpu/gemm.h"
#include "engine/ops/conv/gpu/shape.h"
#include "engine/ops/conv/gpu/thin.h"

/* One of the two. */
struct strided {
    bool thin;
    struct rmcp_gemm_way gemm;
    struct rmcp_thin_way few;
    double seconds; /* estimated; 0: there is none */
};

static void consider_gemm(const struct rmcp_request *request, enum rmcp_form form,
                          struct strided *best)
{
    enum { SHORTEST = 32 }; /* reduction that is worth splitting */
    const struct rmcp_convolution *conv = request->problem;
    struct rmcp_gemm_products products;
    rmcp_gemm_products_of(conv, form, &products);
    const bool splits = products.longest >= SHORTEST;
    for (int split = 0; split <= splits; split++) {
        const struct rmcp_gemm_way way = rmcp_gemm_choose(request, &products, split);
        if (rmcp_gemm_workspace(conv, &way) > request->caps->max_buffer_bytes) continue;
        if (!best->seconds || way.seconds < best->seconds)
            *best = (struct strided){ .gemm = way, .seconds = way.seconds };
    }
}

static void consider_thin(const struct rmcp_request *request, struct strided *best)
{
    const struct rmcp_convolution *conv = request->problem;
    const enum rmcp_form form = RMCP_FORM_CELLS;
    if (rmcp_thin_rows(conv, form) > RMCP_THIN_MOST_CELLS ||
        rmcp_arranged_bytes(conv, form) > request->caps->max_buffer_bytes)
        return;
    const struct rmcp_thin_way way = rmcp_thin_choose(request, form);
    if (!best->seconds || way.seconds < best->seconds)
        *best = (struct strided){ .thin = true, .few = way, .seconds = way.seconds };
}

static rmcp_status consider(const struct rmcp_request *request, struct rmcp_way *way)
{
    const struct rmcp_convolution *conv = request->problem;
    const enum rmcp_form form = rmcp_cells_lone(conv) ? RMCP_FORM_LONE : RMCP_FORM_TURNED;
    const char *reason = rmcp_cells_refuse(conv, form);
    if (reason) return rmcp_refuse(way, reason);
    struct strided *best = RMCP_CONV_WAY(way, struct strided);
    *best = (struct strided){ .seconds = 0 };
    consider_gemm(request, form, best);
    if (form == RMCP_FORM_TURNED && !rmcp_cells_refuse(conv, RMCP_FORM_CELLS)) {
        consider_gemm(request, RMCP_FORM_CELLS, best);
        consider_thin(request, best);
    }
    if (!best->seconds)
        return rmcp_refuse(way, "the workspace would exceed the device's largest buffer");
    way->seconds = best->seconds;
    way->workspace_bytes = best->thin ? rmcp_arranged_bytes(conv, best->few.form)
                                      : rmcp_gemm_workspace(conv, &best->gemm);
    return RMCP_OK;
}

static rmcp_status emit(const struct rmcp_request *request, const struct rmcp_way *way,
                        struct rmcp_launch_list *list)
{
    const struct strided *best = RMCP_CONV_WAY_CONST(way, struct strided);
    return best->thin ? rmcp_thin_emit(request, &best->few, list)
                      : rmcp_gemm_emit(request, &best->gemm, list);
}

const struct rmcp_algo rmcp_algo_conv_strided = {
    .name = "strided",
    .version = 1,
    .kind = RMCP_LAUNCH_KERNEL,
    .consider = consider,
    .emit = emit,
};
