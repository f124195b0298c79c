/* case.c: batch normalisation's case strings, as text: n8c64h56w56:f32:nchw:train:running:relu */
#include "ops/batchnorm/batchnorm.h"

#include <inttypes.h>
#include <locale.h>
#include <math.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char prefix[] = "batchnorm:";

/* Numbers are written with a point whatever the program's locale says. */
static pthread_once_t locale_once = PTHREAD_ONCE_INIT;
static locale_t plain_locale;

static void make_locale(void)
{
    plain_locale = newlocale(LC_NUMERIC_MASK, "C", (locale_t)0);
}

/* Returns the locale to go back to; (locale_t)0 when nothing was changed. */
static locale_t enter_plain_locale(void)
{
    pthread_once(&locale_once, make_locale);
    return plain_locale ? uselocale(plain_locale) : (locale_t)0;
}

static void leave_plain_locale(locale_t before)
{
    if (before) uselocale(before);
}

/* The number fields in printing order, which is also the order in documentation. */
static const char fields[] = "ncthw";
enum { N, C, T, H, W, N_FIELDS };

struct reader {
    const char *text, *at;
    bool given[N_FIELDS];
    int64_t value[N_FIELDS];
    rmcp_batchnorm problem;
    int pass;
    unsigned seen; /* kinds of words that were there, a mask */
};

/* A hostile text must not reach a terminal raw: unprintable bytes become '?', long ones are cut. */
static const char *quoted(const char *text, char buffer[static 64])
{
    size_t i = 0;
    for (; text[i] && i < 60; i++) buffer[i] = text[i] < 32 || text[i] > 126 ? '?' : text[i];
    if (text[i]) memcpy(buffer + 57, "...", 3), i = 60;
    buffer[i] = '\0';
    return buffer;
}

#if defined(__GNUC__)
__attribute__((format(printf, 2, 3)))
#endif
static rmcp_status
complain(const struct reader *r, const char *format, ...)
{
    char detail[256], buffer[64];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(detail, sizeof detail, format, arguments);
    va_end(arguments);
    return rmcp_fail(RMCP_E_ARG, "case '%s': %s", quoted(r->text, buffer), detail);
}

/* A letter and a number: n8. */
static rmcp_status read_field(struct reader *r)
{
    const char letter = *r->at, *found = strchr(fields, letter);
    if (!found) {
        char bad[2] = { letter, 0 }, buffer[64];
        return complain(r, "no field '%s' (position %zu); fields are n c t h w",
                        quoted(bad, buffer), (size_t)(r->at - r->text) + 1);
    }
    const size_t field = (size_t)(found - fields);
    if (r->given[field]) return complain(r, "'%c' is given twice", letter);
    r->given[field] = true;

    const char *start = ++r->at;
    int64_t result = 0;
    bool fits = true;
    for (; *r->at >= '0' && *r->at <= '9'; r->at++)
        if (__builtin_mul_overflow(result, 10, &result) ||
            __builtin_add_overflow(result, *r->at - '0', &result))
            fits = false;
    if (r->at == start)
        return complain(r, "a number must follow '%c' at position %zu", letter,
                        (size_t)(start - r->text) + 1);
    if (!fits)
        return complain(r, "%c is %.*s%s, larger than %" PRId64, letter,
                        (int)(r->at - start > 40 ? 40 : r->at - start), start,
                        r->at - start > 40 ? "..." : "", INT64_MAX);
    r->value[field] = result;
    return RMCP_OK;
}

/* A decimal number or inf; copied first, since strtod would read "0x6" as hexadecimal. */
static rmcp_status read_real(struct reader *r, const char *word, const char **at, double *value)
{
    char digits[32], *end = NULL;
    size_t length = strspn(*at, "+-.0123456789einf");
    if (length && length < sizeof digits) {
        memcpy(digits, *at, length);
        digits[length] = '\0';
        *value = strtod(digits, &end);
    }
    if (!end || *end || (isinf(*value) && !strchr(digits, 'i')))
        return complain(r, "'%s' must be followed by a number", word);
    *at += length;
    return RMCP_OK;
}

/* The same, to a field of f32. */
static rmcp_status read_float(struct reader *r, const char *word, const char **at, float *value)
{
    double wide = 0;
    rmcp_status status = read_real(r, word, at, &wide);
    if (status) return status;
    *value = (float)wide;
    if (isinf(*value) && !isinf(wide))
        return complain(r, "'%s' must be followed by a number within f32", word);
    return RMCP_OK;
}

static rmcp_status read_clamp(struct reader *r, const char **at)
{
    rmcp_status status = read_float(r, "clamp", at, &r->problem.clamp_low);
    if (status) return status;
    if (*(*at)++ != 'x') return complain(r, "clamp takes two numbers: clamp0x6");
    return read_float(r, "clamp", at, &r->problem.clamp_high);
}

enum word_kind { TYPE, LAYOUT, PASS, MODE, RUNNING, SAVED, ACTIVATION, EPSILON, MOMENTUM };
static const char *const kind_names[] = { "type",       "layout",    "pass",
                                          "mode",       "'running'", "'saved'",
                                          "activation", "epsilon",   "momentum" };

static const struct word {
    const char *name;
    enum word_kind kind;
    int value;
} words[] = {
    { "f32", TYPE, RMCP_F32 },
    { "f16", TYPE, RMCP_F16 },
    { "bf16", TYPE, RMCP_BF16 },
    { "nchw", LAYOUT, RMCP_NCHW },
    { "nhwc", LAYOUT, RMCP_NHWC },
    { "ncw", LAYOUT, RMCP_NCHW },
    { "nwc", LAYOUT, RMCP_NHWC },
    { "ncdhw", LAYOUT, RMCP_NCHW },
    { "ndhwc", LAYOUT, RMCP_NHWC },
    { "train", PASS, RMCP_BATCHNORM_TRAIN },
    { "infer", PASS, RMCP_BATCHNORM_INFER },
    { "bwd", PASS, RMCP_BATCHNORM_BACKWARD },
    { "spatial", MODE, RMCP_SPATIAL },
    { "activation", MODE, RMCP_PER_ACTIVATION },
    { "running", RUNNING, 1 },
    { "saved", SAVED, 1 },
    { "relu", ACTIVATION, RMCP_RELU },
    /* a number follows */
    { "leaky", ACTIVATION, RMCP_LEAKY_RELU },
    { "clamp", ACTIVATION, RMCP_CLAMP },
    { "eps", EPSILON, 0 },
    { "mom", MOMENTUM, 0 },
};
enum { N_WORDS = sizeof words / sizeof *words, FIRST_NUMBER = N_WORDS - 4 };

/* The row of a word; `*rest` is what follows its name. NULL when there is none. */
static const struct word *find_word(const char *word, const char **rest)
{
    for (size_t i = 0; i < N_WORDS; i++) {
        const size_t length = strlen(words[i].name);
        if (strncmp(word, words[i].name, length)) continue;
        if (i < FIRST_NUMBER && word[length]) continue;
        *rest = word + length;
        return &words[i];
    }
    return NULL;
}

static rmcp_status apply_word(struct reader *r, const struct word *w, const char **rest)
{
    rmcp_batchnorm *p = &r->problem;
    rmcp_status status;
    switch (w->kind) {
    case TYPE: p->type = (uint32_t)w->value; return RMCP_OK;
    case LAYOUT: p->layout = (uint32_t)w->value; return RMCP_OK;
    case PASS: r->pass = w->value; return RMCP_OK;
    case MODE: p->mode = (uint32_t)w->value; return RMCP_OK;
    case RUNNING: p->running = 1; return RMCP_OK;
    case SAVED: p->saved = 1; return RMCP_OK;
    case ACTIVATION:
        p->activation = (uint32_t)w->value;
        if (w->value == RMCP_LEAKY_RELU) return read_float(r, "leaky", rest, &p->slope);
        return w->value == RMCP_CLAMP ? read_clamp(r, rest) : RMCP_OK;
    case EPSILON:
        status = read_real(r, "eps", rest, &p->epsilon);
        /* 0 is "default" in the struct, but a case string that says eps0 means 0. */
        return status ? status : p->epsilon == 0 ? complain(r, "eps is 0") : RMCP_OK;
    default:
        status = read_real(r, "mom", rest, &p->momentum);
        return status ? status : p->momentum == 0 ? complain(r, "mom is 0") : RMCP_OK;
    }
}

/* One word behind a colon. */
static rmcp_status read_word(struct reader *r)
{
    char word[48], buffer[64];
    const char *rest = NULL;
    size_t length = strcspn(r->at, ":");
    if (length == 0 || length >= sizeof word)
        return complain(r, "%s word at position %zu", length ? "too long a" : "no",
                        (size_t)(r->at - r->text) + 1);
    memcpy(word, r->at, length);
    word[length] = '\0';
    r->at += length;

    const struct word *w = find_word(word, &rest);
    if (!w)
        return complain(r,
                        "unknown word '%s'; known are f32 f16 bf16, nchw nhwc, train infer bwd, "
                        "spatial activation, running, saved, relu, leaky0.1, clamp0x6, eps1e-5, "
                        "mom0.1",
                        quoted(word, buffer));
    if (r->seen & 1u << w->kind)
        return complain(r, "a second %s, '%s'", kind_names[w->kind], quoted(word, buffer));
    r->seen |= 1u << w->kind;
    rmcp_status status = apply_word(r, w, &rest);
    if (!status && *rest)
        return complain(r, "'%s' does not end after its number", quoted(word, buffer));
    return status;
}

static rmcp_status assemble(struct reader *r)
{
    rmcp_batchnorm *p = &r->problem;
    if (!r->given[C]) return complain(r, "'c' is missing");
    if (!r->given[W]) return complain(r, "'w' is missing");
    if (r->given[T] && !r->given[H]) return complain(r, "'t' is given without 'h'");
    p->n = r->given[N] ? r->value[N] : 1;
    p->c = r->value[C];
    p->dims = 0;
    for (int field = T; field <= W; field++)
        if (r->given[field]) p->input[p->dims++] = r->value[field];
    struct rmcp_norm norm;
    if (rmcp_norm_init(&norm, p, RMCP_BATCHNORM_TRAIN)) return complain(r, "%s", rmcp_last_error());
    *p = norm.problem;
    return RMCP_OK;
}

static rmcp_status read_case(struct reader *r, const char *text)
{
    *r = (struct reader){ .text = text, .at = text, .pass = -1 };
    r->problem.struct_size = sizeof r->problem;
    if (!*text) return rmcp_fail(RMCP_E_ARG, "the case string is empty");
    if (strnlen(text, RMCP_CASE_MAX) == RMCP_CASE_MAX)
        return complain(r, "longer than %d characters", RMCP_CASE_MAX - 1);

    const locale_t before = enter_plain_locale();
    rmcp_status status = RMCP_OK;
    while (!status && *r->at && *r->at != ':') status = read_field(r);
    while (!status && *r->at) {
        r->at++; /* the colon */
        status = read_word(r);
    }
    if (!status) status = assemble(r);
    leave_plain_locale(before);
    return status;
}

rmcp_status rmcp_batchnorm_parse(const char *text, rmcp_batchnorm *problem, int *pass)
{
    if (!text) return rmcp_fail(RMCP_E_ARG, "text is NULL");
    struct reader r;
    const size_t skip = strncmp(text, prefix, sizeof prefix - 1) ? 0 : sizeof prefix - 1;
    rmcp_status status = read_case(&r, text + skip);
    if (!status)
        status = rmcp_struct_write(&r.problem, sizeof r.problem, problem, RMCP_FIRST_BATCHNORM,
                                   "rmcp_batchnorm");
    if (!status && pass) *pass = r.pass;
    return status;
}

rmcp_status rmcp_norm_parse(const char *text, void *problems, size_t *count)
{
    struct reader r;
    rmcp_status status = read_case(&r, text);
    if (status) return status;
    struct rmcp_norm *norms = problems;
    size_t n = 0;
    for (int pass = 0; pass < RMCP_BATCHNORM_PASSES && !status; pass++)
        if (r.pass < 0 || r.pass == pass) status = rmcp_norm_init(&norms[n++], &r.problem, pass);
    if (!status) *count = n;
    return status;
}

/* ---- printing ---- */

struct writer {
    char *text;
    size_t size, used;
};

#if defined(__GNUC__)
__attribute__((format(printf, 2, 3)))
#endif
static void
put(struct writer *out, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    size_t room = out->used < out->size ? out->size - out->used : 0;
    int n = vsnprintf(room ? out->text + out->used : NULL, room, format, arguments);
    va_end(arguments);
    out->used += n > 0 ? (size_t)n : 0;
}

static void put_words(struct writer *out, const rmcp_batchnorm *p, int pass)
{
    static const char *const passes[] = { "train", "infer", "bwd" };
    static const char *const layouts[] = { "nchw", "nhwc" };
    put(out, ":%s:%s", rmcp_type_names[p->type], layouts[p->layout]);
    if (pass >= 0) put(out, ":%s", passes[pass]);
    if (p->mode == RMCP_PER_ACTIVATION) put(out, ":activation");
    if (p->running) put(out, ":running");
    if (p->saved) put(out, ":saved");
    if (p->activation == RMCP_RELU) put(out, ":relu");
    if (p->activation == RMCP_LEAKY_RELU) put(out, ":leaky%.9g", (double)p->slope);
    if (p->activation == RMCP_CLAMP)
        put(out, ":clamp%.9gx%.9g", (double)p->clamp_low, (double)p->clamp_high);
    if (p->epsilon != 1e-5) put(out, ":eps%.17g", p->epsilon);
    if (p->momentum != 0.1) put(out, ":mom%.17g", p->momentum);
}

static rmcp_status print(const rmcp_batchnorm *p, int pass, const char *start, char *text,
                         size_t size)
{
    struct writer out = { text, size, 0 };
    put(&out, "%sn%" PRId64 "c%" PRId64, start, p->n, p->c);
    for (uint32_t i = 0; i < p->dims; i++)
        put(&out, "%c%" PRId64, "thw"[RMCP_MAX_DIMS - p->dims + i], p -> input[i]);
    const locale_t before = enter_plain_locale();
    put_words(&out, p, pass);
    leave_plain_locale(before);
    if (out.used >= size)
        return rmcp_fail(RMCP_E_ARG, "the case string needs %zu bytes, %zu are given", out.used + 1,
                         size);
    return RMCP_OK;
}

rmcp_status rmcp_batchnorm_print(const rmcp_batchnorm *problem, int pass, char *text, size_t size)
{
    if (!text || !size) return rmcp_fail(RMCP_E_ARG, "no room for the text: %zu bytes", size);
    text[0] = '\0';
    struct rmcp_norm norm;
    rmcp_status status = rmcp_norm_init(&norm, problem, pass == -1 ? RMCP_BATCHNORM_TRAIN : pass);
    return status ? status : print(&norm.problem, pass, prefix, text, size);
}

rmcp_status rmcp_norm_print(const void *problem, char *text, size_t size)
{
    const struct rmcp_norm *norm = problem;
    return print(&norm->problem, (int)norm->pass, "", text, size);
}
