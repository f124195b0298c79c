/* draw.h: random sizes and strides as text, for operations whose fuzz cases are drawn as case
 * strings. */
#ifndef RMCP_CORE_DRAW_H
#define RMCP_CORE_DRAW_H

#include "base/random.h"
#include "engine/core/form.h"

/* Sizes of `least` to RMCP_FORM_DIMS dimensions, no more than `most` elements; returns how many. */
unsigned rmcp_draw_sizes(struct rmcp_random *r, unsigned least, int64_t most,
                         int64_t size[static RMCP_FORM_DIMS], char *text, size_t room);

/* ":NAME/STRIDES" of a tensor, in any order and with gaps; now and then nothing, or, where that is
 * allowed, a stride of 0. */
void rmcp_draw_strides(struct rmcp_random *r, const char *name, unsigned dims, const int64_t *size,
                       bool repeats, char *text, size_t room);

/* A random problem of any operation in table form: sizes, words, numbers, strides. */
void rmcp_form_draw_any(const struct rmcp_form_rules *rules, uint64_t seed, struct rmcp_form *form);

#endif
