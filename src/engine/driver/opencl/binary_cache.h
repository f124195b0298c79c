/* binary_cache.h: built programs, kept on disk between processes.
 *
 * One file per key in $XDG_CACHE_HOME/rmcp/opencl, else ~/.cache/rmcp/opencl; without either there
 * is no cache. Files appear whole or not at all (written aside, then renamed), so any number of
 * processes may share the folder. Nothing here fails: a file that is missing, damaged or of another
 * key is not found, and one that cannot be written is not kept. */
#ifndef RMCP_DRIVER_OPENCL_BINARY_CACHE_H
#define RMCP_DRIVER_OPENCL_BINARY_CACHE_H

#include <stddef.h>

/* What was kept under `key`, to be freed by the caller; NULL when there is none. */
void *rmcp_binary_cache_read(const char *key, size_t *bytes);

/* Keep `data` under `key`, in place of what was there. */
void rmcp_binary_cache_write(const char *key, const void *data, size_t bytes);

#endif
