/* functions.c: the rows of functions.inc as operations: their tensors, their reference in double.
 */
#include "engine/elements/element.h"

#include <float.h>
#include <math.h>

enum { A, B, C, Y, N_SLOTS };
enum { ALPHA, BETA };

enum {
#define F(name, shape, ...) F_##name,
#include "engine/elements/functions.inc"
#undef F
};

/* A row. */
struct function {
    struct rmcp_element element; /* first: a form leads here */
    unsigned number, shape;
};

static const struct function *function_of(const struct rmcp_form *form)
{
    return (const struct function *)rmcp_element_of(form);
}

static rmcp_status shape(struct rmcp_form *form)
{
    const unsigned shape = function_of(form)->shape;
    const rmcp_type own = (rmcp_type)form->type;
    rmcp_form_whole(form, A, false);
    if (shape & RMCP_READS_B) rmcp_form_whole(form, B, false);
    if (shape & RMCP_READS_C)
        rmcp_form_part(form, C, shape & RMCP_BYTES_C ? RMCP_U8 : own, false, form->dims,
                       form->size);
    rmcp_form_part(form, Y, shape & RMCP_BYTES_Y ? RMCP_U8 : own, true, form->dims, form->size);
    return RMCP_OK;
}

/* Where f32 cannot hold what comes out, anything is right; below 2^-126 a device may give 0. */
static rmcp_status evaluate(const struct rmcp_form *form, const struct rmcp_form_values *values)
{
    const double alpha = (double)(float)form->number[ALPHA];
    const double beta = (double)(float)form->number[BETA];
    const double *as = values->in[A], *bs = values->in[B], *cs = values->in[C];
    const unsigned number = function_of(form)->number;
    (void)alpha, (void)beta;
    for (int64_t i = 0; i < form->tensor[Y].elements; i++) {
        const double a = as[i], b = bs ? bs[i] : 0, c = cs ? cs[i] : 0;
        double y = 0, units = 0;
        switch (number) {
#define F(name, shape, value, error, kernel)                                                       \
    case F_##name:                                                                                 \
        y = value;                                                                                 \
        units = error;                                                                             \
        break;
#include "engine/elements/functions.inc"
#undef F
        }
        values->out[Y][i] = y;
        values->allowed[Y][i] = fabs(y) > (double)FLT_MAX ? INFINITY
                                : units > 0               ? 0x1p-24 * units + 0x1p-126
                                                          : 0;
    }
    return RMCP_OK;
}

static void work(const struct rmcp_request *request, struct rmcp_element_work *work)
{
    const struct rmcp_form *form = rmcp_form_of(request);
    work->each = true;
    rmcp_streams_begin(&work->streams, form->dims, form->size);
    work->streams.lanes = form->type == RMCP_F32 ? 4 : 8;
    rmcp_streams_add(&work->streams, form, Y, NULL, 0);
    for (unsigned slot = A; slot <= C; slot++)
        rmcp_streams_add(&work->streams, form, slot, NULL, 0);
    rmcp_streams_cut(&work->streams, request);
}

static void math(const struct rmcp_form *form, const int64_t *first, void *math)
{
    (void)first;
    *(struct rmcp_function_math *)math =
        (struct rmcp_function_math){ .alpha = (float)form->number[ALPHA],
                                     .beta = (float)form->number[BETA] };
}

static const struct rmcp_algo stream = { RMCP_ELEMENT_STREAM, .version = 1 };
static const struct rmcp_algo *const algos[] = { &rmcp_algo_form_reference, &stream, NULL };
static const struct rmcp_trait traits[] = { { "type", rmcp_type_names }, { NULL, NULL } };
static const char *const tensors[] = { "a", "b", "c", "y", NULL };
static const struct rmcp_form_number numbers[][3] = {
    { { NULL, 0 } },
    { { "alpha", 1 }, { NULL, 0 } },
    { { "alpha", 1 }, { "beta", 0 }, { NULL, 0 } },
};
static const char *const trials[] = { "3x1001:%s", "3x5x70:%s:a/350x1x5:y/400x80x1", NULL };

#define F(name_, shape_, ...)                                                                      \
    extern const struct rmcp_operation rmcp_operation_##name_;                                     \
    static const struct function function_##name_ = {                                              \
        .element = { .rules = { .operation = &rmcp_operation_##name_,                              \
                                .tensors = tensors,                                                \
                                .numbers = numbers[(shape_) / RMCP_ALPHA],                         \
                                .shape = shape,                                                    \
                                .evaluate = evaluate },                                            \
                     .work = work,                                                                 \
                     .math_bytes = sizeof(struct rmcp_function_math),                              \
                     .math = math },                                                               \
        .number = F_##name_,                                                                       \
        .shape = shape_,                                                                           \
    };                                                                                             \
    const struct rmcp_operation rmcp_operation_##name_ = { RMCP_FORM_COLUMNS,                      \
                                                           .name = #name_,                         \
                                                           .n_slots = N_SLOTS,                     \
                                                           .algos = algos,                         \
                                                           .form =                                 \
                                                               &function_##name_.element.rules,    \
                                                           .traits = traits,                       \
                                                           .trials = trials };
#include "engine/elements/functions.inc"
