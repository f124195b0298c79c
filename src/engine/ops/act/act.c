/* act.c: the rules of activations: words, numbers, tensors; random problems. */
#include "engine/ops/act/act.h"

#include "base/random.h"

#include <math.h>
#include <stdio.h>

static const char *const passes[] = { "fwd", "bwd", NULL };
static const char *const modes[] = { "passthru", "logistic", "tanh",  "relu", "softrelu", "abs",
                                     "power",    "clipped",  "leaky", "elu",  "clamp",    NULL };
static const char *const types[] = { "f32", "f16", "bf16", NULL };
static const struct rmcp_trait traits[] = {
    { "pass", passes }, { "mode", modes }, { "type", types }, { NULL, NULL }
};
static const char *const tensors[] = { "x", "y", "dy", "dx", NULL };
static const struct rmcp_form_number numbers[] = { { "alpha", 0 }, { "beta", 0 },   { "gamma", 0 },
                                                   { "scale", 1 }, { "update", 0 }, { NULL, 0 } };

unsigned rmcp_act_result(const struct rmcp_form *form)
{
    return form->word[RMCP_ACT_PASS] ? RMCP_ACT_DX : RMCP_ACT_Y;
}

/* What each mode's gradient needs besides dy. */
static unsigned backward_reads(unsigned mode)
{
    switch (mode) {
    case RMCP_ACT_PASSTHRU: return 0;
    case RMCP_ACT_LOGISTIC:
    case RMCP_ACT_TANH: return RMCP_ACT_READS_Y;
    case RMCP_ACT_POWER:
    case RMCP_ACT_ELU: return RMCP_ACT_READS_X | RMCP_ACT_READS_Y;
    default: return RMCP_ACT_READS_X;
    }
}

struct rmcp_act_math rmcp_act_math_of(const struct rmcp_form *form)
{
    const unsigned mode = form->word[RMCP_ACT_MODE], backward = form->word[RMCP_ACT_PASS];
    const unsigned old = form->number[RMCP_ACT_UPDATE] != 0 ? RMCP_ACT_READS_OLD : 0;
    return (struct rmcp_act_math){
        .mode = mode,
        .backward = backward,
        .reads = old | (backward ? RMCP_ACT_READS_DY | backward_reads(mode) : RMCP_ACT_READS_X),
        .alpha = (float)form->number[RMCP_ACT_ALPHA],
        .beta = (float)form->number[RMCP_ACT_BETA],
        .gamma = (float)form->number[RMCP_ACT_GAMMA],
        .least = form->type == RMCP_F16 ? 1e-4f : 1e-6f,
        .scale = (float)form->number[RMCP_ACT_SCALE],
        .update = (float)form->number[RMCP_ACT_UPDATE],
    };
}

static rmcp_status shape(struct rmcp_form *form)
{
    const struct rmcp_act_math m = rmcp_act_math_of(form);
    const unsigned result = rmcp_act_result(form);
    if (m.reads & RMCP_ACT_READS_X) rmcp_form_whole(form, RMCP_ACT_X, false);
    if (m.reads & RMCP_ACT_READS_Y) rmcp_form_whole(form, RMCP_ACT_Y, false);
    if (m.reads & RMCP_ACT_READS_DY) rmcp_form_whole(form, RMCP_ACT_DY, false);
    rmcp_form_whole(form, result, true);
    form->tensor[result].read = m.reads & RMCP_ACT_READS_OLD;
    return RMCP_OK;
}

const struct rmcp_form_rules rmcp_act_rules = {
    .operation = &rmcp_operation_act,
    .tensors = tensors,
    .numbers = numbers,
    .shape = shape,
    .evaluate = rmcp_act_evaluate,
};

static rmcp_status parse(const char *text, void *problems, size_t *count)
{
    return rmcp_form_parse(&rmcp_act_rules, text, problems, count);
}

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
    const char *type = types[rmcp_random_below(&r, 3)];
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
        rmcp_form_draw(&rmcp_act_rules, problem, "%d:%s:%s:%s%s%s",
                       (int)rmcp_random_between(&r, 1, 5000), passes[backward], modes[mode], type,
                       parameter, scale);
        return;
    }
    const int64_t size[] = { rmcp_random_between(&r, 1, 3), rmcp_random_between(&r, 1, 20),
                             rmcp_random_between(&r, 1, 9), rmcp_random_between(&r, 1, 40) };
    char in[96], out[96];
    struct rmcp_form *form = problem;
    /* one tensor that this mode reads, and the one that it writes */
    rmcp_form_draw(&rmcp_act_rules, form, "%dx%dx%dx%d:%s:%s:%s%s%s%s%s", (int)size[0],
                   (int)size[1], (int)size[2], (int)size[3], passes[backward], modes[mode], type,
                   parameter, scale, random_strides(&r, backward ? "dy" : "x", size, in, sizeof in),
                   random_strides(&r, backward ? "dx" : "y", size, out, sizeof out));
}

static const char *const trials[] = {
    "3x1000:relu:%s",
    "2x5x6x7:elu:%s:alpha1:x/210x1x35x5:y/210x42x7x1",
    "3x70:power:%s:alpha2:beta0.5:gamma0.5:update1",
    "70:softrelu:%s",
    "70:tanh:%s:alpha1:beta1",
    NULL,
};

/* The function and its gradient count one each. */
const struct rmcp_operation rmcp_operation_act = {
    RMCP_FORM_COLUMNS,
    .name = "act",
    .n_slots = RMCP_ACT_SLOTS,
    .algos = rmcp_algos_act,
    .parse = parse,
    .traits = traits,
    .draw = draw,
    .trials = trials,
};
