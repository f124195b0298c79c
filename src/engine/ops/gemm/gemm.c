/* gemm.c: the matrix product as an operation: what planner, caches, guard and judge need to know.
 */
#include "engine/ops/gemm/gemm.h"

static struct rmcp_slot slot_of(const void *problem, unsigned slot)
{
    static const char *const names[RMCP_GEMM_SLOTS] = { "a", "b", "c", "bias" };
    const struct rmcp_gemm_form *form = problem;
    const bool output = slot == RMCP_GEMM_C;
    const bool gaps = output && form->span[slot] > form->outputs; /* they must keep their value */
    return (struct rmcp_slot){
        .name = names[slot],
        .elements = form->span[slot],
        .type = form->product.type,
        .read = !output || gaps || form->product.beta != 0,
        .written = output,
    };
}

static rmcp_type type_of(const void *problem)
{
    return ((const struct rmcp_gemm_form *)problem)->product.type;
}

static rmcp_status check_options(const void *problem, const rmcp_plan_options *options)
{
    (void)problem;
    if (!options->fixed_weights.base) return RMCP_OK;
    return rmcp_fail(RMCP_E_ARG, "fixed_weights is set, but a matrix product has no weights");
}

static double flops(const void *problem)
{
    const struct rmcp_gemm_form *form = problem;
    return (double)form->outputs * (2 * (double)form->terms + (form->product.beta != 0 ? 2 : 0));
}

/* Every element once; what a batch shares once for all. */
static double bytes(const void *problem)
{
    const struct rmcp_gemm_form *form = problem;
    const struct rmcp_matmul *p = &form->product;
    const double k = (double)form->terms, m = (double)p->m, n = (double)p->n;
    const double batch = (double)p->batch;
    const double elements = m * k * (p->a.stride ? batch : 1) + k * n * (p->b.stride ? batch : 1) +
                            (double)form->outputs * (p->beta != 0 ? 2 : 1) +
                            (double)form->span[RMCP_GEMM_BIAS];
    return elements * (double)rmcp_type_bytes(p->type);
}

enum { TRANSPOSES, TYPE, BATCH, BIAS, ACTIVATION };
static const struct rmcp_trait traits[] = {
    [TRANSPOSES] = { "transposes", (const char *const[]){ "nn", "nt", "tn", "tt", NULL } },
    [TYPE] = { "type", (const char *const[]){ "f32", "f16", "bf16", NULL } },
    [BATCH] = { "batch", (const char *const[]){ "single", "batch", "shared", NULL } },
    [BIAS] = { "bias", (const char *const[]){ "none", "row", "column", NULL } },
    [ACTIVATION] = { "activation",
                     (const char *const[]){ "none", "relu", "leaky", "clamp", NULL } },
    { NULL, NULL },
};

static unsigned trait_of(const void *problem, unsigned trait)
{
    const struct rmcp_gemm_form *form = problem;
    const rmcp_gemm *g = &form->gemm;
    switch (trait) {
    case TRANSPOSES: return 2 * g->transpose_a + g->transpose_b;
    case TYPE: return g->type;
    case BATCH: return g->batch < 2 ? 0 : g->a_stride && g->b_stride ? 1 : 2;
    case BIAS: return g->bias;
    default: return g->activation;
    }
}

/* All four ways in which factors lie; aligned and not; few rows and few columns; sums long enough
 * to be split; a batch, one that shares, c side by side; nothing to multiply. */
static const char *const trials[] = {
    "m72n68k40:nn:%s:bias_row:relu",
    "m65n130k33:nt:%s:alpha0.5:beta2:c/133",
    "m130n65k37:tn:%s:b2:bias_col",
    "m68n72k24:tt:%s:clamp-3x6:a/76",
    "m1n40k300:nt:%s",
    "m3n140k37:nn:%s:beta1",
    "m7n20k260:nt:%s:bias_col",
    "m33n16k150:nn:%s:bias_row",
    "m150n13k50:tt:%s:leaky0.25",
    "m40n24k520:tn:%s:b3:b/24x0",
    "m9n8k12:nt:%s:b4:c/40x9",
    "m5n6k0:nn:%s:beta2:bias_col",
    "m520n640k20:nn:%s",
    "m520n640k20:nt:%s",
    "m520n640k20:tn:%s",
    "m520n640k20:tt:%s",
    "m1150n1020k20:nn:%s",
    "m1150n1020k20:nt:%s",
    "m1150n1020k20:tn:%s",
    "m1150n1020k20:tt:%s",
    "m60n60k12:nn:%s:b160",
    "m60n60k12:nt:%s:b160",
    "m60n60k12:tn:%s:b160",
    "m60n60k12:tt:%s:b160",
    NULL,
};

static double expect_cost(const void *problem, unsigned slot)
{
    (void)slot;
    return (double)((const struct rmcp_gemm_form *)problem)->terms + 1;
}

extern const struct rmcp_algo *const rmcp_algos_gemm[];

const struct rmcp_operation rmcp_operation_gemm = {
    .name = "gemm",
    .problem_bytes = sizeof(struct rmcp_gemm_form),
    .n_slots = RMCP_GEMM_SLOTS,
    .algos = rmcp_algos_gemm,
    .slot = slot_of,
    .type = type_of,
    .check_options = check_options,
    .flops = flops,
    .bytes = bytes,
    .parse = rmcp_gemm_parse_case,
    .print = rmcp_gemm_print_case,
    .traits = traits,
    .trait = trait_of,
    .draw = rmcp_gemm_draw,
    .trials = trials,
    .fill = rmcp_gemm_fill,
    .expect = rmcp_gemm_expect,
    .expect_cost = expect_cost,
};
