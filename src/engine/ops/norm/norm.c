/* norm.c: normalisations of the parts of one sample as an operation: case strings and tensors. */
#include "engine/ops/norm/norm.h"

#include "base/random.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

extern const struct rmcp_operation rmcp_operation_norm;
extern const struct rmcp_algo *const rmcp_algos_norm[];

static const char *const passes[] = { "fwd", "bwd", NULL };
static const char *const kinds[] = { "layer", "t5", "group", NULL };
static const char *const weights[] = { "affine", "bare", NULL };
static const char *const inputs[] = { "single", "add", NULL };
static const char *const stats[] = { "unsaved", "saved", NULL };
static const char *const gradients[] = { "all", "data", NULL };
static const struct rmcp_trait traits[] = {
    { "pass", passes },          { "kind", kinds },       { "weights", weights },
    { "input", inputs },         { "statistics", stats }, { "gradients", gradients },
    { "type", rmcp_type_names }, { NULL, NULL },
};
static const struct rmcp_form_number numbers[] = { { "eps", 1e-5 }, { "groups", 1 }, { NULL, 0 } };
static const char *const tensors[] = { "x",    "x2", "weight", "bias",    "y",     "mean",
                                       "rstd", "dy", "dx",     "dweight", "dbias", NULL };

struct rmcp_ln_rows rmcp_ln_rows(const struct rmcp_form *form)
{
    if (form->word[RMCP_LN_KIND] != RMCP_LN_GROUP)
        return (struct rmcp_ln_rows){ form->size[0], form->size[1], 1, 1, 1, form->size[1] };
    const int64_t groups = (int64_t)form->number[RMCP_LN_GROUPS], channels = form->size[1];
    return (struct rmcp_ln_rows){ form->size[0] * groups,
                                  channels / groups * form->size[2],
                                  groups,
                                  channels,
                                  form->size[2],
                                  channels };
}

static rmcp_status check(const struct rmcp_form *form)
{
    const bool group = form->word[RMCP_LN_KIND] == RMCP_LN_GROUP;
    const double groups = form->number[RMCP_LN_GROUPS], epsilon = form->number[RMCP_LN_EPSILON];
    if (form->dims != (group ? 3u : 2u))
        return rmcp_fail(RMCP_E_ARG, "the size is %u numbers; %s is known", form->dims,
                         group ? "n, channels and space" : "rows and the length of a row");
    if (!(groups >= 1 && groups <= 0x1p31) || groups != (double)(int64_t)groups ||
        (!group && groups > 1) || (group && form->size[1] % (int64_t)groups))
        return rmcp_fail(RMCP_E_ARG, "groups are %g, which do not divide the channels", groups);
    if (!(epsilon >= 0) || isinf(epsilon))
        return rmcp_fail(RMCP_E_ARG, "eps is %g; it must be a number from 0 on", epsilon);
    if (form->word[RMCP_LN_INPUT] && form->word[RMCP_LN_PASS])
        return rmcp_fail(RMCP_E_ARG, "'add' is for the pass forward");
    return RMCP_OK;
}

static rmcp_status shape(struct rmcp_form *form)
{
    rmcp_status status = check(form);
    if (status) return status;
    const bool backward = form->word[RMCP_LN_PASS] == RMCP_LN_BACKWARD;
    const bool t5 = form->word[RMCP_LN_KIND] == RMCP_LN_T5;
    const bool affine = form->word[RMCP_LN_WEIGHTS] == RMCP_LN_AFFINE;
    const bool all = form->word[RMCP_LN_GRADIENTS] == RMCP_LN_ALL;
    const rmcp_type type = (rmcp_type)form->type;
    const struct rmcp_ln_rows r = rmcp_ln_rows(form);
    rmcp_form_whole(form, RMCP_LN_X, false);
    if (form->word[RMCP_LN_INPUT]) rmcp_form_whole(form, RMCP_LN_X2, false);
    if (affine) rmcp_form_part(form, RMCP_LN_WEIGHT, type, false, 1, &r.weights);
    if (affine && !t5 && !backward) rmcp_form_part(form, RMCP_LN_BIAS, type, false, 1, &r.weights);
    if (backward || form->word[RMCP_LN_STATS]) {
        if (!t5) rmcp_form_part(form, RMCP_LN_MEAN, type, !backward, 1, &r.rows);
        rmcp_form_part(form, RMCP_LN_RSTD, type, !backward, 1, &r.rows);
    }
    if (!backward) {
        rmcp_form_whole(form, RMCP_LN_Y, true);
        return RMCP_OK;
    }
    rmcp_form_whole(form, RMCP_LN_DY, false);
    rmcp_form_whole(form, RMCP_LN_DX, true);
    if (all) rmcp_form_part(form, RMCP_LN_DWEIGHT, type, true, 1, &r.weights);
    if (all && !t5) rmcp_form_part(form, RMCP_LN_DBIAS, type, true, 1, &r.weights);
    return RMCP_OK;
}

static const struct rmcp_form_rules rules = {
    .fragile = true,
    .operation = &rmcp_operation_norm,
    .tensors = tensors,
    .numbers = numbers,
    .shape = shape,
    .evaluate = rmcp_ln_evaluate,
};

static rmcp_status parse(const char *text, void *problems, size_t *count)
{
    return rmcp_form_parse(&rules, text, problems, count);
}

/* Rows in registers and in several turns, by fours and by single elements. */
static const char *const trials[] = {
    "5x100:%s:saved",
    "3x37:t5:%s",
    "2x9000:%s", /* long rows */
    "2x6x35:group:groups3:%s",
    "2x4x5000:group:%s",
    "3x6x512:group:groups2:%s:saved",
    "2x6x2000:group:groups2:%s",
    "1x4x4104:group:groups2:bwd:data:%s",
    "5x768:%s:saved", /* whole chunks */
    "5x768:bwd:data:%s:saved",
    "1x9000:bwd:data:%s:saved",
    "3x4096:bwd:%s:saved",
    "3x8192:bwd:%s:saved",
    "2x9000:bwd:%s:saved", /* dx whole, sums apart */
    "19x64:t5:%s:saved",
    NULL,
};

static void draw(uint64_t seed, void *problem)
{
    struct rmcp_random r = { seed };
    const bool group = rmcp_random_below(&r, 3) == 0, backward = rmcp_random_below(&r, 2);
    const int64_t four = rmcp_random_below(&r, 2) ? 4 : 1;
    int64_t length = four * rmcp_random_between(&r, 1, rmcp_random_below(&r, 4) ? 60 : 3000);
    char size[80];
    if (group) {
        const int64_t groups = rmcp_random_between(&r, 1, 4),
                      each = rmcp_random_between(&r, 1, rmcp_random_below(&r, 3) ? 4 : 20);
        if (rmcp_random_below(&r, 2))
            length = (length + 7) / 8 * 8 * (each < 5 && length < 800 ? 4 : 1);
        snprintf(size, sizeof size, "%" PRId64 "x%" PRId64 "x%" PRId64 ":group:groups%" PRId64,
                 rmcp_random_between(&r, 1, 5), groups * each, length, groups);
    } else {
        snprintf(size, sizeof size, "%" PRId64 "x%" PRId64 ":%s",
                 rmcp_random_between(&r, 1, rmcp_random_below(&r, 4) ? 8 : 300), length,
                 kinds[rmcp_random_below(&r, 2)]);
    }
    rmcp_form_draw(
        &rules, problem, "%s:%s:%s:%s:%s:%s:%s:eps%s", size, passes[backward],
        weights[rmcp_random_below(&r, 3) == 0], inputs[!backward && rmcp_random_below(&r, 3) == 0],
        stats[rmcp_random_below(&r, 2)], gradients[rmcp_random_below(&r, 3) == 0],
        rmcp_type_names[rmcp_random_below(&r, 3)], rmcp_random_below(&r, 2) ? "1e-5" : "0.001");
}

const struct rmcp_operation rmcp_operation_norm = {
    RMCP_FORM_COLUMNS, .name = "norm",   .n_slots = RMCP_LN_SLOTS, .algos = rmcp_algos_norm,
    .parse = parse,    .traits = traits, .trials = trials,         .draw = draw,
};
