/* draw.c: random tensor operations for the fuzz suite, and the values to try them with. */
#include "base/convert.h"
#include "base/random.h"
#include "engine/ops/tensor/tensor.h"

static bool chance(struct rmcp_random *r, int64_t one_in)
{
    return rmcp_random_below(r, one_in) == 0;
}

/* Small numbers are where the edges are; now and then something larger. */
static int64_t draw_size(struct rmcp_random *r, uint32_t dims)
{
    static const int64_t largest[] = { 0, 9000, 300, 80, 30, 12 };
    return chance(r, 3) ? rmcp_random_between(r, 1, largest[dims]) : rmcp_random_between(r, 1, 9);
}

/* Strides in any order of the dimensions, with gaps or without; some of an input's are 0. */
static void draw_strides(struct rmcp_random *r, rmcp_tensor *t, unsigned slot)
{
    const int64_t *size = rmcp_tensor_size(t, slot);
    int64_t *stride = rmcp_tensor_stride(t, slot);
    unsigned order[RMCP_TENSOR_DIMS] = { 0 };
    for (unsigned i = 0; i < t->dims; i++) {
        const unsigned at = (unsigned)rmcp_random_between(r, 0, i);
        order[i] = order[at];
        order[at] = i;
    }
    const bool gaps = chance(r, 3);
    int64_t step = gaps && chance(r, 3) ? rmcp_random_between(r, 2, 3) : 1;
    for (unsigned k = 0; k < t->dims; k++) {
        const unsigned i = order[k];
        const int64_t width = size[i] ? size[i] : t->size[i];
        stride[i] = step;
        step *= width;
        if (gaps && chance(r, 2)) step += rmcp_random_between(r, 1, 5);
    }
    for (unsigned k = 1; slot != RMCP_TENSOR_C && k < t->dims; k++)
        if (chance(r, 8)) stride[order[k]] = 0; /* never all of them */
}

static double draw_scalar(struct rmcp_random *r)
{
    return chance(r, 2)   ? 1
           : chance(r, 2) ? (double)rmcp_random_between(r, -48, 48) / 16
                          : (double)rmcp_random_real(r) * 3;
}

static uint32_t draw_type(struct rmcp_random *r, uint32_t common)
{
    return chance(r, 4) ? (uint32_t)rmcp_random_below(r, RMCP_BF16 + 1) : common;
}

static void draw_problem(struct rmcp_random *r, rmcp_tensor *t)
{
    *t = (rmcp_tensor){ .struct_size = sizeof *t };
    t->kind = (uint32_t)rmcp_random_below(r, RMCP_TENSOR_SUM + 1);
    t->dims = (uint32_t)rmcp_random_between(r, 1, RMCP_TENSOR_DIMS);
    for (unsigned i = 0; i < t->dims; i++) t->size[i] = draw_size(r, t->dims);
    const uint32_t type = (uint32_t)rmcp_random_below(r, RMCP_BF16 + 1);
    t->c_type = draw_type(r, type);
    t->alpha = draw_scalar(r);
    if (rmcp_tensor_has(t->kind, RMCP_TENSOR_A)) {
        t->a_type = draw_type(r, type);
        if (chance(r, 3)) t->beta = draw_scalar(r);
    }
    if (rmcp_tensor_has(t->kind, RMCP_TENSOR_B)) {
        t->b_type = draw_type(r, type);
        t->alpha_b = draw_scalar(r);
    }
    for (unsigned slot = 0; slot < RMCP_TENSOR_N; slot++) {
        if (!rmcp_tensor_has(t->kind, slot)) continue;
        const bool sums = t->kind == RMCP_TENSOR_SUM && slot == RMCP_TENSOR_C;
        const bool may_repeat = slot != RMCP_TENSOR_C && chance(r, 3);
        for (unsigned i = 0; i < t->dims; i++)
            if ((sums || may_repeat) && chance(r, 2)) rmcp_tensor_size(t, slot)[i] = 1;
        if (chance(r, 2)) draw_strides(r, t, slot);
    }
}

void rmcp_tensor_draw(uint64_t seed, void *problem)
{
    struct rmcp_random r = { seed };
    struct rmcp_tensor_form *form = problem;
    rmcp_tensor t;
    do draw_problem(&r, &t);
    while (rmcp_tensor_init(form, &t) || form->outputs > 200000 / form->terms ||
           form->span[RMCP_TENSOR_C] > 400000);
}

int64_t rmcp_tensor_largest_integer(const struct rmcp_tensor_form *form)
{
    for (int64_t most = 4; most > 1; most--)
        if ((double)form->terms * (double)most < 0x1p20) return most;
    return 1;
}

void rmcp_tensor_fill(const void *problem, unsigned slot, enum rmcp_data data, uint64_t seed,
                      void *host)
{
    const struct rmcp_tensor_form *form = problem;
    const int64_t most = rmcp_tensor_largest_integer(form);
    struct rmcp_random r = { seed + 0x1000193u * (uint64_t)(slot + 1) };
    for (int64_t i = 0; i < form->span[slot]; i++)
        rmcp_store(host, form->type[slot], i,
                   data == RMCP_DATA_INTEGERS ? (float)rmcp_random_between(&r, -most, most)
                                              : rmcp_random_real(&r));
}
