/* thin.c: the host side of thin.cl: how many rows and pixels a work-item has, and the launches. */
#include "engine/ops/conv/gpu/thin.h"

#include "engine/figures/figures.h"
#include "engine/ops/conv/gpu/shape.h"

#include <math.h>
#include <stdio.h>

enum { THREADS = 128, UNIT_WORKGROUPS = 2 };

int64_t rmcp_thin_rows(const struct rmcp_convolution *conv, enum rmcp_form form)
{
    const int64_t inputs = conv->stride[0] * conv->stride[1] * conv->stride[2];
    if (form == RMCP_FORM_CELLS)
        return conv->group_c > RMCP_THIN_MOST ? conv->group_c : conv->group_c * inputs;
    return conv->pass == RMCP_CONV_BACKWARD_DATA ? conv->group_c : conv->group_k;
}

static int64_t tiles_of(const struct rmcp_gemm *g, const struct rmcp_thin_way *way)
{
    const int64_t columns = THREADS * way->pixels;
    return (g->columns + columns - 1) / columns;
}

/* What all workgroups of a way execute, and the longest reduction among them. */
struct work {
    double groups, instructions, longest;
};

/* Instructions for each pixel: to find and store it, and for each step of its reduction a load with
 * its address (and tests for padding), its part of the loads from local memory, and a
 * multiplication a row. */
static void add_work(struct work *work, const struct rmcp_convolution *conv,
                     const struct rmcp_gemm *g, const struct rmcp_thin_way *way, bool in_turn)
{
    const double rows = (double)way->rows, pixels = (double)way->pixels;
    const double n = (double)(tiles_of(g, way) * conv->groups);
    const double step = (g->padded ? 7 : 3) + (1 + rows / 4) / pixels + rows;
    work->groups += n;
    work->instructions += n * THREADS * (pixels * (100 + 3 * rows + g->reduction * step) + 100);
    work->longest = in_turn ? work->longest + g->reduction : fmax(work->longest, g->reduction);
}

/* Few workgroups wait for their loads: four or eight steps at once, and first for all rows on their
 * way to local memory. */
static double compute_seconds(const struct rmcp_request *request, const struct rmcp_thin_way *way)
{
    const struct rmcp_convolution *conv = request->problem;
    const struct rmcp_caps *caps = request->caps;
    const double efficiency =
        rmcp_figure(caps, way->rows == RMCP_THIN_MOST ? RMCP_FIGURE_CONV_THIN_EFFICIENCY_32
                                                      : RMCP_FIGURE_CONV_THIN_EFFICIENCY);
    const double step = rmcp_figure(caps, way->pixels == 1 ? RMCP_FIGURE_CONV_THIN_STEP_LONE
                                                           : RMCP_FIGURE_CONV_THIN_STEP);
    const double fill = rmcp_figure(caps, RMCP_FIGURE_CONV_THIN_FILL);
    const double units = caps->compute_units ? caps->compute_units : 1;
    struct work work = { 0, 0, 0 };
    struct rmcp_gemm g;
    struct rmcp_cells c;
    if (way->form == RMCP_FORM_CELLS) {
        rmcp_cells_init(&g, &c, conv, way->form);
        add_work(&work, conv, &g, way, false);
    } else {
        /* Phases with a launch of their own wait one after the other. */
        for (int64_t phase = 0; phase < rmcp_gemm_phases(conv); phase++)
            if (rmcp_gemm_init(&g, conv, phase))
                add_work(&work, conv, &g, way, rmcp_gemm_launches(conv) > 1);
    }
    const double filled =
        work.groups / (ceil(work.groups / units) * units); /* last round: idle units */
    return hypot(work.instructions / (efficiency * filled * caps->flops_per_second / 2),
                 work.longest * step + (double)way->rows * fill); /* each hides some of the other */
}

/* The faster one of many pixels a work-item, which share what comes from local memory, and fewer,
 * which fill a device with few pixels. */
struct rmcp_thin_way rmcp_thin_choose(const struct rmcp_request *request, enum rmcp_form form)
{
    static const int64_t sizes[][2] = { { 4, 4 }, { 8, 4 }, { 16, 4 }, { RMCP_THIN_MOST, 2 } };
    const struct rmcp_convolution *conv = request->problem;
    const int64_t(*size)[2] = sizes;
    while ((*size)[0] < rmcp_thin_rows(conv, form) && (*size)[0] < RMCP_THIN_MOST) size++;
    struct rmcp_thin_way many = { form, (*size)[0], (*size)[1], 0 };
    struct rmcp_thin_way few = { form, (*size)[0], form == RMCP_FORM_CELLS ? 2 : 1, 0 };
    many.seconds = compute_seconds(request, &many);
    few.seconds = compute_seconds(request, &few);
    struct rmcp_thin_way best = few.seconds < many.seconds ? few : many;
    const double launches = form == RMCP_FORM_CELLS ? 1 : (double)rmcp_gemm_launches(conv);
    /* Each element of a sector is fetched by itself; phases without products store zeros far apart.
     */
    const bool far = form == RMCP_FORM_PHASES && conv->pass == RMCP_CONV_BACKWARD_DATA &&
                     conv->stride[0] * conv->stride[1] * conv->stride[2] > 1 &&
                     rmcp_cells_lone(conv);
    /* With channels last a store of neighbours goes to as many lines. */
    const double traffic =
        rmcp_figure(request->caps, conv->layout == RMCP_NHWC ? RMCP_FIGURE_CONV_THIN_TRAFFIC_LAST
                                   : far                     ? RMCP_FIGURE_CONV_THIN_TRAFFIC_ZEROS
                                                             : RMCP_FIGURE_CONV_THIN_TRAFFIC);
    best.seconds = fmax(best.seconds, traffic * rmcp_traffic_seconds(conv, request->caps)) +
                   launches * request->caps->launch_seconds +
                   rmcp_arrange_seconds(request->caps, rmcp_arranged_bytes(conv, form));
    return best;
}

static rmcp_status emit_launches(const struct rmcp_request *request,
                                 const struct rmcp_thin_way *way, struct rmcp_gemm *g,
                                 struct rmcp_phases *p, struct rmcp_cells *c,
                                 struct rmcp_launch_list *list)
{
    const struct rmcp_convolution *conv = request->problem;
    const bool cells = way->form == RMCP_FORM_CELLS;
    const int64_t at_once = UNIT_WORKGROUPS * (int64_t)request->caps->compute_units;
    const int64_t n =
        cells ? tiles_of(g, way) : rmcp_phases_workgroups(p, tiles_of(g, way), at_once);
    const int64_t quota = rmcp_launch_quota(n, at_once / conv->groups, way->seconds);
    char variant[24];
    snprintf(variant, sizeof variant, "_%dx%d%s", (int)way->rows, (int)way->pixels,
             cells ? "_cells" : "");
    for (int64_t first = 0; first < n; first += quota) {
        const int64_t count = n - first < quota ? n - first : quota;
        struct rmcp_kernel_launch *launch = NULL;
        rmcp_status status =
            rmcp_kernel_append(list, "thin", conv->type, variant, count * THREADS, &launch);
        if (status) return status;
        g->first_tile = (unsigned)first;
        launch->grid[1] = (uint32_t)conv->groups;
        if (cells) {
            rmcp_arg_memory(launch, RMCP_SLOT_WORKSPACE, 0);
            rmcp_arg_memory(launch, RMCP_CONV_Y, 0);
            rmcp_arg_memory(launch, RMCP_CONV_X, 0);
            rmcp_arg_memory(launch, RMCP_CONV_Y, 0); /* no bias */
        } else {
            rmcp_kernel_tensors(launch, conv, rmcp_conv_output_slot(conv));
        }
        rmcp_arg_value(launch, g, sizeof *g);
        if (cells)
            rmcp_arg_value(launch, c, sizeof *c);
        else
            rmcp_arg_value(launch, p, sizeof *p);
    }
    return RMCP_OK;
}

rmcp_status rmcp_thin_emit(const struct rmcp_request *request, const struct rmcp_thin_way *way,
                           struct rmcp_launch_list *list)
{
    const struct rmcp_convolution *conv = request->problem;
    struct rmcp_gemm g;
    struct rmcp_phases p;
    struct rmcp_cells c;
    rmcp_status status = rmcp_arrange_emit(request, way->form, 0, list);
    if (way->form == RMCP_FORM_CELLS) {
        rmcp_cells_init(&g, &c, conv, way->form);
        return status ? status : emit_launches(request, way, &g, NULL, &c, list);
    }
    for (int64_t i = 0; i < rmcp_gemm_launches(conv) && !status; i++)
        if (rmcp_gemm_init_launch(&g, &p, conv, i))
            status = emit_launches(request, way, &g, &p, NULL, list);
    return status;
}
