/* case_text.h: what the case strings of all operations share: reading words and numbers of a
 * hostile text, complaining about it, and writing. */
#ifndef RMCP_CORE_CASE_TEXT_H
#define RMCP_CORE_CASE_TEXT_H

#include "base/error.h"

#include <locale.h>
#include <stdbool.h>

/* Numbers are read and written with a point whatever the program's locale says: between these two.
 * (locale_t)0 when nothing was changed. */
locale_t rmcp_plain_locale_enter(void);
void rmcp_plain_locale_leave(locale_t before);

/* A text that may be shown: unprintable bytes become '?', a long one is cut. */
const char *rmcp_quoted(const char *text, char buffer[static 64]);

/* ---- reading ---- */

struct rmcp_case_reader {
    const char *text, *at;
    const char *operation; /* for complaints; NULL: none is named */
};

/* Begin with a text that is not NULL. RMCP_E_ARG when it is empty or too long. */
rmcp_status rmcp_case_begin(struct rmcp_case_reader *r, const char *operation, const char *text);

/* RMCP_E_ARG with the operation, the text and what is wrong with it. */
#if defined(__GNUC__)
__attribute__((format(printf, 2, 3)))
#endif
rmcp_status
rmcp_case_complain(const struct rmcp_case_reader *r, const char *format, ...);

/* A whole number, which belongs to a letter, or with '\0' to none. */
rmcp_status rmcp_case_number(struct rmcp_case_reader *r, char letter, int64_t *value);

/* The word up to the next colon. */
rmcp_status rmcp_case_word(struct rmcp_case_reader *r, char *word, size_t size);

/* A decimal number or inf at `*at`, inside a word that begins with `name`; moves on behind it. */
rmcp_status rmcp_case_float(struct rmcp_case_reader *r, const char *name, const char **at,
                            float *value);
rmcp_status rmcp_case_real(struct rmcp_case_reader *r, const char *name, const char **at,
                           double *value);

/* Where a problem keeps its activation. */
struct rmcp_case_activation {
    uint32_t *kind;
    float *slope, *low, *high;
};

/* Whether a word is an activation: relu, leaky0.1 or clamp0x6; and reading it. */
bool rmcp_case_is_activation(const char *word);
rmcp_status rmcp_case_activation(struct rmcp_case_reader *r, const char *word,
                                 struct rmcp_case_activation out);

/* Layouts with the names that they have in one, two and three dimensions. -1: it is none. */
int rmcp_case_layout(const char *word);

/* ---- writing ---- */

struct rmcp_case_writer {
    char *text;
    size_t size, used;
};

#if defined(__GNUC__)
__attribute__((format(printf, 2, 3)))
#endif
void rmcp_case_put(struct rmcp_case_writer *out, const char *format, ...);

/* ":relu" and so on; nothing without one. In the plain locale. */
void rmcp_case_put_activation(struct rmcp_case_writer *out, uint32_t kind, float slope, float low,
                              float high);

/* RMCP_E_ARG when the text had no room. */
rmcp_status rmcp_case_end(const struct rmcp_case_writer *out);

#endif
