/* evaluate.c: the reference of multi-head attention, with bounds for f32. */
#include "ops/attention/attention.h"

#include <math.h>
#include <stdlib.h>

static const double unit = 0x1p-24;

/* One head: its tensors, and one query's rows of `keys`. */
struct head {
    struct rmcp_att_sizes s;
    double scale;
    bool causal;
    const double *q, *k, *v, *bias, *m, *zinv, *dout;
    double *o, *o_allowed, *dq, *dq_allowed, *dk, *dk_allowed, *dv, *dv_allowed;
    double *score, *error, *p, *g, *g_error;
};

/* A sum of products in f32, in any order. */
static double product(const double *a, const double *b, int64_t n, double *error)
{
    double sum = 0, magnitude = 0;
    for (int64_t i = 0; i < n; i++) sum += a[i] * b[i], magnitude += fabs(a[i] * b[i]);
    *error = unit * (2 * sqrt((double)n) + 2) * magnitude;
    return sum;
}

static int64_t seen(const struct head *h, int64_t i)
{
    return h->causal && i + 1 < h->s.keys ? i + 1 : h->s.keys;
}

/* Scores of query i, and how far they may be off. */
static void find_scores(struct head *h, int64_t i)
{
    const int64_t n = seen(h, i), d = h->s.depth;
    for (int64_t j = 0; j < n; j++) {
        double error;
        const double dot = product(h->q + i * d, h->k + j * d, d, &error);
        const double b = h->bias ? h->bias[i * h->s.keys + j] : 0;
        h->score[j] = h->scale * dot + b;
        h->error[j] = fabs(h->scale) * (error + 2 * unit * fabs(dot)) + unit * fabs(h->score[j]);
    }
}

/* ---- forward ---- */

static void forward_row(struct head *h, int64_t i, double *m, double *m_allowed, double *zinv,
                        double *zinv_allowed)
{
    const int64_t n = seen(h, i), d = h->s.depth;
    double most = -INFINITY, off = 0, sum = 0, range = 0;
    find_scores(h, i);
    for (int64_t j = 0; j < n; j++) {
        if (!(h->score[j] <= most)) most = h->score[j];
        if (isfinite(h->score[j])) off = fmax(off, h->error[j]);
    }
    for (int64_t j = 0; j < n; j++) sum += h->p[j] = exp(h->score[j] - most);
    for (int64_t j = 0; j < n; j++)
        if (h->p[j] > 1e-30) range = fmax(range, most - h->score[j]);
    const double relative = 2 * off + unit * (16 + 4 * range + (double)n / 128);
    const bool open = !isfinite(sum) || !isfinite(most) || fabs(most) > 1e30;
    if (m) {
        m[i] = most, m_allowed[i] = open ? INFINITY : off + unit * fabs(most) + 0x1p-120;
        zinv[i] = 1 / sum, zinv_allowed[i] = open ? INFINITY : relative / sum;
    }
    for (int64_t c = 0; c < d; c++) {
        double value = 0, magnitude = 0;
        for (int64_t j = 0; j < n; j++) {
            value += h->p[j] / sum * h->v[j * d + c];
            magnitude += h->p[j] / sum * fabs(h->v[j * d + c]);
        }
        h->o[i * d + c] = value;
        const double allowed = magnitude * (relative + unit * (2 * sqrt((double)n) + 4)) + 0x1p-100;
        h->o_allowed[i * d + c] = open || !isfinite(allowed) ? INFINITY : allowed;
    }
}

/* ---- backward ---- */

/* to[c] += factor * a * from[c], with the errors of factor and of the sum's rounding. */
static void add(double *to, double *allowed, const double *from, int64_t d, double factor,
                double error)
{
    for (int64_t c = 0; c < d; c++) {
        to[c] += factor * from[c];
        allowed[c] += error * fabs(from[c]);
    }
}

static void backward_row(struct head *h, int64_t i)
{
    const int64_t n = seen(h, i), d = h->s.depth;
    const double keys = unit * (2 * sqrt((double)n) + 4);
    const double queries = unit * (2 * sqrt((double)h->s.queries) + 4);
    double delta = 0, delta_error = 0;
    find_scores(h, i);
    for (int64_t j = 0; j < n; j++) {
        const double distance = h->score[j] - h->m[i];
        h->p[j] = exp(distance) * h->zinv[i];
        h->error[j] += unit * (16 + 4 * fabs(distance)); /* relative, of p */
        h->g[j] = product(h->dout + i * d, h->v + j * d, d, &h->g_error[j]);
        delta += h->p[j] * h->g[j];
        delta_error += fabs(h->p[j]) * (fabs(h->g[j]) * (h->error[j] + keys) + h->g_error[j]);
    }
    for (int64_t j = 0; j < n; j++) {
        const double p = fabs(h->p[j]), ds = h->p[j] * (h->g[j] - delta);
        const double terms = p * (fabs(h->g[j]) + fabs(delta));
        const double ds_error =
            p * (h->g_error[j] + delta_error) + terms * (h->error[j] + 4 * unit);
        const double scale = fabs(h->scale);
        add(h->dq + i * d, h->dq_allowed + i * d, h->k + j * d, d, h->scale * ds,
            scale * (ds_error + fabs(ds) * keys));
        add(h->dk + j * d, h->dk_allowed + j * d, h->q + i * d, d, h->scale * ds,
            scale * (ds_error + fabs(ds) * queries));
        add(h->dv + j * d, h->dv_allowed + j * d, h->dout + i * d, d, h->p[j],
            p * (h->error[j] + queries));
    }
}

static void settle(double *values, double *allowed, int64_t n)
{
    for (int64_t i = 0; i < n; i++) {
        const bool open = !isfinite(allowed[i]) || !isfinite(values[i]) || fabs(values[i]) > 3e38 ||
                          allowed[i] > 1e37;
        allowed[i] = open ? INFINITY : allowed[i] + 0x1p-100;
    }
}

static const double *at(const double *tensor, int64_t head, int64_t elements)
{
    return tensor ? tensor + head * elements : NULL;
}

static double *into(double *tensor, int64_t head, int64_t elements)
{
    return tensor ? tensor + head * elements : NULL;
}

rmcp_status rmcp_att_evaluate(const struct rmcp_form *form, const struct rmcp_form_values *v)
{
    const struct rmcp_att_sizes s = rmcp_att_sizes(form);
    const int64_t query = s.queries * s.depth, key = s.keys * s.depth;
    double *room = calloc((size_t)(5 * s.keys), sizeof *room);
    if (!room) return rmcp_fail(RMCP_E_NOMEM, "out of host memory");
    for (int64_t n = 0; n < s.heads; n++) {
        struct head h = {
            .s = s,
            .scale = (double)(float)form->number[RMCP_ATT_SCALE],
            .causal = form->word[RMCP_ATT_MASK],
            .q = at(v->in[RMCP_ATT_Q], n, query),
            .k = at(v->in[RMCP_ATT_K], n, key),
            .v = at(v->in[RMCP_ATT_V], n, key),
            .bias = at(v->in[RMCP_ATT_BIAS], n, s.queries * s.keys),
            .m = at(v->in[RMCP_ATT_M], n, s.queries),
            .zinv = at(v->in[RMCP_ATT_ZINV], n, s.queries),
            .dout = at(v->in[RMCP_ATT_DO], n, query),
            .o = into(v->out[RMCP_ATT_O], n, query),
            .o_allowed = into(v->allowed[RMCP_ATT_O], n, query),
            .dq = into(v->out[RMCP_ATT_DQ], n, query),
            .dq_allowed = into(v->allowed[RMCP_ATT_DQ], n, query),
            .dk = into(v->out[RMCP_ATT_DK], n, key),
            .dk_allowed = into(v->allowed[RMCP_ATT_DK], n, key),
            .dv = into(v->out[RMCP_ATT_DV], n, key),
            .dv_allowed = into(v->allowed[RMCP_ATT_DV], n, key),
            .score = room,
            .error = room + s.keys,
            .p = room + 2 * s.keys,
            .g = room + 3 * s.keys,
            .g_error = room + 4 * s.keys,
        };
        for (int64_t i = 0; i < s.queries; i++)
            if (h.dq)
                backward_row(&h, i);
            else
                forward_row(&h, i, into(v->out[RMCP_ATT_M], n, s.queries),
                            into(v->allowed[RMCP_ATT_M], n, s.queries),
                            into(v->out[RMCP_ATT_ZINV], n, s.queries),
                            into(v->allowed[RMCP_ATT_ZINV], n, s.queries));
        if (!h.dq) continue;
        settle(h.dq, h.dq_allowed, query);
        settle(h.dk, h.dk_allowed, key);
        settle(h.dv, h.dv_allowed, key);
    }
    free(room);
    return RMCP_OK;
}
