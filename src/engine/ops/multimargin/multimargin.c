/* multimargin.c: the rules of the multi margin loss, its reference, random problems. */
#include "engine/ops/multimargin/multimargin.h"

#include "base/convert.h"
#include "base/random.h"

#include <math.h>

static const char *const reductions[] = { "none", "sum", "mean", NULL };
static const char *const types[] = { "f32", "f16", "bf16", NULL };
static const struct rmcp_trait traits[] = { { "reduction", reductions },
                                            { "type", types },
                                            { NULL, NULL } };
static const char *const tensors[] = { "x", "t", "w", "y", NULL };
static const struct rmcp_form_number numbers[] = { { "p", 1 }, { "margin", 1 }, { NULL, 0 } };

unsigned rmcp_multimargin_reduction(const struct rmcp_form *form)
{
    return form->word[0];
}

float rmcp_multimargin_margin(const struct rmcp_form *form)
{
    return (float)form->number[1];
}

bool rmcp_multimargin_square(const struct rmcp_form *form)
{
    return form->number[0] == 2;
}

static rmcp_status shape(struct rmcp_form *form)
{
    const rmcp_type type = (rmcp_type)form->type;
    if (form->dims != 2) return rmcp_fail(RMCP_E_ARG, "rows and classes are two dimensions");
    if (form->number[0] != 1 && form->number[0] != 2)
        return rmcp_fail(RMCP_E_ARG, "p is %g; 1 and 2 are known", form->number[0]);
    const int64_t losses = rmcp_multimargin_reduction(form) ? 1 : form->size[0];
    rmcp_form_whole(form, RMCP_MULTIMARGIN_X, false);
    rmcp_form_part(form, RMCP_MULTIMARGIN_T, RMCP_I64, false, 1, &form->size[0]);
    rmcp_form_part(form, RMCP_MULTIMARGIN_W, type, false, 1, &form->size[1]);
    rmcp_form_part(form, RMCP_MULTIMARGIN_Y, type, true, 1, &losses);
    return RMCP_OK;
}

/* The loss of a row: two roundings for each distance, two or three for each term; of sums twice one
 * with the root of their length. */
static double loss_of(const struct rmcp_form *form, const struct rmcp_form_values *values,
                      int64_t row, double *error)
{
    const double unit = 0x1p-24, margin = (double)rmcp_multimargin_margin(form);
    const int64_t classes = form->size[1];
    const double *x = values->in[RMCP_MULTIMARGIN_X] + row * classes;
    const double target = values->in[RMCP_MULTIMARGIN_T][row];
    double sum = 0, size = 0;
    *error = 0;
    if (!(target >= 0 && target < (double)classes)) return NAN;
    const int64_t right = (int64_t)target;
    const double weight = values->in[RMCP_MULTIMARGIN_W][right];
    for (int64_t c = 0; c < classes; c++) {
        const double near = margin - x[right] + x[c];
        const double off = 2 * unit * (fabs(margin) + fabs(x[right]) + fabs(x[c]));
        if (c == right || near + off < 0) continue;
        const double kept = fmax(near, 0),
                     term = rmcp_multimargin_square(form) ? kept * kept : kept;
        sum += weight * term;
        size += fabs(weight) * term;
        *error += fabs(weight) * (rmcp_multimargin_square(form) ? (2 * kept + off) * off : off);
    }
    *error = (*error + 2 * unit * size * (3 + sqrt((double)classes))) / (double)classes;
    return sum / (double)classes;
}

static rmcp_status evaluate(const struct rmcp_form *form, const struct rmcp_form_values *values)
{
    const int64_t rows = form->size[0];
    const unsigned reduction = rmcp_multimargin_reduction(form);
    double sum = 0, size = 0, error = 0;
    for (int64_t row = 0; row < rows; row++) {
        double off;
        const double loss = loss_of(form, values, row, &off);
        if (reduction == RMCP_MULTIMARGIN_NONE) {
            values->out[RMCP_MULTIMARGIN_Y][row] = loss;
            values->allowed[RMCP_MULTIMARGIN_Y][row] = off;
        }
        sum += loss;
        size += fabs(loss);
        error += off;
    }
    if (reduction == RMCP_MULTIMARGIN_NONE) return RMCP_OK;
    const double scale = reduction == RMCP_MULTIMARGIN_MEAN ? 1 / (double)rows : 1;
    values->out[RMCP_MULTIMARGIN_Y][0] = sum * scale;
    values->allowed[RMCP_MULTIMARGIN_Y][0] =
        (error + 0x1p-23 * size * (2 + sqrt((double)rows))) * scale;
    return RMCP_OK;
}

const struct rmcp_form_rules rmcp_multimargin_rules = {
    .fragile = true,
    .operation = &rmcp_operation_multimargin,
    .tensors = tensors,
    .numbers = numbers,
    .shape = shape,
    .evaluate = evaluate,
};

static rmcp_status parse(const char *text, void *problems, size_t *count)
{
    return rmcp_form_parse(&rmcp_multimargin_rules, text, problems, count);
}

static void draw(uint64_t seed, void *problem)
{
    struct rmcp_random r = { seed };
    const int rows = (int)rmcp_random_between(&r, 1, 60), gap = (int)rmcp_random_below(&r, 3);
    const int classes = (int)rmcp_random_between(&r, 1, 90);
    const char *reduction = reductions[rmcp_random_below(&r, 3)],
               *type = types[rmcp_random_below(&r, 3)];
    const int p = (int)rmcp_random_between(&r, 1, 2);
    const char *margin = rmcp_random_below(&r, 2) ? "1" : "0.25";
    if (rmcp_random_below(&r, 2))
        rmcp_form_draw(&rmcp_multimargin_rules, problem, "%dx%d:%s:%s:p%d:margin%s:x/%dx1:t/2",
                       rows, classes, reduction, type, p, margin, classes + gap);
    else
        rmcp_form_draw(&rmcp_multimargin_rules, problem, "%dx%d:%s:%s:p%d:margin%s:x/1x%d:w/2",
                       rows, classes, reduction, type, p, margin, rows + gap);
}

/* Classes that exist, all of them. */
static void fill(const void *problem, unsigned slot, enum rmcp_data data, uint64_t seed, void *host)
{
    const struct rmcp_form *form = problem;
    struct rmcp_random r = { seed };
    rmcp_form_fill(problem, slot, data, seed, host);
    if (slot != RMCP_MULTIMARGIN_T) return;
    for (int64_t i = 0; i < form->tensor[slot].span; i++)
        rmcp_store_any(host, RMCP_I64, i, (double)rmcp_random_below(&r, form->size[1]));
}

static const char *const trials[] = { "70x33:none:%s", "1000x70:mean:%s:p2", NULL };

const struct rmcp_operation rmcp_operation_multimargin = {
    RMCP_FORM_FIXED,
    .name = "multimargin",
    .n_slots = RMCP_MULTIMARGIN_SLOTS,
    .algos = rmcp_algos_multimargin,
    .flops = rmcp_form_flops,
    .parse = parse,
    .traits = traits,
    .draw = draw,
    .trials = trials,
    .fill = fill,
};
