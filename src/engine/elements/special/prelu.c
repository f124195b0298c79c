/* prelu.c: the gradients of PReLU as an operation: y = x where x is positive, else w x, with one
 * weight or one for each channel. */
#include "engine/elements/element.h"

#include <math.h>

enum { X, W, DY, DX, DW, N_SLOTS };

static const char *const weights[] = { "shared", "channels", NULL };
static const char *const wants[] = { "both", "data", "weights", NULL };

/* Weights: 1, or as many as the second dimension is long. */
static int64_t weights_of(const struct rmcp_form *form)
{
    return form->word[0] ? form->size[1] : 1;
}

static rmcp_status shape(struct rmcp_form *form)
{
    if (form->word[0] && form->dims < 2)
        return rmcp_fail(RMCP_E_ARG, "one dimension, which has no channels");
    const int64_t n = weights_of(form);
    const rmcp_type type = (rmcp_type)form->type;
    rmcp_form_whole(form, X, false);
    rmcp_form_whole(form, DY, false);
    if (form->word[1] != 2) {
        rmcp_form_part(form, W, type, false, 1, &n);
        rmcp_form_whole(form, DX, true);
    }
    if (form->word[1] != 1) rmcp_form_part(form, DW, type, true, 1, &n);
    return RMCP_OK;
}

/* One product; for a sum twice the error of one rounding with the root of its length. Sums of small
 * integers are exact. */
static rmcp_status evaluate(const struct rmcp_form *form, const struct rmcp_form_values *values)
{
    const double unit = 0x1p-24, *x = values->in[X], *dy = values->in[DY];
    const int64_t n = weights_of(form), elements = form->tensor[X].elements;
    double *dx = values->out[DX], *dw = values->out[DW];
    int64_t inner = 1; /* elements of a channel in a row */
    for (uint32_t d = 2; d < form->dims; d++) inner *= form->size[d];
    for (int64_t i = 0; i < elements; i++) {
        const int64_t channel = n > 1 ? i / inner % n : 0;
        if (dx) {
            dx[i] = x[i] > 0 ? dy[i] : values->in[W][channel] * dy[i];
            if (!(x[i] > 0) && values->data != RMCP_DATA_INTEGERS)
                values->allowed[DX][i] = unit * fabs(dx[i]);
        }
        if (dw && !(x[i] > 0)) {
            dw[channel] += x[i] * dy[i];
            values->allowed[DW][channel] += fabs(x[i] * dy[i]);
        }
    }
    for (int64_t i = 0; dw && i < n; i++) {
        double *allowed = &values->allowed[DW][i];
        const bool exact = values->data == RMCP_DATA_INTEGERS && *allowed < 0x1p+24;
        *allowed = exact ? 0 : *allowed * 2 * unit * (1 + sqrt((double)(elements / n)));
    }
    return RMCP_OK;
}

/* Of data, element by element. */
static void cut_data(const struct rmcp_request *request, struct rmcp_streams *streams)
{
    const struct rmcp_form *form = rmcp_form_of(request);
    int64_t stride[RMCP_FORM_DIMS] = { 0 };
    if (form->word[0]) stride[1] = form->tensor[W].stride[0];
    rmcp_streams_begin(streams, form->dims, form->size);
    rmcp_streams_add(streams, form, DX, NULL, 0);
    rmcp_streams_add(streams, form, X, NULL, 0);
    rmcp_streams_add(streams, form, DY, NULL, 0);
    rmcp_streams_add(streams, form, W, stride, 0);
    rmcp_streams_cut(streams, request);
}

/* Of weights, in parts by many workgroups. */
static void cut_weights(const struct rmcp_request *request, struct rmcp_folds *folds)
{
    const struct rmcp_form *form = rmcp_form_of(request);
    int64_t size[RMCP_FORM_DIMS];
    for (uint32_t d = 0; d < form->dims; d++) size[d] = form->size[d];
    folds->outputs = weights_of(form);
    if (form->word[0]) {
        size[1] = 1;
        folds->step[0] = form->tensor[X].stride[1];
        folds->step[1] = form->tensor[DY].stride[1];
    }
    rmcp_streams_begin(&folds->streams, form->dims, size);
    rmcp_streams_add(&folds->streams, form, X, NULL, 0);
    rmcp_streams_add(&folds->streams, form, DY, NULL, 0);
    rmcp_folds_cut(folds, request);
}

static void work(const struct rmcp_request *request, struct rmcp_element_work *work)
{
    const struct rmcp_form *form = rmcp_form_of(request);
    work->each = form->tensor[DX].dims;
    work->sums = form->tensor[DW].dims;
    work->sum = DW;
    work->sum_step = form->tensor[DW].stride[0];
    work->scale = 1;
    if (work->each) cut_data(request, &work->streams);
    if (work->sums) cut_weights(request, &work->folds);
}

static const struct rmcp_element element;

static const struct rmcp_algo stream = { RMCP_ELEMENT_STREAM, .version = 2 };
static const struct rmcp_algo *const algos[] = { &rmcp_algo_form_reference, &stream, NULL };

extern const struct rmcp_operation rmcp_operation_prelu;
const struct rmcp_operation rmcp_operation_prelu = {
    RMCP_FORM_COLUMNS,
    .name = "prelu",
    .n_slots = N_SLOTS,
    .algos = algos,
    .form = &element.rules,
    .traits = (const struct rmcp_trait[]){ { "weights", weights },
                                           { "wanted", wants },
                                           { "type", rmcp_type_names },
                                           { NULL, NULL } },
    .trials = (const char *const[]){ "3x5x600:channels:%s", "7x3000:%s", NULL },
};

static const struct rmcp_element element = {
    .rules = {
        .operation = &rmcp_operation_prelu,
        .tensors = (const char *const[]){ "x", "w", "dy", "dx", "dw", NULL },
        .shape = shape,
        .evaluate = evaluate,
    },
    .work = work,
    .math_bytes = sizeof(struct rmcp_prelu_math),
};
