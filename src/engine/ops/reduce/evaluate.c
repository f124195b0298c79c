/* evaluate.c: the reference of reductions: plain loops in double precision, and how far f32 may be
 * from them. */
#include "engine/ops/reduce/evaluate.h"

#include "engine/ops/reduce/reduce.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>

static const double unit = 0x1p-24;

/* What one result has become of its elements so far. */
struct result {
    double value;     /* the sum, product or extreme                                      */
    double magnitude; /* the sum of absolute values; of products those above 1, multiplied */
    int64_t place;    /* of the extreme; -1: none yet                                     */
};

static bool is_product(unsigned kind)
{
    return kind == RMCP_REDUCE_MUL || kind == RMCP_REDUCE_MUL_NONZERO;
}

static bool is_least(unsigned kind)
{
    return kind == RMCP_REDUCE_MIN || kind == RMCP_REDUCE_ARGMIN;
}

static bool is_extreme(unsigned kind)
{
    return is_least(kind) || kind == RMCP_REDUCE_MAX || kind == RMCP_REDUCE_AMAX ||
           kind == RMCP_REDUCE_ARGMAX;
}

static struct result nothing(unsigned kind)
{
    if (is_product(kind)) return (struct result){ 1, 1, -1 };
    if (is_least(kind)) return (struct result){ INFINITY, 0, -1 };
    if (is_extreme(kind)) return (struct result){ -INFINITY, 0, -1 };
    return (struct result){ 0, 0, -1 };
}

/* One more element; `place` counts those of the result. */
static void take(const struct rmcp_form *form, struct result *r, double x, int64_t place)
{
    const unsigned kind = rmcp_reduce_kind(form);
    if (rmcp_reduce_ignores(form) && isnan(x)) return;
    if (kind == RMCP_REDUCE_AMAX || kind == RMCP_REDUCE_NORM1) x = fabs(x);
    if (kind == RMCP_REDUCE_NORM2) x = x * x;
    if (kind == RMCP_REDUCE_MUL_NONZERO && x == 0) return;
    if (is_product(kind)) {
        r->value *= x;
        r->magnitude *= fmax(fabs(x), 1);
    } else if (is_extreme(kind)) {
        if (isnan(r->value)) return;
        const bool above = is_least(kind) ? x < r->value : x > r->value;
        if (!above && !isnan(x) && r->place >= 0) return;
        r->value = x;
        r->place = place;
    } else {
        r->value += x;
        r->magnitude += fabs(x);
    }
}

/* What it is in the end, and how far f32 may be from it. */
static double finish(const struct rmcp_form *form, const struct result *r, double terms,
                     double *missed)
{
    const unsigned kind = rmcp_reduce_kind(form);
    *missed = 0;
    if (is_extreme(kind)) return r->value;
    if (is_product(kind)) {
        *missed = (terms + 4) * (unit * fabs(r->value) + FLT_MIN * r->magnitude);
        if (r->magnitude > FLT_MAX / 4) *missed = INFINITY;
        return r->value;
    }
    *missed = unit * r->magnitude * (2 * sqrt(terms) + 2);
    if (rmcp_sum_overflows(r->magnitude)) *missed = INFINITY;
    if (kind == RMCP_REDUCE_AVG) {
        *missed = *missed / terms + 2 * unit * fabs(r->value / terms);
        return r->value / terms;
    }
    if (kind == RMCP_REDUCE_NORM2) {
        const double root = sqrt(r->value);
        *missed = sqrt(r->value + *missed + terms * 0x1p-148) - root + 4 * unit * root;
        return root;
    }
    return r->value;
}

/* Whether f32 loses nothing: small integers, and no division or root. */
static bool is_exact(const struct rmcp_form *form, const struct result *r, enum rmcp_data data)
{
    const unsigned kind = rmcp_reduce_kind(form);
    const double alpha = form->number[RMCP_REDUCE_ALPHA], beta = form->number[RMCP_REDUCE_BETA];
    if (is_extreme(kind) && alpha == 1 && beta == 0) return true;
    const bool whole = alpha == rint(alpha) && beta == rint(beta) && fabs(alpha) + fabs(beta) < 16;
    return data == RMCP_DATA_INTEGERS && whole && r->magnitude < 0x1p18 &&
           (is_extreme(kind) || kind == RMCP_REDUCE_ADD || kind == RMCP_REDUCE_NORM1);
}

static void store(const struct rmcp_form *form, const struct rmcp_form_values *values,
                  const struct result *r, int64_t at, double terms)
{
    if (values->out[RMCP_REDUCE_I])
        values->out[RMCP_REDUCE_I][at] = r->place < 0 ? 0 : (double)r->place;
    if (!values->out[RMCP_REDUCE_C]) return;
    const double alpha = form->number[RMCP_REDUCE_ALPHA], beta = form->number[RMCP_REDUCE_BETA];
    double missed;
    const double value = alpha * finish(form, r, terms, &missed);
    const double rest = beta != 0 ? beta * values->in[RMCP_REDUCE_C][at] : 0;
    values->out[RMCP_REDUCE_C][at] = value + rest;
    if (!is_exact(form, r, values->data))
        values->allowed[RMCP_REDUCE_C][at] =
            fabs(alpha) * missed + 2 * unit * (fabs(value) + fabs(rest)) + FLT_MIN;
}

rmcp_status rmcp_reduce_evaluate(const struct rmcp_form *form,
                                 const struct rmcp_form_values *values)
{
    int64_t outputs = 1, terms = 1;
    for (unsigned d = 0; d < form->dims; d++)
        *(rmcp_reduce_along(form, d) ? &terms : &outputs) *= form->size[d];
    struct result *all = calloc((size_t)outputs, sizeof *all);
    if (!all) return rmcp_fail(RMCP_E_NOMEM, "out of host memory for the reference of a reduction");
    for (int64_t i = 0; i < outputs; i++) all[i] = nothing(rmcp_reduce_kind(form));
    const int64_t elements = outputs * terms;
    for (int64_t i = 0; i < elements; i++) {
        int64_t rest = i, output = 0, place = 0, output_weight = 1, place_weight = 1;
        for (unsigned d = form->dims; d-- > 0; rest /= form->size[d]) {
            const int64_t digit = rest % form->size[d];
            const bool along = rmcp_reduce_along(form, d);
            *(along ? &place : &output) += digit * (along ? place_weight : output_weight);
            *(along ? &place_weight : &output_weight) *= form->size[d];
        }
        take(form, &all[output], values->in[RMCP_REDUCE_A][i], place);
    }
    for (int64_t i = 0; i < outputs; i++) store(form, values, &all[i], i, (double)terms);
    free(all);
    return RMCP_OK;
}
