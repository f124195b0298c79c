/* case.c: case strings of tensor operations (docs/cases.md): "8x64x56x56:add:b1x64x1x1:f16". */
#include "ops/tensor/tensor.h"

#include <inttypes.h>
#include <locale.h>
#include <math.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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

/* ---- reading ---- */

enum { MOST_SCALARS = 3 };
static const char *const scalar_names[MOST_SCALARS] = { "alpha_b", "alpha", "beta" };

struct reader {
    const char *text, *at;
    rmcp_tensor tensor;
    bool has_kind, has_scalar[MOST_SCALARS], has_tensor[RMCP_TENSOR_N];
    unsigned n_types;
    uint32_t types[RMCP_TENSOR_N];
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

static rmcp_status read_number(struct reader *r, int64_t *value)
{
    const char *start = r->at;
    int64_t result = 0;
    bool fits = true;
    for (; *r->at >= '0' && *r->at <= '9'; r->at++)
        if (__builtin_mul_overflow(result, 10, &result) ||
            __builtin_add_overflow(result, *r->at - '0', &result))
            fits = false;
    if (r->at == start)
        return complain(r, "a number is missing at position %zu", (size_t)(start - r->text) + 1);
    if (!fits)
        return complain(r, "the number at position %zu is larger than %" PRId64,
                        (size_t)(start - r->text) + 1, INT64_MAX);
    *value = result;
    return RMCP_OK;
}

/* Numbers with x between them: 8x64x56x56. */
static rmcp_status read_numbers(struct reader *r, int64_t values[RMCP_TENSOR_DIMS], unsigned *count)
{
    for (*count = 0;; r->at++) {
        if (*count == RMCP_TENSOR_DIMS)
            return complain(r, "more than %d numbers at position %zu", RMCP_TENSOR_DIMS,
                            (size_t)(r->at - r->text) + 1);
        rmcp_status status = read_number(r, &values[(*count)++]);
        if (status || *r->at != 'x') return status;
    }
}

/* As many numbers as there are dimensions. */
static rmcp_status read_each(struct reader *r, const char *what, int64_t values[RMCP_TENSOR_DIMS])
{
    unsigned count;
    rmcp_status status = read_numbers(r, values, &count);
    if (!status && count != r->tensor.dims)
        return complain(r, "%s has %u numbers for %u dimensions", what, count,
                        (unsigned)r->tensor.dims);
    return status;
}

/* a1x64x1x1, a/64x1x1x1 or both: the size and the strides of a tensor. */
static rmcp_status read_tensor(struct reader *r)
{
    const char name[2] = { *r->at, '\0' };
    const unsigned slot = (unsigned)(*r->at++ - 'a');
    if (r->has_tensor[slot]) return complain(r, "'%s' is given twice", name);
    r->has_tensor[slot] = true;
    rmcp_status status = RMCP_OK;
    if (*r->at != '/') {
        int64_t *size = rmcp_tensor_size(&r->tensor, slot);
        if ((status = read_each(r, name, size))) return status;
        for (unsigned i = 0; i < r->tensor.dims; i++) /* 0 is "default" in the struct alone */
            if (!size[i]) return complain(r, "a size of %s is 0; it must be at least 1", name);
    }
    if (*r->at == '/') {
        r->at++;
        int64_t *stride = rmcp_tensor_stride(&r->tensor, slot);
        if ((status = read_each(r, name, stride))) return status;
        bool any = false;
        for (unsigned i = 0; i < r->tensor.dims; i++) any = any || stride[i];
        if (!any) return complain(r, "the strides of %s are all 0; give it size 1 instead", name);
    }
    return status;
}

/* f16, or one type for each tensor of the kind: f16-f32. */
static rmcp_status read_types(struct reader *r, const char *word)
{
    char buffer[64];
    if (r->n_types) return complain(r, "a second type, '%s'", quoted(word, buffer));
    for (const char *at = word;; at++) {
        const size_t length = strcspn(at, "-");
        unsigned type = 0;
        while (type <= RMCP_BF16 && (strlen(rmcp_type_names[type]) != length ||
                                     strncmp(at, rmcp_type_names[type], length)))
            type++;
        if (type > RMCP_BF16 || r->n_types == RMCP_TENSOR_N)
            return complain(r,
                            "'%s' is no type; known are f32, f16, bf16, and several of them "
                            "like f16-f32",
                            quoted(word, buffer));
        r->types[r->n_types++] = type;
        at += length;
        if (!*at) return RMCP_OK;
    }
}

/* A decimal number, inf or nan; nothing that only strtod takes for one. */
static rmcp_status read_scalar(struct reader *r, const char *word, unsigned which)
{
    const char *digits = word + strlen(scalar_names[which]);
    double *const values[MOST_SCALARS] = { &r->tensor.alpha_b, &r->tensor.alpha, &r->tensor.beta };
    char *end = NULL;
    if (r->has_scalar[which]) return complain(r, "'%s' is given twice", scalar_names[which]);
    r->has_scalar[which] = true;
    const bool special =
        !strcmp(digits, "inf") || !strcmp(digits, "-inf") || !strcmp(digits, "nan");
    if (*digits && (special || strspn(digits, "+-.0123456789e") == strlen(digits)))
        *values[which] = strtod(digits, &end);
    if (!end || *end || (!special && !isfinite(*values[which])))
        return complain(r, "'%s' must be followed by a number", scalar_names[which]);
    return RMCP_OK;
}

/* One word behind a colon. */
static rmcp_status read_word(struct reader *r)
{
    char word[40], buffer[64];
    if (r->at[0] >= 'a' && r->at[0] <= 'c' &&
        (r->at[1] == '/' || (r->at[1] >= '0' && r->at[1] <= '9'))) {
        rmcp_status status = read_tensor(r);
        if (!status && *r->at && *r->at != ':')
            return complain(r, "'%c' does not belong at position %zu",
                            *r->at < 32 || *r->at > 126 ? '?' : *r->at,
                            (size_t)(r->at - r->text) + 1);
        return status;
    }
    const size_t length = strcspn(r->at, ":");
    if (length == 0 || length >= sizeof word)
        return complain(r, "%s word at position %zu", length ? "too long a" : "no",
                        (size_t)(r->at - r->text) + 1);
    memcpy(word, r->at, length);
    word[length] = '\0';
    r->at += length;

    for (unsigned kind = 0; rmcp_tensor_kinds[kind]; kind++)
        if (!strcmp(word, rmcp_tensor_kinds[kind])) {
            if (r->has_kind) return complain(r, "a second kind, '%s'", word);
            r->has_kind = true;
            r->tensor.kind = kind;
            return RMCP_OK;
        }
    for (unsigned i = 0; i < MOST_SCALARS; i++)
        if (!strncmp(word, scalar_names[i], strlen(scalar_names[i])))
            return read_scalar(r, word, i);
    if (word[0] == 'f' || word[0] == 'b') return read_types(r, word);
    return complain(r,
                    "unknown word '%s'; known are set scale copy add multiply minimum maximum sum, "
                    "f32 f16 bf16, a1x8 a/8x1 (b and c likewise), alpha2, alpha_b2, beta1",
                    quoted(word, buffer));
}

/* What was left out: alpha 1, types of all tensors alike. */
static rmcp_status assemble(struct reader *r, struct rmcp_tensor_form *form)
{
    rmcp_tensor *t = &r->tensor;
    if (!r->has_kind) return complain(r, "the kind is missing: set, scale, copy, add …");
    uint32_t *const types[RMCP_TENSOR_N] = { &t->a_type, &t->b_type, &t->c_type };
    unsigned n_tensors = 0;
    for (unsigned slot = 0; slot < RMCP_TENSOR_N; slot++) {
        if (!rmcp_tensor_has(t->kind, slot)) continue;
        if (r->n_types) *types[slot] = r->types[r->n_types == 1 ? 0 : n_tensors % RMCP_TENSOR_N];
        n_tensors++;
    }
    if (r->n_types > 1 && r->n_types != n_tensors)
        return complain(r, "%u types for %u tensors", r->n_types, n_tensors);
    if (!r->has_scalar[1]) t->alpha = 1;
    if (!r->has_scalar[0] && rmcp_tensor_has(t->kind, RMCP_TENSOR_B)) t->alpha_b = 1;
    if (rmcp_tensor_init(form, t)) return complain(r, "%s", rmcp_last_error());
    return RMCP_OK;
}

static rmcp_status parse(const char *text, struct rmcp_tensor_form *form)
{
    if (!text) return rmcp_fail(RMCP_E_ARG, "text is NULL");
    struct reader r = { .text = text, .at = text };
    r.tensor.struct_size = sizeof r.tensor;
    if (!*text) return rmcp_fail(RMCP_E_ARG, "the case string is empty");
    if (strnlen(text, RMCP_CASE_MAX) == RMCP_CASE_MAX)
        return complain(&r, "longer than %d characters", RMCP_CASE_MAX - 1);

    const locale_t before = enter_plain_locale();
    unsigned dims = 0;
    rmcp_status status = read_numbers(&r, r.tensor.size, &dims);
    r.tensor.dims = dims;
    if (!status && *r.at && *r.at != ':')
        status =
            complain(&r, "':' must follow the size at position %zu", (size_t)(r.at - r.text) + 1);
    while (!status && *r.at) {
        r.at++; /* the colon */
        status = read_word(&r);
    }
    if (!status) status = assemble(&r, form);
    leave_plain_locale(before);
    return status;
}

rmcp_status rmcp_tensor_parse_case(const char *text, void *problems, size_t *count)
{
    struct rmcp_tensor_form form;
    rmcp_status status = parse(text, &form);
    *count = !status;
    if (!status) memcpy(problems, &form, sizeof form);
    return status;
}

rmcp_status rmcp_tensor_parse(const char *text, rmcp_tensor *tensor)
{
    static const char name[] = "tensor:"; /* may be left out */
    struct rmcp_tensor_form form;
    const bool named = text && !strncmp(text, name, sizeof name - 1);
    rmcp_status status = parse(named ? text + sizeof name - 1 : text, &form);
    if (status) return status;
    return rmcp_struct_write(&form.tensor, sizeof form.tensor, tensor, RMCP_FIRST_TENSOR,
                             "rmcp_tensor");
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

static void put_numbers(struct writer *out, const int64_t *values, unsigned count)
{
    for (unsigned i = 0; i < count; i++) put(out, "%s%" PRId64, i ? "x" : "", values[i]);
}

/* What is not the default: other sizes than the operation's, strides that are not packed. */
static void put_tensor(struct writer *out, rmcp_tensor *t, unsigned slot)
{
    const int64_t *size = rmcp_tensor_size(t, slot), *stride = rmcp_tensor_stride(t, slot);
    bool same = true, packed = true;
    int64_t product = 1;
    for (unsigned i = t->dims; i-- > 0;) {
        same = same && size[i] == t->size[i];
        packed = packed && stride[i] == product;
        product *= size[i];
    }
    if (same && packed) return;
    put(out, ":%c", "abc"[slot]);
    if (!same) put_numbers(out, size, t->dims);
    if (packed) return;
    put(out, "/");
    put_numbers(out, stride, t->dims);
}

static void put_types(struct writer *out, const struct rmcp_tensor_form *form)
{
    bool same = true;
    for (unsigned slot = 0; slot < RMCP_TENSOR_C; slot++)
        if (form->span[slot]) same = same && form->type[slot] == form->type[RMCP_TENSOR_C];
    const char *between = ":";
    for (unsigned slot = same ? RMCP_TENSOR_C : 0; slot < RMCP_TENSOR_N; slot++) {
        if (!form->span[slot]) continue;
        put(out, "%s%s", between, rmcp_type_names[form->type[slot]]);
        between = "-";
    }
}

static void put_scalar(struct writer *out, const char *name, float value, float standard)
{
    if (isnan(value))
        put(out, ":%snan", name);
    else if (value != standard)
        put(out, ":%s%.9g", name, (double)value);
}

rmcp_status rmcp_tensor_print_case(const void *problem, char *text, size_t size)
{
    struct rmcp_tensor_form form = *(const struct rmcp_tensor_form *)problem;
    struct writer out = { text, size, 0 };
    put_numbers(&out, form.tensor.size, form.tensor.dims);
    put(&out, ":%s", rmcp_tensor_kinds[form.kind]);
    put_types(&out, &form);
    for (unsigned slot = 0; slot < RMCP_TENSOR_N; slot++)
        if (form.span[slot]) put_tensor(&out, &form.tensor, slot);
    const locale_t before = enter_plain_locale();
    put_scalar(&out, "alpha", form.alpha, 1);
    if (form.span[RMCP_TENSOR_B]) put_scalar(&out, "alpha_b", form.alpha_b, 1);
    put_scalar(&out, "beta", form.beta, 0);
    leave_plain_locale(before);
    if (out.used >= size)
        return rmcp_fail(RMCP_E_ARG, "the case string needs %zu bytes, %zu are given", out.used + 1,
                         size);
    return RMCP_OK;
}

rmcp_status rmcp_tensor_print(const rmcp_tensor *tensor, char *text, size_t size)
{
    if (!text || !size) return rmcp_fail(RMCP_E_ARG, "no room for the text: %zu bytes", size);
    text[0] = '\0';
    struct rmcp_tensor_form form;
    rmcp_status status = rmcp_tensor_init(&form, tensor);
    return status ? status : rmcp_case_print(&rmcp_operation_tensor, &form, text, size);
}
