/* adam.c: one step of Adam and its relatives as an operation. Parameters and moments are updated in
 * place.
 *
 * The reference: u is 2^-24, the error of one rounding in f32. Errors go through every line: of the
 * gradient into the moments, of the second moment through its root into the denominator
 * (d sqrt(v) <= min(sqrt(e), e / sqrt(v))), of both into the step. What steps that are counted give
 * is off by some 16 u more. */
#include "engine/elements/element.h"
#include "engine/gpu/launch.h"

#include "base/convert.h"

#include <math.h>

enum {
    PARAM,
    GRAD,
    MEAN,   /* the first moment                                           */
    SQUARE, /* the second                                                 */
    MOST,   /* the largest second moment so far, with amsgrad             */
    COPY,   /* the new parameter in f16                                   */
    SCALE,  /* a whole number that gradients are divided by               */
    INF,    /* a byte: not 0, and nothing changes                         */
    STEP,   /* the number of steps so far, which is counted on            */
    N_SLOTS
};

/* traits */
enum {
    KIND,
    AMSGRAD,
    DIRECTION,
    COUNT,
    AMP, /* bits: 1 scaled, 2 guarded */
    COPIES,
    MIX
};

/* numbers */
enum {
    LR,
    BETA1,
    BETA2,
    EPS,
    DECAY,
    NUMBER, /* of the step, the first is 1; not used when steps are counted */
    SIZE    /* of the step, as given; below 0: from lr                       */
};

static const char *const kinds[] = { "adam", "adamw", "transformers", "uncorrected", NULL };
static const char *const most[] = { "plain", "amsgrad", NULL };
static const char *const directions[] = { "minimize", "maximize", NULL };
static const char *const counts[] = { "told", "counted", NULL };
static const char *const amps[] = { "bare", "scaled", "guarded", "amp", NULL };
static const char *const copies[] = { "single", "copied", NULL };
static const char *const mixes[] = { "alike",     "grad_f32",   "grad_f16",
                                     "grad_bf16", "states_f32", NULL };

static double number(const struct rmcp_form *form, unsigned which)
{
    return (double)(float)form->number[which];
}

static bool transformers(const struct rmcp_form *form)
{
    return form->word[KIND] >= RMCP_ADAM_TRANSFORMERS;
}

static struct rmcp_adam_math math_of(const struct rmcp_form *form)
{
    static const rmcp_type grads[] = { RMCP_F32, RMCP_F32, RMCP_F16, RMCP_BF16 };
    const unsigned mix = form->word[MIX], kind = form->word[KIND];
    const double lr = number(form, LR), size = number(form, SIZE);
    const double beta1 = number(form, BETA1), beta2 = number(form, BETA2);
    const double step = form->number[NUMBER];
    const double first = -expm1(step * log(beta1)), second = -expm1(step * log(beta2));
    const bool given = transformers(form) && size >= 0;
    return (struct rmcp_adam_math){
        .kind = kind,
        .amsgrad = form->word[AMSGRAD],
        .maximize = form->word[DIRECTION],
        .counted = form->word[COUNT],
        .scaled = form->word[AMP] & 1,
        .guarded = form->word[AMP] >> 1,
        .copied = form->word[COPIES],
        .grad_type = mix >= 1 && mix <= 3 ? grads[mix] : form->type,
        .state_type = mix == 4 ? RMCP_F32 : form->type,
        .lr = (float)lr,
        .beta1 = (float)beta1,
        .beta2 = (float)beta2,
        .rest1 = (float)(1 - beta1),
        .rest2 = (float)(1 - beta2),
        .eps = (float)form->number[EPS],
        .decay = (float)form->number[DECAY],
        .log1 = (float)log(beta1),
        .log2 = (float)log(beta2),
        .step_size = (float)(given                           ? size
                             : kind == RMCP_ADAM_UNCORRECTED ? lr
                             : transformers(form)            ? lr * sqrt(second) / first
                                                             : lr / first),
        .given = given,
        .root = transformers(form) ? 1 : (float)(1 / sqrt(second)),
    };
}

static rmcp_status shape(struct rmcp_form *form)
{
    const struct rmcp_adam_math m = math_of(form);
    const double beta1 = number(form, BETA1), beta2 = number(form, BETA2);
    const rmcp_type state = (rmcp_type)m.state_type;
    if (!(beta1 >= 0 && beta1 < 1 && beta2 >= 0 && beta2 < 1))
        return rmcp_fail(RMCP_E_ARG, "betas of %g and %g; from 0 to below 1 is known", beta1,
                         beta2);
    if (!m.counted && !(form->number[NUMBER] >= 1))
        return rmcp_fail(RMCP_E_ARG, "step number %g; the first is 1", form->number[NUMBER]);
    if (transformers(form) && (m.amsgrad || m.maximize))
        return rmcp_fail(RMCP_E_UNSUPPORTED, "%s with amsgrad or maximize", kinds[m.kind]);
    rmcp_form_whole(form, PARAM, true);
    rmcp_form_part(form, GRAD, (rmcp_type)m.grad_type, false, form->dims, form->size);
    rmcp_form_part(form, MEAN, state, true, form->dims, form->size);
    rmcp_form_part(form, SQUARE, state, true, form->dims, form->size);
    if (m.amsgrad) rmcp_form_part(form, MOST, state, true, form->dims, form->size);
    for (unsigned slot = PARAM; slot <= MOST; slot++)
        form->tensor[slot].read = form->tensor[slot].dims > 0;
    if (m.copied) rmcp_form_part(form, COPY, RMCP_F16, true, form->dims, form->size);
    const int64_t one = 1;
    if (m.scaled) rmcp_form_part(form, SCALE, RMCP_I32, false, 1, &one);
    if (m.guarded) rmcp_form_part(form, INF, RMCP_U8, false, 1, &one);
    if (m.counted) {
        rmcp_form_part(form, STEP, RMCP_I32, true, 1, &one);
        form->tensor[STEP].read = true;
    }
    return RMCP_OK;
}

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
    struct step s = { .m = math_of(form), .scale = 1 };
    s.size = (double)s.m.step_size;
    s.root = (double)s.m.root;
    if (s.m.scaled) s.scale = values->in[SCALE][0];
    if (!s.m.counted || s.m.given || s.m.kind == RMCP_ADAM_UNCORRECTED) return s;
    const double n = values->in[STEP][0] + 1, lr = (double)s.m.lr;
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

static rmcp_status evaluate(const struct rmcp_form *form, const struct rmcp_form_values *values)
{
    const struct step s = begin(form, values);
    const bool stays = s.m.guarded && values->in[INF][0] != 0;
    for (int64_t i = 0; i < form->tensor[PARAM].elements; i++) {
        struct element now = { values->in[PARAM][i], values->in[MEAN][i], values->in[SQUARE][i],
                               s.m.amsgrad ? values->in[MOST][i] : 0 };
        struct element error = { 0, 0, 0, 0 };
        if (!stays) advance(&s, values->in[GRAD][i], &now, &error);
        put(values, PARAM, i, now.param, error.param);
        put(values, MEAN, i, now.mean, error.mean);
        put(values, SQUARE, i, now.square, error.square);
        put(values, MOST, i, now.most, error.most);
        put(values, COPY, i, now.param, error.param);
    }
    if (s.m.counted) values->out[STEP][0] = values->in[STEP][0] + !stays;
    return RMCP_OK;
}

static void work(const struct rmcp_request *request, struct rmcp_element_work *work)
{
    const struct rmcp_form *form = rmcp_form_of(request);
    work->each = true;
    rmcp_streams_begin(&work->streams, form->dims, form->size);
    work->streams.chunks = 1;
    for (unsigned slot = PARAM; slot <= COPY; slot++)
        rmcp_streams_add(&work->streams, form, slot, NULL, 0);
    rmcp_streams_cut(&work->streams, request);
    for (unsigned slot = SCALE; slot <= STEP; slot++)
        work->more[work->n_more++] = form->tensor[slot].dims ? slot : PARAM;
}

static void math(const struct rmcp_form *form, const int64_t *first, void *math)
{
    (void)first;
    *(struct rmcp_adam_math *)math = math_of(form);
}

/* The number of steps goes on. */
static rmcp_status finish(const struct rmcp_form *form, struct rmcp_launch_list *list)
{
    const unsigned guarded = form->tensor[INF].dims > 0;
    if (!form->word[COUNT]) return RMCP_OK;
    struct rmcp_kernel_launch *launch = NULL;
    const rmcp_status status = rmcp_kernel_append(list, "adam_count", RMCP_F32, "", 1, &launch);
    if (status) return status;
    rmcp_arg_memory(launch, STEP, 0);
    rmcp_arg_memory(launch, guarded ? INF : STEP, 0);
    rmcp_arg_value(launch, &guarded, sizeof guarded);
    return RMCP_OK;
}

static const struct rmcp_element element;

static void draw(uint64_t seed, void *problem)
{
    struct rmcp_random r = { seed };
    const int64_t kind = rmcp_random_below(&r, 4);
    const bool free = kind < RMCP_ADAM_TRANSFORMERS;
    const char *others =
        rmcp_random_below(&r, 2) ? ":lr0.1:decay0.01" : ":lr0.01:eps0.001:number17";
    rmcp_form_draw(&element.rules, problem, "%dx%d:%s:%s:%s:%s:%s:%s:%s:%s%s",
                   (int)rmcp_random_between(&r, 1, 9), (int)rmcp_random_between(&r, 1, 500),
                   kinds[kind], most[free ? rmcp_random_below(&r, 2) : 0],
                   directions[free ? rmcp_random_below(&r, 2) : 0],
                   counts[rmcp_random_below(&r, 2)], amps[rmcp_random_below(&r, 4)],
                   copies[rmcp_random_below(&r, 2)], mixes[rmcp_random_below(&r, 5)],
                   rmcp_type_names[rmcp_random_below(&r, 3)], others);
}

/* Squares are none below 0, a gradient is divided by no 0, and some steps are left out. */
static void fill(const void *problem, unsigned slot, enum rmcp_data data, uint64_t seed, void *host)
{
    const struct rmcp_form_tensor *t = &((const struct rmcp_form *)problem)->tensor[slot];
    rmcp_form_fill(problem, slot, data, seed, host);
    for (int64_t i = 0; i < t->span; i++) {
        const double v = rmcp_load_any(host, (rmcp_type)t->type, i);
        const double ours = slot == SQUARE || slot == MOST ? fabs(v)
                            : slot == SCALE                ? v + 1
                            : slot == INF                  ? v > 2
                                                           : v;
        rmcp_store_any(host, (rmcp_type)t->type, i, ours);
    }
}

static const struct rmcp_trait traits[] = { { "kind", kinds },
                                            { "most", most },
                                            { "direction", directions },
                                            { "count", counts },
                                            { "amp", amps },
                                            { "copies", copies },
                                            { "mix", mixes },
                                            { "type", rmcp_type_names },
                                            { NULL, NULL } };
static const char *const tensors[] = { "param", "grad",  "mean", "square", "most",
                                       "copy",  "scale", "inf",  "step",   NULL };
static const struct rmcp_form_number numbers[] = { { "lr", 1e-3 },     { "beta1", 0.9 },
                                                   { "beta2", 0.999 }, { "eps", 1e-8 },
                                                   { "decay", 0 },     { "number", 1 },
                                                   { "size", -1 },     { NULL, 0 } };

/* All of them: a schedule may change any from step to step. */
static const struct rmcp_form_scalar scalars[] = {
    { LR, -INFINITY, INFINITY, false },    { BETA1, 0, 0x1.fffffep-1, false }, /* below 1 in f32 */
    { BETA2, 0, 0x1.fffffep-1, false },    { EPS, -INFINITY, INFINITY, false },
    { DECAY, -INFINITY, INFINITY, false }, { NUMBER, 1, 0x1p53, true },
    { SIZE, -INFINITY, INFINITY, false },
};

static const struct rmcp_algo stream = { RMCP_ELEMENT_STREAM, .version = 1 };
static const struct rmcp_algo *const algos[] = { &rmcp_algo_form_reference, &stream, NULL };

extern const struct rmcp_operation rmcp_operation_adam;
const struct rmcp_operation rmcp_operation_adam = {
    RMCP_FORM_FIXED,
    .flops = rmcp_form_flops,
    .fill = fill,
    .name = "adam",
    .n_slots = N_SLOTS,
    .algos = algos,
    .form = &element.rules,
    .traits = traits,
    .draw = draw,
    .trials =
        (const char *const[]){ "3x1000:%s:adamw:amsgrad:decay0.01", "70:%s:counted:amp:copied",
                               "70:%s:transformers:states_f32", NULL },
};

static const struct rmcp_element element = {
    .rules = {
        .operation = &rmcp_operation_adam,
        .fragile = true,
        .tensors = tensors,
        .numbers = numbers,
        .scalars = scalars,
        .n_scalars = sizeof scalars / sizeof *scalars,
        .shape = shape,
        .evaluate = evaluate,
    },
    .work = work,
    .math_bytes = sizeof(struct rmcp_adam_math),
    .math = math,
    .finish = finish,
};
