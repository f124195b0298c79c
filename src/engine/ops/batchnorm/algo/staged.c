/* staged: statistics of parts by as many workgroups as the device needs, a small launch that merges
 * them, then the values; inference needs the last alone. */
#include "engine/figures/figures.h"
#include "engine/ops/batchnorm/gpu.h"

/* The workspace, in arrays of params floats: means, inverses, products, then parts. */
enum { MEANS, INVERSES, PRODUCTS, PARTS, FIGURES = 4 };

static struct rmcp_norm_memory scratch(const struct rmcp_norm *norm, int array)
{
    return (struct rmcp_norm_memory){ RMCP_SLOT_WORKSPACE,
                                      (uint64_t)array * (uint64_t)norm->params * sizeof(float) };
}

static struct rmcp_norm_memory slot(unsigned number)
{
    return (struct rmcp_norm_memory){ number, 0 };
}

static unsigned n_launches(const struct rmcp_norm *norm)
{
    if (norm->pass == RMCP_BATCHNORM_INFER) return 1;
    return norm->pass == RMCP_BATCHNORM_BACKWARD && rmcp_norm_computes(norm) ? 5 : 3;
}

struct staged_way {
    struct rmcp_norm_division sums, values;
};

static rmcp_status consider(const struct rmcp_request *request, struct rmcp_way *way)
{
    const struct rmcp_norm *norm = rmcp_norm_of(request);
    const struct rmcp_caps *caps = request->caps;
    struct staged_way *mine = RMCP_WAY_DETAILS(way, struct staged_way);
    const char *why = rmcp_norm_refuse(request, RMCP_NORM_SUMS, &mine->sums);
    if (!why) why = rmcp_norm_refuse(request, RMCP_NORM_VALUES, &mine->values);
    if (why) return rmcp_refuse(way, why);
    const unsigned launches = n_launches(norm);
    /* A launch that merges waits for others and is waited for. */
    const double merging = rmcp_figure(caps, RMCP_FIGURE_BATCHNORM_MERGE);
    way->seconds = rmcp_norm_seconds(request, &mine->values, (launches + 1) / 2) +
                   launches / 2 * merging + launches * caps->launch_seconds;
    const uint64_t arrays = PARTS + FIGURES * (uint64_t)mine->sums.splits;
    way->workspace_bytes =
        norm->pass == RMCP_BATCHNORM_INFER ? 0 : arrays * (uint64_t)norm->params * sizeof(float);
    return RMCP_OK;
}

static rmcp_status emit_statistics(const struct rmcp_request *request,
                                   const struct rmcp_norm_division *d,
                                   struct rmcp_launch_list *list)
{
    const struct rmcp_norm *norm = rmcp_norm_of(request);
    const struct rmcp_norm_memory parts = scratch(norm, PARTS), unused = scratch(norm, MEANS);
    const struct rmcp_norm_memory first[] = { slot(RMCP_NORM_X), parts };
    rmcp_status status = rmcp_norm_append(request, d, "stats", first, 2, true, list);
    if (status) return status;
    const bool runs = rmcp_norm_runs(norm), saves = rmcp_norm_saves(norm);
    const struct rmcp_norm_memory second[] = {
        parts,
        scratch(norm, MEANS),
        scratch(norm, INVERSES),
        runs ? slot(RMCP_NORM_RUNNING_MEAN) : unused,
        runs ? slot(RMCP_NORM_RUNNING_VARIANCE) : unused,
        saves ? slot(RMCP_NORM_SAVED_MEAN) : unused,
        saves ? slot(RMCP_NORM_SAVED_INVERSE) : unused,
    };
    return rmcp_norm_append_finish(request, d, "batchnorm_finish_stats", second, 7, list);
}

static rmcp_status emit_values(const struct rmcp_request *request,
                               const struct rmcp_norm_division *d, struct rmcp_launch_list *list)
{
    const struct rmcp_norm *norm = rmcp_norm_of(request);
    const bool infer = norm->pass == RMCP_BATCHNORM_INFER;
    const struct rmcp_norm_memory memory[] = {
        slot(RMCP_NORM_X),
        slot(RMCP_NORM_Y),
        slot(RMCP_NORM_SCALE),
        slot(RMCP_NORM_BIAS),
        infer ? slot(RMCP_NORM_RUNNING_MEAN) : scratch(norm, MEANS),
        infer ? slot(RMCP_NORM_RUNNING_VARIANCE) : scratch(norm, INVERSES),
    };
    return rmcp_norm_append(request, d, "apply", memory, 6, false, list);
}

static rmcp_status emit_gradients(const struct rmcp_request *request,
                                  const struct rmcp_norm_division *sums,
                                  const struct rmcp_norm_division *values,
                                  struct rmcp_launch_list *list)
{
    const struct rmcp_norm *norm = rmcp_norm_of(request);
    const bool saved = rmcp_norm_saves(norm);
    const struct rmcp_norm_memory x = slot(RMCP_NORM_X), dy = slot(RMCP_NORM_DY);
    const struct rmcp_norm_memory scale = slot(RMCP_NORM_SCALE), parts = scratch(norm, PARTS);
    const struct rmcp_norm_memory bias = rmcp_norm_biased(norm) ? slot(RMCP_NORM_BIAS) : scale;
    const struct rmcp_norm_memory means = saved ? slot(RMCP_NORM_SAVED_MEAN) : scratch(norm, MEANS);
    const struct rmcp_norm_memory inverses =
        saved ? slot(RMCP_NORM_SAVED_INVERSE) : scratch(norm, INVERSES);
    const struct rmcp_norm_memory products = scratch(norm, PRODUCTS);
    const struct rmcp_norm_memory dbias = slot(RMCP_NORM_DBIAS);

    const struct rmcp_norm_memory first[] = { x, dy, scale, bias, means, inverses, parts };
    const struct rmcp_norm_memory second[] = { parts, inverses, slot(RMCP_NORM_DSCALE), dbias,
                                               products };
    const struct rmcp_norm_memory third[] = { x,        dy,    slot(RMCP_NORM_DX),
                                              scale,    bias,  means,
                                              inverses, dbias, products };
    rmcp_status status = rmcp_norm_append(request, sums, "sums", first, 7, true, list);
    if (!status)
        status = rmcp_norm_append_finish(request, sums, "batchnorm_finish_sums", second, 5, list);
    return status ? status : rmcp_norm_append(request, values, "dx", third, 9, false, list);
}

static rmcp_status emit(const struct rmcp_request *request, const struct rmcp_way *way,
                        struct rmcp_launch_list *list)
{
    const struct rmcp_norm *norm = rmcp_norm_of(request);
    const struct staged_way *mine = RMCP_WAY_DETAILS_CONST(way, struct staged_way);
    rmcp_status status =
        rmcp_norm_computes(norm) ? emit_statistics(request, &mine->sums, list) : RMCP_OK;
    if (status) return status;
    return norm->pass == RMCP_BATCHNORM_BACKWARD
               ? emit_gradients(request, &mine->sums, &mine->values, list)
               : emit_values(request, &mine->values, list);
}

const struct rmcp_algo rmcp_algo_batchnorm_staged = {
    .name = "staged",
    .version = 2,
    .kind = RMCP_LAUNCH_KERNEL,
    .consider = consider,
    .emit = emit,
};
