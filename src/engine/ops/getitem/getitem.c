/* getitem.c: the gradient of x[…, i, j, …], where i, j … are vectors of indices into neighbouring
 * dimensions: dy is added to dx where they lead to. Indices below 0 count from the end; what is out
 * of range is left out and leaves -1 in `error`. */
#include "engine/ops/getitem/getitem.h"

#include "engine/core/draw.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

extern const struct rmcp_algo *const rmcp_algos_getitem[];

static rmcp_status shape(struct rmcp_form *form)
{
    const unsigned begin = rmcp_getitem_begin(form), n = rmcp_getitem_count(form);
    if (!n) return rmcp_fail(RMCP_E_ARG, "no dimension is indexed; 'dims1' indexes the second");
    for (unsigned i = 0; i < n; i++)
        if (form->list[0][i] != begin + i || begin + i >= form->dims)
            return rmcp_fail(RMCP_E_ARG,
                             "the dimensions that are indexed must be there and follow each other");
    const int64_t length = form->listed[1] == 1 ? rmcp_getitem_length(form) : 0;
    if (length < 1 || length > INT32_MAX)
        return rmcp_fail(RMCP_E_ARG,
                         "'take7' says how many indices there are; there must be at least one");
    int64_t size[RMCP_FORM_DIMS];
    unsigned dims = 0;
    for (unsigned d = 0; d < form->dims; d++) {
        if (form->size[d] > INT32_MAX)
            return rmcp_fail(RMCP_E_ARG, "a dimension larger than its indices");
        if (d > begin && d < begin + n) continue;
        size[dims++] = d == begin ? length : form->size[d];
    }
    const int64_t errors = n;
    rmcp_form_part(form, RMCP_GETITEM_DY, (rmcp_type)form->type, false, dims, size);
    rmcp_form_whole(form, RMCP_GETITEM_DX, true);
    rmcp_form_part(form, RMCP_GETITEM_ERROR, RMCP_I32, true, 1, &errors);
    form->tensor[RMCP_GETITEM_DX].read = form->tensor[RMCP_GETITEM_ERROR].read = true;
    for (unsigned i = 0; i < n; i++)
        rmcp_form_part(form, RMCP_GETITEM_FIRST + i, RMCP_I32, false, 1, &length);
    return RMCP_OK;
}

/* Where index `j` leads to in the dimensions that are indexed, counted densely; -1: nowhere. */
static int64_t follow(const struct rmcp_form *form, const struct rmcp_form_values *values,
                      int64_t j)
{
    int64_t place = 0;
    for (unsigned i = 0; i < rmcp_getitem_count(form); i++) {
        const int64_t size = form->size[rmcp_getitem_begin(form) + i];
        int64_t at = (int64_t)values->in[RMCP_GETITEM_FIRST + i][j];
        if (at < 0) at += size;
        if (at < 0 || at >= size) {
            values->out[RMCP_GETITEM_ERROR][i] = -1;
            place = -1;
        }
        if (place >= 0) place = place * size + at;
    }
    return place;
}

static rmcp_status evaluate(const struct rmcp_form *form, const struct rmcp_form_values *values)
{
    const unsigned begin = rmcp_getitem_begin(form), end = begin + rmcp_getitem_count(form);
    const int64_t length = rmcp_getitem_length(form),
                  elements = form->tensor[RMCP_GETITEM_DX].elements;
    int64_t before = 1, indexed = 1, behind = 1;
    for (unsigned d = 0; d < form->dims; d++)
        *(d < begin ? &before : d < end ? &indexed : &behind) *= form->size[d];
    double *dx = values->out[RMCP_GETITEM_DX], *allowed = values->allowed[RMCP_GETITEM_DX];
    for (unsigned i = 0; i < end - begin; i++)
        values->out[RMCP_GETITEM_ERROR][i] = values->in[RMCP_GETITEM_ERROR][i];
    for (int64_t i = 0; i < elements; i++) {
        dx[i] = values->in[RMCP_GETITEM_DX][i];
        allowed[i] = 0;
    }
    for (int64_t j = 0; j < length; j++) {
        const int64_t place = follow(form, values, j);
        for (int64_t i = 0; place >= 0 && i < before * behind; i++) {
            const int64_t outer = i / behind, inner = i % behind;
            const double dy = values->in[RMCP_GETITEM_DY][(outer * length + j) * behind + inner];
            const int64_t to = (outer * indexed + place) * behind + inner;
            dx[to] += dy;
            /* each addition rounds what has come together so far */
            allowed[to] +=
                0x1p-23 * (fabs(dy) + fabs(values->in[RMCP_GETITEM_DX][to])) * sqrt((double)length);
        }
    }
    for (int64_t i = 0; i < elements && values->data == RMCP_DATA_INTEGERS; i++) allowed[i] = 0;
    return RMCP_OK;
}

static const char *const passes[] = { "bwd", NULL };
static const char *const types[] = { "f32", "f16", "bf16", NULL };
static const struct rmcp_trait traits[] = { { "pass", passes }, { "type", types }, { NULL, NULL } };
static const char *const tensors[] = { "dy", "dx", "error", "i0", "i1", "i2", "i3", "i4", NULL };
static const struct rmcp_form_list lists[] = { { "dims", 0, 0 }, { "take", 0, 0 }, { NULL, 0, 0 } };

static const struct rmcp_form_rules rules = {
    .operation = &rmcp_operation_getitem,
    .tensors = tensors,
    .lists = lists,
    .shape = shape,
    .evaluate = evaluate,
};

static rmcp_status parse(const char *text, void *problems, size_t *count)
{
    return rmcp_form_parse(&rules, text, problems, count);
}

static void draw(uint64_t seed, void *problem)
{
    struct rmcp_random r = { seed };
    char sizes[80], dx[120], chosen[40];
    int64_t size[RMCP_FORM_DIMS];
    const unsigned dims = rmcp_draw_sizes(&r, 1, 3000, size, sizes, sizeof sizes);
    const unsigned first = (unsigned)rmcp_random_below(&r, dims);
    const unsigned last = (unsigned)rmcp_random_between(&r, first, dims - 1);
    size_t used = 0;
    for (unsigned d = first; d <= last; d++)
        used += (size_t)snprintf(chosen + used, sizeof chosen - used, "%s%u", used ? "x" : "", d);
    rmcp_draw_strides(&r, "dx", dims, size, false, dx, sizeof dx);
    rmcp_form_draw(&rules, problem, "%s:%s:dims%s:take%" PRId64 "%s", sizes,
                   types[rmcp_random_below(&r, 3)], chosen,
                   rmcp_random_between(&r, 1, rmcp_random_below(&r, 4) ? 9 : 600), dx);
}

static const char *const trials[] = { "6x5x7:%s:dims0x1:take40", "3x9:%s:dims1:take300", NULL };

const struct rmcp_operation rmcp_operation_getitem = {
    RMCP_FORM_COLUMNS, .name = "getitem", .n_slots = 8,     .algos = rmcp_algos_getitem,
    .parse = parse,    .traits = traits,  .trials = trials, .draw = draw,
};
