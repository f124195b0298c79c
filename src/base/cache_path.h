/* cache_path.h: where this user's caches live. */
#ifndef RMCP_BASE_CACHE_PATH_H
#define RMCP_BASE_CACHE_PATH_H

#include <stdbool.h>
#include <stddef.h>

/* Write $XDG_CACHE_HOME/rmcp/`name`, else ~/.cache/rmcp/`name`, to `path`. False when the
 * environment names neither, or the path is too long: then there is no cache. */
bool rmcp_cache_path(const char *name, char *path, size_t size);

/* The same for `folder`/HOST`ending`: a file that only this host writes, so that two hosts never
 * append to one file over NFS. */
bool rmcp_cache_host_path(const char *folder, const char *ending, char *path, size_t size);

/* Make the folders above `path`, which one of the functions above has written. Of what the
 * environment names only the last folder is made, $XDG_CACHE_HOME itself or ~/.cache: never a home.
 * False when that cannot be done. */
bool rmcp_cache_make_folders(const char *path);

#endif
