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

void rmcp_form_draw_any(const struct rmcp_form_rules *rules, uint64_t seed, struct rmcp_form *form)
{
    struct rmcp_random r = { seed };
    const struct rmcp_trait *traits = rules->operation->traits;
    int64_t size[RMCP_FORM_DIMS];
    char sizes[80], text[RMCP_CASE_MAX], strides[RMCP_CASE_MAX];
    const unsigned dims = rmcp_draw_sizes(&r, 1, 5000, size, sizes, sizeof sizes);
    struct rmcp_case_writer out = { text, sizeof text, 0 };
    rmcp_case_put(&out, "%s", sizes);
    for (unsigned i = 0; traits[i].name; i++) {
        int64_t words = 0;
        while (traits[i].words[words]) words++;
        rmcp_case_put(&out, ":%s", traits[i].words[rmcp_random_below(&r, words)]);
    }
    for (unsigned i = 0; rules->numbers && rules->numbers[i].name; i++)
        if (rmcp_random_below(&r, 2))
            rmcp_case_put(&out, ":%s%g", rules->numbers[i].name,
                          (double)rmcp_random_between(&r, -8, 8) / 4);
    rmcp_form_draw(rules, form, "%s", text);
    const struct rmcp_form packed = *form;
    for (unsigned slot = 0; rules->tensors[slot]; slot++) {
        const struct rmcp_form_tensor *t = &packed.tensor[slot];
        if (t->dims != dims || memcmp(t->size, size, dims * sizeof *size)) continue;
        rmcp_draw_strides(&r, rules->tensors[slot], dims, size, !t->written, strides,
                          sizeof strides);
        rmcp_case_put(&out, "%s", strides);
    }
    rmcp_form_draw(rules, form, "%s", text);
}
