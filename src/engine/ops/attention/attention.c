/* attention.c: multi-head attention as an operation: its case strings and tensors. */
#include "engine/ops/attention/attention.h"

#include "base/convert.h"
#include "base/random.h"

#include <math.h>
#include <stdlib.h>

extern const struct rmcp_operation rmcp_operation_attention;
extern const struct rmcp_algo *const rmcp_algos_attention[];

static const char *const passes[] = { "fwd", "bwd", NULL };
static const char *const masks[] = { "full", "causal", NULL };
static const char *const biases[] = { "unbiased", "bias", NULL };
static const char *const saves[] = { "unsaved", "saved", NULL };
static const char *const scalings[] = { "plain", "factors", NULL };
static const struct rmcp_trait traits[] = { { "pass", passes },      { "mask", masks },
                                            { "bias", biases },      { "statistics", saves },
                                            { "scaling", scalings }, { "type", rmcp_type_names },
                                            { NULL, NULL } };
static const struct rmcp_form_number numbers[] = { { "scale", 1 }, { "keys", 0 }, { NULL, 0 } };
static const char *const tensors[] = { "q",  "k",  "v",  "bias",    "o",     "m",    "zinv", "do",
                                       "dq", "dk", "dv", "factors", "state", "amax", NULL };

struct rmcp_att_sizes rmcp_att_sizes(const struct rmcp_form *form)
{
    const int64_t keys = (int64_t)form->number[RMCP_ATT_KEYS];
    return (struct rmcp_att_sizes){ .heads = form->size[0] * form->size[1],
                                    .queries = form->size[2],
                                    .keys = keys ? keys : form->size[2],
                                    .depth = form->size[3] };
}

static rmcp_status shape(struct rmcp_form *form)
{
    const double keys = form->number[RMCP_ATT_KEYS];
    if (form->dims != 4)
        return rmcp_fail(RMCP_E_ARG,
                         "the size is %u numbers, not samples, heads, queries and depth",
                         form->dims);
    if (!(keys >= 0 && keys <= 0x1p31) || keys != (double)(int64_t)keys)
        return rmcp_fail(RMCP_E_ARG, "keys are %g; 1 to 2^31 is known", keys);
    if (!isfinite(form->number[RMCP_ATT_SCALE]))
        return rmcp_fail(RMCP_E_ARG, "scale is %g", form->number[RMCP_ATT_SCALE]);
    const bool backward = form->word[RMCP_ATT_PASS] == RMCP_ATT_BACKWARD;
    const rmcp_type type = (rmcp_type)form->type;
    const struct rmcp_att_sizes s = rmcp_att_sizes(form);
    const int64_t other[] = { form->size[0], form->size[1], s.keys, s.depth };
    const int64_t scores[] = { form->size[0], form->size[1], s.queries, s.keys };
    rmcp_form_whole(form, RMCP_ATT_Q, false);
    rmcp_form_part(form, RMCP_ATT_K, type, false, 4, other);
    rmcp_form_part(form, RMCP_ATT_V, type, false, 4, other);
    if (form->word[RMCP_ATT_BIASED])
        rmcp_form_part(form, RMCP_ATT_BIAS, RMCP_F32, false, 4, scores);
    if (backward || form->word[RMCP_ATT_SAVED]) {
        rmcp_form_part(form, RMCP_ATT_M, RMCP_F32, !backward, 3, form->size);
        rmcp_form_part(form, RMCP_ATT_ZINV, RMCP_F32, !backward, 3, form->size);
    }
    if (form->word[RMCP_ATT_SCALED]) {
        rmcp_form_part(form, RMCP_ATT_FACTORS, RMCP_F32, false, 1,
                       (int64_t[]){ RMCP_ATT_N_FACTORS });
        rmcp_form_part(form, RMCP_ATT_STATE, RMCP_I32, false, 1, (int64_t[]){ 4 });
        rmcp_form_part(form, RMCP_ATT_AMAX, RMCP_F32, true, 1, (int64_t[]){ backward ? 4 : 2 });
    }
    if (!backward) {
        rmcp_form_whole(form, RMCP_ATT_O, true);
        return RMCP_OK;
    }
    rmcp_form_whole(form, RMCP_ATT_DO, false);
    rmcp_form_whole(form, RMCP_ATT_DQ, true);
    rmcp_form_part(form, RMCP_ATT_DK, type, true, 4, other);
    rmcp_form_part(form, RMCP_ATT_DV, type, true, 4, other);
    return RMCP_OK;
}

static const struct rmcp_form_rules rules = {
    .fragile = true,
    .operation = &rmcp_operation_attention,
    .tensors = tensors,
    .numbers = numbers,
    .shape = shape,
    .evaluate = rmcp_att_evaluate,
};

static rmcp_status parse(const char *text, void *problems, size_t *count)
{
    return rmcp_form_parse(&rules, text, problems, count);
}

/* Factors as networks have them, not far from 1; dropout now and then. */
static void fill_factors(uint64_t seed, void *host)
{
    struct rmcp_random r = { seed };
    for (int64_t i = 0; i < RMCP_ATT_N_FACTORS; i++) {
        const double size = 0.5 * (double)rmcp_random_between(&r, 1, 3);
        const double share = 0.25 * (double)rmcp_random_below(&r, 4);
        const double value = rmcp_random_below(&r, 4) ? size : -size;
        rmcp_store_any(host, RMCP_F32, i, i == RMCP_ATT_DROP ? share : value);
    }
}

static void fill(const void *problem, unsigned slot, enum rmcp_data data, uint64_t seed,
                 void *host);

/* An input as it will be filled, packed; NULL without memory, or when the problem does not have it.
 */
static double *drawn(const struct rmcp_form *form, unsigned slot, enum rmcp_data data,
                     uint64_t seed)
{
    const struct rmcp_form_tensor *t = &form->tensor[slot];
    if (!t->dims) return NULL;
    void *host = calloc((size_t)t->span, rmcp_type_bytes((rmcp_type)t->type));
    double *values = calloc((size_t)t->elements, sizeof *values);
    if (host && values) {
        fill(form, slot, data, seed, host);
        for (int64_t i = 0; i < t->elements; i++)
            values[i] = rmcp_load_any(host, (rmcp_type)t->type, rmcp_form_place(t, i));
    } else {
        free(values);
        values = NULL;
    }
    free(host);
    return values;
}

/* What forward would have saved for these inputs: with any other numbers weights are no weights,
 * and soon not finite. False without memory. */
static bool fill_saved(const struct rmcp_form *form, unsigned slot, enum rmcp_data data,
                       uint64_t seed, void *host)
{
    const struct rmcp_att_sizes s = rmcp_att_sizes(form);
    const struct rmcp_form_tensor *t = &form->tensor[slot];
    double *q = drawn(form, RMCP_ATT_Q, data, seed), *k = drawn(form, RMCP_ATT_K, data, seed);
    double *bias = drawn(form, RMCP_ATT_BIAS, data, seed);
    double *factors = drawn(form, RMCP_ATT_FACTORS, data, seed);
    double *score = calloc((size_t)s.keys, sizeof *score), scale = form->number[RMCP_ATT_SCALE];
    const bool done = q && k && score && (bias || !form->word[RMCP_ATT_BIASED]) &&
                      (factors || !form->word[RMCP_ATT_SCALED]);
    if (factors) scale *= factors[RMCP_ATT_FROM_Q] * factors[RMCP_ATT_FROM_K];
    for (int64_t i = 0; done && i < s.heads * s.queries; i++) {
        const int64_t query = i % s.queries, head = i / s.queries;
        const int64_t n = form->word[RMCP_ATT_MASK] && query + 1 < s.keys ? query + 1 : s.keys;
        double most = -INFINITY, sum = 0;
        for (int64_t j = 0; j < n; j++) {
            const double *key = k + (head * s.keys + j) * s.depth;
            double dot = 0;
            for (int64_t c = 0; c < s.depth; c++) dot += q[i * s.depth + c] * key[c];
            score[j] = scale * dot + (bias ? bias[i * s.keys + j] : 0);
            most = fmax(most, score[j]);
        }
        for (int64_t j = 0; j < n; j++) sum += exp(score[j] - most);
        rmcp_store_any(host, (rmcp_type)t->type, rmcp_form_place(t, i),
                       slot == RMCP_ATT_M ? most : 1 / sum);
    }
    free(q);
    free(k);
    free(bias);
    free(factors);
    free(score);
    return done;
}

static void fill(const void *problem, unsigned slot, enum rmcp_data data, uint64_t seed, void *host)
{
    if (slot == RMCP_ATT_FACTORS)
        fill_factors(seed, host);
    else if ((slot != RMCP_ATT_M && slot != RMCP_ATT_ZINV) ||
             !fill_saved(problem, slot, data, seed, host))
        rmcp_form_fill(problem, slot, data, seed, host);
}

static double flops(const void *problem)
{
    const struct rmcp_form *form = problem;
    const struct rmcp_att_sizes s = rmcp_att_sizes(form);
    const double products = form->word[RMCP_ATT_PASS] == RMCP_ATT_BACKWARD ? 5 : 2;
    return products * 2 * (double)s.heads * (double)s.queries * (double)s.keys * (double)s.depth;
}

static const char *const trials[] = { "1x2x9x8:%s:scale0.0625:saved",
                                      "1x1x5x4:%s:scale0.0625:keys300:bias:causal",
                                      "1x2x7x6:%s:scale0.0625:keys20:saved:factors", NULL };

static void draw(uint64_t seed, void *problem)
{
    struct rmcp_random r = { seed };
    const int depth = (int)rmcp_random_between(&r, 1, 24);
    const int queries = (int)rmcp_random_between(&r, 1, rmcp_random_below(&r, 4) ? 12 : 70);
    rmcp_form_draw(&rules, problem, "%dx%dx%dx%d:%s:%s:%s:%s:%s:%s:scale%s:keys%d",
                   (int)rmcp_random_between(&r, 1, 3), (int)rmcp_random_between(&r, 1, 3), queries,
                   depth, passes[rmcp_random_below(&r, 2)], masks[rmcp_random_below(&r, 2)],
                   biases[rmcp_random_below(&r, 3) == 0], saves[rmcp_random_below(&r, 2)],
                   scalings[rmcp_random_below(&r, 3) == 0],
                   rmcp_type_names[rmcp_random_below(&r, 3)],
                   rmcp_random_below(&r, 2) ? "0.0625" : "-0.03",
                   rmcp_random_below(&r, 3) ? 0 : (int)rmcp_random_between(&r, 1, 300));
}

const struct rmcp_operation rmcp_operation_attention = {
    RMCP_FORM_FIXED, .name = "attention", .n_slots = RMCP_ATT_SLOTS, .algos = rmcp_algos_attention,
    .flops = flops,  .parse = parse,      .traits = traits,          .trials = trials,
    .draw = draw,    .fill = fill,
};
