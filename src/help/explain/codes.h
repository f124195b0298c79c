/* codes.h: error codes of ROCm's libraries by name, words and number. */
#ifndef RMCP_EXPLAIN_CODES_H
#define RMCP_EXPLAIN_CODES_H

#include <stdbool.h>
#include <stddef.h>

struct explain_code {
    int number;
    const char *name, *words; /* as the library calls it; as the runtime prints it, or "" */
    const char *id;           /* the signature that it belongs to, or "" */
    const char *meaning;
};
extern const struct explain_code explain_codes[]; /* ends with a NULL name */

/* One of the ways in which programs print the code, into `text`; false past the last one. */
bool explain_code_pattern(const struct explain_code *code, size_t index, char *text, size_t size);

/* The code that the line has; NULL when it has none that is known. */
const struct explain_code *explain_code_in(const char *line);

#endif
