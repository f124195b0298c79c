/* case.c: case strings of matrix products (docs/cases.md): "m128n64k256:nt:f16:b4". */
#include "engine/ops/gemm/gemm.h"

#include "engine/core/case_text.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

/* ---- reading ---- */

enum { MATRICES = 3 };

struct gemm_reader {
    struct rmcp_case_reader in;
    rmcp_gemm gemm;
    bool has_type, has_transposes, has_batch, has_bias, has_activation, has_alpha, has_beta;
    bool has_matrix[MATRICES];
};

static rmcp_status twice(const struct gemm_reader *r, const char *word)
{
    char buffer[64];
    return rmcp_case_complain(&r->in, "'%s' is one too many", rmcp_quoted(word, buffer));
}

/* m128n64k256: each of the three letters once. */
static rmcp_status read_sizes(struct gemm_reader *r)
{
    int64_t *const sizes[] = { &r->gemm.m, &r->gemm.n, &r->gemm.k };
    bool given[3] = { false };
    while (*r->in.at && *r->in.at != ':') {
        const char *letter = strchr("mnk", *r->in.at);
        if (!letter)
            return rmcp_case_complain(&r->in, "'%c' does not belong at position %zu",
                                      *r->in.at < 32 || *r->in.at > 126 ? '?' : *r->in.at,
                                      (size_t)(r->in.at - r->in.text) + 1);
        const size_t which = (size_t)(letter - "mnk");
        if (given[which]) return rmcp_case_complain(&r->in, "'%c' is given twice", *letter);
        given[which] = true;
        r->in.at++;
        rmcp_status status = rmcp_case_number(&r->in, *letter, sizes[which]);
        if (status) return status;
    }
    for (size_t i = 0; i < 3; i++)
        if (!given[i]) return rmcp_case_complain(&r->in, "'%c' is missing", "mnk"[i]);
    return RMCP_OK;
}

/* a/PITCH or a/PITCHxSTRIDE. */
static rmcp_status read_matrix(struct gemm_reader *r)
{
    rmcp_gemm *g = &r->gemm;
    const struct {
        int64_t *pitch, *stride;
    } matrices[MATRICES] = { { &g->a_pitch, &g->a_stride },
                             { &g->b_pitch, &g->b_stride },
                             { &g->c_pitch, &g->c_stride } };
    const char name[2] = { *r->in.at, '\0' };
    const unsigned which = (unsigned)(*r->in.at - 'a');
    if (r->has_matrix[which]) return twice(r, name);
    r->has_matrix[which] = true;
    r->in.at += 2; /* the letter and the slash */
    rmcp_status status = rmcp_case_number(&r->in, '\0', matrices[which].pitch);
    if (!status && *r->in.at == 'x') {
        r->in.at++;
        status = rmcp_case_number(&r->in, '\0', matrices[which].stride);
    }
    if (!status && *r->in.at && *r->in.at != ':')
        return rmcp_case_complain(&r->in, "'%c' does not belong at position %zu",
                                  *r->in.at < 32 || *r->in.at > 126 ? '?' : *r->in.at,
                                  (size_t)(r->in.at - r->in.text) + 1);
    return status;
}

/* alpha0.5, beta1 */
static rmcp_status read_factor(struct gemm_reader *r, const char *word, const char *name,
                               bool *given, double *value)
{
    const char *at = word + strlen(name);
    if (*given) return twice(r, word);
    *given = true;
    rmcp_status status = rmcp_case_real(&r->in, name, &at, value);
    if (!status && *at)
        return rmcp_case_complain(&r->in, "'%s' does not end after its number", name);
    return status;
}

static rmcp_status read_activation(struct gemm_reader *r, const char *word)
{
    if (r->has_activation) return twice(r, word);
    r->has_activation = true;
    const struct rmcp_case_activation out = { &r->gemm.activation, &r->gemm.slope,
                                              &r->gemm.clamp_low, &r->gemm.clamp_high };
    return rmcp_case_activation(&r->in, word, out);
}

static const char *const transposes[] = { "nn", "nt", "tn", "tt" };
static const char *const biases[] = { "", "bias_row", "bias_col" };

/* One word behind a colon. */
static rmcp_status read_word(struct gemm_reader *r)
{
    rmcp_gemm *g = &r->gemm;
    const char *at = r->in.at;
    if (at[0] >= 'a' && at[0] <= 'c' && at[1] == '/') return read_matrix(r);
    if (at[0] == 'b' && at[1] >= '0' && at[1] <= '9') {
        if (r->has_batch) return twice(r, "b");
        r->has_batch = true;
        r->in.at++;
        rmcp_status status = rmcp_case_number(&r->in, 'b', &g->batch);
        if (!status && *r->in.at && *r->in.at != ':')
            return rmcp_case_complain(&r->in, "'b' does not end after its number");
        return status;
    }
    char word[40], buffer[64];
    rmcp_status status = rmcp_case_word(&r->in, word, sizeof word);
    if (status) return status;
    for (uint32_t type = 0; rmcp_type_names[type]; type++)
        if (!strcmp(word, rmcp_type_names[type])) {
            if (r->has_type) return twice(r, word);
            r->has_type = true;
            g->type = type;
            return RMCP_OK;
        }
    for (uint32_t i = 0; i < 4; i++)
        if (!strcmp(word, transposes[i])) {
            if (r->has_transposes) return twice(r, word);
            r->has_transposes = true;
            g->transpose_a = i / 2, g->transpose_b = i % 2;
            return RMCP_OK;
        }
    for (uint32_t i = RMCP_GEMM_ROW_BIAS; i <= RMCP_GEMM_COLUMN_BIAS; i++)
        if (!strcmp(word, biases[i])) {
            if (r->has_bias) return twice(r, word);
            r->has_bias = true;
            g->bias = i;
            return RMCP_OK;
        }
    if (!strncmp(word, "alpha", 5)) return read_factor(r, word, "alpha", &r->has_alpha, &g->alpha);
    if (!strncmp(word, "beta", 4)) return read_factor(r, word, "beta", &r->has_beta, &g->beta);
    if (rmcp_case_is_activation(word)) return read_activation(r, word);
    return rmcp_case_complain(&r->in,
                              "unknown word '%s'; known are nn nt tn tt, f32 f16 bf16, b4, a/300 "
                              "a/300x9000 (b and c likewise), alpha2, beta1, bias_row bias_col, "
                              "relu, leaky0.1, clamp0x6",
                              rmcp_quoted(word, buffer));
}

static rmcp_status parse(const char *text, struct rmcp_gemm_form *form)
{
    if (!text) return rmcp_fail(RMCP_E_ARG, "text is NULL");
    struct gemm_reader r = { .gemm = { .struct_size = sizeof r.gemm,
                                       .batch = 1,
                                       .a_stride = RMCP_GEMM_PACKED,
                                       .b_stride = RMCP_GEMM_PACKED,
                                       .c_stride = RMCP_GEMM_PACKED,
                                       .alpha = 1 } };
    rmcp_status status = rmcp_case_begin(&r.in, "gemm", text);
    if (status) return status;
    const locale_t before = rmcp_plain_locale_enter();
    status = read_sizes(&r);
    while (!status && *r.in.at) {
        r.in.at++; /* the colon */
        status = read_word(&r);
    }
    if (!status && rmcp_gemm_form_init(form, &r.gemm))
        status = rmcp_case_complain(&r.in, "%s", rmcp_last_error());
    rmcp_plain_locale_leave(before);
    return status;
}

rmcp_status rmcp_gemm_parse_case(const char *text, void *problems, size_t *count)
{
    struct rmcp_gemm_form form;
    rmcp_status status = parse(text, &form);
    *count = !status;
    if (!status) memcpy(problems, &form, sizeof form);
    return status;
}

rmcp_status rmcp_gemm_parse(const char *text, rmcp_gemm *gemm)
{
    static const char name[] = "gemm:"; /* may be left out */
    struct rmcp_gemm_form form;
    const bool named = text && !strncmp(text, name, sizeof name - 1);
    rmcp_status status = parse(named ? text + sizeof name - 1 : text, &form);
    if (status) return status;
    return rmcp_struct_write(&form.gemm, sizeof form.gemm, gemm, RMCP_FIRST_GEMM, "rmcp_gemm");
}

/* ---- printing ---- */

/* What is not packed. */
static void put_matrix(struct rmcp_case_writer *out, char name, int64_t lines, int64_t length,
                       int64_t pitch, int64_t stride, bool batch)
{
    const bool own_stride = batch && stride != lines * pitch;
    if (pitch == (length ? length : 1) && !own_stride) return;
    rmcp_case_put(out, ":%c/%" PRId64, name, pitch);
    if (own_stride) rmcp_case_put(out, "x%" PRId64, stride);
}

rmcp_status rmcp_gemm_print_case(const void *problem, char *text, size_t size)
{
    const struct rmcp_gemm_form *form = problem;
    const rmcp_gemm *g = &form->gemm;
    struct rmcp_case_writer out = { text, size, 0 };
    const locale_t before = rmcp_plain_locale_enter();
    const bool ta = g->transpose_a, tb = g->transpose_b, batch = g->batch > 1;
    rmcp_case_put(&out, "m%" PRId64 "n%" PRId64 "k%" PRId64 ":%s:%s", g->m, g->n, g->k,
                  transposes[2 * ta + tb], rmcp_type_names[g->type]);
    if (g->batch != 1) rmcp_case_put(&out, ":b%" PRId64, g->batch);
    put_matrix(&out, 'a', ta ? g->k : g->m, ta ? g->m : g->k, g->a_pitch, g->a_stride, batch);
    put_matrix(&out, 'b', tb ? g->n : g->k, tb ? g->k : g->n, g->b_pitch, g->b_stride, batch);
    put_matrix(&out, 'c', g->m, g->n, g->c_pitch, g->c_stride, batch);
    if ((float)g->alpha != 1) rmcp_case_put(&out, ":alpha%.9g", (double)(float)g->alpha);
    if ((float)g->beta != 0) rmcp_case_put(&out, ":beta%.9g", (double)(float)g->beta);
    if (g->bias) rmcp_case_put(&out, ":%s", biases[g->bias]);
    rmcp_case_put_activation(&out, g->activation, g->slope, g->clamp_low, g->clamp_high);
    rmcp_plain_locale_leave(before);
    return rmcp_case_end(&out);
}

rmcp_status rmcp_gemm_print(const rmcp_gemm *gemm, char *text, size_t size)
{
    if (!text || !size) return rmcp_fail(RMCP_E_ARG, "text is NULL or has no room");
    text[0] = '\0';
    struct rmcp_gemm_form form;
    rmcp_status status = rmcp_gemm_form_init(&form, gemm);
    if (status) return status;
    char body[RMCP_CASE_MAX];
    status = rmcp_gemm_print_case(&form, body, sizeof body);
    if (status) return status;
    struct rmcp_case_writer out = { text, size, 0 };
    rmcp_case_put(&out, "gemm:%s", body);
    return rmcp_case_end(&out);
}
