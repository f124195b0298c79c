/* tensor.c: tensor operations as an operation: what planner, caches, guard and judge need to know.
 */
#include "engine/ops/tensor/tensor.h"

static struct rmcp_slot slot_of(const void *problem, unsigned slot)
{
    static const char *const names[RMCP_TENSOR_N] = { "a", "b", "c" };
    const struct rmcp_tensor_form *form = problem;
    const bool output = slot == RMCP_TENSOR_C;
    const bool gaps = output && form->span[slot] > form->outputs; /* they must keep their value */
    return (struct rmcp_slot){
        .name = names[slot],
        .elements = form->span[slot],
        .type = form->type[slot],
        .read = !output || gaps || rmcp_tensor_reads_output(form),
        .written = output,
    };
}

static rmcp_type type_of(const void *problem)
{
    return ((const struct rmcp_tensor_form *)problem)->type[RMCP_TENSOR_C];
}

static rmcp_status check_options(const void *problem, const rmcp_plan_options *options)
{
    (void)problem;
    if (options->fixed_weights.base)
        return rmcp_fail(RMCP_E_ARG, "fixed_weights is set, but a tensor operation has no weights");
    return RMCP_OK;
}

static double flops(const void *problem)
{
    const struct rmcp_tensor_form *form = problem;
    static const double each[] = {
        [RMCP_TENSOR_SET] = 0,     [RMCP_TENSOR_SCALE] = 1,    [RMCP_TENSOR_COPY] = 1,
        [RMCP_TENSOR_ADD] = 3,     [RMCP_TENSOR_MULTIPLY] = 3, [RMCP_TENSOR_MINIMUM] = 3,
        [RMCP_TENSOR_MAXIMUM] = 3, [RMCP_TENSOR_SUM] = 1
    };
    const double update = form->beta != 0 ? 2 : 0;
    return (double)form->outputs * (each[form->kind] * (double)form->terms + update);
}

/* Every element of a tensor that is used, once. */
static double bytes(const void *problem)
{
    const struct rmcp_tensor_form *form = problem;
    double sum = 0;
    for (unsigned slot = 0; slot < RMCP_TENSOR_N; slot++) {
        if (!form->span[slot]) continue;
        double elements = 1;
        for (unsigned i = 0; i < form->n_loops; i++)
            if (form->loop[i].stride[slot]) elements *= (double)form->loop[i].size;
        if (slot == RMCP_TENSOR_C && rmcp_tensor_reads_output(form)) elements *= 2;
        sum += elements * (double)rmcp_type_bytes(form->type[slot]);
    }
    return sum;
}

/* How a and c lie: like each other, transposed, or with elements that are taken again. */
static const char *const layouts[] = { "alike", "other strides", "broadcast", NULL };
static const char *const types[] = { "f32", "f16", "bf16", "mixed", NULL };
static const struct rmcp_trait traits[] = {
    { "kind", rmcp_tensor_kinds },
    { "type", types },
    { "strides", layouts },
    { NULL, NULL },
};

static unsigned trait(const void *problem, unsigned which)
{
    const struct rmcp_tensor_form *form = problem;
    if (which == 0) return form->kind;
    unsigned type = form->type[RMCP_TENSOR_C], strides = 0;
    for (unsigned slot = 0; slot < RMCP_TENSOR_C; slot++) {
        if (!form->span[slot]) continue;
        if (form->type[slot] != form->type[RMCP_TENSOR_C]) type = 3;
        for (unsigned i = 0; i < form->n_loops; i++) {
            const int64_t c = form->loop[i].stride[RMCP_TENSOR_C], s = form->loop[i].stride[slot];
            if (s == 0 && strides < 2) strides = 2;
            if (s != c && strides < 1) strides = 1;
        }
    }
    return which == 1 ? type : strides;
}

/* Contiguous with and without a rest, broadcast, strided; transposed; both ways to sum. */
static const char *const trials[] = {
    "5x1031:set:%s:alpha0.5",
    "3x7x13:scale:%s:alpha-2:c/200x17x1",
    "1031:copy:%s",
    "3x70x90:copy:%s:c/6300x1x70",
    "2x3x70:add:%s:b1x3x1",
    "2x3x70:multiply:%s:beta1:a/210x1x3",
    "9x33:minimum:%s",
    "9x33:maximum:%s:b9x1",
    "3x5x1000:sum:%s:c1x5x1",
    "300x70:sum:%s:c1x70:beta1",
    NULL,
};

extern const struct rmcp_algo *const rmcp_algos_tensor[];

const struct rmcp_operation rmcp_operation_tensor = {
    .name = "tensor",
    .problem_bytes = sizeof(struct rmcp_tensor_form),
    .n_slots = RMCP_TENSOR_N,
    .algos = rmcp_algos_tensor,
    .slot = slot_of,
    .type = type_of,
    .check_options = check_options,
    .flops = flops,
    .bytes = bytes,
    .parse = rmcp_tensor_parse_case,
    .print = rmcp_tensor_print_case,
    .traits = traits,
    .trait = trait,
    .draw = rmcp_tensor_draw,
    .trials = trials,
    .fill = rmcp_tensor_fill,
    .expect = rmcp_tensor_expect,
    .expect_cost = rmcp_tensor_expect_cost,
};
