/* reduce.c: reductions over any dimensions: sums, products, extremes with their places, means and
 * norms. */
#include "engine/ops/reduce/reduce.h"

#include "base/convert.h"
#include "engine/core/draw.h"
#include "engine/ops/reduce/evaluate.h"

#include <math.h>
#include <stdio.h>

extern const struct rmcp_algo *const rmcp_algos_reduce[];

static bool finds_place(unsigned kind)
{
    return kind == RMCP_REDUCE_ARGMIN || kind == RMCP_REDUCE_ARGMAX;
}

static bool has_place(unsigned kind)
{
    return kind == RMCP_REDUCE_MIN || kind == RMCP_REDUCE_MAX || kind == RMCP_REDUCE_AMAX ||
           finds_place(kind);
}

static rmcp_status shape(struct rmcp_form *form)
{
    const unsigned kind = rmcp_reduce_kind(form);
    if (!form->listed[0])
        return rmcp_fail(RMCP_E_ARG,
                         "no dimension is reduced; 'over1x2' reduces the second and the third");
    int64_t size[RMCP_FORM_DIMS], terms = 1;
    for (unsigned d = 0; d < form->dims; d++) size[d] = form->size[d];
    for (unsigned i = 0; i < form->listed[0]; i++) {
        const int64_t d = form->list[0][i];
        if (d >= form->dims)
            return rmcp_fail(RMCP_E_ARG, "there is no dimension %d to reduce", (int)d);
        if (i && d <= form->list[0][i - 1])
            return rmcp_fail(RMCP_E_ARG, "the dimensions that are reduced must be in rising order");
        size[d] = 1;
        terms *= form->size[d];
    }
    for (int i = 0; i < 2; i++)
        if (!isfinite(form->number[i]))
            return rmcp_fail(RMCP_E_ARG, "alpha and beta must be finite");
    const bool places = form->word[RMCP_REDUCE_RESULTS] || finds_place(kind);
    if (places && !has_place(kind))
        return rmcp_fail(RMCP_E_ARG, "only min, max and amax have indices");
    if (places && terms > INT32_MAX)
        return rmcp_fail(RMCP_E_ARG, "the indices of more than 2^31 elements");
    if (finds_place(kind) &&
        (form->number[RMCP_REDUCE_ALPHA] != 1 || form->number[RMCP_REDUCE_BETA] != 0))
        return rmcp_fail(RMCP_E_ARG, "indices are not scaled");
    rmcp_form_whole(form, RMCP_REDUCE_A, false);
    if (!finds_place(kind)) {
        rmcp_form_part(form, RMCP_REDUCE_C, (rmcp_type)form->type, true, form->dims, size);
        form->tensor[RMCP_REDUCE_C].read = form->number[RMCP_REDUCE_BETA] != 0;
    }
    if (places) rmcp_form_part(form, RMCP_REDUCE_I, RMCP_I32, true, form->dims, size);
    return RMCP_OK;
}

static const char *const passes[] = { "fwd", NULL };
static const char *const types[] = { "f32", "f16", "bf16", NULL };
static const char *const kinds[] = { "add",   "mul",   "min",         "max",    "amax",   "avg",
                                     "norm1", "norm2", "mul_nonzero", "argmin", "argmax", NULL };
static const char *const nans[] = { "propagate", "ignore", NULL };
static const char *const results[] = { "values", "indexed", NULL };
static const struct rmcp_trait traits[] = {
    { "pass", passes }, { "type", types },      { "kind", kinds },
    { "nan", nans },    { "results", results }, { NULL, NULL },
};
static const char *const tensors[] = { "a", "c", "indices", NULL };
static const struct rmcp_form_number numbers[] = { { "alpha", 1 }, { "beta", 0 }, { NULL, 0 } };
static const struct rmcp_form_list lists[] = { { "over", 0, 0 }, { NULL, 0, 0 } };

static const struct rmcp_form_rules rules = {
    .operation = &rmcp_operation_reduce,
    .tensors = tensors,
    .numbers = numbers,
    .lists = lists,
    .shape = shape,
    .evaluate = rmcp_reduce_evaluate,
};

static rmcp_status parse(const char *text, void *problems, size_t *count)
{
    return rmcp_form_parse(&rules, text, problems, count);
}

static void draw(uint64_t seed, void *problem)
{
    struct rmcp_random r = { seed };
    char sizes[80], a[120], c[120], over[40] = "";
    int64_t size[RMCP_FORM_DIMS];
    const unsigned dims = rmcp_draw_sizes(&r, 1, 60000, size, sizes, sizeof sizes);
    const uint64_t chosen = rmcp_random_next(&r);
    rmcp_draw_strides(&r, "a", dims, size, true, a, sizeof a);
    size_t used = 0;
    for (unsigned d = 0; d < dims; d++) {
        if (!(chosen >> d & 1) && !(d + 1 == dims && !used)) continue;
        used += (size_t)snprintf(over + used, sizeof over - used, "%s%u", used ? "x" : "", d);
        size[d] = 1;
    }
    const unsigned kind = (unsigned)rmcp_random_below(&r, RMCP_REDUCE_ARGMAX + 1);
    const bool scaled = !finds_place(kind) && rmcp_random_below(&r, 3) == 0;
    const bool indexed = has_place(kind) && rmcp_random_below(&r, 2);
    rmcp_draw_strides(&r, "c", dims, size, false, c, sizeof c);
    if (finds_place(kind)) c[0] = '\0';
    rmcp_form_draw(&rules, problem, "%s:%s:%s:over%s%s%s%s%s%s", sizes,
                   types[rmcp_random_below(&r, 3)], kinds[kind], over,
                   rmcp_random_below(&r, 2) ? ":ignore" : "", indexed ? ":indexed" : "",
                   scaled ? ":alpha-2:beta3" : "", a, c);
}

static const char *const trials[] = {
    "3x40x50:%s:over1:max:indexed",  /* columns                    */
    "200x31x3:%s:over0x2:add",       /* rows of several loops      */
    "5x7000:%s:over0x1:norm2",       /* everything                 */
    "2x40001:%s:over1:min:indexed",  /* rows, shared by workgroups */
    "9000x3:%s:over0:argmax:ignore", /* columns, shared            */
    NULL,
};

/* Many factors must not leave f32 on the way: infinity times 0 is NaN in one order and 0 in
 * another. Few are any small integers, many are 1 and -1, rarely 0. */
static void fill(const void *problem, unsigned slot, enum rmcp_data data, uint64_t seed, void *host)
{
    const struct rmcp_form *form = problem;
    const struct rmcp_form_tensor *t = &form->tensor[slot];
    const unsigned kind = rmcp_reduce_kind(form);
    double factors = 1;
    rmcp_form_fill(problem, slot, data, seed, host);
    for (unsigned d = 0; d < form->dims; d++)
        if (rmcp_reduce_along(form, d)) factors *= (double)form->size[d];
    if (slot != RMCP_REDUCE_A || data != RMCP_DATA_INTEGERS || factors < 60) return;
    if (kind != RMCP_REDUCE_MUL && kind != RMCP_REDUCE_MUL_NONZERO) return;
    struct rmcp_random r = { seed };
    for (int64_t i = 0; i < t->span; i++) {
        const float sign = rmcp_random_below(&r, 2) ? 1.0F : -1.0F;
        rmcp_store(host, (rmcp_type)t->type, i, rmcp_random_below(&r, 4000) ? sign : 0);
    }
}

const struct rmcp_operation rmcp_operation_reduce = {
    RMCP_FORM_FIXED,          .name = "reduce", .n_slots = 3,     .algos = rmcp_algos_reduce,
    .flops = rmcp_form_flops, .parse = parse,   .traits = traits, .draw = draw,
    .trials = trials,         .fill = fill,
};
