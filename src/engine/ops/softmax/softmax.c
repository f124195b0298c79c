/* softmax.c: softmax and its logarithm over the channels, or over all of an image; forward and
 * gradient. */
#include "engine/ops/softmax/softmax.h"

#include "engine/core/draw.h"

#include <float.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>

extern const struct rmcp_algo *const rmcp_algos_softmax[];

static const double unit = 0x1p-24;

static rmcp_status shape(struct rmcp_form *form)
{
    if (form->dims < 2)
        return rmcp_fail(RMCP_E_ARG, "%u dimension; softmax needs images and channels", form->dims);
    for (int i = 0; i < 2; i++)
        if (!isfinite(form->number[i]))
            return rmcp_fail(RMCP_E_ARG, "alpha and beta must be finite");
    const bool forward = form->word[RMCP_SOFTMAX_PASS] == RMCP_SOFTMAX_FORWARD;
    const unsigned result = forward ? RMCP_SOFTMAX_Y : RMCP_SOFTMAX_DX;
    if (forward) {
        rmcp_form_whole(form, RMCP_SOFTMAX_X, false);
    } else {
        rmcp_form_whole(form, RMCP_SOFTMAX_Y, false);
        rmcp_form_whole(form, RMCP_SOFTMAX_DY, false);
    }
    rmcp_form_whole(form, result, true);
    form->tensor[result].read = form->number[RMCP_SOFTMAX_BETA] != 0;
    return RMCP_OK;
}

/* ---- the reference ---- */

/* One line: `n` elements, `step` apart. */
struct line {
    const struct rmcp_form *form;
    const struct rmcp_form_values *values;
    int64_t first, n, step;
};

/* result = alpha * value + beta * before, within what f32 may miss of the value. */
static void put(const struct line *line, unsigned slot, int64_t at, double value, double missed)
{
    const double alpha = line->form->number[RMCP_SOFTMAX_ALPHA],
                 beta = line->form->number[RMCP_SOFTMAX_BETA];
    const double *before = line->values->in[slot];
    const double rest = beta != 0 ? beta * before[at] : 0;
    const double allowed =
        fabs(alpha) * missed + unit * 2 * (fabs(alpha * value) + fabs(rest)) + FLT_MIN;
    line->values->out[slot][at] = alpha * value + rest;
    line->values->allowed[slot][at] =
        fabs(alpha * value) + fabs(rest) + missed < FLT_MAX / 4 ? allowed : INFINITY;
}

/* e^(x - top) has the error of x - top, the sum those of its terms and of adding them, and a few
 * each are for exponential, logarithm and division. */
static void forward(const struct line *line)
{
    const double *x = line->values->in[RMCP_SOFTMAX_X];
    double top = -INFINITY, sum = 0, missed = 0;
    for (int64_t i = 0; i < line->n; i++) top = fmax(top, x[line->first + i * line->step]);
    for (int64_t i = 0; i < line->n; i++) {
        const double below = x[line->first + i * line->step] - top, e = exp(below);
        sum += e;
        missed += e * (8 - below) * unit;
    }
    const double share = missed / sum + 2 * unit * sqrt((double)line->n);
    for (int64_t i = 0; i < line->n; i++) {
        const int64_t at = line->first + i * line->step;
        const double below = x[at] - top, y = exp(below) / sum;
        if (rmcp_softmax_log(line->form))
            put(line, RMCP_SOFTMAX_Y, at, below - log(sum),
                share + unit * (2 * fabs(below) + 16 * log(sum) + 1));
        else
            put(line, RMCP_SOFTMAX_Y, at, y, y * (share + unit * (16 - below)) + FLT_MIN);
    }
}

static void backward(const struct line *line)
{
    const double *y = line->values->in[RMCP_SOFTMAX_Y], *dy = line->values->in[RMCP_SOFTMAX_DY];
    const bool log = rmcp_softmax_log(line->form);
    double sum = 0, magnitude = 0;
    for (int64_t i = 0; i < line->n; i++) {
        const int64_t at = line->first + i * line->step;
        const double term = log ? dy[at] : y[at] * dy[at];
        sum += term;
        magnitude += fabs(term);
    }
    const double missed = unit * magnitude * (4 + 2 * sqrt((double)line->n));
    for (int64_t i = 0; i < line->n; i++) {
        const int64_t at = line->first + i * line->step;
        const double e = exp(y[at]);
        if (log)
            put(line, RMCP_SOFTMAX_DX, at, dy[at] - e * sum,
                e * (missed + unit * (8 + fabs(y[at])) * fabs(sum)) +
                    unit * (fabs(dy[at]) + e * fabs(sum)));
        else
            put(line, RMCP_SOFTMAX_DX, at, y[at] * (dy[at] - sum),
                fabs(y[at]) * (missed + 2 * unit * (fabs(dy[at]) + fabs(sum))));
    }
}

static rmcp_status evaluate(const struct rmcp_form *form, const struct rmcp_form_values *values)
{
    const bool by_channel = form->word[RMCP_SOFTMAX_MODE] == RMCP_SOFTMAX_CHANNEL;
    int64_t inner = 1;
    for (unsigned d = 2; d < form->dims; d++) inner *= form->size[d];
    const int64_t image = form->size[1] * inner;
    for (int64_t n = 0; n < form->size[0]; n++)
        for (int64_t i = 0; i < (by_channel ? inner : 1); i++) {
            const struct line line = { form, values, n * image + i,
                                       by_channel ? form->size[1] : image, by_channel ? inner : 1 };
            if (form->word[RMCP_SOFTMAX_PASS] == RMCP_SOFTMAX_FORWARD)
                forward(&line);
            else
                backward(&line);
        }
    return RMCP_OK;
}

/* ---- the operation ---- */

static const char *const passes[] = { "fwd", "bwd", NULL };
static const char *const types[] = { "f32", "f16", "bf16", NULL };
static const char *const algorithms[] = { "accurate", "fast", "log", NULL };
static const char *const modes[] = { "channel", "instance", NULL };
static const struct rmcp_trait traits[] = {
    { "pass", passes }, { "type", types }, { "algorithm", algorithms },
    { "mode", modes },  { NULL, NULL },
};
static const char *const tensors[] = { "x", "y", "dy", "dx", NULL };
static const struct rmcp_form_number numbers[] = { { "alpha", 1 }, { "beta", 0 }, { NULL, 0 } };

static const struct rmcp_form_rules rules = {
    .operation = &rmcp_operation_softmax,
    .tensors = tensors,
    .numbers = numbers,
    .shape = shape,
    .evaluate = evaluate,
};

static rmcp_status parse(const char *text, void *problems, size_t *count)
{
    return rmcp_form_parse(&rules, text, problems, count);
}

static void draw(uint64_t seed, void *problem)
{
    struct rmcp_random r = { seed };
    char sizes[80], x[120], y[120];
    int64_t size[RMCP_FORM_DIMS];
    const unsigned dims = rmcp_draw_sizes(&r, 2, 60000, size, sizes, sizeof sizes);
    const bool forward = rmcp_random_below(&r, 2);
    rmcp_draw_strides(&r, forward ? "x" : "dy", dims, size, true, x, sizeof x);
    rmcp_draw_strides(&r, forward ? "y" : "dx", dims, size, false, y, sizeof y);
    rmcp_form_draw(&rules, problem, "%s:%s:%s:%s:%s:alpha%d:beta%d%s%s", sizes, passes[!forward],
                   types[rmcp_random_below(&r, 3)], algorithms[rmcp_random_below(&r, 3)],
                   modes[rmcp_random_below(&r, 2)], rmcp_random_below(&r, 3) ? 1 : -2,
                   rmcp_random_below(&r, 3) ? 0 : 3, x, y);
}

static const char *const trials[] = {
    "3x40x5x9:%s",           /* columns                        */
    "3x21x5x8:%s",           /* channels                       */
    "2x300x3x6:%s:log",      /* channels, shared by work-items */
    "1x600x4x4:%s",          /* channels, with more registers  */
    "1x2100x2x2:%s",         /* channels, read twice           */
    "5x64:%s",               /* whole chunks                   */
    "2x7x3x5:%s:instance",   /* short rows                     */
    "5x6000:%s:log",         /* rows, read twice               */
    "1x40001:%s:log",        /* rows, shared by workgroups     */
    "1x9000x3:%s:beta1:log", /* columns, shared                */
    NULL,
};

const struct rmcp_operation rmcp_operation_softmax = {
    RMCP_FORM_COLUMNS, .name = "softmax", .n_slots = 4,     .algos = rmcp_algos_softmax,
    .parse = parse,    .traits = traits,  .trials = trials, .draw = draw,
};
