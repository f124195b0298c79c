/* files.h: files of somebody else, handled with care: mapped, compared, kept, and replaced so that
 * each is whole at any moment. What installs into a folder of others stands on it. */
#ifndef RMCP_BASE_FILES_H
#define RMCP_BASE_FILES_H

#include "rmcp.h"

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* "FOLDER/NAME"; false when it is too long. An empty folder adds nothing. */
bool rmcp_file_join(char path[static PATH_MAX], const char *folder, const char *name);

/* ---- what is in it ---- */

struct rmcp_file {
    const void *bytes; /* never NULL */
    size_t size;
    unsigned mode;
};
/* The bytes of a regular file below a folder (AT_FDCWD: where the process is); links are followed.
 */
rmcp_status rmcp_file_map(int folder, const char *name, struct rmcp_file *out);
void rmcp_file_unmap(struct rmcp_file *file);
/* Whether two files have the same bytes; one that cannot be read has others. */
bool rmcp_file_same(int left_folder, const char *left, int right_folder, const char *right);

/* ---- a folder that is changed ---- */

/* The folder, locked for other processes of RMCP until it is closed; -1 and a status when it cannot
 * be opened, or another is at work in it. */
rmcp_status rmcp_folder_open(const char *path, int *folder);
/* Flush its names to the disk. */
rmcp_status rmcp_folder_sync(int folder);
/* What is made in it belongs to whom it belongs, also when root makes it: else its owner could not
 * remove it again. `name` is not followed where it is a link. */
rmcp_status rmcp_folder_give(int folder, int made_in, const char *name);

/* ---- new files: FOLDER/NAME is what it was, or whole ---- */

/* Written under another name, flushed to the disk, and then renamed. */
rmcp_status rmcp_file_write(int folder, const char *name, unsigned mode, const void *bytes,
                            size_t size);
/* The same in two steps: a file, a copy, or a symbolic link under the other name alone; and its
 * rename. The other name is always the same, so that rmcp_file_discard removes what a process that
 * was killed left there. */
rmcp_status rmcp_file_prepare(int folder, const char *name, unsigned mode, const void *bytes,
                              size_t size);
rmcp_status rmcp_file_prepare_copy(int folder, const char *name, unsigned mode, const char *from);
rmcp_status rmcp_file_prepare_link(int folder, const char *name, const char *target);
rmcp_status rmcp_file_commit(int folder, const char *name);
void rmcp_file_discard(int folder, const char *name);
rmcp_status rmcp_file_copy(int folder, const char *name, unsigned mode, const char *from);

/* Keep a file as KEPT_FOLDER/KEPT: under a second name, which needs no space, or where that cannot
 * be, as a copy. */
rmcp_status rmcp_file_keep(int folder, const char *name, int kept_folder, const char *kept);

#endif
