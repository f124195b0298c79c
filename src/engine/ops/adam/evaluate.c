/* evaluate.c: Adam in double precision, and how far f32 may be from it.
 *
 * u is 2^-24, the error of one rounding in f32. Errors go through every line: of the gradient into
 * the moments, of the second moment through its root into the denominator (d sqrt(v) <=
 * min(sqrt(e), e / sqrt(v))), of both into the step. What steps that are counted give is off by
 * some 16 u more. */
#include "engine/ops/adam/adam.h"

#include <math.h>

static const double u = 0x1p-24;

/* What does not depend on the element. */
struct step {
    struct rmcp_adam_math m;
    double scale, size, root; /* of gradients; lr corrected; of the second moment's root */
};

struct element {
    double param, mean, square, most;
};

static struct step begin(const struct rmcp_form *form, const struct rmcp_form_values *values)
{
    struct step s = { .m = rmcp_adam_math_of(form), .scale = 1 };
    s.size = (double)s.m.step_size;
    s.root = (double)s.m.root;
    if (s.m.scaled) s.scale = values->in[RMCP_ADAM_SCALE][0];
    if (!s.m.counted || s.m.given || s.m.kind == RMCP_ADAM_UNCORRECTED) return s;
    const double n = values->in[RMCP_ADAM_STEP][0] + 1, lr = (double)s.m.lr;
    const double first = -expm1(n * log((double)s.m.beta1));
    const double second = -expm1(n * log((double)s.m.beta2));
    const bool transformers = s.m.kind == RMCP_ADAM_TRANSFORMERS;
    s.size = transformers ? lr * sqrt(second) / first : lr / first;
    s.root = transformers ? 1 : 1 / sqrt(second);
    return s;
}

/* `now` becomes what it is after the step, `error` how far each may be from it. */
static void advance(const struct step *s, double grad, struct element *now, struct element *error)
{
    const struct rmcp_adam_math *m = &s->m;
    const double decay = (double)m->decay, lr = (double)m->lr;
    double x = now->param, g = grad / s->scale * (m->maximize ? -1 : 1);
    double g_error = m->scaled ? 6 * u * fabs(g) : 0, x_error = 0;
    if (m->kind == RMCP_ADAM_ADAM && decay != 0) {
        g_error += 2 * u * (fabs(g) + fabs(decay * x));
        g += decay * x;
    }
    if (m->kind == RMCP_ADAM_ADAMW && decay != 0) {
        x_error = 3 * u * (fabs(x) + fabs(lr * decay * x));
        x -= lr * decay * x;
    }
    const double beta1 = (double)m->beta1, beta2 = (double)m->beta2;
    const double rest1 = (double)m->rest1, rest2 = (double)m->rest2;
    const double first = beta1 * now->mean + rest1 * g;
    const double first_error =
        3 * u * (fabs(beta1 * now->mean) + fabs(rest1 * g)) + rest1 * g_error;
    const double second = beta2 * now->square + rest2 * g * g;
    const double second_error = 4 * u * (fabs(beta2 * now->square) + rest2 * g * g) +
                                rest2 * (2 * fabs(g) + g_error) * g_error;
    const bool held = m->amsgrad && (now->most > second || isnan(now->most));
    const double top = held ? now->most : second, root = sqrt(top);
    const double root_error =
        (root > 0 ? fmin(sqrt(second_error), second_error / root) : sqrt(second_error)) +
        4 * u * root;
    const double below = root * s->root + (double)m->eps;
    const double below_error = root_error * s->root + 24 * u * fabs(below);
    const double move = s->size * first / below, least = below - below_error;
    double move_error = INFINITY;
    if (least > 0)
        move_error =
            (fabs(s->size) * first_error + fabs(move) * below_error) / least + 32 * u * fabs(move);
    x_error += move_error + u * (fabs(x) + fabs(move));
    x -= move;
    if (m->kind >= RMCP_ADAM_TRANSFORMERS && decay != 0) {
        x_error = x_error * (1 + fabs(lr * decay)) + 3 * u * (fabs(x) + fabs(lr * decay * x));
        x -= lr * decay * x;
    }
    *now = (struct element){ x, first, second, top };
    *error = (struct element){ x_error, first_error, second_error, second_error };
}

static void put(const struct rmcp_form_values *values, unsigned slot, int64_t i, double value,
                double error)
{
    if (!values->out[slot]) return;
    values->out[slot][i] = value;
    values->allowed[slot][i] = error;
}

rmcp_status rmcp_adam_evaluate(const struct rmcp_form *form, const struct rmcp_form_values *values)
{
    const struct step s = begin(form, values);
    const bool stays = s.m.guarded && values->in[RMCP_ADAM_INF][0] != 0;
    for (int64_t i = 0; i < form->tensor[RMCP_ADAM_PARAM].elements; i++) {
        struct element now = { values->in[RMCP_ADAM_PARAM][i], values->in[RMCP_ADAM_MEAN][i],
                               values->in[RMCP_ADAM_SQUARE][i],
                               s.m.amsgrad ? values->in[RMCP_ADAM_MOST][i] : 0 };
        struct element error = { 0, 0, 0, 0 };
        if (!stays) advance(&s, values->in[RMCP_ADAM_GRAD][i], &now, &error);
        put(values, RMCP_ADAM_PARAM, i, now.param, error.param);
        put(values, RMCP_ADAM_MEAN, i, now.mean, error.mean);
        put(values, RMCP_ADAM_SQUARE, i, now.square, error.square);
        put(values, RMCP_ADAM_MOST, i, now.most, error.most);
        put(values, RMCP_ADAM_COPY, i, now.param, error.param);
    }
    if (s.m.counted) values->out[RMCP_ADAM_STEP][0] = values->in[RMCP_ADAM_STEP][0] + !stays;
    return RMCP_OK;
}
