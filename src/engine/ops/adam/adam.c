/* adam.c: the rules of Adam: words, numbers, tensors; random problems. */
#include "engine/ops/adam/adam.h"

#include "base/convert.h"
#include "base/random.h"

#include <math.h>

static const char *const kinds[] = { "adam", "adamw", "transformers", "uncorrected", NULL };
static const char *const most[] = { "plain", "amsgrad", NULL };
static const char *const directions[] = { "minimize", "maximize", NULL };
static const char *const counts[] = { "told", "counted", NULL };
static const char *const amps[] = { "bare", "scaled", "guarded", "amp", NULL };
static const char *const copies[] = { "single", "copied", NULL };
static const char *const mixes[] = { "alike",     "grad_f32",   "grad_f16",
                                     "grad_bf16", "states_f32", NULL };
static const char *const types[] = { "f32", "f16", "bf16", NULL };
static const struct rmcp_trait traits[] = {
    { "kind", kinds },   { "most", most },  { "direction", directions },
    { "count", counts }, { "amp", amps },   { "copies", copies },
    { "mix", mixes },    { "type", types }, { NULL, NULL }
};
static const char *const tensors[] = { "param", "grad",  "mean", "square", "most",
                                       "copy",  "scale", "inf",  "step",   NULL };
static const struct rmcp_form_number numbers[] = { { "lr", 1e-3 },     { "beta1", 0.9 },
                                                   { "beta2", 0.999 }, { "eps", 1e-8 },
                                                   { "decay", 0 },     { "number", 1 },
                                                   { "size", -1 },     { NULL, 0 } };

/* All of them: a schedule may change any from step to step. */
static const struct rmcp_form_scalar scalars[] = {
    { RMCP_ADAM_LR, -INFINITY, INFINITY, false },
    { RMCP_ADAM_BETA1, 0, 0x1.fffffep-1, false }, /* below 1 in f32 */
    { RMCP_ADAM_BETA2, 0, 0x1.fffffep-1, false },
    { RMCP_ADAM_EPS, -INFINITY, INFINITY, false },
    { RMCP_ADAM_DECAY, -INFINITY, INFINITY, false },
    { RMCP_ADAM_NUMBER, 1, 0x1p53, true },
    { RMCP_ADAM_SIZE, -INFINITY, INFINITY, false },
};

static double number(const struct rmcp_form *form, unsigned which)
{
    return (double)(float)form->number[which];
}

static bool transformers(const struct rmcp_form *form)
{
    return form->word[RMCP_ADAM_KIND] >= RMCP_ADAM_TRANSFORMERS;
}

struct rmcp_adam_math rmcp_adam_math_of(const struct rmcp_form *form)
{
    static const rmcp_type grads[] = { RMCP_F32, RMCP_F32, RMCP_F16, RMCP_BF16 };
    const unsigned mix = form->word[RMCP_ADAM_MIX], kind = form->word[RMCP_ADAM_KIND];
    const double lr = number(form, RMCP_ADAM_LR), size = number(form, RMCP_ADAM_SIZE);
    const double beta1 = number(form, RMCP_ADAM_BETA1), beta2 = number(form, RMCP_ADAM_BETA2);
    const double step = form->number[RMCP_ADAM_NUMBER];
    const double first = -expm1(step * log(beta1)), second = -expm1(step * log(beta2));
    const bool given = transformers(form) && size >= 0;
    return (struct rmcp_adam_math){
        .kind = kind,
        .amsgrad = form->word[RMCP_ADAM_AMSGRAD],
        .maximize = form->word[RMCP_ADAM_DIRECTION],
        .counted = form->word[RMCP_ADAM_COUNT],
        .scaled = form->word[RMCP_ADAM_AMP] & 1,
        .guarded = form->word[RMCP_ADAM_AMP] >> 1,
        .copied = form->word[RMCP_ADAM_COPIES],
        .grad_type = mix >= 1 && mix <= 3 ? grads[mix] : form->type,
        .state_type = mix == 4 ? RMCP_F32 : form->type,
        .lr = (float)lr,
        .beta1 = (float)beta1,
        .beta2 = (float)beta2,
        .rest1 = (float)(1 - beta1),
        .rest2 = (float)(1 - beta2),
        .eps = (float)form->number[RMCP_ADAM_EPS],
        .decay = (float)form->number[RMCP_ADAM_DECAY],
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
    const struct rmcp_adam_math m = rmcp_adam_math_of(form);
    const double beta1 = number(form, RMCP_ADAM_BETA1), beta2 = number(form, RMCP_ADAM_BETA2);
    const rmcp_type state = (rmcp_type)m.state_type;
    if (!(beta1 >= 0 && beta1 < 1 && beta2 >= 0 && beta2 < 1))
        return rmcp_fail(RMCP_E_ARG, "betas of %g and %g; from 0 to below 1 is known", beta1,
                         beta2);
    if (!m.counted && !(form->number[RMCP_ADAM_NUMBER] >= 1))
        return rmcp_fail(RMCP_E_ARG, "step number %g; the first is 1",
                         form->number[RMCP_ADAM_NUMBER]);
    if (transformers(form) && (m.amsgrad || m.maximize))
        return rmcp_fail(RMCP_E_UNSUPPORTED, "%s with amsgrad or maximize", kinds[m.kind]);
    rmcp_form_whole(form, RMCP_ADAM_PARAM, true);
    rmcp_form_part(form, RMCP_ADAM_GRAD, (rmcp_type)m.grad_type, false, form->dims, form->size);
    rmcp_form_part(form, RMCP_ADAM_MEAN, state, true, form->dims, form->size);
    rmcp_form_part(form, RMCP_ADAM_SQUARE, state, true, form->dims, form->size);
    if (m.amsgrad) rmcp_form_part(form, RMCP_ADAM_MOST, state, true, form->dims, form->size);
    for (unsigned slot = RMCP_ADAM_PARAM; slot <= RMCP_ADAM_MOST; slot++)
        form->tensor[slot].read = form->tensor[slot].dims > 0;
    if (m.copied) rmcp_form_part(form, RMCP_ADAM_COPY, RMCP_F16, true, form->dims, form->size);
    const int64_t one = 1;
    if (m.scaled) rmcp_form_part(form, RMCP_ADAM_SCALE, RMCP_I32, false, 1, &one);
    if (m.guarded) rmcp_form_part(form, RMCP_ADAM_INF, RMCP_U8, false, 1, &one);
    if (m.counted) {
        rmcp_form_part(form, RMCP_ADAM_STEP, RMCP_I32, true, 1, &one);
        form->tensor[RMCP_ADAM_STEP].read = true;
    }
    return RMCP_OK;
}

const struct rmcp_form_rules rmcp_adam_rules = {
    .fragile = true,
    .operation = &rmcp_operation_adam,
    .tensors = tensors,
    .numbers = numbers,
    .scalars = scalars,
    .n_scalars = sizeof scalars / sizeof *scalars,
    .shape = shape,
    .evaluate = rmcp_adam_evaluate,
};

static rmcp_status parse(const char *text, void *problems, size_t *count)
{
    return rmcp_form_parse(&rmcp_adam_rules, text, problems, count);
}

static void draw(uint64_t seed, void *problem)
{
    struct rmcp_random r = { seed };
    const int64_t kind = rmcp_random_below(&r, 4);
    const bool free = kind < RMCP_ADAM_TRANSFORMERS;
    const char *others =
        rmcp_random_below(&r, 2) ? ":lr0.1:decay0.01" : ":lr0.01:eps0.001:number17";
    rmcp_form_draw(&rmcp_adam_rules, problem, "%dx%d:%s:%s:%s:%s:%s:%s:%s:%s%s",
                   (int)rmcp_random_between(&r, 1, 9), (int)rmcp_random_between(&r, 1, 500),
                   kinds[kind], most[free ? rmcp_random_below(&r, 2) : 0],
                   directions[free ? rmcp_random_below(&r, 2) : 0],
                   counts[rmcp_random_below(&r, 2)], amps[rmcp_random_below(&r, 4)],
                   copies[rmcp_random_below(&r, 2)], mixes[rmcp_random_below(&r, 5)],
                   types[rmcp_random_below(&r, 3)], others);
}

/* Squares are none below 0, a gradient is divided by no 0, and some steps are left out. */
static void fill(const void *problem, unsigned slot, enum rmcp_data data, uint64_t seed, void *host)
{
    const struct rmcp_form_tensor *t = &((const struct rmcp_form *)problem)->tensor[slot];
    rmcp_form_fill(problem, slot, data, seed, host);
    for (int64_t i = 0; i < t->span; i++) {
        const double v = rmcp_load_any(host, (rmcp_type)t->type, i);
        const double ours = slot == RMCP_ADAM_SQUARE || slot == RMCP_ADAM_MOST ? fabs(v)
                            : slot == RMCP_ADAM_SCALE                          ? v + 1
                            : slot == RMCP_ADAM_INF                            ? v > 2
                                                                               : v;
        rmcp_store_any(host, (rmcp_type)t->type, i, ours);
    }
}

static const char *const trials[] = { "3x1000:%s:adamw:amsgrad:decay0.01",
                                      "70:%s:counted:amp:copied", "70:%s:transformers:states_f32",
                                      NULL };

const struct rmcp_operation rmcp_operation_adam = {
    RMCP_FORM_FIXED,          .name = "adam", .n_slots = RMCP_ADAM_SLOTS, .algos = rmcp_algos_adam,
    .flops = rmcp_form_flops, .parse = parse, .traits = traits,           .draw = draw,
    .trials = trials,         .fill = fill,
};
