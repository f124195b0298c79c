/* draw.c: random sizes and strides as text, for operations whose fuzz cases are drawn as case
 * strings. */
#include "engine/core/draw.h"

#include <inttypes.h>
#include <stdio.h>

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
