/* unknown.h: lines that tell of an error and that no signature knows. Internal to src/explain. */
#ifndef RMCP_EXPLAIN_UNKNOWN_H
#define RMCP_EXPLAIN_UNKNOWN_H

#include "explain/explain.h"
#include "explain/kinds.h"

struct explain_unexplained_line {
    struct explain_line about;
    uint64_t line, count;
    char excerpt[sizeof((struct explain_match *)0)->excerpt];
};

/* One line of each kind, the first; the last exception, and the last file of a traceback. */
struct explain_unexplained {
    struct explain_unexplained_line of_kind[EXPLAIN_MOST_KINDS], exception, file;
};

/* A line of `length` bytes was met whose kind is not negative, and that no signature explains;
 * `known` is the weight of one that says of it how something ended, or 0. */
void explain_note_unexplained(struct explain_unexplained *lines, const struct explain_line *about,
                              int known, uint64_t number, const char *line, size_t length);

/* Which of them the answer quotes: the last exception, else the line whose words tell most, else
 * the file at which a traceback breaks off; none where the findings explain what happened. */
void explain_find_unknown(const struct explain_unexplained *lines,
                          const struct explain_words *words, struct explain_result *result);

/* The line's printable text, from shortly before byte `hit` on. */
void explain_excerpt(char excerpt[static sizeof((struct explain_match *)0)->excerpt],
                     const char *line, size_t hit, size_t length);

#endif
