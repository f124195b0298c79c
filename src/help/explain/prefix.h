/* prefix.h: what stands before a program's words in each line of a log that went through something
 * else: quotation marks of mail, names of containers, times, a journal's head, Markdown's indent;
 * and lines that JSON holds. */
#ifndef RMCP_EXPLAIN_PREFIX_H
#define RMCP_EXPLAIN_PREFIX_H

#include <stdbool.h>
#include <stddef.h>

enum { EXPLAIN_PREFIX_MOST = 120 }; /* bytes of a line that are looked at */

struct explain_prefix {
    bool inside;   /* behind the start of a line */
    bool begun;    /* a line that is not blank was seen */
    size_t indent; /* that of the first line: four blanks or more, or a tab; else 0 */
    bool json;     /* this line is JSON: its escapes are taken back */
    int escape;    /* where in an escape it is; 0: in none */
    int value;     /* of "\\u001b", as far as it was read */
    size_t held;   /* bytes of a line's start that came without the rest */
    char start[EXPLAIN_PREFIX_MOST];
};

/* How many bytes of the line are a prefix. */
size_t explain_prefix_size(const char *line, size_t length);

/* Append `bytes` to `out`, which has room for them and for EXPLAIN_PREFIX_MOST more, without
 * prefixes; how many were written. At the end of the text call it with no bytes. */
size_t explain_strip(struct explain_prefix *prefix, const char *bytes, size_t n, char *out);

#endif
