/* rope.c: rotary position embeddings as an operation. x is rows of one length; neighbours 2 i and
 * 2 i + 1 of each row are a pair that is turned by the angle whose cosine and sine are given, the
 * same ones for every row. */
#include "engine/elements/element.h"

#include <inttypes.h>
#include <math.h>

enum { X, Y, DY, DX, COS, SIN, N_SLOTS };

static bool backward(const struct rmcp_form *form)
{
    return form->word[0];
}

static rmcp_status shape(struct rmcp_form *form)
{
    const bool back = backward(form);
    const rmcp_type type = (rmcp_type)form->type;
    const int64_t row = form->size[form->dims - 1];
    if (row % 2)
        return rmcp_fail(RMCP_E_ARG, "rows of %" PRId64 " elements, which are no pairs", row);
    rmcp_form_whole(form, back ? DY : X, false);
    rmcp_form_whole(form, back ? DX : Y, true);
    rmcp_form_part(form, COS, type, false, 1, &row);
    rmcp_form_part(form, SIN, type, false, 1, &row);
    const struct rmcp_form_tensor *in = &form->tensor[back ? DY : X];
    const struct rmcp_form_tensor *out = &form->tensor[back ? DX : Y];
    const uint32_t last = form->dims - 1;
    if ((in->strided && in->stride[last] != 1) || (out->strided && out->stride[last] != 1))
        return rmcp_fail(RMCP_E_UNSUPPORTED, "pairs whose elements do not lie side by side");
    return RMCP_OK;
}

/* Two products and a sum. */
static rmcp_status evaluate(const struct rmcp_form *form, const struct rmcp_form_values *values)
{
    const bool back = backward(form);
    const double *x = values->in[back ? DY : X];
    const double *cosine = values->in[COS], *sine = values->in[SIN];
    const unsigned result = back ? DX : Y;
    const int64_t row = form->size[form->dims - 1];
    for (int64_t i = 0; i < form->tensor[result].elements; i++) {
        const int64_t other = i ^ 1, at = i % row, other_at = at ^ 1;
        const double sign = (i & 1) != back ? 1 : -1;
        const double kept = x[i] * cosine[at];
        const double turned = sign * x[other] * (back ? sine[other_at] : sine[at]);
        values->out[result][i] = kept + turned;
        if (values->data != RMCP_DATA_INTEGERS)
            values->allowed[result][i] = 0x1p-23 * (fabs(kept) + fabs(turned));
    }
    return RMCP_OK;
}

static void work(const struct rmcp_request *request, struct rmcp_element_work *work)
{
    const struct rmcp_form *form = rmcp_form_of(request);
    int64_t cosine[RMCP_FORM_DIMS] = { 0 }, sine[RMCP_FORM_DIMS] = { 0 }; /* shared by all rows */
    cosine[form->dims - 1] = form->tensor[COS].stride[0];
    sine[form->dims - 1] = form->tensor[SIN].stride[0];
    work->each = true;
    rmcp_streams_begin(&work->streams, form->dims, form->size);
    work->streams.steady = true;
    rmcp_streams_add(&work->streams, form, backward(form) ? DX : Y, NULL, 0);
    rmcp_streams_add(&work->streams, form, backward(form) ? DY : X, NULL, 0);
    rmcp_streams_add(&work->streams, form, COS, cosine, 0);
    rmcp_streams_add(&work->streams, form, SIN, sine, 0);
    rmcp_streams_cut(&work->streams, request);
}

static const struct rmcp_element element;

static const struct rmcp_algo stream = { RMCP_ELEMENT_STREAM, .version = 2 };
static const struct rmcp_algo *const algos[] = { &rmcp_algo_form_reference, &stream, NULL };

extern const struct rmcp_operation rmcp_operation_rope;
const struct rmcp_operation rmcp_operation_rope = {
    RMCP_FORM_COLUMNS,
    .name = "rope",
    .n_slots = N_SLOTS,
    .algos = algos,
    .form = &element.rules,
    .traits = (const struct rmcp_trait[]){ { "pass", rmcp_element_passes },
                                           { "type", rmcp_type_names },
                                           { NULL, NULL } },
    .trials = (const char *const[]){ "5x1000:%s", "3x7x30:%s:x/240x32x1:dy/240x32x1", NULL },
};

static const struct rmcp_element element = {
    .rules = {
        .operation = &rmcp_operation_rope,
        .fragile = true,
        .tensors = (const char *const[]){ "x", "y", "dy", "dx", "cos", "sin", NULL },
        .shape = shape,
        .evaluate = evaluate,
    },
    .work = work,
    .math_bytes = sizeof(struct rmcp_pass_math),
    .math = rmcp_element_pass,
};
