/* draw.c: random sizes and strides as text, for operations whose fuzz cases are drawn as case
 * strings. */
#include "engine/core/draw.h"

#include "engine/core/case_text.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static bool chance(struct rmcp_random *r, int64_t one_in)
{
    return rmcp_random_below(r, one_in) == 0;
}

static void put_all(const int64_t *values, unsigned n, char *text, size_t room)
{
    size_t used = 0;
    for (unsigned i = 0; i < n && used < room; i++)
        used += (size_t)snprintf(text + used, room - used, "%s%" PRId64, i ? "x" : "", values[i]);
}

unsigned rmcp_draw_sizes(struct rmcp_random *r, unsigned least, int64_t most,
                         int64_t size[static RMCP_FORM_DIMS], char *text, size_t room)
{
    static const int64_t largest[] = { 0, 20000, 5000, 700, 70, 30 };
    const unsigned dims = (unsigned)rmcp_random_between(r, least, RMCP_FORM_DIMS);
    int64_t left = most;
    for (unsigned d = 0; d < dims; d++) {
        size[d] =
            chance(r, 3) ? rmcp_random_between(r, 1, largest[dims]) : rmcp_random_between(r, 1, 9);
        if (size[d] > left) size[d] = left;
        left /= size[d];
    }
    put_all(size, dims, text, room);
    return dims;
}

void rmcp_draw_strides(struct rmcp_random *r, const char *name, unsigned dims, const int64_t *size,
                       bool repeats, char *text, size_t room)
{
    int64_t stride[RMCP_FORM_DIMS] = { 0 };
    unsigned order[RMCP_FORM_DIMS] = { 0 };
    text[0] = '\0';
    if (chance(r, 2)) return;
    for (unsigned d = 0; d < dims; d++) {
        const unsigned at = (unsigned)rmcp_random_between(r, 0, d);
        order[d] = order[at];
        order[at] = d;
    }
    const bool gaps = chance(r, 2);
    int64_t step = gaps && chance(r, 3) ? 2 : 1;
    for (unsigned k = 0; k < dims; k++) {
        stride[order[k]] = repeats && chance(r, 12) ? 0 : step;
        step *= size[order[k]];
        if (gaps && chance(r, 2)) step += rmcp_random_between(r, 1, 5);
    }
    const int used = snprintf(text, room, ":%s/", name);
    put_all(stride, dims, text + used, room - (size_t)used);
}

/* One of the words of a text; `all` NULL: a number from -2 to 2. */
static void draw_sample(struct rmcp_random *r, const char *all, char *text, size_t room)
{
    int64_t words = 1;
    snprintf(text, room, "%g", (double)rmcp_random_between(r, -8, 8) / 4);
    if (!all) return;
    for (const char *c = all; *c; c++) words += *c == ' ';
    for (int64_t skip = rmcp_random_below(r, words); skip > 0; skip--) all = strchr(all, ' ') + 1;
    snprintf(text, room, "%.*s", (int)strcspn(all, " "), all);
}

static void draw_words(struct rmcp_random *r, const struct rmcp_form_rules *rules,
                       struct rmcp_case_writer *out)
{
    const struct rmcp_trait *traits = rules->operation->traits;
    char sample[24];
    for (unsigned i = 0; traits[i].name; i++) {
        int64_t words = 0;
        while (traits[i].words[words]) words++;
        rmcp_case_put(out, ":%s", traits[i].words[rmcp_random_below(r, words)]);
    }
    for (unsigned i = 0; rules->numbers && rules->numbers[i].name; i++)
        if (chance(r, 2)) {
            draw_sample(r, rules->samples ? rules->samples[i] : NULL, sample, sizeof sample);
            rmcp_case_put(out, ":%s%s", rules->numbers[i].name, sample);
        }
}

/* What the rules refuse is drawn again; strides that they refuse are left out. */
void rmcp_form_draw_any(const struct rmcp_form_rules *rules, uint64_t seed, struct rmcp_form *form)
{
    enum { TRIES = 200 };
    struct rmcp_random r = { seed };
    struct rmcp_form all[RMCP_MOST_PASSES];
    char text[RMCP_CASE_MAX], strides[RMCP_CASE_MAX];
    size_t count = 0;
    for (int i = 0; i < TRIES && !count; i++) {
        int64_t size[RMCP_FORM_DIMS];
        struct rmcp_case_writer out = { text, sizeof text, 0 };
        rmcp_draw_sizes(&r, 1, 9000, size, strides, sizeof strides);
        rmcp_case_put(&out, "%s", strides);
        draw_words(&r, rules, &out);
        if (rmcp_form_parse(rules, text, all, &count)) count = 0;
    }
    const struct rmcp_form packed = all[0];
    for (unsigned slot = 0; count && rules->tensors[slot]; slot++) {
        const struct rmcp_form_tensor *t = &packed.tensor[slot];
        const size_t length = strlen(text);
        if (!t->dims) continue;
        rmcp_draw_strides(&r, rules->tensors[slot], t->dims, t->size, !t->written, strides,
                          sizeof strides);
        snprintf(text + length, sizeof text - length, "%s", strides);
        if (rmcp_form_parse(rules, text, all, &count)) text[length] = '\0';
    }
    rmcp_form_draw(rules, form, "%s", text);
}
