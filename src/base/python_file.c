/* python_file.c: what a file of Python says, read without running it. */
#include "base/python_file.h"

#include <string.h>

const char *rmcp_python_assigned(const char *file, const char *name, size_t *length)
{
    const size_t n = strlen(name);
    for (const char *line = file; line; line = strchr(line, '\n')) {
        line += *line == '\n';
        if (strncmp(line, name, n) || !strchr(" :=", line[n])) continue;
        const char *value = memchr(line, '=', strcspn(line, "\n"));
        if (!value) continue;
        value += 1 + strspn(value + 1, " ");
        if (*value != '\'' && *value != '"') continue;
        const char stop[] = { *value, '\n', 0 };
        *length = strcspn(value + 1, stop);
        return value + 1;
    }
    return NULL;
}
