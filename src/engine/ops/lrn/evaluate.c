/* evaluate.c: what local response normalisation computes, in double, with bounds for f32
 * arithmetic. */
#include "engine/ops/lrn/lrn.h"

#include <math.h>

static const double unit = 0x1p-24; /* rounding of f32 */

/* The dimensions of a dense tensor as seen from one axis: [outer][size][inner]. */
struct axis {
    int64_t size, inner;
};

static struct axis axis_of(const struct rmcp_form *form, unsigned axis)
{
    struct axis a = { form->size[axis], 1 };
    for (unsigned d = axis + 1; d < form->dims; d++) a.inner *= form->size[d];
    return a;
}

/* The sum of a term over the window of one element. */
struct sum {
    double value, magnitude;
    int64_t terms;
};

typedef double term_of(const struct rmcp_form_values *values, int64_t index);

static struct sum sum_window(const struct rmcp_form *form, const struct rmcp_lrn *lrn,
                             const struct rmcp_form_values *values, int64_t index, term_of *term)
{
    const struct axis s = axis_of(form, lrn->strip_axis), c = axis_of(form, lrn->column_axis);
    const int64_t row = index / s.inner % s.size, column = index / c.inner % c.size;
    struct sum sum = { 0 };
    for (int64_t i = -lrn->before; i <= lrn->after; i++) {
        if (row + i < 0 || row + i >= s.size) continue;
        for (int64_t k = lrn->within ? -lrn->before : 0; k <= (lrn->within ? lrn->after : 0); k++) {
            if (column + k < 0 || column + k >= c.size) continue;
            const double v = term(values, index + i * s.inner + (lrn->within ? k * c.inner : 0));
            sum.value += v;
            sum.magnitude += fabs(v);
            sum.terms++;
        }
    }
    return sum;
}

/* scale^-beta in f32, relative to itself: the logarithm's error grows with it. */
static double power_error(const struct rmcp_lrn *lrn, double scale)
{
    return (8 + 4 * fabs(lrn->beta * log2(scale)) + 4 * fabs(lrn->beta)) * unit;
}

/* f32 has no power of it, or nearly none. */
static bool is_wild(double scale, double power)
{
    return !(scale > 0x1p-120 && scale < 0x1p120 && power > 0x1p-120 && power < 0x1p120);
}

static double square(const struct rmcp_form_values *values, int64_t index)
{
    const double x = values->in[RMCP_LRN_X][index];
    return x * x;
}

static void forward(const struct rmcp_form *form, const struct rmcp_lrn *lrn,
                    const struct rmcp_form_values *values)
{
    for (int64_t i = 0; i < form->tensor[RMCP_LRN_X].elements; i++) {
        const struct sum sum = sum_window(form, lrn, values, i, square);
        const double factor = lrn->alpha / lrn->area, scale = lrn->k + factor * sum.value;
        const double off =
            ((double)sum.terms + 6) * unit * (fabs(lrn->k) + fabs(factor) * sum.magnitude);
        const double power = pow(scale, -lrn->beta), x = values->in[RMCP_LRN_X][i];
        double *allowed = &values->allowed[RMCP_LRN_Y][i];
        values->out[RMCP_LRN_Y][i] = x * power;
        const bool wild =
            is_wild(scale - off, pow(scale - off, -lrn->beta)) || is_wild(scale, power);
        if (isnan(sum.value))
            *allowed = 0;
        else if (wild || rmcp_sum_overflows(sum.magnitude))
            *allowed = INFINITY;
        else
            *allowed = fabs(x * power) *
                           (power_error(lrn, scale) + 2 * fabs(lrn->beta) * off / (scale - off)) +
                       0x1p-149;
        if (!lrn->saved) continue;
        values->out[RMCP_LRN_SCALE][i] = scale;
        values->allowed[RMCP_LRN_SCALE][i] = rmcp_sum_overflows(sum.magnitude) ? INFINITY
                                             : isfinite(scale)                 ? off
                                                                               : 0;
    }
}

static double ratio(const struct rmcp_form_values *values, int64_t index)
{
    const double scale = values->in[RMCP_LRN_SCALE][index];
    const double product = values->in[RMCP_LRN_Y][index] * values->in[RMCP_LRN_DY][index];
    /* Scales are positive: of one that nearly is none f32 has no reciprocal, and a product that f32
     * loses at its lower end comes back by a small one. */
    const bool small = scale < 0x1p-20 && fabs(product) < 0x1p-100;
    return !(scale > 0x1p-100) || small ? (double)INFINITY : product / scale;
}

static void backward(const struct rmcp_form *form, const struct rmcp_lrn *lrn,
                     const struct rmcp_form_values *values)
{
    for (int64_t i = 0; i < form->tensor[RMCP_LRN_X].elements; i++) {
        const struct sum sum = sum_window(form, lrn, values, i, ratio);
        const double scale = values->in[RMCP_LRN_SCALE][i], power = pow(scale, -lrn->beta);
        const double first = values->in[RMCP_LRN_DY][i] * power;
        const double factor = 2 * lrn->alpha * lrn->beta / lrn->area * values->in[RMCP_LRN_X][i];
        double *allowed = &values->allowed[RMCP_LRN_DX][i];
        values->out[RMCP_LRN_DX][i] = first - factor * sum.value;
        if (isnan(values->out[RMCP_LRN_DX][i]) && isnan(sum.value))
            *allowed = 0;
        else if (is_wild(scale, power) || !isfinite(sum.magnitude) ||
                 rmcp_sum_overflows(sum.magnitude * (1 + fabs(factor)) + fabs(first)))
            *allowed = INFINITY;
        else
            *allowed = fabs(first) * (power_error(lrn, scale) + 2 * unit) +
                       fabs(factor) * sum.magnitude * ((double)sum.terms + 12) * unit + 0x1p-148;
    }
}

rmcp_status rmcp_lrn_evaluate(const struct rmcp_form *form, const struct rmcp_form_values *values)
{
    const struct rmcp_lrn lrn = rmcp_lrn_of(form);
    (lrn.backward ? backward : forward)(form, &lrn, values);
    return RMCP_OK;
}
