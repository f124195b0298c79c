/* sysfs.h: reading the kernel's files of this machine, or of another that was recorded.
 *
 * Files are taken as hostile: whoever reads them here gives bounds and checks what comes. */
#ifndef RMCP_CHIP_SYSFS_H
#define RMCP_CHIP_SYSFS_H

#include <stdbool.h>
#include <stddef.h>

enum { RMCP_SYSFS_PATH = 1024 }; /* the longest path, with its end */

struct rmcp_sysfs {
    const char *root; /* "/sys", or what stands in for it; all paths begin with it */
    void *context;
    /* Calls `take` with each name in a folder until it is false. Returns 0 or an errno. */
    int (*list)(const struct rmcp_sysfs *sysfs, const char *path,
                bool (*take)(void *to, const char *name), void *to);
    /* Reads at most room - 1 bytes of a regular file as text that ends with NUL. Returns their
     * number or -1; never waits. `lines` has the beginnings of all lines that matter, separated by
     * blanks, for those who keep what was read. */
    long (*read)(const struct rmcp_sysfs *sysfs, const char *path, const char *lines, char *text,
                 size_t room);
};

/* This machine. RMCP_SYSFS_ROOT in the environment names a folder to be read in place of /sys. */
struct rmcp_sysfs rmcp_sysfs_here(void);

#endif
