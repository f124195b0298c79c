/* lines.h: source lines of code addresses, where an object has debug information. */
#ifndef RMCP_SIM_RUNNER_LINES_H
#define RMCP_SIM_RUNNER_LINES_H

#include <stddef.h>
#include <stdint.h>

struct lines; /* NULL is one that knows nothing */

/* The bytes are an ELF file and must outlive the result. */
struct lines *lines_open(const void *bytes, size_t size);
void lines_close(struct lines *lines);
/* "file.cl:12" of an address in the object, or "". */
void lines_find(struct lines *lines, uint64_t address, char *text, size_t bytes);

#endif
