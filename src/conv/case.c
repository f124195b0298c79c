/* case.c: case strings, one problem and pass as text: n1c64h56w56k64r3s3p1:f32:nchw:fwd */
#include "conv/conv.h"

#include <inttypes.h>
#include <locale.h>
#include <math.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A longer text is no case string; the limit keeps messages and loops short. */
enum { LONGEST_CASE = RMCP_CASE_MAX };

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
static const char fields[] = "ncthwkrspudg";
enum { N_FIELDS = sizeof fields - 1 };

struct field {
    bool given;
    unsigned n_values;
    int64_t value[RMCP_MAX_DIMS], end[RMCP_MAX_DIMS]; /* end: second half of p1-2 */
};

struct reader {
    const char *text, *at;
    struct field field[N_FIELDS];
    rmcp_conv problem;
    int pass;
    bool has_type, has_layout, has_activation;
};

static struct field *field_of(struct reader *r, char letter)
{
    return &r->field[strchr(fields, letter) - fields];
}

/* A hostile text must not reach a terminal raw: unprintable bytes become '?', long ones are cut. */
static const char *quoted(const char *text, char buffer[static 64])
{
    size_t i = 0;
    for (; text[i] && i < 60; i++)
        buffer[i] = text[i] < 32 || text[i] > 126 ? '?' : text[i];
    if (text[i]) memcpy(buffer + 57, "...", 3), i = 60;
    buffer[i] = '\0';
    return buffer;
}

#if defined(__GNUC__)
__attribute__((format(printf, 2, 3)))
#endif
static rmcp_status complain(const struct reader *r, const char *format, ...)
{
    char detail[256], buffer[64];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(detail, sizeof detail, format, arguments);
    va_end(arguments);
    return rmcp_fail(RMCP_E_ARG, "case '%s': %s", quoted(r->text, buffer), detail);
}

static rmcp_status read_number(struct reader *r, char letter, int64_t *value)
{
    const char *start = r->at;
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
    *value = result;
    return RMCP_OK;
}

/* Letter, then numbers: n8, p1, p1x2 (per dimension), p0-1 (begin and end), t8x3 (depth, filter). */
static rmcp_status read_field(struct reader *r)
{
    char letter = *r->at;
    if (!letter || !strchr(fields, letter)) {
        char bad[2] = { letter, 0 }, buffer[64];
        return complain(r, "no field '%s' (position %zu); fields are n c t h w k r s p u d g",
                        quoted(bad, buffer), (size_t)(r->at - r->text) + 1);
    }
    struct field *f = field_of(r, letter);
    if (f->given) return complain(r, "'%c' is given twice", letter);
    f->given = true;
    const unsigned most = strchr("pud", letter) ? RMCP_MAX_DIMS : letter == 't' ? 2 : 1;
    r->at++;
    for (;;) {
        rmcp_status status = read_number(r, letter, &f->value[f->n_values]);
        if (status) return status;
        f->end[f->n_values] = f->value[f->n_values];
        if (letter == 'p' && *r->at == '-') {
            r->at++;
            if ((status = read_number(r, letter, &f->end[f->n_values]))) return status;
        }
        f->n_values++;
        if (*r->at != 'x') return RMCP_OK;
        if (f->n_values == most)
            return complain(r, "'%c' takes %u number%s at most", letter, most, most > 1 ? "s" : "");
        r->at++;
    }
}

/* A decimal number or inf; copied first, since strtof would read "0x6" as hexadecimal. */
static rmcp_status read_float(struct reader *r, const char *word, const char **at, float *value)
{
    char digits[32], *end = NULL;
    size_t length = strspn(*at, "+-.0123456789einf");
    if (length && length < sizeof digits) {
        memcpy(digits, *at, length);
        digits[length] = '\0';
        *value = strtof(digits, &end);
    }
    if (!end || *end || (isinf(*value) && !strchr(digits, 'i')))
        return complain(r, "'%s' must be followed by a number within f32", word);
    *at += length;
    return RMCP_OK;
}

static rmcp_status read_activation(struct reader *r, const char *word)
{
    rmcp_conv *p = &r->problem;
    const char *at = word;
    char buffer[64];
    rmcp_status status = RMCP_OK;
    if (r->has_activation)
        return complain(r, "a second activation, '%s'", quoted(word, buffer));
    r->has_activation = true;
    if (!strcmp(word, "relu")) {
        p->activation = RMCP_RELU;
        return RMCP_OK;
    }
    if (!strncmp(word, "leaky", 5)) {
        p->activation = RMCP_LEAKY_RELU;
        at += 5;
        status = read_float(r, "leaky", &at, &p->slope);
    } else {
        p->activation = RMCP_CLAMP;
        at += 5;
        status = read_float(r, "clamp", &at, &p->clamp_low);
        if (!status && *at++ != 'x') return complain(r, "clamp takes two numbers: clamp0x6");
        if (!status) status = read_float(r, "clamp", &at, &p->clamp_high);
    }
    if (!status && *at)
        return complain(r, "'%s' does not end after its number", quoted(word, buffer));
    return status;
}

static const struct {
    const char *name;
    int value;
} types[] = { { "f32", RMCP_F32 }, { "f16", RMCP_F16 }, { "bf16", RMCP_BF16 } },
  layouts[] = { { "nchw", RMCP_NCHW },  { "nhwc", RMCP_NHWC }, { "ncw", RMCP_NCHW },
                { "nwc", RMCP_NHWC },   { "ncdhw", RMCP_NCHW }, { "ndhwc", RMCP_NHWC } },
  passes[] = { { "fwd", RMCP_CONV_FORWARD },
               { "bwd_data", RMCP_CONV_BACKWARD_DATA },
               { "bwd_weights", RMCP_CONV_BACKWARD_WEIGHTS },
               { "bwd", RMCP_CONV_BACKWARD_DATA },
               { "wrw", RMCP_CONV_BACKWARD_WEIGHTS } };

/* One word behind a colon. */
static rmcp_status read_word(struct reader *r)
{
    char word[40], buffer[64];
    size_t length = strcspn(r->at, ":");
    if (length == 0 || length >= sizeof word)
        return complain(r, "%s word at position %zu", length ? "too long a" : "no",
                        (size_t)(r->at - r->text) + 1);
    memcpy(word, r->at, length);
    word[length] = '\0';
    r->at += length;

    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        if (!strcmp(word, types[i].name)) {
            if (r->has_type) return complain(r, "a second type, '%s'", word);
            r->has_type = true;
            r->problem.type = (uint32_t)types[i].value;
            return RMCP_OK;
        }
    for (size_t i = 0; i < sizeof layouts / sizeof *layouts; i++)
        if (!strcmp(word, layouts[i].name)) {
            if (r->has_layout) return complain(r, "a second layout, '%s'", word);
            r->has_layout = true;
            r->problem.layout = (uint32_t)layouts[i].value;
            return RMCP_OK;
        }
    for (size_t i = 0; i < sizeof passes / sizeof *passes; i++)
        if (!strcmp(word, passes[i].name)) {
            if (r->pass >= 0) return complain(r, "a second pass, '%s'", word);
            r->pass = passes[i].value;
            return RMCP_OK;
        }
    if (!strcmp(word, "bias")) {
        if (r->problem.bias) return complain(r, "'bias' is given twice");
        r->problem.bias = 1;
        return RMCP_OK;
    }
    if (!strcmp(word, "relu") || !strncmp(word, "leaky", 5) || !strncmp(word, "clamp", 5))
        return read_activation(r, word);
    return complain(r,
                    "unknown word '%s'; known are f32 f16 bf16, nchw nhwc, fwd bwd_data "
                    "bwd_weights, bias, relu, leaky0.1, clamp0x6",
                    quoted(word, buffer));
}

/* Spread a field over the dimensions: one number stands for all of them. */
static rmcp_status spread(struct reader *r, char letter, int64_t *begin, int64_t *end)
{
    const struct field *f = field_of(r, letter);
    if (!f->given) return RMCP_OK;
    if (f->n_values != 1 && f->n_values != r->problem.dims)
        return complain(r, "'%c' has %u numbers for %u dimensions", letter, f->n_values,
                        (unsigned)r->problem.dims);
    for (uint32_t i = 0; i < r->problem.dims; i++) {
        uint32_t from = f->n_values == 1 ? 0 : i;
        begin[i] = f->value[from];
        if (end) end[i] = f->end[from];
        /* 0 is "default" in the struct, but a case string that says u0 means 0. */
        if (!end && !begin[i]) return complain(r, "%c is 0; it must be at least 1", letter);
    }
    return RMCP_OK;
}

static rmcp_status assemble(struct reader *r)
{
    rmcp_conv *p = &r->problem;
    struct field *t = field_of(r, 't'), *h = field_of(r, 'h'), *w = field_of(r, 'w');
    struct field *rows = field_of(r, 'r'), *columns = field_of(r, 's');
    struct field *n = field_of(r, 'n'), *g = field_of(r, 'g');

    static const char required[] = "ckw";
    if (n->given && n->value[0] == 0) return complain(r, "n is 0; it must be at least 1");
    if (g->given && g->value[0] == 0) return complain(r, "g is 0; it must be at least 1");
    for (const char *letter = required; *letter; letter++)
        if (!field_of(r, *letter)->given) return complain(r, "'%c' is missing", *letter);
    if (t->given && !h->given) return complain(r, "'t' is given without 'h'");
    if (rows->given && !h->given) return complain(r, "'r' is given without 'h'");
    if (h->given && rows->given != columns->given)
        return complain(r, "'%c' is given without '%c'", rows->given ? 'r' : 's',
                        rows->given ? 's' : 'r');

    p->dims = t->given ? 3 : h->given ? 2 : 1;
    p->n = n->given ? n->value[0] : 1;
    p->c = field_of(r, 'c')->value[0];
    p->k = field_of(r, 'k')->value[0];
    p->groups = g->given ? g->value[0] : 1;

    const int64_t height = rows->given ? rows->value[0] : 1;
    uint32_t i = 0;
    if (t->given) {
        p->input[i] = t->value[0];
        p->filter[i++] = t->n_values > 1 ? t->value[1] : height;
    }
    if (h->given) {
        p->input[i] = h->value[0];
        p->filter[i++] = height;
    }
    p->input[i] = w->value[0];
    p->filter[i] = columns->given ? columns->value[0] : 1;

    rmcp_status status;
    if ((status = spread(r, 'p', p->pad_begin, p->pad_end)) ||
        (status = spread(r, 'u', p->stride, NULL)) || (status = spread(r, 'd', p->dilation, NULL)))
        return status;
    struct rmcp_convolution conv;
    if (rmcp_conv_init(&conv, p, RMCP_CONV_FORWARD)) return complain(r, "%s", rmcp_last_error());
    *p = conv.problem;
    return RMCP_OK;
}

rmcp_status rmcp_conv_parse(const char *text, rmcp_conv *problem, int *pass)
{
    if (!text) return rmcp_fail(RMCP_E_ARG, "text is NULL");
    struct reader r = { .text = text, .at = text, .pass = -1 };
    r.problem.struct_size = sizeof r.problem;
    if (!*text) return rmcp_fail(RMCP_E_ARG, "the case string is empty");
    if (strnlen(text, LONGEST_CASE) == LONGEST_CASE)
        return complain(&r, "longer than %d characters", LONGEST_CASE - 1);

    const locale_t before = enter_plain_locale();
    rmcp_status status = RMCP_OK;
    while (!status && *r.at && *r.at != ':') status = read_field(&r);
    while (!status && *r.at) {
        r.at++; /* the colon */
        status = read_word(&r);
    }
    if (!status) status = assemble(&r);
    leave_plain_locale(before);
    if (!status)
        status = rmcp_struct_write(&r.problem, sizeof r.problem, problem, RMCP_FIRST_CONV,
                                   "rmcp_conv");
    if (!status && pass) *pass = r.pass;
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
static void put(struct writer *out, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    size_t room = out->used < out->size ? out->size - out->used : 0;
    int n = vsnprintf(room ? out->text + out->used : NULL, room, format, arguments);
    va_end(arguments);
    out->used += n > 0 ? (size_t)n : 0;
}

/* One number when all dimensions agree; nothing when they all hold the default. */
static void put_spread(struct writer *out, char letter, const int64_t *begin, const int64_t *end,
                       uint32_t dims, int64_t standard)
{
    bool same = true, plain = true;
    for (uint32_t i = 0; i < dims; i++) {
        same = same && begin[i] == begin[0] && end[i] == end[0];
        plain = plain && begin[i] == standard && end[i] == standard;
    }
    if (plain) return;
    for (uint32_t i = 0; i < (same ? 1 : dims); i++) {
        put(out, "%c%" PRId64, i ? 'x' : letter, begin[i]);
        if (end[i] != begin[i]) put(out, "-%" PRId64, end[i]);
    }
}

rmcp_status rmcp_conv_print(const rmcp_conv *problem, int pass, char *text, size_t size)
{
    if (!text || !size) return rmcp_fail(RMCP_E_ARG, "no room for the text: %zu bytes", size);
    text[0] = '\0';
    struct rmcp_convolution conv;
    rmcp_status status = rmcp_conv_init(&conv, problem, pass == -1 ? RMCP_CONV_FORWARD : pass);
    if (status) return status;

    const rmcp_conv *p = &conv.problem;
    struct writer out = { text, size, 0 };
    put(&out, "n%" PRId64 "c%" PRId64, p->n, p->c);
    if (p->dims == 3) put(&out, "t%" PRId64 "x%" PRId64, conv.input[0], conv.filter[0]);
    if (p->dims >= 2) put(&out, "h%" PRId64, conv.input[1]);
    put(&out, "w%" PRId64 "k%" PRId64, conv.input[2], p->k);
    if (p->dims >= 2) put(&out, "r%" PRId64, conv.filter[1]);
    put(&out, "s%" PRId64, conv.filter[2]);
    put_spread(&out, 'p', p->pad_begin, p->pad_end, p->dims, 0);
    put_spread(&out, 'u', p->stride, p->stride, p->dims, 1);
    put_spread(&out, 'd', p->dilation, p->dilation, p->dims, 1);
    if (p->groups != 1) put(&out, "g%" PRId64, p->groups);
    put(&out, ":%s:%s", types[p->type].name, layouts[p->layout].name);
    if (pass >= 0) put(&out, ":%s", passes[pass].name);
    if (p->bias) put(&out, ":bias");
    const locale_t before = enter_plain_locale();
    if (p->activation == RMCP_RELU) put(&out, ":relu");
    if (p->activation == RMCP_LEAKY_RELU) put(&out, ":leaky%.9g", (double)p->slope);
    if (p->activation == RMCP_CLAMP)
        put(&out, ":clamp%.9gx%.9g", (double)p->clamp_low, (double)p->clamp_high);
    leave_plain_locale(before);
    if (out.used >= size)
        return rmcp_fail(RMCP_E_ARG, "the case string needs %zu bytes, %zu are given",
                         out.used + 1, size);
    return RMCP_OK;
}
