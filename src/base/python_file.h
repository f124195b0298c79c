/* python_file.h: what a file of Python says, read without running it. */
#ifndef RMCP_BASE_PYTHON_FILE_H
#define RMCP_BASE_PYTHON_FILE_H

#include <stddef.h>

/* The text in the first `name = 'text'`, or `name: Optional[str] = 'text'`, that begins a line, and
 * its length; NULL when there is none, or its value is no text (None). */
const char *rmcp_python_assigned(const char *file, const char *name, size_t *length);

#endif
