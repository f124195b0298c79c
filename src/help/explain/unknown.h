/* unknown.h: lines that tell of an error and that no signature knows. Internal to src/help/explain.
 *
 * They are kept while the log is read, and read by their form (form.h) at its end: what a form
 * knows becomes a finding, what none knows is quoted. */
#ifndef RMCP_EXPLAIN_UNKNOWN_H
#define RMCP_EXPLAIN_UNKNOWN_H

#include "help/explain/explain.h"
#include "help/explain/form.h"
#include "help/explain/frame.h"
#include "help/explain/kinds.h"
#include "help/explain/order.h"

struct explain_unexplained_line {
    struct explain_line about;
    uint64_t line, count;
    uint64_t calm; /* lines without trouble before it */
    size_t length;
    char text[FORM_LINE];
};

/* One line of each kind, the first; the last exception, and the last file of a traceback; and of
 * all lines with a word of trouble the first and the last ones. */
enum { EXPLAIN_FIRST = 48, EXPLAIN_LAST = 16 };
struct explain_unexplained {
    struct explain_unexplained_line of_kind[EXPLAIN_MOST_KINDS], exception, file;
    struct explain_unexplained_line any[EXPLAIN_FIRST + EXPLAIN_LAST];
    size_t n_any;
    struct explain_frame frame;
    struct explain_unexplained_line traced; /* the last line of a traceback */
    struct explain_course course;
    uint64_t raised;                                  /* the last line that names an exception */
    const struct explain_unexplained_line *preferred; /* whose form says no more than its words */
};

/* A line of `length` bytes was met that tells of trouble, and that no signature explains; its kind
 * may be negative. `known` is the weight of one that says of it how something ended, or 0. */
void explain_note_unexplained(struct explain_unexplained *lines, const struct explain_line *about,
                              int known, uint64_t number, const char *line, size_t length);

/* A line of a traceback was met (`file`), or one that names an exception. */
void explain_note_trace(struct explain_unexplained *lines, bool file, uint64_t number,
                        const char *line, size_t length);

/* What the forms make of them: a finding more, where the others do not explain what happened. True
 * when there is one; it stands last then. */
bool explain_read_forms(struct explain_unexplained *lines, const struct explain_words *words,
                        struct explain_result *result);

/* General findings say what their lines name. */
void explain_refine(const struct explain_unexplained *lines, struct explain_result *result);

/* Which of the lines the answer quotes: the last exception, else the line whose words tell most,
 * else the file at which a traceback breaks off; none where the findings explain what happened. */
void explain_find_unknown(const struct explain_unexplained *lines,
                          const struct explain_words *words, struct explain_result *result);

/* Where all findings say no more than the words of their lines, they are quoted instead. */
void explain_quote_general(struct explain_result *result);

/* The line's printable text, from shortly before byte `hit` on. */
void explain_excerpt(char excerpt[static sizeof((struct explain_match *)0)->excerpt],
                     const char *line, size_t hit, size_t length);

#endif
