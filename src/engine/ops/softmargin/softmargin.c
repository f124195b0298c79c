/* softmargin.c: the rules of the soft margin loss, its reference, random problems. */
#include "engine/ops/softmargin/softmargin.h"

#include "base/random.h"

#include <math.h>

static const char *const passes[] = { "fwd", "bwd", NULL };
static const char *const reductions[] = { "none", "sum", "mean", NULL };
static const char *const types[] = { "f32", "f16", "bf16", NULL };
static const struct rmcp_trait traits[] = {
    { "pass", passes }, { "reduction", reductions }, { "type", types }, { NULL, NULL }
};
static const char *const tensors[] = { "x", "t", "y", "dy", "dx", NULL };

bool rmcp_softmargin_backward(const struct rmcp_form *form)
{
    return form->word[0];
}

unsigned rmcp_softmargin_reduction(const struct rmcp_form *form)
{
    return form->word[1];
}

double rmcp_softmargin_scale(const struct rmcp_form *form)
{
    double elements = 1;
    for (uint32_t d = 0; d < form->dims; d++) elements *= (double)form->size[d];
    return rmcp_softmargin_reduction(form) == RMCP_SOFTMARGIN_MEAN ? 1 / elements : 1;
}

/* The gradient of the loss is one for each element, of a sum and a mean, too: that is MIOpen's
 * interface. */
static rmcp_status shape(struct rmcp_form *form)
{
    const int64_t one = 1;
    rmcp_form_whole(form, RMCP_SOFTMARGIN_X, false);
    rmcp_form_whole(form, RMCP_SOFTMARGIN_T, false);
    if (rmcp_softmargin_backward(form)) {
        rmcp_form_whole(form, RMCP_SOFTMARGIN_DY, false);
        rmcp_form_whole(form, RMCP_SOFTMARGIN_DX, true);
    } else if (rmcp_softmargin_reduction(form) == RMCP_SOFTMARGIN_NONE) {
        rmcp_form_whole(form, RMCP_SOFTMARGIN_Y, true);
    } else {
        rmcp_form_part(form, RMCP_SOFTMARGIN_Y, (rmcp_type)form->type, true, 1, &one);
    }
    return RMCP_OK;
}

/* Errors: engine/kernels/functions.h's; that of the product x t, which shifts the argument; one for
 * each product; and for a sum twice that of one rounding with the root of its length. */
static rmcp_status evaluate(const struct rmcp_form *form, const struct rmcp_form_values *values)
{
    const double unit = 0x1p-24, tiny = 0x1p-126, scale = rmcp_softmargin_scale(form);
    const double *x = values->in[RMCP_SOFTMARGIN_X], *t = values->in[RMCP_SOFTMARGIN_T];
    const int64_t elements = form->tensor[RMCP_SOFTMARGIN_X].elements;
    double sum = 0, error = 0;
    for (int64_t i = 0; i < elements; i++) {
        const double z = -x[i] * t[i], e = exp(-fabs(z));
        const double slope = (z < 0 ? e : 1) / (1 + e);
        if (rmcp_softmargin_backward(form)) {
            const double factor = -t[i] * values->in[RMCP_SOFTMARGIN_DY][i] * scale;
            values->out[RMCP_SOFTMARGIN_DX][i] = factor * slope;
            values->allowed[RMCP_SOFTMARGIN_DX][i] =
                fabs(factor) * slope * unit * (18 + fabs(z)) + tiny * (1 + fabs(factor));
            continue;
        }
        const double loss = fmax(z, 0) + log1p(e);
        const double off = 16 * unit * loss + slope * unit * fabs(z) + tiny;
        if (rmcp_softmargin_reduction(form) == RMCP_SOFTMARGIN_NONE) {
            values->out[RMCP_SOFTMARGIN_Y][i] = loss;
            values->allowed[RMCP_SOFTMARGIN_Y][i] = off;
        }
        sum += loss;
        error += off;
    }
    if (rmcp_softmargin_backward(form) || rmcp_softmargin_reduction(form) == RMCP_SOFTMARGIN_NONE)
        return RMCP_OK;
    values->out[RMCP_SOFTMARGIN_Y][0] = sum * scale;
    values->allowed[RMCP_SOFTMARGIN_Y][0] =
        (error + 2 * unit * sum * sqrt((double)elements) + 2 * unit * sum) * scale;
    return RMCP_OK;
}

const struct rmcp_form_rules rmcp_softmargin_rules = {
    .fragile = true,
    .operation = &rmcp_operation_softmargin,
    .tensors = tensors,
    .shape = shape,
    .evaluate = evaluate,
};

static rmcp_status parse(const char *text, void *problems, size_t *count)
{
    return rmcp_form_parse(&rmcp_softmargin_rules, text, problems, count);
}

static void draw(uint64_t seed, void *problem)
{
    struct rmcp_random r = { seed };
    const char *pass = passes[rmcp_random_below(&r, 2)], *type = types[rmcp_random_below(&r, 3)];
    const char *reduction = reductions[rmcp_random_below(&r, 3)];
    const int n = (int)rmcp_random_between(&r, 1, 9), c = (int)rmcp_random_between(&r, 1, 9);
    const int w = (int)rmcp_random_between(&r, 1, 90), gap = (int)rmcp_random_below(&r, 3);
    if (rmcp_random_below(&r, 2))
        rmcp_form_draw(&rmcp_softmargin_rules, problem, "%d:%s:%s:%s",
                       (int)rmcp_random_between(&r, 1, 9000), pass, reduction, type);
    else
        rmcp_form_draw(&rmcp_softmargin_rules, problem, "%dx%dx%d:%s:%s:%s:x/%dx1x%d:t/%dx%dx1", n,
                       c, w, pass, reduction, type, c * w, c, c * (w + gap), w + gap);
}

static const char *const trials[] = { "3x1000:none:%s", "7x500:sum:%s", "3x5x70:mean:%s:x/350x1x5",
                                      NULL };

const struct rmcp_operation rmcp_operation_softmargin = {
    RMCP_FORM_COLUMNS,
    .name = "softmargin",
    .n_slots = RMCP_SOFTMARGIN_SLOTS,
    .algos = rmcp_algos_softmargin,
    .parse = parse,
    .traits = traits,
    .draw = draw,
    .trials = trials,
};
