/* evaluate.c: the reference of layer, T5 and group normalisation, with bounds for f32. */
#include "engine/ops/norm/norm.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double unit = 0x1p-24;

/* How often an element is rounded on its way into a sum of `count`: blocks, then blocks of blocks.
 */
static double depth_of(int64_t count)
{
    return 16 + sqrt((double)count) / 16;
}

static double bounded(double allowed, double value)
{
    return isfinite(allowed) && isfinite(value) && fabs(value) < 3e38 ? allowed : INFINITY;
}

/* ---- forward ---- */

struct statistics {
    double mean, rstd;
    double mean_error, rstd_error; /* absolute, relative */
};

static struct statistics measure(const struct rmcp_form *form, const double *x, int64_t n)
{
    const bool t5 = form->word[RMCP_LN_KIND] == RMCP_LN_T5;
    const double epsilon = (double)(float)form->number[RMCP_LN_EPSILON], depth = depth_of(n);
    double sum = 0, magnitude = 0, squares = 0;
    for (int64_t i = 0; i < n; i++) sum += x[i], magnitude += fabs(x[i]);
    struct statistics s = { .mean = t5 ? 0 : sum / (double)n };
    for (int64_t i = 0; i < n; i++) squares += (x[i] - s.mean) * (x[i] - s.mean);
    const double variance = squares / (double)n;
    s.rstd = 1 / sqrt(variance + epsilon);
    s.mean_error = t5 ? 0 : unit * (depth * magnitude / (double)n + 2 * fabs(s.mean));
    /* Distances are of values that were rounded when x and x2 were added. */
    const double added = form->word[RMCP_LN_INPUT] ? 2 * unit * magnitude / (double)n : 0;
    const double error = unit * (2 * depth + 8) * variance + s.mean_error * s.mean_error +
                         2 * (added + unit * fabs(s.mean)) * sqrt(variance) + added * added;
    s.rstd_error = 0.5 * error * s.rstd * s.rstd + 3 * unit;
    if (rmcp_sum_overflows(squares) || rmcp_sum_overflows(magnitude)) s.rstd_error = INFINITY;
    return s;
}

static void forward_row(const struct rmcp_form *form, const struct rmcp_form_values *v,
                        const struct rmcp_ln_rows *r, int64_t row, double *x)
{
    const double *add = v->in[RMCP_LN_X2], *weight = v->in[RMCP_LN_WEIGHT];
    const double *bias = v->in[RMCP_LN_BIAS];
    const int64_t first = row * r->inner;
    for (int64_t i = 0; i < r->inner; i++)
        x[i] = v->in[RMCP_LN_X][first + i] + (add ? add[first + i] : 0);
    const struct statistics s = measure(form, x, r->inner);
    for (int64_t i = 0; i < r->inner; i++) {
        const int64_t k = rmcp_ln_weight(form, r, row, i);
        const double w = weight ? weight[k] : 1, b = bias ? bias[k] : 0, d = x[i] - s.mean;
        const double y = d * s.rstd * w + b;
        const double value_error = s.mean_error + (add ? unit * fabs(x[i]) : 0);
        v->out[RMCP_LN_Y][first + i] = y;
        v->allowed[RMCP_LN_Y][first + i] =
            bounded(fabs(w) * s.rstd * (value_error + fabs(d) * (s.rstd_error + 4 * unit)) +
                        2 * unit * (fabs(y) + fabs(b)) + 0x1p-120,
                    y);
    }
    if (v->out[RMCP_LN_MEAN]) {
        v->out[RMCP_LN_MEAN][row] = s.mean;
        v->allowed[RMCP_LN_MEAN][row] = bounded(s.mean_error + 0x1p-120, s.mean);
    }
    if (v->out[RMCP_LN_RSTD]) {
        v->out[RMCP_LN_RSTD][row] = s.rstd;
        v->allowed[RMCP_LN_RSTD][row] = bounded(s.rstd * s.rstd_error, s.rstd);
    }
}

/* ---- backward ---- */

static void backward_row(const struct rmcp_form *form, const struct rmcp_form_values *v,
                         const struct rmcp_ln_rows *r, int64_t row)
{
    const bool t5 = form->word[RMCP_LN_KIND] == RMCP_LN_T5;
    const int64_t first = row * r->inner;
    const double *x = v->in[RMCP_LN_X] + first, *dy = v->in[RMCP_LN_DY] + first;
    const double *weight = v->in[RMCP_LN_WEIGHT];
    const double mean = t5 ? 0 : v->in[RMCP_LN_MEAN][row], rstd = v->in[RMCP_LN_RSTD][row];
    const double n = (double)r->inner, depth = depth_of(r->inner);
    double sum = 0, product = 0, sums = 0, products = 0;
    for (int64_t i = 0; i < r->inner; i++) {
        const double g = dy[i] * (weight ? weight[rmcp_ln_weight(form, r, row, i)] : 1);
        const double d = x[i] - mean;
        sum += t5 ? 0 : g, sums += t5 ? 0 : fabs(g);
        product += g * d, products += fabs(g * d);
    }
    for (int64_t i = 0; i < r->inner; i++) {
        const int64_t k = rmcp_ln_weight(form, r, row, i);
        const double g = dy[i] * (weight ? weight[k] : 1), d = x[i] - mean;
        const double slant = rstd * rstd * product / n, slants = rstd * rstd * products / n;
        const double dx = rstd * (g - sum / n - d * slant);
        v->out[RMCP_LN_DX][first + i] = dx;
        v->allowed[RMCP_LN_DX][first + i] = bounded(
            fabs(rstd) * unit *
                    (6 * fabs(g) + (depth + 6) * sums / n + (depth + 12) * fabs(d) * slants) +
                0x1p-120,
            dx);
        if (v->out[RMCP_LN_DWEIGHT]) v->out[RMCP_LN_DWEIGHT][k] += dy[i] * d * rstd;
        if (v->out[RMCP_LN_DWEIGHT]) v->allowed[RMCP_LN_DWEIGHT][k] += fabs(dy[i] * d * rstd);
        if (v->out[RMCP_LN_DBIAS]) v->out[RMCP_LN_DBIAS][k] += dy[i];
        if (v->out[RMCP_LN_DBIAS]) v->allowed[RMCP_LN_DBIAS][k] += fabs(dy[i]);
    }
}

rmcp_status rmcp_ln_evaluate(const struct rmcp_form *form, const struct rmcp_form_values *values)
{
    const struct rmcp_ln_rows r = rmcp_ln_rows(form);
    if (form->word[RMCP_LN_PASS] == RMCP_LN_FORWARD) {
        double *x = malloc((size_t)r.inner * sizeof *x);
        if (!x) return rmcp_fail(RMCP_E_NOMEM, "out of host memory");
        for (int64_t row = 0; row < r.rows; row++) forward_row(form, values, &r, row, x);
        free(x);
        return RMCP_OK;
    }
    for (int64_t row = 0; row < r.rows; row++) backward_row(form, values, &r, row);
    /* What was added up there are magnitudes. */
    const double rounds = depth_of(r.rows * r.inner / r.weights) + 4;
    for (unsigned slot = RMCP_LN_DWEIGHT; slot <= RMCP_LN_DBIAS; slot++)
        for (int64_t k = 0; values->out[slot] && k < r.weights; k++)
            values->allowed[slot][k] =
                bounded(unit * rounds * values->allowed[slot][k] + 0x1p-120, values->out[slot][k]);
    return RMCP_OK;
}
