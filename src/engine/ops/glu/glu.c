/* glu.c: the rules of gated linear units, their reference, random problems. */
#include "engine/ops/glu/glu.h"

#include "base/random.h"

#include <math.h>

static const char *const passes[] = { "fwd", "bwd", NULL };
static const char *const types[] = { "f32", "f16", "bf16", NULL };
static const struct rmcp_trait traits[] = { { "pass", passes }, { "type", types }, { NULL, NULL } };
static const char *const tensors[] = { "x", "y", "dy", "dx", NULL };
static const struct rmcp_form_number numbers[] = { { "dim", 0 }, { NULL, 0 } };

bool rmcp_glu_backward(const struct rmcp_form *form)
{
    return form->word[0];
}

uint32_t rmcp_glu_dim(const struct rmcp_form *form)
{
    return (uint32_t)form->number[0];
}

static rmcp_status shape(struct rmcp_form *form)
{
    const double dim = form->number[0];
    int64_t half[RMCP_FORM_DIMS];
    if (!(dim >= 0 && dim < form->dims) || dim != floor(dim))
        return rmcp_fail(RMCP_E_ARG, "dim %g of %u dimensions", dim, form->dims);
    for (uint32_t d = 0; d < form->dims; d++) half[d] = form->size[d];
    if (half[rmcp_glu_dim(form)] % 2)
        return rmcp_fail(RMCP_E_ARG, "dimension %g has an odd size, which has no halves", dim);
    half[rmcp_glu_dim(form)] /= 2;
    rmcp_form_whole(form, RMCP_GLU_X, false);
    if (rmcp_glu_backward(form)) {
        rmcp_form_part(form, RMCP_GLU_DY, (rmcp_type)form->type, false, form->dims, half);
        rmcp_form_whole(form, RMCP_GLU_DX, true);
    } else {
        rmcp_form_part(form, RMCP_GLU_Y, (rmcp_type)form->type, true, form->dims, half);
    }
    return RMCP_OK;
}

/* Errors: engine/kernels/functions.h's, one for each product, and what a device makes of numbers
 * below 2^-126. */
static rmcp_status evaluate(const struct rmcp_form *form, const struct rmcp_form_values *values)
{
    const double unit = 0x1p-24, tiny = 0x1p-126;
    const uint32_t dim = rmcp_glu_dim(form);
    int64_t block = form->size[dim] / 2;
    for (uint32_t d = dim + 1; d < form->dims; d++) block *= form->size[d];
    const int64_t halves = form->tensor[RMCP_GLU_X].elements / 2;
    for (int64_t i = 0; i < halves; i++) {
        const int64_t first = i / block * 2 * block + i % block, second = first + block;
        const double a = values->in[RMCP_GLU_X][first], b = values->in[RMCP_GLU_X][second];
        const double e = exp(-fabs(b)), gate = (b < 0 ? e : 1) / (1 + e);
        if (!rmcp_glu_backward(form)) {
            values->out[RMCP_GLU_Y][i] = a * gate;
            values->allowed[RMCP_GLU_Y][i] = 14 * unit * fabs(a * gate) + tiny * (1 + fabs(a));
            continue;
        }
        const double dy = values->in[RMCP_GLU_DY][i], slope = e / (1 + e) / (1 + e);
        values->out[RMCP_GLU_DX][first] = dy * gate;
        values->allowed[RMCP_GLU_DX][first] = 14 * unit * fabs(dy * gate) + tiny * (1 + fabs(dy));
        values->out[RMCP_GLU_DX][second] = dy * a * slope;
        values->allowed[RMCP_GLU_DX][second] =
            20 * unit * fabs(dy * a * slope) + tiny * (1 + fabs(dy * a) + fabs(dy));
    }
    return RMCP_OK;
}

const struct rmcp_form_rules rmcp_glu_rules = {
    .fragile = true,
    .operation = &rmcp_operation_glu,
    .tensors = tensors,
    .numbers = numbers,
    .shape = shape,
    .evaluate = evaluate,
};

static rmcp_status parse(const char *text, void *problems, size_t *count)
{
    return rmcp_form_parse(&rmcp_glu_rules, text, problems, count);
}

static void draw(uint64_t seed, void *problem)
{
    struct rmcp_random r = { seed };
    const char *pass = passes[rmcp_random_below(&r, 2)], *type = types[rmcp_random_below(&r, 3)];
    int size[4];
    for (int i = 0; i < 4; i++) size[i] = (int)rmcp_random_between(&r, 1, i == 3 ? 40 : 9);
    const int dim = (int)rmcp_random_below(&r, 4), gap = (int)rmcp_random_below(&r, 3);
    size[dim] *= 2;
    rmcp_form_draw(&rmcp_glu_rules, problem, "%dx%dx%dx%d:%s:%s:dim%d:x/%dx%dx%dx1", size[0],
                   size[1], size[2], size[3], pass, type, dim, size[1] * size[2] * (size[3] + gap),
                   size[2] * (size[3] + gap), size[3] + gap);
}

static const char *const trials[] = { "4x1000:%s", "3x8x30:%s:dim1", "3x5x70:%s:dim2", NULL };

const struct rmcp_operation rmcp_operation_glu = {
    RMCP_FORM_COLUMNS,
    .name = "glu",
    .n_slots = RMCP_GLU_SLOTS,
    .algos = rmcp_algos_glu,
    .parse = parse,
    .traits = traits,
    .draw = draw,
    .trials = trials,
};
