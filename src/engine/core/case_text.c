/* case_text.c: what the case strings of all operations share. */
#include "engine/core/case_text.h"

#include <inttypes.h>
#include <math.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static pthread_once_t locale_once = PTHREAD_ONCE_INIT;
static locale_t plain_locale;

static void make_locale(void)
{
    plain_locale = newlocale(LC_NUMERIC_MASK, "C", (locale_t)0);
}

locale_t rmcp_plain_locale_enter(void)
{
    pthread_once(&locale_once, make_locale);
    return plain_locale ? uselocale(plain_locale) : (locale_t)0;
}

void rmcp_plain_locale_leave(locale_t before)
{
    if (before) uselocale(before);
}

const char *rmcp_quoted(const char *text, char buffer[static 64])
{
    size_t i = 0;
    for (; text[i] && i < 60; i++) buffer[i] = text[i] < 32 || text[i] > 126 ? '?' : text[i];
    if (text[i]) memcpy(buffer + 57, "...", 3), i = 60;
    buffer[i] = '\0';
    return buffer;
}

/* ---- reading ---- */

rmcp_status rmcp_case_begin(struct rmcp_case_reader *r, const char *operation, const char *text)
{
    *r = (struct rmcp_case_reader){ text, text, operation };
    if (!*text)
        return rmcp_fail(RMCP_E_ARG, "the case string is empty%s%s", operation ? " behind " : "",
                         operation ? operation : "");
    /* The limit keeps messages and loops short. */
    if (strnlen(text, RMCP_CASE_MAX) == RMCP_CASE_MAX)
        return rmcp_case_complain(r, "longer than %d characters", RMCP_CASE_MAX - 1);
    return RMCP_OK;
}

rmcp_status rmcp_case_complain(const struct rmcp_case_reader *r, const char *format, ...)
{
    char detail[256], buffer[64];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(detail, sizeof detail, format, arguments);
    va_end(arguments);
    return rmcp_fail(RMCP_E_ARG, "%s%scase '%s': %s", r->operation ? r->operation : "",
                     r->operation ? " " : "", rmcp_quoted(r->text, buffer), detail);
}

rmcp_status rmcp_case_number(struct rmcp_case_reader *r, char letter, int64_t *value)
{
    const char *start = r->at;
    const size_t position = (size_t)(start - r->text) + 1;
    int64_t result = 0;
    bool fits = true;
    for (; *r->at >= '0' && *r->at <= '9'; r->at++)
        if (__builtin_mul_overflow(result, 10, &result) ||
            __builtin_add_overflow(result, *r->at - '0', &result))
            fits = false;
    if (r->at == start)
        return letter ? rmcp_case_complain(r, "a number must follow '%c' at position %zu", letter,
                                           position)
                      : rmcp_case_complain(r, "a number is missing at position %zu", position);
    if (!fits && !letter)
        return rmcp_case_complain(r, "the number at position %zu is larger than %" PRId64, position,
                                  INT64_MAX);
    if (!fits)
        return rmcp_case_complain(r, "%c is %.*s%s, larger than %" PRId64, letter,
                                  (int)(r->at - start > 40 ? 40 : r->at - start), start,
                                  r->at - start > 40 ? "..." : "", INT64_MAX);
    *value = result;
    return RMCP_OK;
}

rmcp_status rmcp_case_word(struct rmcp_case_reader *r, char *word, size_t size)
{
    const size_t length = strcspn(r->at, ":");
    if (length == 0 || length >= size)
        return rmcp_case_complain(r, "%s word at position %zu", length ? "too long a" : "no",
                                  (size_t)(r->at - r->text) + 1);
    memcpy(word, r->at, length);
    word[length] = '\0';
    r->at += length;
    return RMCP_OK;
}

/* The digits of a number, copied, since strtod would read "0x6" as hexadecimal. 0: there are none,
 * or too many. */
static size_t copy_digits(const char *at, char digits[static 32])
{
    const size_t length = strspn(at, "+-.0123456789einf");
    if (length >= 32) return 0;
    memcpy(digits, at, length);
    digits[length] = '\0';
    return length;
}

rmcp_status rmcp_case_float(struct rmcp_case_reader *r, const char *name, const char **at,
                            float *value)
{
    char digits[32], *end = NULL;
    const size_t length = copy_digits(*at, digits);
    if (length) *value = strtof(digits, &end);
    if (!end || *end || (isinf(*value) && !strchr(digits, 'i')))
        return rmcp_case_complain(r, "'%s' must be followed by a number within f32", name);
    *at += length;
    return RMCP_OK;
}

rmcp_status rmcp_case_real(struct rmcp_case_reader *r, const char *name, const char **at,
                           double *value)
{
    char digits[32], *end = NULL;
    const size_t length = copy_digits(*at, digits);
    if (length) *value = strtod(digits, &end);
    if (!end || *end || (isinf(*value) && !strchr(digits, 'i')))
        return rmcp_case_complain(r, "'%s' must be followed by a number", name);
    *at += length;
    return RMCP_OK;
}

bool rmcp_case_is_activation(const char *word)
{
    return !strcmp(word, "relu") || !strncmp(word, "leaky", 5) || !strncmp(word, "clamp", 5);
}

rmcp_status rmcp_case_activation(struct rmcp_case_reader *r, const char *word,
                                 struct rmcp_case_activation out)
{
    char buffer[64];
    const char *at = word + 5;
    if (!strcmp(word, "relu")) {
        *out.kind = RMCP_RELU;
        return RMCP_OK;
    }
    rmcp_status status;
    if (!strncmp(word, "leaky", 5)) {
        *out.kind = RMCP_LEAKY_RELU;
        status = rmcp_case_float(r, "leaky", &at, out.slope);
    } else {
        *out.kind = RMCP_CLAMP;
        status = rmcp_case_float(r, "clamp", &at, out.low);
        if (!status && *at++ != 'x')
            return rmcp_case_complain(r, "clamp takes two numbers: clamp0x6");
        if (!status) status = rmcp_case_float(r, "clamp", &at, out.high);
    }
    if (!status && *at)
        return rmcp_case_complain(r, "'%s' does not end after its number",
                                  rmcp_quoted(word, buffer));
    return status;
}

int rmcp_case_layout(const char *word)
{
    static const char *const names[][2] = { { "nchw", "nhwc" },
                                            { "ncw", "nwc" },
                                            { "ncdhw", "ndhwc" } };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        for (int layout = RMCP_NCHW; layout <= RMCP_NHWC; layout++)
            if (!strcmp(word, names[i][layout])) return layout;
    return -1;
}

/* ---- writing ---- */

void rmcp_case_put(struct rmcp_case_writer *out, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    const size_t room = out->used < out->size ? out->size - out->used : 0;
    const int n = vsnprintf(room ? out->text + out->used : NULL, room, format, arguments);
    va_end(arguments);
    out->used += n > 0 ? (size_t)n : 0;
}

void rmcp_case_put_activation(struct rmcp_case_writer *out, uint32_t kind, float slope, float low,
                              float high)
{
    if (kind == RMCP_RELU) rmcp_case_put(out, ":relu");
    if (kind == RMCP_LEAKY_RELU) rmcp_case_put(out, ":leaky%.9g", (double)slope);
    if (kind == RMCP_CLAMP) rmcp_case_put(out, ":clamp%.9gx%.9g", (double)low, (double)high);
}

rmcp_status rmcp_case_end(const struct rmcp_case_writer *out)
{
    if (out->used < out->size) return RMCP_OK;
    return rmcp_fail(RMCP_E_ARG, "the case string needs %zu bytes, %zu are given", out->used + 1,
                     out->size);
}
