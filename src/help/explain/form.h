/* form.h: lines read by their grammar: what kind of complaint one is, and what it names. Internal
 * to src/help/explain.
 *
 * A form is a pattern with places for names: "module '{w}' has no attribute '{w}'". In it a blank
 * stands for any number of them, a quotation mark for any or none, (a|b) for one of these words, $
 * for the end of the line; {w} takes a word or path, {n} a number, {q} all up to a quotation mark,
 * {t} anything. What was taken is put into the texts of the form's row: {1}, {2}; {1is} is what
 * things.inc knows of it, {1cure} how to get it. */
#ifndef RMCP_EXPLAIN_FORM_H
#define RMCP_EXPLAIN_FORM_H

#include "help/explain/explain.h"

#include <stddef.h>

enum { FORM_NAMES = 4, FORM_NAME = 120 };

/* One row of forms_*.inc. */
struct explain_form {
    const char *id;                  /* of the signature whose class it is */
    const char *patterns;            /* separated by line ends */
    const char *what, *why, *remedy; /* "": as the signature says */
    const char *example;
};
extern const struct explain_form explain_forms[]; /* ends with a NULL id */

/* What a line says by its form. */
struct explain_form_match {
    const struct explain_form *form; /* NULL: no form is known */
    char names[FORM_NAMES][FORM_NAME];
};

/* Read a line of `length` bytes; only forms of class `id` where that is not NULL. Time is bounded
 * by the tables: at most the first FORM_LINE bytes are read. */
enum { FORM_LINE = 400 };
bool explain_match_form(const char *line, size_t length, const char *id,
                        struct explain_form_match *out);

/* One pattern against a line, for tests: true when it is found in it. */
bool explain_match_pattern(const char *pattern, size_t size, const char *line, size_t length,
                           char names[static FORM_NAMES][FORM_NAME]);

/* A row of things.inc: what a name that errors mention is, and how to get it. */
struct explain_thing {
    const char *names; /* separated by blanks; '*' at an end stands for anything */
    const char *is;    /* "HIP's runtime library" */
    const char *cure;  /* "" where nothing particular helps */
    const char *id; /* the class of an error about it, in a form that does not say more than that it
                       is missing or failed; "": the form's */
};
const struct explain_thing *explain_find_thing(const char *name);

/* Does the form say no more than that something is missing, failed or was refused? */
bool explain_form_is_general(const struct explain_form_match *match);
/* The class of what the line says: the form's, or that of the thing which it names. */
const char *explain_form_class(const struct explain_form_match *match);

/* Fill a text of the form with what it took. */
void explain_fill(const struct explain_form_match *match, const char *text, char *out, size_t size);

#endif
