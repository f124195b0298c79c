/* form.c: checks a matrix product and brings it into canonical form. */
#include "engine/ops/gemm/gemm.h"

#include <float.h>
#include <inttypes.h>
#include <math.h>
#include <string.h>

static rmcp_status check_kinds(const rmcp_gemm *g)
{
    if (g->type > RMCP_BF16)
        return rmcp_fail(RMCP_E_ARG, "type is %u; known are f32 (0), f16 (1) and bf16 (2)",
                         (unsigned)g->type);
    if (g->transpose_a > 1)
        return rmcp_fail(RMCP_E_ARG, "transpose_a is %u; it must be 0 or 1",
                         (unsigned)g->transpose_a);
    if (g->transpose_b > 1)
        return rmcp_fail(RMCP_E_ARG, "transpose_b is %u; it must be 0 or 1",
                         (unsigned)g->transpose_b);
    if (g->bias > RMCP_GEMM_COLUMN_BIAS)
        return rmcp_fail(RMCP_E_ARG, "bias is %u; known are none (0), row (1) and column (2)",
                         (unsigned)g->bias);
    if (g->activation > RMCP_CLAMP)
        return rmcp_fail(RMCP_E_ARG,
                         "activation is %u; known are none (0), relu (1), leaky relu (2) and "
                         "clamp (3)",
                         (unsigned)g->activation);
    if (g->activation == RMCP_LEAKY_RELU && !isfinite(g->slope))
        return rmcp_fail(RMCP_E_ARG, "slope is %g; it must be finite", (double)g->slope);
    if (g->activation == RMCP_CLAMP && !(g->clamp_low <= g->clamp_high))
        return rmcp_fail(RMCP_E_ARG, "clamp_low, %g, is not below clamp_high, %g",
                         (double)g->clamp_low, (double)g->clamp_high);
    if (!(fabs(g->alpha) <= (double)FLT_MAX))
        return rmcp_fail(RMCP_E_ARG, "alpha is %g; it must be finite in f32", g->alpha);
    if (!(fabs(g->beta) <= (double)FLT_MAX))
        return rmcp_fail(RMCP_E_ARG, "beta is %g; it must be finite in f32", g->beta);
    if (g->reserved)
        return rmcp_fail(RMCP_E_ARG, "reserved is %u; it must be 0", (unsigned)g->reserved);
    return RMCP_OK;
}

static rmcp_status check_sizes(const rmcp_gemm *g)
{
    const struct {
        const char *name;
        int64_t value;
    } sizes[] = { { "batch", g->batch }, { "m", g->m }, { "n", g->n }, { "k", g->k } };
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        if (sizes[i].value < 0)
            return rmcp_fail(RMCP_E_ARG, "%s is %" PRId64 "; it must not be negative",
                             sizes[i].name, sizes[i].value);
    return RMCP_OK;
}

/* A matrix of a batch: its lines in memory, and what of the caller's struct it has. */
struct lines {
    char name;
    int64_t count, length;
    int64_t *pitch, *stride;
};

/* Fill in pitch and stride and count the elements, whose bytes must fit in 63 bits. */
static rmcp_status check_matrix(const rmcp_gemm *g, const struct lines *l, int64_t *span)
{
    const int64_t length = l->length ? l->length : 1;
    if (*l->pitch == 0) *l->pitch = length;
    if (*l->pitch < length)
        return rmcp_fail(RMCP_E_ARG,
                         "%c_pitch is %" PRId64 "; it must be at least %" PRId64
                         ", the length of a row in memory, or 0",
                         l->name, *l->pitch, length);
    if (*l->stride < RMCP_GEMM_PACKED)
        return rmcp_fail(RMCP_E_ARG,
                         "%c_stride is %" PRId64 "; it must not be negative but for "
                         "RMCP_GEMM_PACKED (-1)",
                         l->name, *l->stride);
    int64_t packed = 0, bytes = 0, last = 0, all = 0;
    const int64_t repeats = g->batch > 1 ? g->batch - 1 : 0;
    bool fits = !__builtin_mul_overflow(l->count, *l->pitch, &packed);
    if (*l->stride == RMCP_GEMM_PACKED || g->batch <= 1) *l->stride = packed;
    fits = fits && !__builtin_mul_overflow(repeats, *l->stride, &last) &&
           !__builtin_add_overflow(packed, last, &all) &&
           !__builtin_mul_overflow(all, (int64_t)sizeof(float), &bytes);
    if (!fits)
        return rmcp_fail(RMCP_E_ARG,
                         "%c is too large: %" PRId64 " matrices of %" PRId64 " lines, %" PRId64
                         " elements apart, do not fit in 63 bits",
                         l->name, g->batch, l->count, *l->pitch);
    const bool empty = !l->count || !l->length;
    *span = empty ? 0 : last + (l->count - 1) * *l->pitch + l->length;
    return RMCP_OK;
}

/* The matrices of c lie one after the other, or side by side in the same rows. */
static rmcp_status check_output(const rmcp_gemm *g)
{
    if (g->batch < 2 || !g->m || !g->n) return RMCP_OK;
    if (g->c_stride >= (g->m - 1) * g->c_pitch + g->n) return RMCP_OK;
    int64_t reach = 0;
    if (g->c_stride >= g->n && !__builtin_mul_overflow(g->batch - 1, g->c_stride, &reach) &&
        !__builtin_add_overflow(reach, g->n, &reach) && reach <= g->c_pitch)
        return RMCP_OK;
    return rmcp_fail(RMCP_E_ARG,
                     "c_stride, %" PRId64 ", lets matrices of c overlap: %" PRId64 " x %" PRId64
                     " with a pitch of %" PRId64,
                     g->c_stride, g->m, g->n, g->c_pitch);
}

static struct rmcp_matrix matrix_of(unsigned slot, int64_t pitch, int64_t stride, bool transposed)
{
    return (struct rmcp_matrix){
        .slot = slot, .pitch = pitch, .stride = stride, .transposed = transposed
    };
}

rmcp_status rmcp_gemm_form_init(struct rmcp_gemm_form *form, const rmcp_gemm *gemm)
{
    memset(form, 0, sizeof *form);
    rmcp_gemm *g = &form->gemm;
    rmcp_status status = rmcp_struct_read(gemm, g, sizeof *g, RMCP_FIRST_GEMM, "rmcp_gemm");
    if (status || (status = check_kinds(g)) || (status = check_sizes(g))) return status;
    const bool ta = g->transpose_a, tb = g->transpose_b;
    const struct lines lines[] = {
        { 'a', ta ? g->k : g->m, ta ? g->m : g->k, &g->a_pitch, &g->a_stride },
        { 'b', tb ? g->n : g->k, tb ? g->k : g->n, &g->b_pitch, &g->b_stride },
        { 'c', g->m, g->n, &g->c_pitch, &g->c_stride },
    };
    for (unsigned slot = RMCP_GEMM_A; slot <= RMCP_GEMM_C; slot++)
        if ((status = check_matrix(g, &lines[slot], &form->span[slot]))) return status;
    if ((status = check_output(g))) return status;

    const bool empty = !g->batch || !g->m || !g->n;
    form->terms = (float)g->alpha == 0 ? 0 : g->k;
    form->outputs = g->batch * g->m * g->n;
    if (empty || !form->terms) form->span[RMCP_GEMM_A] = form->span[RMCP_GEMM_B] = 0;
    if (empty) form->span[RMCP_GEMM_C] = 0;
    if (!empty && g->bias) form->span[RMCP_GEMM_BIAS] = g->bias == RMCP_GEMM_ROW_BIAS ? g->m : g->n;
    form->product = (struct rmcp_matmul){
        .type = (rmcp_type)g->type,
        .batch = g->batch,
        .m = g->m,
        .n = g->n,
        .k = g->k,
        .a = matrix_of(RMCP_GEMM_A, g->a_pitch, g->a_stride, ta),
        .b = matrix_of(RMCP_GEMM_B, g->b_pitch, g->b_stride, tb),
        .c = matrix_of(RMCP_GEMM_C, g->c_pitch, g->c_stride, false),
        .alpha = (float)g->alpha,
        .beta = (float)g->beta,
        .bias = (enum rmcp_matmul_bias)g->bias,
        .bias_slot = RMCP_GEMM_BIAS,
        .activation = (rmcp_activation)g->activation,
        .slope = g->slope,
        .low = g->clamp_low,
        .high = g->clamp_high,
    };
    return RMCP_OK;
}
