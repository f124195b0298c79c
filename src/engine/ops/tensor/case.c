/* case.c: case strings of tensor operations (docs/cases.md): "8x64x56x56:add:b1x64x1x1:f16". */
#include "engine/ops/tensor/tensor.h"

#include "engine/core/case_text.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- reading ---- */

enum { MOST_SCALARS = 3 };
static const char *const scalar_names[MOST_SCALARS] = { "alpha_b", "alpha", "beta" };

struct tensor_reader {
    struct rmcp_case_reader in;
    rmcp_tensor tensor;
    bool has_kind, has_scalar[MOST_SCALARS], has_tensor[RMCP_TENSOR_N];
    unsigned n_types;
    uint32_t types[RMCP_TENSOR_N];
};

/* Numbers with x between them: 8x64x56x56. */
static rmcp_status read_numbers(struct tensor_reader *r, int64_t values[RMCP_TENSOR_DIMS],
                                unsigned *count)
{
    for (*count = 0;; r->in.at++) {
        if (*count == RMCP_TENSOR_DIMS)
            return rmcp_case_complain(&r->in, "more than %d numbers at position %zu",
                                      RMCP_TENSOR_DIMS, (size_t)(r->in.at - r->in.text) + 1);
        rmcp_status status = rmcp_case_number(&r->in, '\0', &values[(*count)++]);
        if (status || *r->in.at != 'x') return status;
    }
}

/* As many numbers as there are dimensions. */
static rmcp_status read_each(struct tensor_reader *r, const char *what,
                             int64_t values[RMCP_TENSOR_DIMS])
{
    unsigned count;
    rmcp_status status = read_numbers(r, values, &count);
    if (!status && count != r->tensor.dims)
        return rmcp_case_complain(&r->in, "%s has %u numbers for %u dimensions", what, count,
                                  (unsigned)r->tensor.dims);
    return status;
}

/* a1x64x1x1, a/64x1x1x1 or both: the size and the strides of a tensor. */
static rmcp_status read_tensor(struct tensor_reader *r)
{
    const char name[2] = { *r->in.at, '\0' };
    const unsigned slot = (unsigned)(*r->in.at++ - 'a');
    if (r->has_tensor[slot]) return rmcp_case_complain(&r->in, "'%s' is given twice", name);
    r->has_tensor[slot] = true;
    rmcp_status status = RMCP_OK;
    if (*r->in.at != '/') {
        int64_t *size = rmcp_tensor_size(&r->tensor, slot);
        if ((status = read_each(r, name, size))) return status;
        for (unsigned i = 0; i < r->tensor.dims; i++) /* 0 is "default" in the struct alone */
            if (!size[i])
                return rmcp_case_complain(&r->in, "a size of %s is 0; it must be at least 1", name);
    }
    if (*r->in.at == '/') {
        r->in.at++;
        int64_t *stride = rmcp_tensor_stride(&r->tensor, slot);
        if ((status = read_each(r, name, stride))) return status;
        bool any = false;
        for (unsigned i = 0; i < r->tensor.dims; i++) any = any || stride[i];
        if (!any)
            return rmcp_case_complain(&r->in, "the strides of %s are all 0; give it size 1 instead",
                                      name);
    }
    return status;
}

/* f16, or one type for each tensor of the kind: f16-f32. */
static rmcp_status read_types(struct tensor_reader *r, const char *word)
{
    char buffer[64];
    if (r->n_types)
        return rmcp_case_complain(&r->in, "a second type, '%s'", rmcp_quoted(word, buffer));
    for (const char *at = word;; at++) {
        const size_t length = strcspn(at, "-");
        unsigned type = 0;
        while (type <= RMCP_BF16 && (strlen(rmcp_type_names[type]) != length ||
                                     strncmp(at, rmcp_type_names[type], length)))
            type++;
        if (type > RMCP_BF16 || r->n_types == RMCP_TENSOR_N)
            return rmcp_case_complain(
                &r->in,
                "'%s' is no type; known are f32, f16, bf16, and several of them "
                "like f16-f32",
                rmcp_quoted(word, buffer));
        r->types[r->n_types++] = type;
        at += length;
        if (!*at) return RMCP_OK;
    }
}

/* A decimal number, inf or nan; nothing that only strtod takes for one. */
static rmcp_status read_scalar(struct tensor_reader *r, const char *word, unsigned which)
{
    const char *digits = word + strlen(scalar_names[which]);
    double *const values[MOST_SCALARS] = { &r->tensor.alpha_b, &r->tensor.alpha, &r->tensor.beta };
    char *end = NULL;
    if (r->has_scalar[which])
        return rmcp_case_complain(&r->in, "'%s' is given twice", scalar_names[which]);
    r->has_scalar[which] = true;
    const bool special =
        !strcmp(digits, "inf") || !strcmp(digits, "-inf") || !strcmp(digits, "nan");
    if (*digits && (special || strspn(digits, "+-.0123456789e") == strlen(digits)))
        *values[which] = strtod(digits, &end);
    if (!end || *end || (!special && !isfinite(*values[which])))
        return rmcp_case_complain(&r->in, "'%s' must be followed by a number", scalar_names[which]);
    return RMCP_OK;
}

/* One word behind a colon. */
static rmcp_status read_word(struct tensor_reader *r)
{
    char word[40], buffer[64];
    if (r->in.at[0] >= 'a' && r->in.at[0] <= 'c' &&
        (r->in.at[1] == '/' || (r->in.at[1] >= '0' && r->in.at[1] <= '9'))) {
        rmcp_status status = read_tensor(r);
        if (!status && *r->in.at && *r->in.at != ':')
            return rmcp_case_complain(&r->in, "'%c' does not belong at position %zu",
                                      *r->in.at < 32 || *r->in.at > 126 ? '?' : *r->in.at,
                                      (size_t)(r->in.at - r->in.text) + 1);
        return status;
    }
    rmcp_status status = rmcp_case_word(&r->in, word, sizeof word);
    if (status) return status;
    for (unsigned kind = 0; rmcp_tensor_kinds[kind]; kind++)
        if (!strcmp(word, rmcp_tensor_kinds[kind])) {
            if (r->has_kind) return rmcp_case_complain(&r->in, "a second kind, '%s'", word);
            r->has_kind = true;
            r->tensor.kind = kind;
            return RMCP_OK;
        }
    for (unsigned i = 0; i < MOST_SCALARS; i++)
        if (!strncmp(word, scalar_names[i], strlen(scalar_names[i])))
            return read_scalar(r, word, i);
    if (word[0] == 'f' || word[0] == 'b') return read_types(r, word);
    return rmcp_case_complain(
        &r->in,
        "unknown word '%s'; known are set scale copy add multiply minimum maximum sum, "
        "f32 f16 bf16, a1x8 a/8x1 (b and c likewise), alpha2, alpha_b2, beta1",
        rmcp_quoted(word, buffer));
}

/* What was left out: alpha 1, types of all tensors alike. */
static rmcp_status assemble(struct tensor_reader *r, struct rmcp_tensor_form *form)
{
    rmcp_tensor *t = &r->tensor;
    if (!r->has_kind)
        return rmcp_case_complain(&r->in, "the kind is missing: set, scale, copy, add and so on");
    uint32_t *const types[RMCP_TENSOR_N] = { &t->a_type, &t->b_type, &t->c_type };
    unsigned n_tensors = 0;
    for (unsigned slot = 0; slot < RMCP_TENSOR_N; slot++) {
        if (!rmcp_tensor_has(t->kind, slot)) continue;
        if (r->n_types) *types[slot] = r->types[r->n_types == 1 ? 0 : n_tensors % RMCP_TENSOR_N];
        n_tensors++;
    }
    if (r->n_types > 1 && r->n_types != n_tensors)
        return rmcp_case_complain(&r->in, "%u types for %u tensors", r->n_types, n_tensors);
    if (!r->has_scalar[1]) t->alpha = 1;
    if (!r->has_scalar[0] && rmcp_tensor_has(t->kind, RMCP_TENSOR_B)) t->alpha_b = 1;
    if (rmcp_tensor_init(form, t)) return rmcp_case_complain(&r->in, "%s", rmcp_last_error());
    return RMCP_OK;
}

static rmcp_status parse(const char *text, struct rmcp_tensor_form *form)
{
    if (!text) return rmcp_fail(RMCP_E_ARG, "text is NULL");
    struct tensor_reader r = { .tensor.struct_size = sizeof r.tensor };
    rmcp_status status = rmcp_case_begin(&r.in, "tensor", text);
    if (status) return status;
    const locale_t before = rmcp_plain_locale_enter();
    unsigned dims = 0;
    status = read_numbers(&r, r.tensor.size, &dims);
    r.tensor.dims = dims;
    if (!status && *r.in.at && *r.in.at != ':')
        status = rmcp_case_complain(&r.in, "':' must follow the size at position %zu",
                                    (size_t)(r.in.at - r.in.text) + 1);
    while (!status && *r.in.at) {
        r.in.at++; /* the colon */
        status = read_word(&r);
    }
    if (!status) status = assemble(&r, form);
    rmcp_plain_locale_leave(before);
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

static void put_numbers(struct rmcp_case_writer *out, const int64_t *values, unsigned count)
{
    for (unsigned i = 0; i < count; i++) rmcp_case_put(out, "%s%" PRId64, i ? "x" : "", values[i]);
}

/* What is not the default: other sizes than the operation's, strides that are not packed. */
static void put_tensor(struct rmcp_case_writer *out, rmcp_tensor *t, unsigned slot)
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
    rmcp_case_put(out, ":%c", "abc"[slot]);
    if (!same) put_numbers(out, size, t->dims);
    if (packed) return;
    rmcp_case_put(out, "/");
    put_numbers(out, stride, t->dims);
}

static void put_types(struct rmcp_case_writer *out, const struct rmcp_tensor_form *form)
{
    bool same = true;
    for (unsigned slot = 0; slot < RMCP_TENSOR_C; slot++)
        if (form->span[slot]) same = same && form->type[slot] == form->type[RMCP_TENSOR_C];
    const char *between = ":";
    for (unsigned slot = same ? RMCP_TENSOR_C : 0; slot < RMCP_TENSOR_N; slot++) {
        if (!form->span[slot]) continue;
        rmcp_case_put(out, "%s%s", between, rmcp_type_names[form->type[slot]]);
        between = "-";
    }
}

static void put_scalar(struct rmcp_case_writer *out, const char *name, float value, float standard)
{
    if (isnan(value))
        rmcp_case_put(out, ":%snan", name);
    else if (value != standard)
        rmcp_case_put(out, ":%s%.9g", name, (double)value);
}

rmcp_status rmcp_tensor_print_case(const void *problem, char *text, size_t size)
{
    struct rmcp_tensor_form form = *(const struct rmcp_tensor_form *)problem;
    struct rmcp_case_writer out = { text, size, 0 };
    put_numbers(&out, form.tensor.size, form.tensor.dims);
    rmcp_case_put(&out, ":%s", rmcp_tensor_kinds[form.kind]);
    put_types(&out, &form);
    for (unsigned slot = 0; slot < RMCP_TENSOR_N; slot++)
        if (form.span[slot]) put_tensor(&out, &form.tensor, slot);
    const locale_t before = rmcp_plain_locale_enter();
    put_scalar(&out, "alpha", form.alpha, 1);
    if (form.span[RMCP_TENSOR_B]) put_scalar(&out, "alpha_b", form.alpha_b, 1);
    put_scalar(&out, "beta", form.beta, 0);
    rmcp_plain_locale_leave(before);
    return rmcp_case_end(&out);
}

rmcp_status rmcp_tensor_print(const rmcp_tensor *tensor, char *text, size_t size)
{
    if (!text || !size) return rmcp_fail(RMCP_E_ARG, "no room for the text: %zu bytes", size);
    text[0] = '\0';
    struct rmcp_tensor_form form;
    rmcp_status status = rmcp_tensor_init(&form, tensor);
    return status ? status : rmcp_case_print(&rmcp_operation_tensor, &form, text, size);
}
