/* whole_file.h: for tests of code objects: a file's bytes. */
#ifndef RMCP_TESTS_CODEOBJ_WHOLE_FILE_H
#define RMCP_TESTS_CODEOBJ_WHOLE_FILE_H

#include <stddef.h>
#include <stdint.h>

/* Allocated; a file that cannot be read ends the program. */
uint8_t *whole_file(const char *path, size_t *size);

#endif
