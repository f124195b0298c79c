/* error.h: the per-thread message behind every failing status. */
#ifndef RMCP_BASE_ERROR_H
#define RMCP_BASE_ERROR_H

#include "base/first_sizes.h"
#include "rmcp.h"

/* Store the message and return `status`, so that a failure is one statement. */
#if defined(__GNUC__)
__attribute__((format(printf, 2, 3)))
#endif
rmcp_status
rmcp_fail(rmcp_status status, const char *format, ...);

/* The usual message for a failed host allocation. */
rmcp_status rmcp_fail_memory(const char *what, size_t bytes);

/* Read a caller's versioned struct of `theirs` bytes (its struct_size) into ours of `size` bytes.
 * An older, shorter one is filled up with zeros; a newer one is taken as long as the fields that we
 * do not know are zero. `least` is the size of the first release. */
rmcp_status rmcp_struct_read(const void *in, void *out, size_t size, size_t least,
                             const char *name);

/* Write ours of `size` bytes to a caller's versioned struct, as much as fits; keeps struct_size. */
rmcp_status rmcp_struct_write(const void *ours, size_t size, void *out, size_t least,
                              const char *name);

#endif
