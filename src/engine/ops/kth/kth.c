/* kth.c: the k-th smallest elements along a dimension, and their places. NaN is larger than
 * everything; of equal elements the first counts. */
#include "engine/ops/kth/kth.h"

#include "engine/core/draw.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

extern const struct rmcp_algo *const rmcp_algos_kth[];

static rmcp_status shape(struct rmcp_form *form)
{
    if (form->listed[0] != 1 || form->list[0][0] >= form->dims)
        return rmcp_fail(RMCP_E_ARG, "one dimension is needed: 'over0' to 'over%u'",
                         form->dims - 1);
    const unsigned along = rmcp_kth_dimension(form);
    const double k = form->number[RMCP_KTH_K];
    if (!(k >= 1 && k <= (double)form->size[along]) || k != floor(k))
        return rmcp_fail(RMCP_E_ARG, "k is %g; it must be 1 to %" PRId64, k, form->size[along]);
    int64_t size[RMCP_FORM_DIMS];
    for (unsigned d = 0; d < form->dims; d++) size[d] = d == along ? 1 : form->size[d];
    rmcp_form_whole(form, RMCP_KTH_X, false);
    rmcp_form_part(form, RMCP_KTH_Y, (rmcp_type)form->type, true, form->dims, size);
    rmcp_form_part(form, RMCP_KTH_INDICES, RMCP_I64, true, form->dims, size);
    return RMCP_OK;
}

struct element {
    double value;
    int64_t place;
};

static int by_value(const void *a, const void *b)
{
    const struct element *x = a, *y = b;
    if (isnan(x->value) != isnan(y->value)) return isnan(x->value) ? 1 : -1;
    if (x->value < y->value) return -1;
    if (x->value > y->value) return 1;
    return x->place < y->place ? -1 : x->place > y->place;
}

static rmcp_status evaluate(const struct rmcp_form *form, const struct rmcp_form_values *values)
{
    const unsigned along = rmcp_kth_dimension(form);
    const int64_t n = form->size[along], k = (int64_t)form->number[RMCP_KTH_K];
    int64_t inner = 1, outer = 1;
    for (unsigned d = 0; d < along; d++) outer *= form->size[d];
    for (unsigned d = along + 1; d < form->dims; d++) inner *= form->size[d];
    struct element *line = malloc((size_t)n * sizeof *line);
    if (!line) return rmcp_fail(RMCP_E_NOMEM, "out of host memory for the reference of kth values");
    for (int64_t i = 0; i < outer * inner; i++) {
        const double *x = values->in[RMCP_KTH_X] + i / inner * n * inner + i % inner;
        for (int64_t j = 0; j < n; j++) line[j] = (struct element){ x[j * inner], j };
        qsort(line, (size_t)n, sizeof *line, by_value);
        int64_t first = k - 1; /* of equal ones */
        while (first > 0 && (line[first - 1].value == line[k - 1].value ||
                             (isnan(line[first - 1].value) && isnan(line[k - 1].value))))
            first--;
        values->out[RMCP_KTH_Y][i] = line[first].value;
        values->out[RMCP_KTH_INDICES][i] = (double)line[first].place;
    }
    free(line);
    return RMCP_OK;
}

static const char *const passes[] = { "fwd", NULL };
static const char *const types[] = { "f32", "f16", "bf16", NULL };
static const struct rmcp_trait traits[] = { { "pass", passes }, { "type", types }, { NULL, NULL } };
static const char *const tensors[] = { "x", "y", "indices", NULL };
static const struct rmcp_form_number numbers[] = { { "k", 1 }, { NULL, 0 } };
static const struct rmcp_form_list lists[] = { { "over", 0, 0 }, { NULL, 0, 0 } };

static const struct rmcp_form_rules rules = {
    .operation = &rmcp_operation_kth,
    .tensors = tensors,
    .numbers = numbers,
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
    char sizes[80], x[120];
    int64_t size[RMCP_FORM_DIMS];
    const unsigned dims = rmcp_draw_sizes(&r, 1, 20000, size, sizes, sizeof sizes);
    const unsigned along = (unsigned)rmcp_random_below(&r, dims);
    rmcp_draw_strides(&r, "x", dims, size, true, x, sizeof x);
    rmcp_form_draw(&rules, problem, "%s:%s:over%u:k%" PRId64 "%s", sizes,
                   types[rmcp_random_below(&r, 3)], along, rmcp_random_between(&r, 1, size[along]),
                   x);
}

static const char *const trials[] = { "3x700:%s:over1:k350", "40x3x5:%s:over0:k3", NULL };

const struct rmcp_operation rmcp_operation_kth = {
    RMCP_FORM_COLUMNS, .name = "kth",    .n_slots = 3,     .algos = rmcp_algos_kth,
    .parse = parse,    .traits = traits, .trials = trials, .draw = draw,
};
