/* ways.c: which kernel computes a matrix product on a GPU, in how many parts, and what it costs. */
#include "engine/matmul/ways.h"

#include "engine/gpu/launch.h"

#include <math.h>
#include <stddef.h>

enum {
    MOST_SPLITS = 256,
    SHORTEST = 64,           /* part of a reduction that is worth a workgroup                     */
    MOST_PITCH = 1 << 22,    /* 128 lines of a tile are then within 32 bits of bytes              */
    MOST_ELEMENTS = 1 << 30, /* the same for whole factors of thin kernels                        */
    THIN_THREADS = 128,
    THIN_MOST = 64, /* lines beyond which tiles are always better                        */
};

#define FIGURES(name)                                                                              \
    RMCP_FIGURE_GEMM_EFFICIENCY_##name, RMCP_FIGURE_GEMM_AT_ONCE_##name,                           \
        RMCP_FIGURE_GEMM_BUSY_##name, RMCP_FIGURE_GEMM_TURN_##name
static const struct rmcp_matmul_tile_kind tiles[] = {
    { "128x128", 128, 128, 256, 16, FIGURES(128X128) },
    { "128x64", 128, 64, 256, 16, FIGURES(128X64) },
    { "64x64", 64, 64, 128, 16, FIGURES(64X64) },
    { "64x64x4", 64, 64, 256, 32, FIGURES(64X64X4) },
};
#undef FIGURES
enum { N_TILES = sizeof tiles / sizeof *tiles };

/* ---- refusals ---- */

static bool is_long(int64_t size)
{
    return size > INT32_MAX;
}

static const char *refuse_sizes(const struct rmcp_matmul *p)
{
    if (is_long(p->m) || is_long(p->n) || is_long(p->k)) return "a size is 2^31 or more";
    if (p->c.pitch > INT32_MAX) return "rows of c are 2^31 elements or more apart";
    if (p->m > 0 && p->n > INT32_MAX / p->m) return "c has 2^31 elements or more";
    if (!rmcp_matmul_terms(p)) return NULL;
    if (p->a.pitch > MOST_PITCH || p->b.pitch > MOST_PITCH)
        return "lines of a or b are more than 2^22 elements apart";
    return NULL;
}

/* Elements that one product spans in a factor. */
static int64_t span_of(int64_t lines, int64_t length, int64_t pitch)
{
    return (lines - 1) * pitch + length;
}

static const char *refuse_thin(const struct rmcp_matmul *p)
{
    if (!rmcp_matmul_terms(p)) return "there is nothing to multiply";
    if (p->m > THIN_MOST && p->n > THIN_MOST) return "more than 64 rows and columns";
    const int64_t a =
        p->a.transposed ? span_of(p->k, p->m, p->a.pitch) : span_of(p->m, p->k, p->a.pitch);
    const int64_t b =
        p->b.transposed ? span_of(p->n, p->k, p->b.pitch) : span_of(p->k, p->n, p->b.pitch);
    if (a > MOST_ELEMENTS || b > MOST_ELEMENTS) return "a matrix spans more than 2^30 elements";
    return NULL;
}

const char *rmcp_matmul_family_refuse(const struct rmcp_matmul *given,
                                      enum rmcp_matmul_family family)
{
    if (!given->batch || !given->m || !given->n)
        return family == RMCP_MATMUL_TILED ? NULL : "there is nothing to do";
    const struct rmcp_matmul p = rmcp_matmul_folded(given);
    const char *why = refuse_sizes(&p);
    if (why) return why;
    if (family == RMCP_MATMUL_THIN) return refuse_thin(&p);
    if (family == RMCP_MATMUL_SPLIT && rmcp_matmul_terms(&p) < 2 * SHORTEST)
        return "a reduction of less than 128 terms is not worth splitting";
    return NULL;
}

/* ---- estimates ---- */

struct rmcp_matmul rmcp_matmul_folded(const struct rmcp_matmul *given)
{
    struct rmcp_matmul p = *given;
    int64_t rows;
    if (p.batch < 2 || p.m < 1 || p.bias == RMCP_MATMUL_ROW_BIAS || p.b.stride) return p;
    if (p.a.transposed || __builtin_mul_overflow(p.batch, p.m, &rows) || is_long(rows)) return p;
    int64_t a = 0, c = 0;
    if (__builtin_mul_overflow(p.m, p.a.pitch, &a) || a != p.a.stride) return p;
    if (__builtin_mul_overflow(p.m, p.c.pitch, &c) || c != p.c.stride) return p;
    p.m = rows;
    p.batch = 1;
    return p;
}

uint64_t rmcp_matmul_parts_bytes(const struct rmcp_matmul *p, const struct rmcp_matmul_way *way)
{
    if (way->splits < 2) return 0;
    const double bytes =
        (double)p->batch * (double)p->m * (double)p->n * (double)way->splits * sizeof(float);
    if (bytes > 0x1p62) return UINT64_MAX;
    const uint64_t exact =
        (uint64_t)p->batch * (uint64_t)(p->m * p->n) * (uint64_t)way->splits * sizeof(float);
    return (exact + 255) / 256 * 256;
}

static double traffic_seconds(const struct rmcp_matmul *p, const struct rmcp_caps *caps)
{
    const double a = (double)p->m * (double)p->k * (p->a.stride ? (double)p->batch : 1);
    const double b = (double)p->k * (double)p->n * (p->b.stride ? (double)p->batch : 1);
    const double c = (double)p->m * (double)p->n * (double)p->batch * (p->beta != 0 ? 2 : 1);
    return (a + b + c) * (double)rmcp_type_bytes(p->type) / caps->bytes_per_second;
}

static double finish_seconds(const struct rmcp_matmul *p, const struct rmcp_matmul_way *way,
                             const struct rmcp_caps *caps)
{
    if (way->splits < 2) return 0;
    return caps->launch_seconds +
           2.0 * (double)rmcp_matmul_parts_bytes(p, way) / caps->bytes_per_second;
}

/* Workgroups run in rounds; in the last one a compute unit may lack work-items to be busy. However
 * few workgroups there are, each makes its turns one after the other. */
static double tile_seconds(const struct rmcp_matmul *p, const struct rmcp_matmul_way *way,
                           const struct rmcp_caps *caps)
{
    const struct rmcp_matmul_tile_kind *tile = way->tile;
    const double preamble = rmcp_figure(caps, RMCP_FIGURE_GEMM_PREAMBLE);
    const double efficiency = rmcp_figure(caps, tile->efficiency);
    const double at_once = rmcp_figure(caps, tile->at_once);
    const double units = (double)rmcp_launch_units(caps);
    const double groups = (double)rmcp_ceil_divide(p->m, tile->rows) *
                          (double)rmcp_ceil_divide(p->n, tile->columns) * (double)p->batch *
                          (double)way->splits;
    const double turns = (double)rmcp_ceil_divide(way->share, tile->slices);
    const double each = 2.0 * (double)(tile->rows * tile->columns * tile->slices) *
                        (turns + preamble) * units / (caps->flops_per_second * efficiency);
    const double rounds = floor(groups / (units * at_once));
    const double rest = ceil((groups - rounds * units * at_once) / units);
    const double busy = fmin(1, rest * (double)tile->threads / rmcp_figure(caps, tile->busy));
    const double compute = each * (rounds * at_once + (rest > 0 ? rest / busy : 0));
    const double waits = turns * rmcp_figure(caps, tile->turn) * fmax(1, rounds);
    return fmax(fmax(compute, waits), traffic_seconds(p, caps)) + caps->launch_seconds +
           finish_seconds(p, way, caps);
}

/* Lines beyond the first few of a chunk read the wide factor again, from the last cache. */
static double thin_seconds(const struct rmcp_matmul *p, const struct rmcp_matmul_way *way,
                           const struct rmcp_caps *caps)
{
    const double at_once = rmcp_figure(caps, RMCP_FIGURE_GEMM_THIN_AT_ONCE);
    const double cached = rmcp_figure(caps, RMCP_FIGURE_GEMM_THIN_CACHED);
    const double efficiency = rmcp_figure(caps, RMCP_FIGURE_GEMM_THIN_EFFICIENCY);
    const int64_t lines = way->turned ? p->n : p->m, wide = way->turned ? p->m : p->n;
    const bool along_sum = way->turned ? !p->a.transposed : p->b.transposed;
    const bool few_along = way->turned ? p->b.transposed : !p->a.transposed;
    const double apart =
        few_along ? 1 : 1 + rmcp_figure(caps, RMCP_FIGURE_GEMM_THIN_APART) * (double)way->few;
    const double turn = rmcp_figure(caps, way->few == 1 ? RMCP_FIGURE_GEMM_THIN_TURN_OF_ONE
                                                        : RMCP_FIGURE_GEMM_THIN_TURN) *
                        apart;
    const int64_t width = along_sum ? 16 : 128, step = along_sum ? 128 : 16;
    const double units = (double)rmcp_launch_units(caps);
    const double chunks = (double)rmcp_ceil_divide(lines, way->few);
    const double groups =
        (double)rmcp_ceil_divide(wide, width) * chunks * (double)p->batch * (double)way->splits;
    const double bytes = (double)wide * (double)p->k * (double)p->batch *
                         (double)rmcp_type_bytes(p->type) * (1 + (chunks - 1) / cached);
    const double flops =
        2.0 * (double)wide * (double)p->k * (double)way->few * chunks * (double)p->batch;
    const double turns = (double)rmcp_ceil_divide(way->share, step) + 2;
    const double waits = turns * turn * ceil(groups / (units * at_once));
    const double busy =
        fmax(bytes / caps->bytes_per_second, flops / (efficiency * caps->flops_per_second));
    return hypot(busy, waits) + caps->launch_seconds + finish_seconds(p, way, caps);
}

/* ---- choosing ---- */

struct list {
    const struct rmcp_matmul *product;
    const struct rmcp_caps *caps;
    struct rmcp_matmul_way *ways;
    size_t count;
};

/* Add a way with all numbers of parts that leave each of them enough, each once. */
static void add_splits(struct list *list, struct rmcp_matmul_way way, int64_t step)
{
    const struct rmcp_matmul *p = list->product;
    const int64_t terms = rmcp_matmul_terms(p);
    int64_t before = 0;
    for (int64_t splits = 1; splits <= MOST_SPLITS; splits += splits > 15 ? splits / 4 : 1) {
        way.share = rmcp_ceil_divide(rmcp_ceil_divide(terms, splits), step) * step;
        way.splits = rmcp_ceil_divide(terms, way.share);
        if (way.splits == before) continue;
        if (splits > 1 && way.share < SHORTEST) break;
        before = way.splits;
        if (splits > 1 && rmcp_matmul_parts_bytes(p, &way) > list->caps->max_buffer_bytes) break;
        if (way.tile) way.family = way.splits > 1 ? RMCP_MATMUL_SPLIT : RMCP_MATMUL_TILED;
        way.seconds =
            way.tile ? tile_seconds(p, &way, list->caps) : thin_seconds(p, &way, list->caps);
        if (list->count < RMCP_MATMUL_MOST_WAYS) list->ways[list->count++] = way;
    }
}

size_t rmcp_matmul_list(const struct rmcp_matmul *given, const struct rmcp_caps *caps,
                        struct rmcp_matmul_way ways[static RMCP_MATMUL_MOST_WAYS])
{
    const struct rmcp_matmul p = rmcp_matmul_folded(given);
    struct list list = { &p, caps, ways, 0 };
    if (!p.batch || !p.m || !p.n || !rmcp_matmul_terms(&p)) {
        ways[0] = (struct rmcp_matmul_way){ .family = RMCP_MATMUL_TILED, .splits = 1 };
        ways[0].seconds = caps->launch_seconds + traffic_seconds(&p, caps);
        return 1;
    }
    for (int i = 0; i < N_TILES; i++)
        add_splits(&list, (struct rmcp_matmul_way){ .tile = &tiles[i] }, tiles[i].slices);
    if (refuse_thin(&p)) return list.count;
    static const int64_t few[] = { 1, 4, 8 };
    for (int turned = 0; turned < 2; turned++) {
        const int64_t lines = turned ? p.n : p.m;
        const bool along_sum = turned ? !p.a.transposed : p.b.transposed;
        for (unsigned i = 0; i < sizeof few / sizeof *few && lines <= THIN_MOST; i++) {
            if (i && few[i - 1] >= lines) break;
            const struct rmcp_matmul_way way = { .family = RMCP_MATMUL_THIN,
                                                 .few = few[i],
                                                 .turned = turned };
            add_splits(&list, way, along_sum ? 128 : 16);
        }
    }
    return list.count;
}

struct rmcp_matmul_way rmcp_matmul_choose(const struct rmcp_matmul *p, const struct rmcp_caps *caps,
                                          enum rmcp_matmul_family family)
{
    struct rmcp_matmul_way ways[RMCP_MATMUL_MOST_WAYS], best = { .splits = 0 };
    const size_t n = rmcp_matmul_list(p, caps, ways);
    for (size_t i = 0; i < n; i++) {
        if (family != RMCP_MATMUL_FAMILIES && ways[i].family != family) continue;
        if (!best.splits || ways[i].seconds < best.seconds) best = ways[i];
    }
    return best;
}
