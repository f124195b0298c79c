/* act.c: activations of single elements as an operation: y = f(x) and its gradient. The functions
 * are the rows of act.inc.
 *
 * The reference: u is 2^-24, the error of one rounding in f32. What is only chosen or copied has no
 * error; exponentials, logarithms and what is made of them have the errors that
 * engine/kernels/functions.h states, and below 2^-126 a device may give 0. Where an argument is as
 * near to a bend as its own error, both sides are right. */
#include "engine/elements/element.h"

#include <float.h>
#include <math.h>
#include <stdio.h>

enum { X, Y, DY, DX, N_SLOTS };
enum { PASS, MODE };                        /* traits  */
enum { ALPHA, BETA, GAMMA, SCALE, UPDATE }; /* numbers */

static const char *const modes[] = { "passthru",
#define F(mode, word, ...) #word,
#include "engine/elements/act.inc"
#undef F
                                     NULL };

/* What each function's gradient needs besides dy. */
static const unsigned gradient_reads[] = {
    0,
#define F(mode, word, reads, ...) reads,
#include "engine/elements/act.inc"
#undef F
};

static unsigned result_of(const struct rmcp_form *form)
{
    return form->word[PASS] ? DX : Y;
}

static struct rmcp_act_math math_of(const struct rmcp_form *form)
{
    const unsigned mode = form->word[MODE], backward = form->word[PASS];
    const unsigned old = form->number[UPDATE] != 0 ? RMCP_ACT_READS_OLD : 0;
    return (struct rmcp_act_math){
        .mode = mode,
        .backward = backward,
        .reads = old | (backward ? RMCP_ACT_READS_DY | gradient_reads[mode] : RMCP_ACT_READS_X),
        .alpha = (float)form->number[ALPHA],
        .beta = (float)form->number[BETA],
        .gamma = (float)form->number[GAMMA],
        .least = form->type == RMCP_F16 ? 1e-4f : 1e-6f,
        .scale = (float)form->number[SCALE],
        .update = (float)form->number[UPDATE],
    };
}

static rmcp_status shape(struct rmcp_form *form)
{
    const struct rmcp_act_math m = math_of(form);
    const unsigned result = result_of(form);
    if (m.reads & RMCP_ACT_READS_X) rmcp_form_whole(form, X, false);
    if (m.reads & RMCP_ACT_READS_Y) rmcp_form_whole(form, Y, false);
    if (m.reads & RMCP_ACT_READS_DY) rmcp_form_whole(form, DY, false);
    rmcp_form_whole(form, result, true);
    form->tensor[result].read = m.reads & RMCP_ACT_READS_OLD;
    return RMCP_OK;
}

static const double u = 0x1p-24, tiny = 0x1p-126;

/* A value and its error. */
struct bounded {
    double value, error;
};

static struct bounded off(double value, double units)
{
    return (struct bounded){ value, units * u * fabs(value) + (units > 0 ? tiny : 0) };
}

/* Of the sigmoid of x, `units` and what 16-bit types have more (engine/kernels/quick.h). */
static struct bounded sigmoid(double x, double factor, double units, bool narrow)
{
    const double value = x < 0 ? exp(x) / (1 + exp(x)) : 1 / (1 + exp(-x));
    return off(factor * value, units + (narrow ? 2 * fabs(x) : 0));
}

/* alpha + beta x, and whether it is too near to `least` to say on which side. */
static struct bounded base_of(const struct rmcp_act_math *m, double x, bool *unsure)
{
    const double product = (double)m->beta * x, base = (double)m->alpha + product;
    const double error = 2 * u * (fabs((double)m->alpha) + fabs(product));
    *unsure = fabs(base - (double)m->least) <= error;
    return (struct bounded){ base, error };
}

static struct bounded power(const struct rmcp_act_math *m, double x)
{
    bool unsure;
    const struct bounded base = base_of(m, x, &unsure);
    const double gamma = (double)m->gamma;
    if (base.value <= (double)m->least && !unsure) return (struct bounded){ 0, 0 };
    const double safe = fmax(base.value, (double)m->least), v = gamma == 0 ? 1 : pow(safe, gamma);
    if (isnan(base.value)) return (struct bounded){ gamma == 0 ? 1 : base.value, 0 };
    const double units = 8 + 14 * fabs(gamma * log(safe));
    const double relative = expm1(units * u + fabs(gamma) * base.error / safe);
    if (unsure)
        return (struct bounded){ base.value <= (double)m->least ? 0 : v, v * (1 + relative) };
    return (struct bounded){ v, v * relative + tiny };
}

static struct bounded tanh_slope(const struct rmcp_act_math *m, double y, double dy)
{
    const double alpha = (double)m->alpha, beta = (double)m->beta;
    if (fabs(beta) <= (double)m->least) return off(0, 0);
    return (struct bounded){ dy * alpha * (beta - y * y / beta),
                             16 * u * fabs(dy * alpha) * (fabs(beta) + y * y / fabs(beta)) + tiny };
}

static struct bounded power_slope(const struct rmcp_act_math *m, double x, double y, double dy)
{
    bool unsure;
    const struct bounded base = base_of(m, x, &unsure);
    const double v = dy * ((double)m->beta * (double)m->gamma) * y / base.value;
    if (unsure) return (struct bounded){ 0, INFINITY };
    if (base.value <= (double)m->least) return off(0, 0);
    return (struct bounded){ v, fabs(v) * (12 * u + 2 * base.error / base.value) + tiny };
}

static struct bounded elu_slope(const struct rmcp_act_math *m, double x, double y, double dy)
{
    const double alpha = (double)m->alpha;
    if (x > 0) return off(dy, 0);
    return (struct bounded){ dy * (y + alpha), 4 * u * fabs(dy) * (fabs(y) + fabs(alpha)) };
}

static struct bounded forward(const struct rmcp_act_math *m, double x, bool narrow)
{
    const double alpha = (double)m->alpha, beta = (double)m->beta;
    struct bounded result = off(x, 0);
    switch (m->mode) {
#define F(mode, word, reads, kernel, kernel_slope, value, slope)                                   \
    case RMCP_ACT_##mode:                                                                          \
        result = value;                                                                            \
        break;
#include "engine/elements/act.inc"
#undef F
    }
    return result;
}

static struct bounded backward(const struct rmcp_act_math *m, double x, double y, double dy,
                               bool narrow)
{
    const double alpha = (double)m->alpha, beta = (double)m->beta;
    struct bounded result = off(dy, 0);
    switch (m->mode) {
#define F(mode, word, reads, kernel, kernel_slope, value, slope)                                   \
    case RMCP_ACT_##mode:                                                                          \
        result = slope;                                                                            \
        break;
#include "engine/elements/act.inc"
#undef F
    }
    return result;
}

static rmcp_status evaluate(const struct rmcp_form *form, const struct rmcp_form_values *values)
{
    const struct rmcp_act_math m = math_of(form);
    const unsigned result = result_of(form);
    const bool narrow = form->type != RMCP_F32;
    const double *x = values->in[X], *y = values->in[Y];
    const double *dy = values->in[DY], *old = values->in[result];
    const double scale = (double)m.scale, update = (double)m.update;
    for (int64_t i = 0; i < form->tensor[result].elements; i++) {
        const struct bounded v = m.backward
                                     ? backward(&m, x ? x[i] : 0, y ? y[i] : 0, dy[i], narrow)
                                     : forward(&m, x[i], narrow);
        const double before = m.reads & RMCP_ACT_READS_OLD ? update * old[i] : 0;
        const double size = fabs(scale * v.value) + fabs(before);
        double error = fabs(scale) * v.error;
        if (scale != 1 || before != 0) error += 2 * u * size;
        if (size + error > (double)FLT_MAX) error = INFINITY;
        values->out[result][i] = scale * v.value + before;
        values->allowed[result][i] = error;
    }
    return RMCP_OK;
}

static void work(const struct rmcp_request *request, struct rmcp_element_work *work)
{
    const struct rmcp_form *form = rmcp_form_of(request);
    work->each = true;
    rmcp_streams_begin(&work->streams, form->dims, form->size);
    rmcp_streams_add(&work->streams, form, result_of(form), NULL, 0);
    rmcp_streams_add(&work->streams, form, X, NULL, 0);
    rmcp_streams_add(&work->streams, form, form->word[PASS] ? Y : X, NULL, 0); /* y: the result */
    rmcp_streams_add(&work->streams, form, DY, NULL, 0);
    rmcp_streams_cut(&work->streams, request);
}

static void math(const struct rmcp_form *form, const int64_t *first, void *math)
{
    (void)first;
    *(struct rmcp_act_math *)math = math_of(form);
}

static const struct rmcp_element element;

/* Strides of a packed tensor with or without gaps, channels last or not: "x/…" or nothing. */
static const char *random_strides(struct rmcp_random *r, const char *name, const int64_t *size,
                                  char *text, size_t bytes)
{
    const int64_t kind = rmcp_random_below(r, 4), gap = rmcp_random_below(r, 3);
    const int64_t c = size[1], h = size[2], w = size[3];
    text[0] = 0;
    if (kind == 1)
        snprintf(text, bytes, ":%s/%lldx1x%lldx%lld", name, (long long)(h * w * c),
                 (long long)(w * c), (long long)c);
    if (kind == 2)
        snprintf(text, bytes, ":%s/%lldx%lldx%lldx1", name, (long long)(c * h * (w + gap) + gap),
                 (long long)(h * (w + gap)), (long long)(w + gap));
    return text;
}

static void draw(uint64_t seed, void *problem)
{
    struct rmcp_random r = { seed };
    const unsigned mode = (unsigned)rmcp_random_below(&r, 11);
    const bool backward = rmcp_random_below(&r, 2);
    const char *type = rmcp_type_names[rmcp_random_below(&r, 3)];
    /* Numbers that a mode does not use stay away, so that a text says what matters. */
    static const char *const parameters[][2] = {
        { "", "" },
        { "", "" },
        { ":alpha0.5:beta2", ":alpha1:beta1" },
        { "", "" },
        { "", "" },
        { "", "" },
        { ":alpha2:beta0.5:gamma3", ":alpha1:beta2:gamma0.5" },
        { ":alpha1", ":alpha0.5" },
        { ":alpha0.01", ":alpha-0.5" },
        { ":alpha1", ":alpha0.75" },
        { ":alpha-1:beta0.5", ":alpha0:beta6" },
    };
    static const char *const scales[] = {
        "", "", "", ":scale0.5", ":scale-2:update1", ":update0.25"
    };
    const char *parameter = parameters[mode][rmcp_random_below(&r, 2)];
    const char *scale = scales[rmcp_random_below(&r, 6)];
    if (rmcp_random_below(&r, 3) == 0) {
        rmcp_form_draw(&element.rules, problem, "%d:%s:%s:%s%s%s",
                       (int)rmcp_random_between(&r, 1, 5000), rmcp_element_passes[backward],
                       modes[mode], type, parameter, scale);
        return;
    }
    const int64_t size[] = { rmcp_random_between(&r, 1, 3), rmcp_random_between(&r, 1, 20),
                             rmcp_random_between(&r, 1, 9), rmcp_random_between(&r, 1, 40) };
    char in[96], out[96];
    struct rmcp_form *form = problem;
    /* one tensor that this mode reads, and the one that it writes */
    rmcp_form_draw(&element.rules, form, "%dx%dx%dx%d:%s:%s:%s%s%s%s%s", (int)size[0], (int)size[1],
                   (int)size[2], (int)size[3], rmcp_element_passes[backward], modes[mode], type,
                   parameter, scale, random_strides(&r, backward ? "dy" : "x", size, in, sizeof in),
                   random_strides(&r, backward ? "dx" : "y", size, out, sizeof out));
}

static const struct rmcp_trait traits[] = {
    { "pass", rmcp_element_passes }, { "mode", modes }, { "type", rmcp_type_names }, { NULL, NULL }
};
static const struct rmcp_form_number numbers[] = { { "alpha", 0 }, { "beta", 0 },   { "gamma", 0 },
                                                   { "scale", 1 }, { "update", 0 }, { NULL, 0 } };

static const struct rmcp_algo packed = { RMCP_ELEMENT_PACKED, .version = 3 };
static const struct rmcp_algo stream = { RMCP_ELEMENT_STREAM, .version = 3 };
static const struct rmcp_algo *const algos[] = { &packed, &rmcp_algo_form_reference, &stream,
                                                 NULL };

/* The function and its gradient count one each. */
extern const struct rmcp_operation rmcp_operation_act;
const struct rmcp_operation rmcp_operation_act = {
    RMCP_FORM_COLUMNS,
    .name = "act",
    .n_slots = N_SLOTS,
    .algos = algos,
    .form = &element.rules,
    .traits = traits,
    .draw = draw,
    .trials =
        (const char *const[]){
            "3x1000:relu:%s",
            "2x5x6x7:elu:%s:alpha1:x/210x1x35x5:y/210x42x7x1",
            "3x70:power:%s:alpha2:beta0.5:gamma0.5:update1",
            "70:softrelu:%s",
            "70:tanh:%s:alpha1:beta1",
            NULL,
        },
};

static const struct rmcp_element element = {
    .rules = {
        .operation = &rmcp_operation_act,
        .tensors = (const char *const[]){ "x", "y", "dy", "dx", NULL },
        .numbers = numbers,
        .shape = shape,
        .evaluate = evaluate,
    },
    .work = work,
    .math_bytes = sizeof(struct rmcp_act_math),
    .math = math,
};
