/* draw.c: random matrix products for the fuzz suite, and values to fill them with. */
#include "base/convert.h"
#include "base/random.h"
#include "engine/ops/gemm/gemm.h"

static bool chance(struct rmcp_random *r, int64_t one_in)
{
    return rmcp_random_below(r, one_in) == 0;
}

/* Small numbers are where the edges are, and multiples of 4; now and then something larger or none.
 */
static int64_t draw_size(struct rmcp_random *r, int64_t most)
{
    if (chance(r, 60)) return 0;
    if (chance(r, 4)) return 4 * rmcp_random_between(r, 1, most / 4);
    return rmcp_random_between(r, 1, chance(r, 2) ? 20 : most);
}

static double draw_factor(struct rmcp_random *r)
{
    return chance(r, 2) ? (double)rmcp_random_between(r, -40, 40) / 8
                        : (double)rmcp_random_real(r) * 2;
}

static int64_t draw_pitch(struct rmcp_random *r, int64_t length)
{
    return chance(r, 3) ? length + rmcp_random_between(r, 1, 9) : 0;
}

static void draw_strides(struct rmcp_random *r, rmcp_gemm *g)
{
    g->a_stride = g->b_stride = g->c_stride = RMCP_GEMM_PACKED;
    if (chance(r, 3)) g->a_stride = 0;
    if (chance(r, 3)) g->b_stride = 0;
    if (chance(r, 4)) g->a_stride = rmcp_random_between(r, 1, 3 * (g->m + g->k) + 1);
    if (chance(r, 4)) { /* one after the other with a gap, or side by side */
        const int64_t gap = rmcp_random_between(r, 0, 5);
        g->c_pitch = g->n + gap;
        g->c_stride = g->m * g->c_pitch + rmcp_random_between(r, 0, 5);
        if (chance(r, 2)) {
            g->c_stride = g->n + gap;
            g->c_pitch = g->batch * g->c_stride + rmcp_random_between(r, 0, 5);
        }
    }
}

static void draw_problem(struct rmcp_random *r, rmcp_gemm *g)
{
    *g = (rmcp_gemm){ .struct_size = sizeof *g, .batch = 1, .alpha = 1 };
    g->type = (uint32_t)rmcp_random_below(r, RMCP_BF16 + 1);
    g->m = draw_size(r, 300), g->n = draw_size(r, 300), g->k = draw_size(r, 300);
    if (chance(r, 4)) g->k = draw_size(r, 3000);
    if (chance(r, 4)) g->m = rmcp_random_between(r, 1, 16);
    if (chance(r, 4)) g->n = rmcp_random_between(r, 1, 16);
    if (chance(r, 3)) g->batch = rmcp_random_between(r, 0, 5);
    g->transpose_a = (uint32_t)rmcp_random_below(r, 2);
    g->transpose_b = (uint32_t)rmcp_random_below(r, 2);
    g->a_pitch = draw_pitch(r, g->transpose_a ? g->m : g->k);
    g->b_pitch = draw_pitch(r, g->transpose_b ? g->k : g->n);
    g->c_pitch = draw_pitch(r, g->n);
    draw_strides(r, g);
    if (chance(r, 3)) g->alpha = draw_factor(r);
    if (chance(r, 3)) g->beta = chance(r, 2) ? 1 : draw_factor(r);
    if (chance(r, 2)) g->bias = (uint32_t)rmcp_random_below(r, RMCP_GEMM_COLUMN_BIAS + 1);
    if (chance(r, 3)) g->activation = (uint32_t)rmcp_random_below(r, RMCP_CLAMP + 1);
    if (g->activation == RMCP_LEAKY_RELU) g->slope = 0.125f;
    if (g->activation == RMCP_CLAMP) g->clamp_low = -1, g->clamp_high = 6;
}

void rmcp_gemm_draw(uint64_t seed, void *problem)
{
    struct rmcp_random r = { seed };
    struct rmcp_gemm_form *form = problem;
    rmcp_gemm g;
    do draw_problem(&r, &g);
    while (rmcp_gemm_form_init(form, &g) || !form->outputs ||
           form->outputs * (form->terms + 1) > 5000000);
}

int64_t rmcp_gemm_largest_integer(const struct rmcp_gemm_form *form)
{
    for (int64_t most = 4; most > 1; most--)
        if ((double)(form->terms + 2) * (double)(most * most) < 0x1p20) return most;
    return 1;
}

void rmcp_gemm_fill(const void *problem, unsigned slot, enum rmcp_data data, uint64_t seed,
                    void *host)
{
    const struct rmcp_gemm_form *form = problem;
    const int64_t most = rmcp_gemm_largest_integer(form);
    struct rmcp_random r = { seed + 0x1000193u * (uint64_t)(slot + 1) };
    for (int64_t i = 0; i < form->span[slot]; i++)
        rmcp_store(host, form->product.type, i,
                   data == RMCP_DATA_INTEGERS ? (float)rmcp_random_between(&r, -most, most)
                                              : rmcp_random_real(&r));
}
