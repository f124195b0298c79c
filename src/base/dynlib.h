/* dynlib.h: libraries found at run time, each with one list of symbols. */
#ifndef RMCP_BASE_DYNLIB_H
#define RMCP_BASE_DYNLIB_H

#include <stdbool.h>
#include <stddef.h>

/* A function to look up and where its pointer goes in the caller's table. */
struct rmcp_symbol {
    const char *name; /* NULL ends the list */
    size_t offset;
    bool optional; /* NULL in the table when missing */
};

/* Load the first of `names` (ended by NULL) that has all symbols and fill `table`. Returns the
 * handle, or NULL with the reason in `why`. */
void *rmcp_dynlib_open(const char *const *names, const struct rmcp_symbol *symbols, void *table,
                       char *why, size_t why_size);
void rmcp_dynlib_close(void *library); /* NULL is fine */

/* Whether the process has a library whose file name starts so; then its path is in `path`. */
bool rmcp_dynlib_loaded(const char *start, char *path, size_t size);

#endif
