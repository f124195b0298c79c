/* form.c: problems that are a table: from case strings to canonical form and back. */
#include "engine/core/form.h"

#include "base/random.h"
#include "engine/core/case_text.h"

#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* ---- canonical form ---- */

static void describe(struct rmcp_form *form, unsigned slot, rmcp_type type, bool written)
{
    struct rmcp_form_tensor *t = &form->tensor[slot];
    t->type = type;
    t->read = !written;
    t->written = written;
}

void rmcp_form_whole(struct rmcp_form *form, unsigned slot, bool written)
{
    rmcp_form_part(form, slot, (rmcp_type)form->type, written, form->dims, form->size);
}

void rmcp_form_part(struct rmcp_form *form, unsigned slot, rmcp_type type, bool written,
                    uint32_t dims, const int64_t *size)
{
    struct rmcp_form_tensor *t = &form->tensor[slot];
    describe(form, slot, type, written);
    t->dims = dims;
    memcpy(t->size, size, dims * sizeof *size);
}

/* Dimensions with more than one element, those with the largest strides first. */
static unsigned by_stride(const struct rmcp_form_tensor *t, unsigned order[static RMCP_FORM_DIMS])
{
    unsigned n = 0;
    for (unsigned d = 0; d < t->dims; d++) {
        if (t->size[d] == 1) continue;
        unsigned at = n++;
        for (; at > 0 && t->stride[order[at - 1]] < t->stride[d]; at--) order[at] = order[at - 1];
        order[at] = d;
    }
    return n;
}

/* Whether no two elements share a place, so that places lead back to elements one digit at a time.
 */
static bool is_distinct(const struct rmcp_form_tensor *t)
{
    unsigned order[RMCP_FORM_DIMS];
    int64_t last = 0; /* the last place of the dimensions inside */
    for (unsigned n = by_stride(t, order); n-- > 0;) {
        if (t->stride[order[n]] <= last) return false;
        last += (t->size[order[n]] - 1) * t->stride[order[n]];
    }
    return true;
}

static rmcp_status finish_tensor(struct rmcp_form *form, unsigned slot)
{
    struct rmcp_form_tensor *t = &form->tensor[slot];
    const char *name = form->rules->tensors[slot];
    if (!t->dims && t->strided)
        return rmcp_fail(RMCP_E_ARG, "%s has strides, but is not used", name);
    int64_t last = 0;
    t->elements = t->dims ? 1 : 0;
    for (unsigned d = t->dims; d-- > 0;) {
        int64_t step;
        if (!t->strided) t->stride[d] = t->elements;
        if (__builtin_mul_overflow(t->elements, t->size[d], &t->elements) ||
            __builtin_mul_overflow(t->size[d] - 1, t->stride[d], &step) ||
            __builtin_add_overflow(last, step, &last) || last >= INT64_C(1) << 48)
            return rmcp_fail(RMCP_E_ARG, "%s is larger than 2^48 elements", name);
    }
    t->span = t->dims ? last + 1 : 0;
    t->gaps = t->written && t->span > t->elements;
    if (t->written && !is_distinct(t))
        return rmcp_fail(RMCP_E_ARG, "the strides of %s let elements share a place", name);
    t->read = t->read || t->gaps;
    return RMCP_OK;
}

/* `open`: the text means several passes, so that it may have strides of tensors that this one
 * lacks. */
static rmcp_status finish(struct rmcp_form *form, bool open)
{
    const struct rmcp_operation *operation = form->rules->operation;
    int64_t product = 1;
    for (unsigned i = 0; operation->traits[i].name; i++)
        if (!strcmp(operation->traits[i].name, "type")) form->type = form->word[i];
    for (unsigned d = 0; d < form->dims; d++) {
        if (!form->size[d]) return rmcp_fail(RMCP_E_ARG, "a size is 0; it must be at least 1");
        if (__builtin_mul_overflow(product, form->size[d], &product) || product > INT64_C(1) << 48)
            return rmcp_fail(RMCP_E_ARG, "the sizes are more than 2^48 elements");
    }
    rmcp_status status = form->rules->shape(form);
    for (unsigned slot = 0; form->rules->tensors[slot] && !status; slot++) {
        struct rmcp_form_tensor *t = &form->tensor[slot];
        if (open && !t->dims) *t = (struct rmcp_form_tensor){ 0 };
        status = finish_tensor(form, slot);
    }
    return status;
}

/* ---- reading ---- */

struct reader {
    struct rmcp_case_reader in;
    struct rmcp_form form;
    bool has_word[RMCP_FORM_WORDS], has_number[RMCP_FORM_NUMBERS];
    uint8_t strides[RMCP_FORM_TENSORS]; /* how many the text gives */
};

static rmcp_status read_numbers(struct reader *r, int64_t *values, unsigned most, uint8_t *count)
{
    for (*count = 0;; r->in.at++) {
        if (*count == most)
            return rmcp_case_complain(&r->in, "more than %u numbers at position %zu", most,
                                      (size_t)(r->in.at - r->in.text) + 1);
        rmcp_status status = rmcp_case_number(&r->in, '\0', &values[(*count)++]);
        if (status || *r->in.at != 'x') return status;
    }
}

/* Whether the word at hand begins with a name and goes on with what belongs to it. */
static bool begins(const struct reader *r, const char *name, const char *next)
{
    const size_t length = strlen(name);
    return !strncmp(r->in.at, name, length) && r->in.at[length] && strchr(next, r->in.at[length]);
}

static rmcp_status read_strides(struct reader *r, unsigned slot)
{
    const char *name = r->form.rules->tensors[slot];
    if (r->strides[slot]) return rmcp_case_complain(&r->in, "%s has strides twice", name);
    r->in.at += strlen(name) + 1;
    r->form.tensor[slot].strided = true;
    return read_numbers(r, r->form.tensor[slot].stride, RMCP_FORM_DIMS, &r->strides[slot]);
}

static rmcp_status read_list(struct reader *r, unsigned list)
{
    const struct rmcp_form_list *rule = &r->form.rules->lists[list];
    if (r->form.listed[list]) return rmcp_case_complain(&r->in, "'%s' is given twice", rule->name);
    r->in.at += strlen(rule->name);
    return read_numbers(r, r->form.list[list], RMCP_FORM_LONGEST, &r->form.listed[list]);
}

static rmcp_status read_number(struct reader *r, unsigned number)
{
    const char *name = r->form.rules->numbers[number].name;
    if (r->has_number[number]) return rmcp_case_complain(&r->in, "'%s' is given twice", name);
    r->has_number[number] = true;
    r->in.at += strlen(name);
    if (!strncmp(r->in.at, "nan", 3)) {
        r->form.number[number] = (double)NAN;
        r->in.at += 3;
        return RMCP_OK;
    }
    return rmcp_case_real(&r->in, name, &r->in.at, &r->form.number[number]);
}

/* All words that a text may have, for a message. */
static void list_words(const struct rmcp_form_rules *rules, char *text, size_t size)
{
    struct rmcp_case_writer out = { text, size, 0 };
    for (const struct rmcp_trait *t = rules->operation->traits; t->name; t++)
        for (unsigned i = 0; t->words[i]; i++)
            rmcp_case_put(&out, "%s%s", out.used ? " " : "", t->words[i]);
    for (unsigned i = 0; rules->lists && rules->lists[i].name; i++)
        rmcp_case_put(&out, " %s3", rules->lists[i].name);
    for (unsigned i = 0; rules->numbers && rules->numbers[i].name; i++)
        rmcp_case_put(&out, " %s1", rules->numbers[i].name);
    rmcp_case_put(&out, " %s/STRIDES", rules->tensors[0]);
}

static rmcp_status read_word(struct reader *r)
{
    const struct rmcp_form_rules *rules = r->form.rules;
    for (unsigned slot = 0; rules->tensors[slot]; slot++)
        if (begins(r, rules->tensors[slot], "/")) return read_strides(r, slot);
    for (unsigned i = 0; rules->lists && rules->lists[i].name; i++)
        if (begins(r, rules->lists[i].name, "0123456789")) return read_list(r, i);
    for (unsigned i = 0; rules->numbers && rules->numbers[i].name; i++)
        if (begins(r, rules->numbers[i].name, "+-.0123456789in")) return read_number(r, i);
    char word[40], buffer[64], known[220];
    rmcp_status status = rmcp_case_word(&r->in, word, sizeof word);
    if (status) return status;
    const struct rmcp_trait *traits = rules->operation->traits;
    for (unsigned i = 0; traits[i].name; i++)
        for (unsigned k = 0; traits[i].words[k]; k++) {
            if (strcmp(word, traits[i].words[k])) continue;
            if (r->has_word[i])
                return rmcp_case_complain(&r->in, "a second %s, '%s'", traits[i].name, word);
            r->has_word[i] = true;
            r->form.word[i] = (uint8_t)k;
            return RMCP_OK;
        }
    list_words(rules, known, sizeof known);
    return rmcp_case_complain(&r->in, "unknown word '%s'; known are %s", rmcp_quoted(word, buffer),
                              known);
}

static rmcp_status complete_lists(struct reader *r)
{
    struct rmcp_form *form = &r->form;
    const struct rmcp_form_list *lists = form->rules->lists;
    for (unsigned i = 0; lists && lists[i].name; i++) {
        if (!lists[i].spatial) continue;
        const unsigned want = form->dims > 2 ? form->dims - 2 : 0;
        const unsigned given = form->listed[i];
        if (given > 1 && given != want)
            return rmcp_case_complain(&r->in,
                                      "%s has %u numbers for %u dimensions behind the first two",
                                      lists[i].name, given, want);
        for (unsigned d = given; d < want; d++)
            form->list[i][d] = given ? form->list[i][0] : lists[i].standard;
        form->listed[i] = (uint8_t)want;
    }
    return RMCP_OK;
}

static rmcp_status read_text(struct reader *r, const char *text)
{
    rmcp_status status = rmcp_case_begin(&r->in, r->form.rules->operation->name, text);
    if (status) return status;
    uint8_t dims = 0;
    status = read_numbers(r, r->form.size, RMCP_FORM_DIMS, &dims);
    r->form.dims = dims;
    while (!status && *r->in.at) {
        if (*r->in.at != ':')
            return rmcp_case_complain(&r->in, "'%c' does not belong at position %zu",
                                      *r->in.at < 32 || *r->in.at > 126 ? '?' : *r->in.at,
                                      (size_t)(r->in.at - r->in.text) + 1);
        r->in.at++;
        status = read_word(r);
    }
    return status ? status : complete_lists(r);
}

static rmcp_status check_strides(const struct reader *r, const struct rmcp_form *form)
{
    for (unsigned slot = 0; form->rules->tensors[slot]; slot++)
        if (r->strides[slot] && form->tensor[slot].dims &&
            r->strides[slot] != form->tensor[slot].dims)
            return rmcp_case_complain(&r->in, "%s has %u strides for %u dimensions",
                                      form->rules->tensors[slot], r->strides[slot],
                                      form->tensor[slot].dims);
    return RMCP_OK;
}

rmcp_status rmcp_form_parse(const struct rmcp_form_rules *rules, const char *text, void *problems,
                            size_t *count)
{
    *count = 0;
    if (!text) return rmcp_fail(RMCP_E_ARG, "text is NULL");
    struct reader r;
    memset(&r, 0, sizeof r);
    r.form.rules = rules;
    for (unsigned i = 0; rules->numbers && rules->numbers[i].name; i++)
        r.form.number[i] = rules->numbers[i].standard;
    const locale_t before = rmcp_plain_locale_enter();
    rmcp_status status = read_text(&r, text);
    rmcp_plain_locale_leave(before);
    const struct rmcp_trait *first = &rules->operation->traits[0];
    const bool open = !strcmp(first->name, "pass") && !r.has_word[0];
    for (unsigned pass = 0; !status && first->words[pass]; pass++) {
        if (!open && pass != r.form.word[0]) continue;
        struct rmcp_form form = r.form;
        form.word[0] = (uint8_t)pass;
        if (finish(&form, open))
            status = rmcp_case_complain(&r.in, "%s", rmcp_last_error());
        else
            status = check_strides(&r, &form);
        if (!status) memcpy((char *)problems + (*count)++ * sizeof form, &form, sizeof form);
    }
    if (status) *count = 0;
    return status;
}

void rmcp_form_draw(const struct rmcp_form_rules *rules, struct rmcp_form *form, const char *format,
                    ...)
{
    char text[RMCP_CASE_MAX];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    struct rmcp_form all[RMCP_MOST_PASSES];
    size_t count;
    if (rmcp_form_parse(rules, text, all, &count)) memset(all, 0, sizeof all), all->rules = rules;
    *form = all[0];
}

/* ---- writing ---- */

static void put_numbers(struct rmcp_case_writer *out, const int64_t *values, unsigned count)
{
    for (unsigned i = 0; i < count; i++) rmcp_case_put(out, "%s%" PRId64, i ? "x" : "", values[i]);
}

static void put_number(struct rmcp_case_writer *out, const char *name, double value)
{
    const bool is_float = isnan(value) || (double)(float)value == value;
    if (isnan(value))
        rmcp_case_put(out, ":%snan", name);
    else
        rmcp_case_put(out, is_float ? ":%s%.9g" : ":%s%.17g", name, value);
}

rmcp_status rmcp_form_print(const void *problem, char *text, size_t size)
{
    const struct rmcp_form *form = problem;
    const struct rmcp_form_rules *rules = form->rules;
    const struct rmcp_trait *traits = rules->operation->traits;
    struct rmcp_case_writer out = { text, size, 0 };
    put_numbers(&out, form->size, form->dims);
    for (unsigned i = 0; traits[i].name; i++)
        if (form->word[i] || !strcmp(traits[i].name, "pass") || !strcmp(traits[i].name, "type"))
            rmcp_case_put(&out, ":%s", traits[i].words[form->word[i]]);
    for (unsigned i = 0; rules->lists && rules->lists[i].name; i++) {
        bool standard = rules->lists[i].spatial || !form->listed[i];
        for (unsigned k = 0; k < form->listed[i]; k++)
            standard = standard && form->list[i][k] == rules->lists[i].standard;
        if (standard) continue;
        rmcp_case_put(&out, ":%s", rules->lists[i].name);
        put_numbers(&out, form->list[i], form->listed[i]);
    }
    const locale_t before = rmcp_plain_locale_enter();
    for (unsigned i = 0; rules->numbers && rules->numbers[i].name; i++)
        if (!(form->number[i] == rules->numbers[i].standard))
            put_number(&out, rules->numbers[i].name, form->number[i]);
    rmcp_plain_locale_leave(before);
    for (unsigned slot = 0; rules->tensors[slot]; slot++) {
        const struct rmcp_form_tensor *t = &form->tensor[slot];
        if (!t->dims || rmcp_form_packed(t)) continue;
        rmcp_case_put(&out, ":%s/", rules->tensors[slot]);
        put_numbers(&out, t->stride, t->dims);
    }
    return rmcp_case_end(&out);
}

/* ---- the columns of the operation ---- */

struct rmcp_slot rmcp_form_slot(const void *problem, unsigned slot)
{
    const struct rmcp_form *form = problem;
    const struct rmcp_form_tensor *t = &form->tensor[slot];
    return (struct rmcp_slot){ .name = form->rules->tensors[slot],
                               .elements = t->span,
                               .type = (rmcp_type)t->type,
                               .read = t->read,
                               .written = t->written };
}

struct rmcp_scalar rmcp_form_scalar(const void *problem, unsigned scalar)
{
    const struct rmcp_form *form = problem;
    const struct rmcp_form_rules *rules = form->rules;
    if (scalar >= rules->n_scalars) return (struct rmcp_scalar){ .name = NULL };
    const struct rmcp_form_scalar *s = &rules->scalars[scalar];
    return (struct rmcp_scalar){ .name = rules->numbers[s->number].name,
                                 .value = form->number[s->number],
                                 .usual = rules->numbers[s->number].standard,
                                 .least = s->least,
                                 .most = s->most,
                                 .whole = s->whole };
}

void rmcp_form_set_scalars(void *problem, const double *scalars)
{
    struct rmcp_form *form = problem;
    const struct rmcp_form_rules *rules = form->rules;
    for (unsigned i = 0; i < rules->n_scalars; i++)
        form->number[rules->scalars[i].number] = scalars[i];
}

rmcp_type rmcp_form_type(const void *problem)
{
    return (rmcp_type)((const struct rmcp_form *)problem)->type;
}

double rmcp_form_flops(const void *problem)
{
    const struct rmcp_form *form = problem;
    double sum = 0;
    for (unsigned slot = 0; form->rules->tensors[slot]; slot++)
        if (form->tensor[slot].written) sum += (double)form->tensor[slot].elements;
    return sum;
}

double rmcp_form_bytes(const void *problem)
{
    const struct rmcp_form *form = problem;
    double sum = 0;
    for (unsigned slot = 0; form->rules->tensors[slot]; slot++) {
        const struct rmcp_form_tensor *t = &form->tensor[slot];
        const int times = t->written && t->read && !t->gaps ? 2 : 1;
        sum += (double)t->elements * (double)rmcp_type_bytes((rmcp_type)t->type) * times;
    }
    return sum;
}

unsigned rmcp_form_trait(const void *problem, unsigned trait)
{
    return ((const struct rmcp_form *)problem)->word[trait];
}

/* ---- tensors ---- */

int64_t rmcp_form_place(const struct rmcp_form_tensor *tensor, int64_t index)
{
    int64_t place = 0;
    for (unsigned d = tensor->dims; d-- > 0; index /= tensor->size[d])
        place += index % tensor->size[d] * tensor->stride[d];
    return place;
}

bool rmcp_form_packed(const struct rmcp_form_tensor *tensor)
{
    int64_t product = 1;
    for (unsigned d = tensor->dims; d-- > 0;) {
        if (tensor->size[d] > 1 && tensor->stride[d] != product) return false;
        product *= tensor->size[d];
    }
    return true;
}

unsigned rmcp_form_loops(const struct rmcp_form *form, const unsigned *slots, unsigned n_slots,
                         struct rmcp_form_loop loops[static RMCP_FORM_DIMS])
{
    const struct rmcp_form_tensor *first = &form->tensor[slots[0]];
    unsigned order[RMCP_FORM_DIMS], n = 0;
    const unsigned n_dims = by_stride(first, order);
    for (unsigned i = 0; i < n_dims; i++) {
        struct rmcp_form_loop loop = { .size = first->size[order[i]] };
        bool joins = n > 0;
        for (unsigned s = 0; s < n_slots; s++) {
            loop.stride[s] = form->tensor[slots[s]].stride[order[i]];
            joins = joins && loops[n - 1].stride[s] == loop.stride[s] * loop.size;
        }
        if (joins) loop.size *= loops[--n].size;
        loops[n++] = loop;
    }
    if (!n) {
        loops[n] = (struct rmcp_form_loop){ .size = 1 };
        for (unsigned s = 0; s < n_slots; s++) loops[n].stride[s] = 1;
        n = 1;
    }
    return n;
}
