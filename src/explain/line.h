/* line.h: what a line is by its beginning. Internal to src/explain. */
#ifndef RMCP_EXPLAIN_LINE_H
#define RMCP_EXPLAIN_LINE_H

#include <stdbool.h>
#include <stddef.h>

/* A line of the kernel's or the system's log: "[   12.3] …", "Nov 16 12:00:00 host …". */
bool explain_is_system_log(const char *line, size_t length);

/* Does it start with the name of an exception, "torch.cuda.OutOfMemoryError: …"? */
bool explain_is_exception(const char *line, size_t length);

/* Does it call itself an error, "[12:00:01] ERROR: …", "main: error: …", "level=ERROR …"? */
bool explain_is_called_error(const char *line, size_t length);

#endif
