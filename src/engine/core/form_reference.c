/* form_reference.c: the reference of operations in table form: all outputs at once, in double, on
 * dense arrays; as a judge, and as the plain algorithm of the CPU device. */
#include "engine/core/form.h"

#include "base/convert.h"
#include "base/random.h"
#include "engine/figures/figures.h"

#include <math.h>
#include <stdlib.h>

struct state {
    bool open; /* nothing can be said of this data: see `fragile` */
    double *in[RMCP_FORM_TENSORS], *out[RMCP_FORM_TENSORS], *allowed[RMCP_FORM_TENSORS];
};

void rmcp_form_fill(const void *problem, unsigned slot, enum rmcp_data data, uint64_t seed,
                    void *host)
{
    const struct rmcp_form_tensor *t = &((const struct rmcp_form *)problem)->tensor[slot];
    struct rmcp_random r = { seed + 0x9e3779b97f4a7c15u * (slot + 1) };
    const bool integers = data == RMCP_DATA_INTEGERS || rmcp_type_is_integer((rmcp_type)t->type);
    for (int64_t i = 0; i < t->span; i++)
        rmcp_store_any(host, (rmcp_type)t->type, i,
                       integers ? (double)rmcp_random_between(&r, t->type > RMCP_BF16 ? 0 : -4, 4)
                                : (double)rmcp_random_real(&r));
}

static void free_state(struct state *s)
{
    for (unsigned slot = 0; slot < RMCP_FORM_TENSORS; slot++) {
        free(s->in[slot]);
        free(s->out[slot]);
        free(s->allowed[slot]);
    }
    free(s);
}

static double *dense(const struct rmcp_form_tensor *t)
{
    return calloc((size_t)t->elements, sizeof(double));
}

/* Inputs as dense arrays, room for outputs. */
static bool prepare(const struct rmcp_form *form, const void *const *host, struct state *s)
{
    for (unsigned slot = 0; form->rules->tensors[slot]; slot++) {
        const struct rmcp_form_tensor *t = &form->tensor[slot];
        if (!t->dims) continue;
        if (t->read && host[slot]) {
            if (!(s->in[slot] = dense(t))) return false;
            const bool packed = rmcp_form_packed(t);
            for (int64_t i = 0; i < t->elements; i++) {
                const double value = rmcp_load_any(host[slot], (rmcp_type)t->type,
                                                   packed ? i : rmcp_form_place(t, i));
                s->in[slot][i] = value;
                s->open = s->open || (form->rules->fragile && !(fabs(value) < 0x1p60));
            }
        }
        if (t->written && (!(s->out[slot] = dense(t)) || !(s->allowed[slot] = dense(t))))
            return false;
    }
    return true;
}

static rmcp_status evaluate(const struct rmcp_form *form, const void *const *host,
                            enum rmcp_data data, struct state **out)
{
    struct state *s = calloc(1, sizeof *s);
    *out = NULL;
    if (!s || !prepare(form, host, s)) {
        if (s) free_state(s);
        return rmcp_fail(RMCP_E_NOMEM, "out of host memory for the reference of %s",
                         form->rules->operation->name);
    }
    struct rmcp_form_values values = { .data = data };
    for (unsigned slot = 0; slot < RMCP_FORM_TENSORS; slot++) {
        values.in[slot] = s->in[slot];
        values.out[slot] = s->out[slot];
        values.allowed[slot] = s->allowed[slot];
    }
    rmcp_status status = form->rules->evaluate(form, &values);
    if (status)
        free_state(s);
    else
        *out = s;
    return status;
}

/* ---- the judge ---- */

rmcp_status rmcp_form_reference_begin(struct rmcp_reference *r)
{
    struct state *s;
    rmcp_status status = evaluate(r->problem, r->host, r->data, &s);
    r->state = s;
    return status;
}

void rmcp_form_reference_end(struct rmcp_reference *r)
{
    if (r->state) free_state(r->state);
    r->state = NULL;
}

/* Which element is at a place; -1 between elements. */
static int64_t element_at(const struct rmcp_form_tensor *t, int64_t place)
{
    int64_t index = 0, within[RMCP_FORM_DIMS] = { 0 };
    bool done[RMCP_FORM_DIMS] = { false };
    for (unsigned turn = 0; turn < t->dims; turn++) {
        unsigned next = RMCP_FORM_DIMS; /* the largest stride that is left */
        for (unsigned d = 0; d < t->dims; d++)
            if (!done[d] && t->size[d] > 1 &&
                (next == RMCP_FORM_DIMS || t->stride[d] > t->stride[next]))
                next = d;
        if (next == RMCP_FORM_DIMS) break;
        done[next] = true;
        within[next] = place / t->stride[next];
        if (within[next] >= t->size[next]) return -1;
        place %= t->stride[next];
    }
    if (place) return -1;
    for (unsigned d = 0; d < t->dims; d++) index = index * t->size[d] + within[d];
    return index;
}

struct rmcp_expected rmcp_form_expect(const struct rmcp_reference *r, unsigned slot, int64_t place)
{
    const struct rmcp_form_tensor *t = &((const struct rmcp_form *)r->problem)->tensor[slot];
    const struct state *s = r->state;
    const int64_t index = rmcp_form_packed(t) ? place : element_at(t, place);
    if (index < 0)
        return (struct rmcp_expected){ .value = rmcp_load_any(r->host[slot], (rmcp_type)t->type,
                                                              place) };
    const double factor = r->error_factor > 1 ? r->error_factor : 1;
    struct rmcp_expected e = { .value = s->out[slot][index],
                               .allowed = s->allowed[slot][index] * factor };
    e.open = s->open || isinf(e.allowed);
    if (e.allowed > 0) e.allowed += rmcp_rounding_error((rmcp_type)t->type, e.value);
    return e;
}

double rmcp_form_expect_cost(const void *problem, unsigned slot)
{
    (void)problem, (void)slot;
    return 4; /* it was computed when the reference began */
}

/* ---- the algorithm ---- */

static rmcp_status consider(const struct rmcp_request *request, struct rmcp_way *way)
{
    const struct rmcp_form *form = request->problem;
    double elements = 0;
    for (unsigned slot = 0; form->rules->tensors[slot]; slot++)
        elements += (double)form->tensor[slot].elements;
    way->seconds = elements * rmcp_figure(request->caps, RMCP_FIGURE_REFERENCE_ELEMENT) +
                   form->rules->operation->flops(form) *
                       rmcp_figure(request->caps, RMCP_FIGURE_REFERENCE_FLOP) +
                   rmcp_figure(request->caps, RMCP_FIGURE_REFERENCE_START);
    return RMCP_OK;
}

static rmcp_status run(const void *state, const struct rmcp_given *given)
{
    const struct rmcp_form *form = *(const struct rmcp_form *const *)state;
    const rmcp_memory *memory = given->memory;
    struct rmcp_form own;
    if (given->scalars) {
        own = *form;
        rmcp_form_set_scalars(&own, given->scalars);
        form = &own;
    }
    const void *host[RMCP_FORM_TENSORS];
    for (unsigned slot = 0; slot < RMCP_FORM_TENSORS; slot++)
        host[slot] = memory[slot].base ? (char *)memory[slot].base + memory[slot].offset : NULL;
    struct state *s;
    rmcp_status status = evaluate(form, host, RMCP_DATA_REALS, &s);
    if (status) return status;
    for (unsigned slot = 0; form->rules->tensors[slot]; slot++) {
        const struct rmcp_form_tensor *t = &form->tensor[slot];
        if (!t->written) continue;
        char *target = (char *)memory[slot].base + memory[slot].offset;
        const bool packed = rmcp_form_packed(t);
        for (int64_t i = 0; i < t->elements; i++)
            rmcp_store_any(target, (rmcp_type)t->type, packed ? i : rmcp_form_place(t, i),
                           s->out[slot][i]);
    }
    free_state(s);
    return RMCP_OK;
}

static rmcp_status emit(const struct rmcp_request *request, const struct rmcp_way *way,
                        struct rmcp_launch_list *list)
{
    (void)way;
    return rmcp_launch_host_given(list, run, &request->problem, sizeof request->problem);
}

const struct rmcp_algo rmcp_algo_form_reference = {
    .name = "reference",
    .version = 1,
    .kind = RMCP_LAUNCH_HOST_CALL,
    .judge = true,
    .consider = consider,
    .emit = emit,
};
