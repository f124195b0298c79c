/* launch.c: the launches of a matrix product on a GPU. */
#include "engine/gpu/launch.h"
#include "engine/kernels/matmul_args.h"
#include "engine/matmul/ways.h"

#include <stdio.h>

enum {
    MOST_BATCH = 65535, /* that a grid has in its second dimension */
    THIN_THREADS = 128,
    FINISH_THREADS = 256,
};

static struct rmcp_matmul_math math_of(const struct rmcp_matmul *p)
{
    return (struct rmcp_matmul_math){
        .alpha = p->alpha,
        .beta = p->beta,
        .epilogue = { .bias = (unsigned)p->bias,
                      .kind = (unsigned)p->activation,
                      .slope = p->slope,
                      .low = p->low,
                      .high = p->high },
    };
}

/* A matrix of a slot, from product `first` of the batch on. */
static void bind_matrix(struct rmcp_kernel_launch *launch, const struct rmcp_matmul *p,
                        const struct rmcp_matrix *matrix, int64_t first)
{
    rmcp_arg_memory(launch, matrix->slot,
                    matrix->offset +
                        (uint64_t)first * (uint64_t)matrix->stride * rmcp_type_bytes(p->type));
}

/* The output: c, or the parts in the workspace; then the bias, or some memory in its place. */
static void bind_output(struct rmcp_kernel_launch *launch, const struct rmcp_matmul *p,
                        const struct rmcp_matmul_way *way, uint64_t workspace, int64_t first)
{
    if (way->splits > 1)
        rmcp_arg_memory(launch, RMCP_SLOT_WORKSPACE,
                        workspace + (uint64_t)first * (uint64_t)(p->m * p->n) * sizeof(float));
    else
        bind_matrix(launch, p, &p->c, first);
    if (p->bias)
        rmcp_arg_memory(launch, p->bias_slot, p->bias_offset);
    else
        bind_matrix(launch, p, &p->c, 0);
}

/* How the work is cut into launches: none beyond 50 ms, none with too many products. */
struct cut {
    int64_t batch, groups; /* of one launch */
};

static struct cut cut_of(const struct rmcp_matmul *p, const struct rmcp_matmul_way *way,
                         const struct rmcp_caps *caps, int64_t groups, int64_t threads)
{
    const int64_t at_once = (int64_t)caps->compute_units * 512 / (threads * way->splits) + 1;
    const int64_t least = rmcp_ceil_divide(at_once, groups);
    struct cut cut = { rmcp_launch_quota(p->batch, least, way->seconds), groups };
    if (cut.batch == 1)
        cut.groups = rmcp_launch_quota(groups, at_once, way->seconds / (double)p->batch);
    if (cut.batch > MOST_BATCH) cut.batch = MOST_BATCH;
    return cut;
}

static int64_t smaller(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static rmcp_status emit_tiles(const struct rmcp_matmul *p, const struct rmcp_matmul_way *way,
                              const struct rmcp_caps *caps, uint64_t workspace,
                              struct rmcp_launch_list *list)
{
    const struct rmcp_matmul_tile_kind *tile = way->tile;
    const int64_t row_tiles = rmcp_ceil_divide(p->m, tile->rows);
    const int64_t groups = row_tiles * rmcp_ceil_divide(p->n, tile->columns);
    const struct cut cut = cut_of(p, way, caps, groups, tile->threads);
    struct rmcp_matmul_tile t = {
        .row_tiles = rmcp_divider_of(row_tiles),
        .m = (unsigned)p->m,
        .n = (unsigned)p->n,
        .k = (unsigned)p->k,
        .share = (unsigned)way->share,
        .a_pitch = (unsigned)p->a.pitch,
        .b_pitch = (unsigned)p->b.pitch,
        .c_pitch = (unsigned)p->c.pitch,
        .partial = way->splits > 1,
        .a_stride = p->a.stride,
        .b_stride = p->b.stride,
        .c_stride = p->c.stride,
        .part = p->batch * p->m * p->n,
        .math = math_of(p),
    };
    char variant[32];
    snprintf(variant, sizeof variant, "_%s_%s_%s", tile->name, p->a.transposed ? "row" : "sum",
             p->b.transposed ? "sum" : "col");
    for (int64_t first = 0; first < p->batch; first += cut.batch)
        for (int64_t group = 0; group < groups; group += cut.groups) {
            struct rmcp_kernel_launch *launch = NULL;
            const int64_t count = smaller(cut.groups, groups - group);
            rmcp_status status = rmcp_kernel_append(list, "matmul", p->type, variant,
                                                    count * tile->threads, &launch);
            if (status) return status;
            t.first_tile = (unsigned)group;
            launch->grid[1] = (uint32_t)smaller(cut.batch, p->batch - first);
            launch->grid[2] = (uint32_t)way->splits;
            bind_matrix(launch, p, &p->a, first);
            bind_matrix(launch, p, &p->b, first);
            bind_output(launch, p, way, workspace, first);
            rmcp_arg_value(launch, &t, sizeof t);
        }
    return RMCP_OK;
}

static rmcp_status emit_thin(const struct rmcp_matmul *p, const struct rmcp_matmul_way *way,
                             const struct rmcp_caps *caps, uint64_t workspace,
                             struct rmcp_launch_list *list)
{
    const struct rmcp_matrix *few = way->turned ? &p->b : &p->a;
    const struct rmcp_matrix *wide = way->turned ? &p->a : &p->b;
    /* The few are rows of a or columns of b: the sum runs along their lines when these are lines.
     */
    const bool few_along = way->turned ? few->transposed : !few->transposed;
    const bool wide_along = way->turned ? !wide->transposed : wide->transposed;
    const int64_t lines = way->turned ? p->n : p->m, width = way->turned ? p->m : p->n;
    const int64_t across = rmcp_ceil_divide(width, wide_along ? 16 : 128);
    const int64_t groups = across * rmcp_ceil_divide(lines, way->few);
    const struct cut cut = cut_of(p, way, caps, groups, THIN_THREADS);
    struct rmcp_matmul_thin t = {
        .groups = rmcp_divider_of(across),
        .few = (unsigned)lines,
        .wide = (unsigned)width,
        .k = (unsigned)p->k,
        .share = (unsigned)way->share,
        .few_line = few_along ? (unsigned)few->pitch : 1,
        .few_sum = few_along ? 1 : (unsigned)few->pitch,
        .wide_pitch = (unsigned)wide->pitch,
        .turned = way->turned,
        .c_pitch = (unsigned)p->c.pitch,
        .partial = way->splits > 1,
        .few_stride = few->stride,
        .wide_stride = wide->stride,
        .c_stride = p->c.stride,
        .part = p->batch * p->m * p->n,
        .math = math_of(p),
    };
    char variant[32];
    snprintf(variant, sizeof variant, "_%d_%s", (int)way->few, wide_along ? "sum" : "col");
    for (int64_t first = 0; first < p->batch; first += cut.batch)
        for (int64_t group = 0; group < groups; group += cut.groups) {
            struct rmcp_kernel_launch *launch = NULL;
            const int64_t count = smaller(cut.groups, groups - group);
            rmcp_status status = rmcp_kernel_append(list, "matmul_thin", p->type, variant,
                                                    count * THIN_THREADS, &launch);
            if (status) return status;
            t.first_group = (unsigned)group;
            launch->grid[1] = (uint32_t)smaller(cut.batch, p->batch - first);
            launch->grid[2] = (uint32_t)way->splits;
            bind_matrix(launch, p, few, first);
            bind_matrix(launch, p, wide, first);
            bind_output(launch, p, way, workspace, first);
            rmcp_arg_value(launch, &t, sizeof t);
        }
    return RMCP_OK;
}

static rmcp_status emit_finish(const struct rmcp_matmul *p, int64_t parts, uint64_t workspace,
                               struct rmcp_launch_list *list)
{
    const struct rmcp_matmul_finish f = {
        .n = rmcp_divider_of(p->n),
        .count = (unsigned)(p->m * p->n),
        .parts = (unsigned)parts,
        .c_pitch = (unsigned)p->c.pitch,
        .c_stride = p->c.stride,
        .part = p->batch * p->m * p->n,
        .math = math_of(p),
    };
    for (int64_t first = 0; first < p->batch; first += MOST_BATCH) {
        struct rmcp_kernel_launch *launch = NULL;
        rmcp_status status =
            rmcp_kernel_append(list, "matmul_finish", p->type, "", p->m * p->n, &launch);
        if (status) return status;
        launch->grid[1] = (uint32_t)smaller(MOST_BATCH, p->batch - first);
        if (parts)
            rmcp_arg_memory(launch, RMCP_SLOT_WORKSPACE,
                            workspace + (uint64_t)first * (uint64_t)(p->m * p->n) * sizeof(float));
        else
            bind_matrix(launch, p, &p->c, first); /* some memory in its place */
        bind_matrix(launch, p, &p->c, first);
        if (p->bias)
            rmcp_arg_memory(launch, p->bias_slot, p->bias_offset);
        else
            bind_matrix(launch, p, &p->c, 0);
        rmcp_arg_value(launch, &f, sizeof f);
    }
    return RMCP_OK;
}

rmcp_status rmcp_matmul_emit_way(const struct rmcp_matmul *given, const struct rmcp_matmul_way *way,
                                 const struct rmcp_caps *caps, uint64_t workspace,
                                 struct rmcp_launch_list *list)
{
    const struct rmcp_matmul p = rmcp_matmul_folded(given);
    if (!p.batch || !p.m || !p.n) return RMCP_OK;
    if (!rmcp_matmul_terms(&p)) return emit_finish(&p, 0, workspace, list);
    rmcp_status status = way->tile ? emit_tiles(&p, way, caps, workspace, list)
                                   : emit_thin(&p, way, caps, workspace, list);
    if (status || way->splits < 2) return status;
    return emit_finish(&p, way->splits, workspace, list);
}
