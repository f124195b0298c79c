/* rope.c: the rules of rotary embeddings, their reference, random problems. */
#include "engine/ops/rope/rope.h"

#include "base/random.h"

#include <inttypes.h>
#include <math.h>

static const char *const passes[] = { "fwd", "bwd", NULL };
static const char *const types[] = { "f32", "f16", "bf16", NULL };
static const struct rmcp_trait traits[] = { { "pass", passes }, { "type", types }, { NULL, NULL } };
static const char *const tensors[] = { "x", "y", "dy", "dx", "cos", "sin", NULL };

bool rmcp_rope_backward(const struct rmcp_form *form)
{
    return form->word[0];
}

static rmcp_status shape(struct rmcp_form *form)
{
    const bool backward = rmcp_rope_backward(form);
    const rmcp_type type = (rmcp_type)form->type;
    const int64_t row = form->size[form->dims - 1];
    if (row % 2)
        return rmcp_fail(RMCP_E_ARG, "rows of %" PRId64 " elements, which are no pairs", row);
    rmcp_form_whole(form, backward ? RMCP_ROPE_DY : RMCP_ROPE_X, false);
    rmcp_form_whole(form, backward ? RMCP_ROPE_DX : RMCP_ROPE_Y, true);
    rmcp_form_part(form, RMCP_ROPE_COS, type, false, 1, &row);
    rmcp_form_part(form, RMCP_ROPE_SIN, type, false, 1, &row);
    const struct rmcp_form_tensor *in = &form->tensor[backward ? RMCP_ROPE_DY : RMCP_ROPE_X];
    const struct rmcp_form_tensor *out = &form->tensor[backward ? RMCP_ROPE_DX : RMCP_ROPE_Y];
    const uint32_t last = form->dims - 1;
    if ((in->strided && in->stride[last] != 1) || (out->strided && out->stride[last] != 1))
        return rmcp_fail(RMCP_E_UNSUPPORTED, "pairs whose elements do not lie side by side");
    return RMCP_OK;
}

/* Two products and a sum. */
static rmcp_status evaluate(const struct rmcp_form *form, const struct rmcp_form_values *values)
{
    const bool backward = rmcp_rope_backward(form);
    const double *x = values->in[backward ? RMCP_ROPE_DY : RMCP_ROPE_X];
    const double *cosine = values->in[RMCP_ROPE_COS], *sine = values->in[RMCP_ROPE_SIN];
    const unsigned result = backward ? RMCP_ROPE_DX : RMCP_ROPE_Y;
    const int64_t row = form->size[form->dims - 1];
    for (int64_t i = 0; i < form->tensor[result].elements; i++) {
        const int64_t other = i ^ 1, at = i % row, other_at = at ^ 1;
        const double sign = (i & 1) != backward ? 1 : -1;
        const double kept = x[i] * cosine[at];
        const double turned = sign * x[other] * (backward ? sine[other_at] : sine[at]);
        values->out[result][i] = kept + turned;
        if (values->data != RMCP_DATA_INTEGERS)
            values->allowed[result][i] = 0x1p-23 * (fabs(kept) + fabs(turned));
    }
    return RMCP_OK;
}

const struct rmcp_form_rules rmcp_rope_rules = {
    .fragile = true,
    .operation = &rmcp_operation_rope,
    .tensors = tensors,
    .shape = shape,
    .evaluate = evaluate,
};

static rmcp_status parse(const char *text, void *problems, size_t *count)
{
    return rmcp_form_parse(&rmcp_rope_rules, text, problems, count);
}

static void draw(uint64_t seed, void *problem)
{
    struct rmcp_random r = { seed };
    const int64_t backward = rmcp_random_below(&r, 2);
    const int rows = (int)rmcp_random_between(&r, 1, 30),
              heads = (int)rmcp_random_between(&r, 1, 5);
    const int length = 2 * (int)rmcp_random_between(&r, 1, 70), gap = (int)rmcp_random_below(&r, 4);
    const char *type = types[rmcp_random_below(&r, 3)];
    if (gap == 3)
        rmcp_form_draw(&rmcp_rope_rules, problem, "%dx%d:%s:%s", rows, length, passes[backward],
                       type);
    else
        rmcp_form_draw(&rmcp_rope_rules, problem, "%dx%dx%d:%s:%s:%s/%dx%dx1", rows, heads, length,
                       passes[backward], type, backward ? "dy" : "x", heads * (length + gap),
                       length + gap);
}

static const char *const trials[] = { "5x1000:%s", "3x7x30:%s:x/240x32x1:dy/240x32x1", NULL };

const struct rmcp_operation rmcp_operation_rope = {
    RMCP_FORM_COLUMNS,
    .name = "rope",
    .n_slots = RMCP_ROPE_SLOTS,
    .algos = rmcp_algos_rope,
    .parse = parse,
    .traits = traits,
    .draw = draw,
    .trials = trials,
};
