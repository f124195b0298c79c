/* softmargin.c: the soft margin loss as an operation: log(1 + e^(-x t)) of each element, their sum
 * or their mean; and the gradient of x. */
#include "engine/elements/element.h"

#include <math.h>

enum { X, T /* targets: -1 or 1 */, Y, DY, DX, N_SLOTS };
enum { NONE, SUM, MEAN }; /* reductions */

static const char *const reductions[] = { "none", "sum", "mean", NULL };

static bool backward(const struct rmcp_form *form)
{
    return form->word[0];
}

/* Whether all losses become one number. */
static bool sums(const struct rmcp_form *form)
{
    return !backward(form) && form->word[1] != NONE;
}

/* One in so many for a mean, else 1. */
static double scale_of(const struct rmcp_form *form)
{
    double elements = 1;
    for (uint32_t d = 0; d < form->dims; d++) elements *= (double)form->size[d];
    return form->word[1] == MEAN ? 1 / elements : 1;
}

/* The gradient of the loss is one for each element, of a sum and a mean, too: that is MIOpen's
 * interface. */
static rmcp_status shape(struct rmcp_form *form)
{
    const int64_t one = 1;
    rmcp_form_whole(form, X, false);
    rmcp_form_whole(form, T, false);
    if (backward(form)) {
        rmcp_form_whole(form, DY, false);
        rmcp_form_whole(form, DX, true);
    } else if (!sums(form)) {
        rmcp_form_whole(form, Y, true);
    } else {
        rmcp_form_part(form, Y, (rmcp_type)form->type, true, 1, &one);
    }
    return RMCP_OK;
}

/* Errors: engine/kernels/functions.h's; that of the product x t, which shifts the argument; one for
 * each product; and for a sum twice that of one rounding with the root of its length. */
static rmcp_status evaluate(const struct rmcp_form *form, const struct rmcp_form_values *values)
{
    const double unit = 0x1p-24, tiny = 0x1p-126, scale = scale_of(form);
    const double *x = values->in[X], *t = values->in[T];
    const int64_t elements = form->tensor[X].elements;
    double sum = 0, error = 0;
    for (int64_t i = 0; i < elements; i++) {
        const double z = -x[i] * t[i], e = exp(-fabs(z));
        const double slope = (z < 0 ? e : 1) / (1 + e);
        if (backward(form)) {
            const double factor = -t[i] * values->in[DY][i] * scale;
            values->out[DX][i] = factor * slope;
            values->allowed[DX][i] =
                fabs(factor) * slope * unit * (18 + fabs(z)) + tiny * (1 + fabs(factor));
            continue;
        }
        const double loss = fmax(z, 0) + log1p(e);
        const double off = 16 * unit * loss + slope * unit * fabs(z) + tiny;
        if (!sums(form)) {
            values->out[Y][i] = loss;
            values->allowed[Y][i] = off;
        }
        sum += loss;
        error += off;
    }
    if (!sums(form)) return RMCP_OK;
    values->out[Y][0] = sum * scale;
    values->allowed[Y][0] =
        (error + 2 * unit * sum * sqrt((double)elements) + 2 * unit * sum) * scale;
    return RMCP_OK;
}

static void work(const struct rmcp_request *request, struct rmcp_element_work *work)
{
    const struct rmcp_form *form = rmcp_form_of(request);
    work->sums = sums(form);
    work->each = !work->sums;
    struct rmcp_streams *streams = work->each ? &work->streams : &work->folds.streams;
    rmcp_streams_begin(streams, form->dims, form->size);
    if (work->each) rmcp_streams_add(streams, form, backward(form) ? DX : Y, NULL, 0);
    rmcp_streams_add(streams, form, X, NULL, 0);
    rmcp_streams_add(streams, form, T, NULL, 0);
    if (work->each) {
        rmcp_streams_add(streams, form, DY, NULL, 0);
        rmcp_streams_cut(streams, request);
        return;
    }
    work->folds.outputs = 1;
    work->sum = Y;
    work->scale = scale_of(form);
    rmcp_folds_cut(&work->folds, request);
}

static void math(const struct rmcp_form *form, const int64_t *first, void *math)
{
    (void)first;
    *(struct rmcp_softmargin_math *)math =
        (struct rmcp_softmargin_math){ .backward = backward(form), .scale = (float)scale_of(form) };
}

static const struct rmcp_element element;

static const struct rmcp_algo stream = { RMCP_ELEMENT_STREAM, .version = 2 };
static const struct rmcp_algo *const algos[] = { &rmcp_algo_form_reference, &stream, NULL };

extern const struct rmcp_operation rmcp_operation_softmargin;
const struct rmcp_operation rmcp_operation_softmargin = {
    RMCP_FORM_COLUMNS,
    .name = "softmargin",
    .n_slots = N_SLOTS,
    .algos = algos,
    .form = &element.rules,
    .traits = (const struct rmcp_trait[]){ { "pass", rmcp_element_passes },
                                           { "reduction", reductions },
                                           { "type", rmcp_type_names },
                                           { NULL, NULL } },
    .trials =
        (const char *const[]){ "3x1000:none:%s", "7x500:sum:%s", "3x5x70:mean:%s:x/350x1x5", NULL },
};

static const struct rmcp_element element = {
    .rules = {
        .operation = &rmcp_operation_softmargin,
        .fragile = true,
        .tensors = (const char *const[]){ "x", "t", "y", "dy", "dx", NULL },
        .shape = shape,
        .evaluate = evaluate,
    },
    .work = work,
    .math_bytes = sizeof(struct rmcp_softmargin_math),
    .math = math,
};
