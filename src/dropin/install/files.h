/* files.h: files as the drop-in's rooms need them: mapped, compared, copied so that they last. */
#ifndef RMCP_DROPIN_FILES_H
#define RMCP_DROPIN_FILES_H

#include "rmcp.h"

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* "FOLDER/NAME"; false when it is too long. An empty folder adds nothing. */
bool dropin_join(char path[static PATH_MAX], const char *folder, const char *name);

struct dropin_map {
    const void *bytes;
    size_t size;
};
/* The bytes of a regular file; an empty one is refused. */
rmcp_status dropin_map(const char *path, struct dropin_map *out);
/* The same below a folder; links are followed. */
rmcp_status dropin_map_at(int folder, const char *name, struct dropin_map *out);
void dropin_unmap(struct dropin_map *map);

/* What tells one file from another. */
struct dropin_print {
    uint64_t size, hash;
};
struct dropin_print dropin_print_of(const struct dropin_map *map);

/* Copy a file to FOLDER/NAME: written under another name, flushed to the disk, then renamed. */
rmcp_status dropin_copy(const char *from, int folder, const char *name, unsigned mode);
/* The same for a text. */
rmcp_status dropin_write(const char *text, int folder, const char *name);
/* A copy, or a symbolic link, under the other name alone, which dropin_commit puts in place. */
rmcp_status dropin_prepare(const char *from, int folder, const char *name, unsigned mode);
rmcp_status dropin_prepare_link(const char *target, int folder, const char *name);
rmcp_status dropin_commit(int folder, const char *name);
/* Remove what dropin_prepare left, if anything. */
void dropin_discard(int folder, const char *name);
/* Flush the names of a folder to the disk. */
rmcp_status dropin_sync(int folder);

#endif
