/* evaluate.c: activations in double precision, and how far f32 may be from them.
 *
 * u is 2^-24, the error of one rounding in f32. What is only chosen or copied has no error;
 * exponentials, logarithms and what is made of them have the errors that engine/kernels/functions.h
 * states, and below 2^-126 a device may give 0. Where an argument is as near to a bend as its own
 * error, both sides are right. */
#include "engine/ops/act/act.h"

#include <float.h>
#include <math.h>

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

static struct bounded forward(const struct rmcp_act_math *m, double x, bool narrow)
{
    const double alpha = (double)m->alpha, beta = (double)m->beta;
    switch (m->mode) {
    case RMCP_ACT_LOGISTIC: return sigmoid(x, 1, 12, narrow);
    case RMCP_ACT_TANH: return off(beta * tanh(alpha * x), 36);
    case RMCP_ACT_RELU: return off(x < 0 ? 0 : x, 0);
    case RMCP_ACT_SOFTRELU: return off(x > 0 ? x + log1p(exp(-x)) : log1p(exp(x)), 16);
    case RMCP_ACT_ABS: return off(fabs(x), 0);
    case RMCP_ACT_POWER: return power(m, x);
    case RMCP_ACT_CLIPPED: return off(x < 0 ? fmin(0, alpha) : x > alpha ? alpha : x, 0);
    case RMCP_ACT_LEAKY: return x > 0 ? off(x, 0) : off(x * alpha, 1);
    case RMCP_ACT_ELU: return x > 0 ? off(x, 0) : off(alpha * expm1(x), narrow ? 50 : 14);
    case RMCP_ACT_CLAMP:
        return off(x < alpha ? (alpha > beta ? beta : alpha) : x > beta ? beta : x, 0);
    default: return off(x, 0);
    }
}

static struct bounded backward(const struct rmcp_act_math *m, double x, double y, double dy,
                               bool narrow)
{
    const double alpha = (double)m->alpha, beta = (double)m->beta;
    switch (m->mode) {
    case RMCP_ACT_LOGISTIC: return off(dy * y * (1 - y), 4);
    case RMCP_ACT_TANH:
        if (fabs(beta) <= (double)m->least) return off(0, 0);
        return (struct bounded){ dy * alpha * (beta - y * y / beta),
                                 16 * u * fabs(dy * alpha) * (fabs(beta) + y * y / fabs(beta)) +
                                     tiny };
    case RMCP_ACT_RELU: return off(x <= 0 ? 0 : dy, 0);
    case RMCP_ACT_SOFTRELU: return sigmoid(x, dy, 14, narrow);
    case RMCP_ACT_ABS: return off(x > 0 ? dy : -dy, 0);
    case RMCP_ACT_POWER: {
        bool unsure;
        const struct bounded base = base_of(m, x, &unsure);
        const double v = dy * (beta * (double)m->gamma) * y / base.value;
        if (unsure) return (struct bounded){ 0, INFINITY };
        if (base.value <= (double)m->least) return off(0, 0);
        return (struct bounded){ v, fabs(v) * (12 * u + 2 * base.error / base.value) + tiny };
    }
    case RMCP_ACT_CLIPPED: return off(x <= 0 || x > alpha ? 0 : dy, 0);
    case RMCP_ACT_LEAKY: return x > 0 ? off(dy, 0) : off(dy * alpha, 1);
    case RMCP_ACT_ELU:
        if (x > 0) return off(dy, 0);
        return (struct bounded){ dy * (y + alpha), 4 * u * fabs(dy) * (fabs(y) + fabs(alpha)) };
    case RMCP_ACT_CLAMP: return off(x <= alpha || x > beta ? 0 : dy, 0);
    default: return off(dy, 0);
    }
}

rmcp_status rmcp_act_evaluate(const struct rmcp_form *form, const struct rmcp_form_values *values)
{
    const struct rmcp_act_math m = rmcp_act_math_of(form);
    const unsigned result = rmcp_act_result(form);
    const bool narrow = form->type != RMCP_F32;
    const double *x = values->in[RMCP_ACT_X], *y = values->in[RMCP_ACT_Y];
    const double *dy = values->in[RMCP_ACT_DY], *old = values->in[result];
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
