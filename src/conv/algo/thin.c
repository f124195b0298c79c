/* thin: the implicit matrix product for few rows: forward with few filters in a group, data
 * gradients of few channels. Each work-item has all rows of some pixels. */
#include "conv/conv.h"
#include "conv/gpu/shape.h"

#include <math.h>
#include <stdio.h>

enum { MOST_ROWS = 32, THREADS = 128, MOST_APART = 8 };

/* A way to compute a request: rows and pixels that a work-item of thin.cl has. */
struct way {
    int64_t rows, pixels;
    double seconds; /* estimated */
};

static int64_t rows_of(const struct rmcp_convolution *conv)
{
    return conv->pass == RMCP_CONV_BACKWARD_DATA ? conv->group_c : conv->group_k;
}

static const char *refuse(const struct rmcp_request *request)
{
    const struct rmcp_convolution *conv = request->problem;
    if (conv->pass == RMCP_CONV_BACKWARD_WEIGHTS) return "no weight gradients";
    if (rows_of(conv) > MOST_ROWS) return "more than 32 channels to write in a group";
    const int64_t channels = conv->pass == RMCP_CONV_FORWARD ? conv->c : conv->k;
    if (conv->layout == RMCP_NHWC && channels > MOST_APART)
        return "pixels that are read lie more than 8 elements apart";
    return rmcp_gemm_refuse(conv);
}

static int64_t tiles_of(const struct rmcp_gemm *g, const struct way *way)
{
    const int64_t columns = THREADS * way->pixels;
    return (g->columns + columns - 1) / columns;
}

/* Instructions for each pixel: to find and store it, and for each step of its reduction a load with
 * its address (and tests for padding), its part of the loads from local memory, and a
 * multiplication a row. And the time in which few workgroups wait for their loads: four or eight
 * steps at once, and first for all rows on their way to local memory. */
static double compute_seconds(const struct rmcp_request *request, const struct way *way)
{
    const double efficiency = way->rows == MOST_ROWS ? 0.36 : 0.48;
    const double seconds_each = 600e-9 / (way->pixels == 1 ? 8 : 4), fill = 80e-9;
    const struct rmcp_convolution *conv = request->problem;
    const struct rmcp_caps *caps = request->caps;
    const double units = caps->compute_units ? caps->compute_units : 1;
    const double rows = (double)way->rows, pixels = (double)way->pixels;
    double groups = 0, instructions = 0, longest = 0;
    for (int64_t phase = 0; phase < rmcp_gemm_phases(conv); phase++) {
        struct rmcp_gemm g;
        if (!rmcp_gemm_init(&g, conv, phase)) continue;
        const double n = (double)(tiles_of(&g, way) * conv->groups);
        const double step = (g.padded ? 7 : 3) + (1 + rows / 4) / pixels + rows;
        groups += n;
        instructions += n * THREADS * (pixels * (100 + 3 * rows + g.reduction * step) + 100);
        /* Phases with a launch of their own wait one after the other. */
        longest = rmcp_gemm_launches(conv) > 1 ? longest + g.reduction : fmax(longest, g.reduction);
    }
    const double filled = groups / (ceil(groups / units) * units); /* the last round's units idle */
    return hypot(instructions / (efficiency * filled * caps->flops_per_second / 2),
                 longest * seconds_each + rows * fill); /* each hides some of the other */
}

/* The faster one of many pixels a work-item, which share what comes from local memory, and one,
 * which fills a device with few pixels. */
static struct way choose(const struct rmcp_request *request)
{
    static const int64_t sizes[][2] = { { 4, 4 }, { 8, 4 }, { 16, 4 }, { MOST_ROWS, 2 } };
    const int64_t(*size)[2] = sizes;
    while ((*size)[0] < rows_of(request->problem)) size++;
    struct way many = { (*size)[0], (*size)[1], 0 }, one = { (*size)[0], 1, 0 };
    many.seconds = compute_seconds(request, &many);
    one.seconds = compute_seconds(request, &one);
    struct way best = one.seconds < many.seconds ? one : many;
    /* Each element of a sector is fetched by itself. */
    best.seconds = fmax(best.seconds, 1.4 * rmcp_traffic_seconds(request->problem, request->caps));
    return best;
}

static double cost(const struct rmcp_request *request)
{
    return choose(request).seconds +
           (double)rmcp_gemm_launches(request->problem) * request->caps->launch_seconds;
}

static rmcp_status emit_launches(const struct rmcp_request *request, const struct way *way,
                                 struct rmcp_gemm *g, const struct rmcp_phases *p,
                                 struct rmcp_launch_list *list)
{
    const struct rmcp_convolution *conv = request->problem;
    const int64_t n = tiles_of(g, way) << p->shift;
    const int64_t busy = 2 * (int64_t)request->caps->compute_units / conv->groups;
    const int64_t quota = rmcp_launch_quota(n, busy, way->seconds);
    char variant[16];
    snprintf(variant, sizeof variant, "_%dx%d", (int)way->rows, (int)way->pixels);
    for (int64_t first = 0; first < n; first += quota) {
        const int64_t count = n - first < quota ? n - first : quota;
        struct rmcp_kernel_launch *launch = NULL;
        rmcp_status status =
            rmcp_kernel_append(list, "thin", conv->type, variant, count * THREADS, &launch);
        if (status) return status;
        g->first_tile = (unsigned)first;
        launch->grid[1] = (uint32_t)conv->groups;
        rmcp_kernel_tensors(launch, conv, rmcp_conv_output_slot(conv));
        rmcp_arg_value(launch, g, sizeof *g);
        rmcp_arg_value(launch, p, sizeof *p);
    }
    return RMCP_OK;
}

static rmcp_status emit(const struct rmcp_request *request, struct rmcp_launch_list *list)
{
    const struct rmcp_convolution *conv = request->problem;
    const struct way way = choose(request);
    rmcp_status status = RMCP_OK;
    for (int64_t i = 0; i < rmcp_gemm_launches(conv) && !status; i++) {
        struct rmcp_gemm g;
        struct rmcp_phases p;
        if (rmcp_gemm_init_launch(&g, &p, conv, i))
            status = emit_launches(request, &way, &g, &p, list);
    }
    return status;
}

const struct rmcp_algo rmcp_algo_conv_thin = {
    .name = "thin",
    .version = 1,
    .kind = RMCP_LAUNCH_KERNEL,
    .refuse = refuse,
    .cost = cost,
    .emit = emit,
};
