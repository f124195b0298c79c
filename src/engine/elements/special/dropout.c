/* dropout.c: dropout as an operation: elements are set to 0 at random, or by a mask; the others are
 * scaled. The gradient is the same with the same mask. */
#include "engine/elements/element.h"
#include "engine/gpu/launch.h"
#include "engine/kernels/philox.h"

#include <math.h>

enum {
    X,
    Y,
    DY,
    DX,
    STATE,   /* four words of engine/kernels/philox.h                                   */
    RESERVE, /* a byte for each element in the order of its dimensions: 0 drops it      */
    N_SLOTS
};
enum { PASS, MASK, COUNT }; /* traits */

static const char *const masks[] = { "drawn", "saved", "given", NULL };
static const char *const counts[] = { "still", "counting", NULL };

static bool backward(const struct rmcp_form *form)
{
    return form->word[PASS];
}

/* Where the mask of this pass comes from; a gradient reads what forward has saved. */
static unsigned mask_of(const struct rmcp_form *form)
{
    const unsigned mask = form->word[MASK];
    return backward(form) && mask == RMCP_DROPOUT_SAVED ? RMCP_DROPOUT_GIVEN : mask;
}

/* Whether the state is counted on. */
static bool counts_on(const struct rmcp_form *form)
{
    return form->word[COUNT] && !backward(form) && mask_of(form) != RMCP_DROPOUT_GIVEN;
}

static struct rmcp_dropout_math math_of(const struct rmcp_form *form)
{
    const double rate = (double)(float)form->number[0], words = rate * 4294967296.0;
    return (struct rmcp_dropout_math){
        .mask = mask_of(form),
        .threshold = words < 4294967295.0 ? (uint32_t)words : UINT32_MAX,
        .all = rate >= 1,
        .before = form->word[COUNT] && backward(form),
        .scale = rate >= 1 ? 0 : (float)(1 / (1 - rate)),
    };
}

static rmcp_status shape(struct rmcp_form *form)
{
    const double rate = form->number[0];
    if (!(rate >= 0 && rate <= 1))
        return rmcp_fail(RMCP_E_ARG, "drop is %g; a share from 0 to 1 is known", rate);
    const unsigned mask = mask_of(form);
    int64_t elements = 1;
    for (uint32_t d = 0; d < form->dims; d++) elements *= form->size[d];
    rmcp_form_whole(form, backward(form) ? DY : X, false);
    rmcp_form_whole(form, backward(form) ? DX : Y, true);
    if (mask != RMCP_DROPOUT_GIVEN) {
        rmcp_form_part(form, STATE, RMCP_I32, false, 1, (int64_t[]){ 4 });
        form->tensor[STATE].written = counts_on(form);
    }
    if (mask != RMCP_DROPOUT_DRAWN)
        rmcp_form_part(form, RESERVE, RMCP_U8, mask == RMCP_DROPOUT_SAVED, 1, &elements);
    for (unsigned slot = STATE; slot <= RESERVE; slot++)
        if (form->tensor[slot].strided && form->tensor[slot].stride[0] != 1)
            return rmcp_fail(RMCP_E_UNSUPPORTED, "a state or mask with gaps");
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
    const struct rmcp_dropout_math m = math_of(form);
    const unsigned in = backward(form) ? DY : X;
    const unsigned out = backward(form) ? DX : Y;
    uint32_t word[4] = { 0 };
    for (int i = 0; i < 4 && m.mask != RMCP_DROPOUT_GIVEN; i++)
        word[i] = (uint32_t)(int64_t)values->in[STATE][i];
    if (values->out[STATE]) count(word, values->out[STATE]);
    if (m.before) {
        word[3] -= word[2] == 0;
        word[2]--;
    }
    for (int64_t i = 0; i < form->tensor[out].elements; i++) {
        const bool kept = m.mask == RMCP_DROPOUT_GIVEN
                              ? values->in[RESERVE][i] != 0
                              : !m.all && rmcp_philox_at(word, (uint64_t)i) >= m.threshold;
        const double v = kept ? (double)m.scale * values->in[in][i] : 0;
        values->out[out][i] = v;
        if (m.scale != 1) values->allowed[out][i] = 0x1p-24 * fabs(v);
        if (values->out[RESERVE]) values->out[RESERVE][i] = kept;
    }
    return RMCP_OK;
}

static void work(const struct rmcp_request *request, struct rmcp_element_work *work)
{
    const struct rmcp_form *form = rmcp_form_of(request);
    struct rmcp_streams *streams = &work->streams;
    /* The mask's places are also the elements' numbers, whether it is there or not. */
    int64_t stride[RMCP_FORM_DIMS], next = 1;
    for (uint32_t d = form->dims; d-- > 0; next *= form->size[d]) stride[d] = next;
    work->each = true;
    rmcp_streams_begin(streams, form->dims, form->size);
    rmcp_streams_add(streams, form, backward(form) ? DX : Y, NULL, 0);
    rmcp_streams_add(streams, form, backward(form) ? DY : X, NULL, 0);
    rmcp_streams_add(streams, form, RESERVE, stride, 0);
    rmcp_streams_cut(streams, request);
    work->more[work->n_more++] =
        mask_of(form) != RMCP_DROPOUT_GIVEN ? STATE : streams->tensor[0].slot;
    if (counts_on(form)) work->seconds = request->caps->launch_seconds;
}

static void math(const struct rmcp_form *form, const int64_t *first, void *math)
{
    struct rmcp_dropout_math *m = math;
    *m = math_of(form);
    m->index = first[2];
}

static rmcp_status finish(const struct rmcp_form *form, struct rmcp_launch_list *list)
{
    if (!counts_on(form)) return RMCP_OK;
    struct rmcp_kernel_launch *launch = NULL;
    const rmcp_status status = rmcp_kernel_append(list, "dropout_count", RMCP_F32, "", 1, &launch);
    if (!status) rmcp_arg_memory(launch, STATE, 0);
    return status;
}

static const struct rmcp_element element;

static const struct rmcp_algo stream = { RMCP_ELEMENT_STREAM, .version = 1 };
static const struct rmcp_algo *const algos[] = { &rmcp_algo_form_reference, &stream, NULL };

extern const struct rmcp_operation rmcp_operation_dropout;
const struct rmcp_operation rmcp_operation_dropout = {
    RMCP_FORM_COLUMNS,
    .name = "dropout",
    .n_slots = N_SLOTS,
    .algos = algos,
    .form = &element.rules,
    .traits = (const struct rmcp_trait[]){ { "pass", rmcp_element_passes },
                                           { "mask", masks },
                                           { "state", counts },
                                           { "type", rmcp_type_names },
                                           { NULL, NULL } },
    .trials = (const char *const[]){ "3x1001:saved:%s:drop0.25",
                                     "2x5x6x7:drawn:counting:%s:x/210x1x35x5:dy/210x1x35x5",
                                     "3x70:given:%s", NULL },
};

static const struct rmcp_element element = {
    .rules = {
        .operation = &rmcp_operation_dropout,
        .tensors = (const char *const[]){ "x", "y", "dy", "dx", "state", "reserve", NULL },
        .numbers = (const struct rmcp_form_number[]){ { "drop", 0.5 }, { NULL, 0 } },
        .samples = (const char *const[]){ "0 0.1 0.9 1" },
        .shape = shape,
        .evaluate = evaluate,
    },
    .work = work,
    .math_bytes = sizeof(struct rmcp_dropout_math),
    .math = math,
    .finish = finish,
};
