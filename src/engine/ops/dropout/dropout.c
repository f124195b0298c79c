/* dropout.c: the rules of dropout, its reference, random problems. */
#include "engine/ops/dropout/dropout.h"

#include "base/random.h"
#include "engine/kernels/philox.h"

#include <math.h>

static const char *const passes[] = { "fwd", "bwd", NULL };
static const char *const masks[] = { "drawn", "saved", "given", NULL };
static const char *const counts[] = { "still", "counting", NULL };
static const char *const types[] = { "f32", "f16", "bf16", NULL };
static const struct rmcp_trait traits[] = {
    { "pass", passes }, { "mask", masks }, { "state", counts }, { "type", types }, { NULL, NULL }
};
static const char *const tensors[] = { "x", "y", "dy", "dx", "state", "reserve", NULL };
static const struct rmcp_form_number numbers[] = { { "drop", 0.5 }, { NULL, 0 } };

static bool backward(const struct rmcp_form *form)
{
    return form->word[RMCP_DROPOUT_PASS];
}

unsigned rmcp_dropout_mask(const struct rmcp_form *form)
{
    const unsigned mask = form->word[RMCP_DROPOUT_MASK];
    return backward(form) && mask == RMCP_DROPOUT_SAVED ? RMCP_DROPOUT_GIVEN : mask;
}

bool rmcp_dropout_counts(const struct rmcp_form *form)
{
    return form->word[RMCP_DROPOUT_COUNT] && !backward(form) &&
           rmcp_dropout_mask(form) != RMCP_DROPOUT_GIVEN;
}

struct rmcp_dropout_math rmcp_dropout_math_of(const struct rmcp_form *form)
{
    const double rate = (double)(float)form->number[0], words = rate * 4294967296.0;
    return (struct rmcp_dropout_math){
        .mask = rmcp_dropout_mask(form),
        .threshold = words < 4294967295.0 ? (uint32_t)words : UINT32_MAX,
        .all = rate >= 1,
        .before = form->word[RMCP_DROPOUT_COUNT] && backward(form),
        .scale = rate >= 1 ? 0 : (float)(1 / (1 - rate)),
    };
}

static rmcp_status shape(struct rmcp_form *form)
{
    const double rate = form->number[0];
    if (!(rate >= 0 && rate <= 1))
        return rmcp_fail(RMCP_E_ARG, "drop is %g; a share from 0 to 1 is known", rate);
    const unsigned mask = rmcp_dropout_mask(form);
    int64_t elements = 1;
    for (uint32_t d = 0; d < form->dims; d++) elements *= form->size[d];
    rmcp_form_whole(form, backward(form) ? RMCP_DROPOUT_DY : RMCP_DROPOUT_X, false);
    rmcp_form_whole(form, backward(form) ? RMCP_DROPOUT_DX : RMCP_DROPOUT_Y, true);
    if (mask != RMCP_DROPOUT_GIVEN) {
        rmcp_form_part(form, RMCP_DROPOUT_STATE, RMCP_I32, false, 1, (int64_t[]){ 4 });
        form->tensor[RMCP_DROPOUT_STATE].written = rmcp_dropout_counts(form);
    }
    if (mask != RMCP_DROPOUT_DRAWN)
        rmcp_form_part(form, RMCP_DROPOUT_RESERVE, RMCP_U8, mask == RMCP_DROPOUT_SAVED, 1,
                       &elements);
    return RMCP_OK;
}

/* Signed, as the slot's type is. */
static double as_stored(uint32_t word)
{
    return word < UINT32_C(0x80000000) ? (double)word : (double)word - 4294967296.0;
}

static void count(const uint32_t *word, double *out)
{
    const uint64_t next = ((uint64_t)word[3] << 32 | word[2]) + 1;
    out[0] = as_stored(word[0]);
    out[1] = as_stored(word[1]);
    out[2] = as_stored((uint32_t)next);
    out[3] = as_stored((uint32_t)(next >> 32));
}

/* One product, whose rounding is the only error. */
static rmcp_status evaluate(const struct rmcp_form *form, const struct rmcp_form_values *values)
{
    const struct rmcp_dropout_math m = rmcp_dropout_math_of(form);
    const unsigned in = backward(form) ? RMCP_DROPOUT_DY : RMCP_DROPOUT_X;
    const unsigned out = backward(form) ? RMCP_DROPOUT_DX : RMCP_DROPOUT_Y;
    uint32_t word[4] = { 0 };
    for (int i = 0; i < 4 && m.mask != RMCP_DROPOUT_GIVEN; i++)
        word[i] = (uint32_t)(int64_t)values->in[RMCP_DROPOUT_STATE][i];
    if (values->out[RMCP_DROPOUT_STATE]) count(word, values->out[RMCP_DROPOUT_STATE]);
    if (m.before) {
        word[3] -= word[2] == 0;
        word[2]--;
    }
    for (int64_t i = 0; i < form->tensor[out].elements; i++) {
        const bool kept = m.mask == RMCP_DROPOUT_GIVEN
                              ? values->in[RMCP_DROPOUT_RESERVE][i] != 0
                              : !m.all && rmcp_philox_at(word, (uint64_t)i) >= m.threshold;
        const double v = kept ? (double)m.scale * values->in[in][i] : 0;
        values->out[out][i] = v;
        if (m.scale != 1) values->allowed[out][i] = 0x1p-24 * fabs(v);
        if (values->out[RMCP_DROPOUT_RESERVE]) values->out[RMCP_DROPOUT_RESERVE][i] = kept;
    }
    return RMCP_OK;
}

const struct rmcp_form_rules rmcp_dropout_rules = {
    .operation = &rmcp_operation_dropout,
    .tensors = tensors,
    .numbers = numbers,
    .shape = shape,
    .evaluate = evaluate,
};

static rmcp_status parse(const char *text, void *problems, size_t *count)
{
    return rmcp_form_parse(&rmcp_dropout_rules, text, problems, count);
}

static void draw(uint64_t seed, void *problem)
{
    struct rmcp_random r = { seed };
    static const char *const rates[] = { "0", "0.1", "0.5", "0.9", "1" };
    const int64_t back = rmcp_random_below(&r, 2);
    const char *pass = passes[back], *mask = masks[rmcp_random_below(&r, 3)];
    const char *state = counts[rmcp_random_below(&r, 2)], *type = types[rmcp_random_below(&r, 3)];
    const char *rate = rates[rmcp_random_below(&r, 5)];
    if (rmcp_random_below(&r, 2)) {
        rmcp_form_draw(&rmcp_dropout_rules, problem, "%d:%s:%s:%s:%s:drop%s",
                       (int)rmcp_random_between(&r, 1, 5000), pass, mask, state, type, rate);
        return;
    }
    const int n = (int)rmcp_random_between(&r, 1, 3), c = (int)rmcp_random_between(&r, 1, 9);
    const int h = (int)rmcp_random_between(&r, 1, 9), w = (int)rmcp_random_between(&r, 1, 40);
    const int gap = (int)rmcp_random_below(&r, 3);
    /* channels last on one side, rows with gaps on the other */
    rmcp_form_draw(&rmcp_dropout_rules, problem,
                   "%dx%dx%dx%d:%s:%s:%s:%s:drop%s:%s/%dx1x%dx%d:%s/%dx%dx%dx1", n, c, h, w, pass,
                   mask, state, type, rate, back ? "dy" : "x", c * h * w, c * w, c,
                   back ? "dx" : "y", c * h * (w + gap), h * (w + gap), w + gap);
}

static const char *const trials[] = {
    "3x1001:saved:%s:drop0.25",
    "2x5x6x7:drawn:counting:%s:x/210x1x35x5:dy/210x1x35x5",
    "3x70:given:%s",
    NULL,
};

const struct rmcp_operation rmcp_operation_dropout = {
    RMCP_FORM_COLUMNS,
    .name = "dropout",
    .n_slots = RMCP_DROPOUT_SLOTS,
    .algos = rmcp_algos_dropout,
    .parse = parse,
    .traits = traits,
    .draw = draw,
    .trials = trials,
};
