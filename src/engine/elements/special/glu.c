/* glu.c: gated linear units as an operation: x is cut in two halves along a dimension, and y is the
 * first times the sigmoid of the second. */
#include "engine/elements/element.h"

#include <math.h>

enum { X, Y, DY, DX, N_SLOTS };

static bool backward(const struct rmcp_form *form)
{
    return form->word[0];
}

/* The dimension that is cut. */
static uint32_t dim_of(const struct rmcp_form *form)
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
    if (half[dim_of(form)] % 2)
        return rmcp_fail(RMCP_E_ARG, "dimension %g has an odd size, which has no halves", dim);
    half[dim_of(form)] /= 2;
    rmcp_form_whole(form, X, false);
    if (backward(form)) {
        rmcp_form_part(form, DY, (rmcp_type)form->type, false, form->dims, half);
        rmcp_form_whole(form, DX, true);
    } else {
        rmcp_form_part(form, Y, (rmcp_type)form->type, true, form->dims, half);
    }
    return RMCP_OK;
}

/* Errors: engine/kernels/functions.h's, one for each product, and what a device makes of numbers
 * below 2^-126. */
static rmcp_status evaluate(const struct rmcp_form *form, const struct rmcp_form_values *values)
{
    const double unit = 0x1p-24, tiny = 0x1p-126;
    const uint32_t dim = dim_of(form);
    int64_t block = form->size[dim] / 2;
    for (uint32_t d = dim + 1; d < form->dims; d++) block *= form->size[d];
    const int64_t halves = form->tensor[X].elements / 2;
    for (int64_t i = 0; i < halves; i++) {
        const int64_t first = i / block * 2 * block + i % block, second = first + block;
        const double a = values->in[X][first], b = values->in[X][second];
        const double e = exp(-fabs(b)), gate = (b < 0 ? e : 1) / (1 + e);
        if (!backward(form)) {
            values->out[Y][i] = a * gate;
            values->allowed[Y][i] = 14 * unit * fabs(a * gate) + tiny * (1 + fabs(a));
            continue;
        }
        const double dy = values->in[DY][i], slope = e / (1 + e) / (1 + e);
        values->out[DX][first] = dy * gate;
        values->allowed[DX][first] = 14 * unit * fabs(dy * gate) + tiny * (1 + fabs(dy));
        values->out[DX][second] = dy * a * slope;
        values->allowed[DX][second] =
            20 * unit * fabs(dy * a * slope) + tiny * (1 + fabs(dy * a) + fabs(dy));
    }
    return RMCP_OK;
}

static void work(const struct rmcp_request *request, struct rmcp_element_work *work)
{
    const struct rmcp_form *form = rmcp_form_of(request);
    struct rmcp_streams *streams = &work->streams;
    const uint32_t dim = dim_of(form);
    int64_t size[RMCP_FORM_DIMS];
    for (uint32_t d = 0; d < form->dims; d++) size[d] = form->size[d];
    size[dim] /= 2;
    work->each = true;
    rmcp_streams_begin(streams, form->dims, size);
    rmcp_streams_add(streams, form, backward(form) ? DX : Y, NULL, 0);
    rmcp_streams_add(streams, form, DX, NULL, size[dim] * form->tensor[DX].stride[dim]);
    rmcp_streams_add(streams, form, X, NULL, 0);
    rmcp_streams_add(streams, form, X, NULL, size[dim] * form->tensor[X].stride[dim]);
    rmcp_streams_add(streams, form, DY, NULL, 0);
    rmcp_streams_cut(streams, request);
}

static const struct rmcp_element element;

static const struct rmcp_algo stream = { RMCP_ELEMENT_STREAM, .version = 2 };
static const struct rmcp_algo *const algos[] = { &rmcp_algo_form_reference, &stream, NULL };

extern const struct rmcp_operation rmcp_operation_glu;
const struct rmcp_operation rmcp_operation_glu = {
    RMCP_FORM_COLUMNS,
    .name = "glu",
    .n_slots = N_SLOTS,
    .algos = algos,
    .form = &element.rules,
    .traits = (const struct rmcp_trait[]){ { "pass", rmcp_element_passes },
                                           { "type", rmcp_type_names },
                                           { NULL, NULL } },
    .trials = (const char *const[]){ "4x1000:%s", "3x8x30:%s:dim1", "3x5x70:%s:dim2", NULL },
};

static const struct rmcp_element element = {
    .rules = {
        .operation = &rmcp_operation_glu,
        .fragile = true,
        .tensors = (const char *const[]){ "x", "y", "dy", "dx", NULL },
        .numbers = (const struct rmcp_form_number[]){ { "dim", 0 }, { NULL, 0 } },
        .samples = (const char *const[]){ "0 1 2 3" },
        .shape = shape,
        .evaluate = evaluate,
    },
    .work = work,
    .math_bytes = sizeof(struct rmcp_pass_math),
    .math = rmcp_element_pass,
};
