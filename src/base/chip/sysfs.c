/* sysfs.c: reading the kernel's files of this machine. */
#include "base/chip/sysfs.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

static int list(const struct rmcp_sysfs *sysfs, const char *path,
                bool (*take)(void *to, const char *name), void *to)
{
    (void)sysfs;
    DIR *folder = opendir(path);
    if (!folder) return errno ? errno : EIO;
    for (struct dirent *item; (item = readdir(folder)) && take(to, item->d_name);) continue;
    closedir(folder);
    return 0;
}

static long read_text(const struct rmcp_sysfs *sysfs, const char *path, const char *lines,
                      char *text, size_t room)
{
    (void)sysfs, (void)lines;
    struct stat about;
    size_t used = 0;
    ssize_t got = 1;
    int file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (file < 0) return -1;
    if (fstat(file, &about) || !S_ISREG(about.st_mode)) got = -1;
    while (used < room - 1 && got > 0) {
        got = read(file, text + used, room - 1 - used);
        if (got < 0 && errno == EINTR)
            got = 1;
        else if (got > 0)
            used += (size_t)got;
    }
    close(file);
    text[used] = '\0';
    return got < 0 ? -1 : (long)used;
}

struct rmcp_sysfs rmcp_sysfs_here(void)
{
    const char *root = getenv("RMCP_SYSFS_ROOT");
    return (struct rmcp_sysfs){ root && *root ? root : "/sys", NULL, list, read_text };
}
