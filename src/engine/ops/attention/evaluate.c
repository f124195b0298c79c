/* evaluate.c: the reference of multi-head attention, with bounds for f32. */
#include "engine/ops/attention/attention.h"

#include "engine/kernels/philox.h"

#include <math.h>
#include <stdlib.h>

static const double unit = 0x1p-24;

/* One head: its tensors, and one query's rows of `keys`. */
struct head {
    struct rmcp_att_sizes s;
    double scale;
    bool causal;
    int64_t number;       /* of the head                  */
    const double *factor; /* NULL: all are 1, no dropout  */
    uint32_t state[4];
    const double *q, *k, *v, *bias, *m, *zinv, *dout;
    double *o, *o_allowed, *dq, *dq_allowed, *dk, *dk_allowed, *dv, *dv_allowed;
    double *score, *error, *p, *g, *g_error;
    double *amax, *amax_allowed;
};

static double factor(const struct head *h, unsigned which)
{
    return h->factor ? h->factor[which] : 1;
}

/* What the weight of query i and key j is multiplied by. */
static double kept(const struct head *h, int64_t i, int64_t j)
{
    const double share = h->factor ? h->factor[RMCP_ATT_DROP] : 0;
    if (!(share > 0)) return 1;
    if (share >= 1) return 0;
    const int64_t index = (h->number * h->s.queries + i) * h->s.keys + j;
    const bool drop = rmcp_philox_at(h->state, (uint64_t)index) < (uint32_t)(share * 4294967296.0);
    return drop ? 0 : 1 / (1 - share);
}

/* Once a value is open, so is the largest for good. */
static void note_largest(struct head *h, unsigned at, double value, double allowed)
{
    if (!h->amax) return;
    const bool open = !isfinite(allowed) || !(fabs(value) < 3e38);
    if (fabs(value) > h->amax[at]) h->amax[at] = fabs(value);
    if (open || allowed > h->amax_allowed[at]) h->amax_allowed[at] = open ? INFINITY : allowed;
}

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
    const double scale = h->scale * factor(h, RMCP_ATT_FROM_Q) * factor(h, RMCP_ATT_FROM_K);
    for (int64_t j = 0; j < n; j++) {
        double error;
        const double dot = product(h->q + i * d, h->k + j * d, d, &error);
        const double b = h->bias ? h->bias[i * h->s.keys + j] : 0;
        h->score[j] = scale * dot + b;
        h->error[j] = fabs(scale) * (error + (h->factor ? 4 : 2) * unit * fabs(dot)) +
                      unit * fabs(h->score[j]);
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
    note_largest(h, 0, 1 / sum, open ? INFINITY : relative / sum);
    for (int64_t j = 0; j < n; j++) h->p[j] *= kept(h, i, j) / sum;
    for (int64_t c = 0; c < d; c++) {
        double value = 0, magnitude = 0;
        for (int64_t j = 0; j < n; j++) {
            value += h->p[j] * h->v[j * d + c];
            magnitude += h->p[j] * fabs(h->v[j * d + c]);
        }
        h->o[i * d + c] = value;
        const double allowed =
            magnitude * (relative + unit * (2 * sqrt((double)n) + (h->factor ? 8 : 4))) + 0x1p-100;
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
    const double gradient = factor(h, RMCP_ATT_FROM_DO) * factor(h, RMCP_ATT_FROM_V);
    double delta = 0, delta_error = 0;
    find_scores(h, i);
    for (int64_t j = 0; j < n; j++) {
        const double distance = h->score[j] - h->m[i];
        h->p[j] = exp(distance) * h->zinv[i];
        h->error[j] += unit * (16 + 4 * fabs(distance)); /* relative, of p */
        if (!(distance < 88)) h->error[j] = INFINITY;    /* e^88 is the end of f32 */
        const double keeps = gradient * kept(h, i, j);
        h->g[j] = product(h->dout + i * d, h->v + j * d, d, &h->g_error[j]);
        h->g_error[j] = fabs(keeps) * (h->g_error[j] + (h->factor ? 6 : 0) * unit * fabs(h->g[j]));
        h->g[j] *= keeps;
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
        const double weight = h->p[j] * kept(h, i, j);
        add(h->dv + j * d, h->dv_allowed + j * d, h->dout + i * d, d, weight,
            fabs(weight) * (h->error[j] + queries + (h->factor ? 6 : 0) * unit));
        note_largest(h, 0, h->scale * ds, scale * (ds_error + 2 * unit * fabs(ds)));
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

/* A result of products times its factors, and its place in amax. */
static void finish(struct head *h, double *values, double *allowed, int64_t n, double factors,
                   double last, unsigned at)
{
    if (!h->factor) return;
    for (int64_t i = 0; i < n; i++) {
        const double v = values[i] * factors;
        double off = allowed[i] * fabs(factors) + 8 * unit * fabs(v) + 0x1p-100;
        if (!isfinite(off)) off = INFINITY;
        note_largest(h, at, v, off);
        values[i] = v * last;
        allowed[i] = isfinite(off) ? off * fabs(last) + 2 * unit * fabs(v * last) + 0x1p-100 : off;
    }
}

static void finish_head(struct head *h, int64_t query, int64_t key)
{
    const double s = factor(h, RMCP_ATT_TO_S) * factor(h, RMCP_ATT_FROM_S);
    const double ds = factor(h, RMCP_ATT_TO_DS) * factor(h, RMCP_ATT_FROM_DS);
    if (!h->dq) {
        finish(h, h->o, h->o_allowed, query, s * factor(h, RMCP_ATT_FROM_V),
               factor(h, RMCP_ATT_TO_O), 1);
        return;
    }
    finish(h, h->dq, h->dq_allowed, query, ds * factor(h, RMCP_ATT_FROM_K),
           factor(h, RMCP_ATT_TO_DQ), 1);
    finish(h, h->dk, h->dk_allowed, key, ds * factor(h, RMCP_ATT_FROM_Q), factor(h, RMCP_ATT_TO_DK),
           2);
    finish(h, h->dv, h->dv_allowed, key, s * factor(h, RMCP_ATT_FROM_DO), factor(h, RMCP_ATT_TO_DV),
           3);
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
            .number = n,
            .factor = v->in[RMCP_ATT_FACTORS],
            .amax = v->out[RMCP_ATT_AMAX],
            .amax_allowed = v->allowed[RMCP_ATT_AMAX],
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
        for (int i = 0; i < 4 && h.factor; i++)
            h.state[i] = (uint32_t)(int64_t)v->in[RMCP_ATT_STATE][i];
        for (int64_t i = 0; i < s.queries; i++)
            if (h.dq)
                backward_row(&h, i);
            else
                forward_row(&h, i, into(v->out[RMCP_ATT_M], n, s.queries),
                            into(v->allowed[RMCP_ATT_M], n, s.queries),
                            into(v->out[RMCP_ATT_ZINV], n, s.queries),
                            into(v->allowed[RMCP_ATT_ZINV], n, s.queries));
        finish_head(&h, query, key);
        if (!h.dq) continue;
        settle(h.dq, h.dq_allowed, query);
        settle(h.dk, h.dk_allowed, key);
        settle(h.dv, h.dv_allowed, key);
    }
    free(room);
    if (v->out[RMCP_ATT_AMAX])
        settle(v->out[RMCP_ATT_AMAX], v->allowed[RMCP_ATT_AMAX],
               form->tensor[RMCP_ATT_AMAX].elements);
    return RMCP_OK;
}
