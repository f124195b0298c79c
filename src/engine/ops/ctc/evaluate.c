/* evaluate.c: the reference of connectionist temporal classification: logarithms in double. */
#include "engine/ops/ctc/ctc.h"

#include <math.h>
#include <stdlib.h>

/* One sequence. States are the label's classes with a blank before, between and behind. */
struct sequence {
    const struct rmcp_form *form;
    const double *x;       /* of this sequence: step t, class c at x[t * step + c]       */
    int64_t step, classes; /* step: elements from one step to the next                   */
    int64_t steps, states;
    int64_t blank;
    int64_t *class;            /* of each state                                               */
    double *log_sum;           /* of each step: what makes logits logarithms of probabilities */
    double *before, *behind;   /* logarithms: of all beginnings of paths that end in a state, and
                                  of all ends that follow it, itself not counted              */
    double total, error, open; /* log of the probability, relative error of that; open: some x is
                                  not a number to compute with                                */
};

static double log_add(double a, double b)
{
    const double larger = a > b ? a : b, smaller = a > b ? b : a;
    return larger == -INFINITY ? larger : larger + log1p(exp(smaller - larger));
}

static double log_of(const struct sequence *s, int64_t t, int64_t c)
{
    return s->x[t * s->step + c] - s->log_sum[t];
}

static const double unit = 0x1p-24;

/* The relative error of a probability in f32: of the exponent, which is as large as it is, and of
 * the sum below it. */
static double probability_error(const struct sequence *s, int64_t t, int64_t c)
{
    const double distance = fabs(log_of(s, t, c));
    return unit * (16 + 4 * distance + (double)s->classes / 64);
}

static void sum_logits(struct sequence *s)
{
    const bool logits = s->form->word[RMCP_CTC_MODE] == RMCP_CTC_SOFTMAX;
    for (int64_t t = 0; t < s->steps; t++) {
        const double *x = s->x + t * s->step;
        double most = -INFINITY, sum = 0;
        for (int64_t c = 0; c < s->classes; c++) {
            s->open = s->open || isnan(x[c]) || x[c] == INFINITY;
            if (x[c] > most) most = x[c];
        }
        for (int64_t c = 0; c < s->classes; c++) sum += exp(x[c] - most);
        s->log_sum[t] = logits ? most + log(sum) : 0;
        s->open = s->open || !isfinite(s->log_sum[t]);
    }
}

/* Whether a path may go from one label to the next without a blank. */
static bool skips(const struct sequence *s, int64_t from, int64_t to)
{
    return s->class[to] != s->blank && s->class[from] != s->class[to];
}

static void walk(struct sequence *s)
{
    const int64_t n = s->states;
    for (int64_t t = 0; t < s->steps; t++)
        for (int64_t i = 0; i < n; i++) {
            const double *last = s->before + (t - 1) * n;
            double sum = t == 0 && i < 2 ? 0 : -INFINITY;
            if (t > 0) {
                sum = last[i];
                if (i >= 1) sum = log_add(sum, last[i - 1]);
                if (i >= 2 && skips(s, i - 2, i)) sum = log_add(sum, last[i - 2]);
            }
            s->before[t * n + i] = sum + log_of(s, t, s->class[i]);
        }
    for (int64_t t = s->steps; t-- > 0;)
        for (int64_t i = n; i-- > 0;) {
            double sum = t == s->steps - 1 && i >= n - 2 ? 0 : -INFINITY;
            for (int64_t k = i; t < s->steps - 1 && k < n && k <= i + 2; k++)
                if (k < i + 2 || skips(s, i, k))
                    sum = log_add(sum, s->behind[(t + 1) * n + k] + log_of(s, t + 1, s->class[k]));
            s->behind[t * n + i] = sum;
        }
    s->total = s->steps ? s->before[(s->steps - 1) * n + n - 1] : n == 1 ? 0 : -INFINITY;
    if (s->steps && n > 1) s->total = log_add(s->total, s->before[(s->steps - 1) * n + n - 2]);
}

/* Errors of the steps multiply; they are as often too large as too small. */
static void bound(struct sequence *s)
{
    double squares = 0, sum = 0;
    for (int64_t t = 0; t < s->steps; t++) {
        double most = 0;
        for (int64_t i = 0; i < s->states; i++) {
            const double e = probability_error(s, t, s->class[i]);
            if (isfinite(e) && e > most) most = e;
        }
        most += 6 * unit;
        squares += most * most;
        sum += most;
    }
    s->error = fmin(sum, 4 * sqrt(squares)) + 8 * unit;
}

static void emit(const struct sequence *s, double *loss, double *loss_allowed, double *dx,
                 double *dx_allowed)
{
    const bool logits = s->form->word[RMCP_CTC_MODE] == RMCP_CTC_SOFTMAX;
    const double tiny = 0x1p-120;
    *loss = -s->total;
    *loss_allowed = s->open ? INFINITY : isinf(s->total) ? 0 : s->error + 4 * unit * fabs(s->total);
    for (int64_t t = 0; t < s->steps; t++) {
        double *const row = dx + t * s->step, *const allowed = dx_allowed + t * s->step;
        for (int64_t i = 0; i < s->states; i++) {
            const int64_t at = t * s->states + i;
            const double share = s->before[at] + s->behind[at] - s->total;
            if (!isinf(s->total) && !isnan(share)) row[s->class[i]] += exp(share);
        }
        for (int64_t c = 0; c < s->classes; c++) {
            const double share = row[c], p = exp(log_of(s, t, c));
            const double own = probability_error(s, t, c);
            row[c] = logits ? p - share : share > 0 ? -share / p : 0;
            const double least = logits || share > 0 ? tiny : 0;
            allowed[c] = (logits ? p * own : 0) + least +
                         (share > 0 ? (2 * s->error + own) * (logits ? share : share / p) : 0);
            if (s->open || isnan(allowed[c])) allowed[c] = INFINITY;
        }
    }
}

static int64_t clamp(double value, int64_t most)
{
    return value < 0 ? 0 : value > (double)most ? most : (int64_t)value;
}

rmcp_status rmcp_ctc_evaluate(const struct rmcp_form *form, const struct rmcp_form_values *values)
{
    const int64_t steps = form->size[RMCP_CTC_STEPS], batch = form->size[RMCP_CTC_BATCH];
    const int64_t classes = form->size[RMCP_CTC_CLASSES];
    const int64_t labels = (int64_t)form->number[RMCP_CTC_LABELS], most = 2 * labels + 1;
    const int64_t width = form->tensor[RMCP_CTC_TARGETS].size[1];
    const double *lengths = values->in[RMCP_CTC_LENGTHS];
    int64_t *class = calloc((size_t)most, sizeof *class);
    double *room = calloc((size_t)(steps * (2 * most + 1)), sizeof *room);
    const bool there = class && room;
    for (int64_t n = 0; there && n < batch; n++) {
        const int64_t length = clamp(lengths[2 * n + 1], labels);
        struct sequence s = {
            .form = form,
            .x = values->in[RMCP_CTC_X] + n * classes,
            .step = batch * classes,
            .classes = classes,
            .steps = clamp(lengths[2 * n], steps),
            .states = 2 * length + 1,
            .blank = (int64_t)form->number[RMCP_CTC_BLANK],
            .class = class,
            .log_sum = room,
            .before = room + steps,
            .behind = room + steps * (most + 1),
        };
        for (int64_t i = 0; i < s.states; i++)
            class[i] = i % 2 ? clamp(values->in[RMCP_CTC_TARGETS][n * width + i / 2], classes - 1)
                             : s.blank;
        sum_logits(&s);
        walk(&s);
        bound(&s);
        emit(&s, &values->out[RMCP_CTC_LOSS][n], &values->allowed[RMCP_CTC_LOSS][n],
             values->out[RMCP_CTC_DX] + n * classes, values->allowed[RMCP_CTC_DX] + n * classes);
    }
    free(class);
    free(room);
    return there ? RMCP_OK : rmcp_fail(RMCP_E_NOMEM, "out of host memory");
}
