/* prelu.c: the rules of PReLU's gradients, their reference, random problems. */
#include "engine/ops/prelu/prelu.h"

#include "base/random.h"

#include <math.h>

static const char *const weights[] = { "shared", "channels", NULL };
static const char *const wants[] = { "both", "data", "weights", NULL };
static const char *const types[] = { "f32", "f16", "bf16", NULL };
static const struct rmcp_trait traits[] = {
    { "weights", weights }, { "wanted", wants }, { "type", types }, { NULL, NULL }
};
static const char *const tensors[] = { "x", "w", "dy", "dx", "dw", NULL };

int64_t rmcp_prelu_weights(const struct rmcp_form *form)
{
    return form->word[0] ? form->size[1] : 1;
}

static rmcp_status shape(struct rmcp_form *form)
{
    if (form->word[0] && form->dims < 2)
        return rmcp_fail(RMCP_E_ARG, "one dimension, which has no channels");
    const int64_t n = rmcp_prelu_weights(form);
    const rmcp_type type = (rmcp_type)form->type;
    rmcp_form_whole(form, RMCP_PRELU_X, false);
    rmcp_form_whole(form, RMCP_PRELU_DY, false);
    if (form->word[1] != 2) {
        rmcp_form_part(form, RMCP_PRELU_W, type, false, 1, &n);
        rmcp_form_whole(form, RMCP_PRELU_DX, true);
    }
    if (form->word[1] != 1) rmcp_form_part(form, RMCP_PRELU_DW, type, true, 1, &n);
    return RMCP_OK;
}

/* One product; for a sum twice the error of one rounding with the root of its length. Sums of small
 * integers are exact. */
static rmcp_status evaluate(const struct rmcp_form *form, const struct rmcp_form_values *values)
{
    const double unit = 0x1p-24, *x = values->in[RMCP_PRELU_X], *dy = values->in[RMCP_PRELU_DY];
    const int64_t n = rmcp_prelu_weights(form), elements = form->tensor[RMCP_PRELU_X].elements;
    double *dx = values->out[RMCP_PRELU_DX], *dw = values->out[RMCP_PRELU_DW];
    int64_t inner = 1; /* elements of a channel in a row */
    for (uint32_t d = 2; d < form->dims; d++) inner *= form->size[d];
    for (int64_t i = 0; i < elements; i++) {
        const int64_t channel = n > 1 ? i / inner % n : 0;
        if (dx) {
            dx[i] = x[i] > 0 ? dy[i] : values->in[RMCP_PRELU_W][channel] * dy[i];
            if (!(x[i] > 0) && values->data != RMCP_DATA_INTEGERS)
                values->allowed[RMCP_PRELU_DX][i] = unit * fabs(dx[i]);
        }
        if (dw && !(x[i] > 0)) {
            dw[channel] += x[i] * dy[i];
            values->allowed[RMCP_PRELU_DW][channel] += fabs(x[i] * dy[i]);
        }
    }
    for (int64_t i = 0; dw && i < n; i++) {
        double *allowed = &values->allowed[RMCP_PRELU_DW][i];
        const bool exact = values->data == RMCP_DATA_INTEGERS && *allowed < 0x1p+24;
        *allowed = exact ? 0 : *allowed * 2 * unit * (1 + sqrt((double)(elements / n)));
    }
    return RMCP_OK;
}

const struct rmcp_form_rules rmcp_prelu_rules = {
    .operation = &rmcp_operation_prelu,
    .tensors = tensors,
    .shape = shape,
    .evaluate = evaluate,
};

static rmcp_status parse(const char *text, void *problems, size_t *count)
{
    return rmcp_form_parse(&rmcp_prelu_rules, text, problems, count);
}

static void draw(uint64_t seed, void *problem)
{
    struct rmcp_random r = { seed };
    const char *weight = weights[rmcp_random_below(&r, 2)], *want = wants[rmcp_random_below(&r, 3)];
    const char *type = types[rmcp_random_below(&r, 3)];
    const int n = (int)rmcp_random_between(&r, 1, 9), c = (int)rmcp_random_between(&r, 1, 9);
    const int h = (int)rmcp_random_between(&r, 1, 9), w = (int)rmcp_random_between(&r, 1, 40);
    const int kind = (int)rmcp_random_below(&r, 3), gap = (int)rmcp_random_below(&r, 3);
    if (kind == 0)
        rmcp_form_draw(&rmcp_prelu_rules, problem, "%dx%dx%dx%d:%s:%s:%s", n, c, h, w, weight, want,
                       type);
    else if (kind == 1)
        rmcp_form_draw(&rmcp_prelu_rules, problem,
                       "%dx%dx%dx%d:%s:%s:%s:x/%dx1x%dx%d:dy/%dx1x%dx%d", n, c, h, w, weight, want,
                       type, c * h * w, c * w, c, c * h * w, c * w, c);
    else
        rmcp_form_draw(&rmcp_prelu_rules, problem, "%dx%dx%d:%s:%s:%s:dy/%dx%dx1", n, c, 20 * w,
                       weight, want, type, c * (20 * w + gap), 20 * w + gap);
}

static const char *const trials[] = { "3x5x600:channels:%s", "7x3000:%s", NULL };

const struct rmcp_operation rmcp_operation_prelu = {
    RMCP_FORM_COLUMNS,
    .name = "prelu",
    .n_slots = RMCP_PRELU_SLOTS,
    .algos = rmcp_algos_prelu,
    .parse = parse,
    .traits = traits,
    .draw = draw,
    .trials = trials,
};
