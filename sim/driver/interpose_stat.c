/* interpose_stat.c: the stat family: files of the simulated machine, and devices that look like
 * devices. */
#define _GNU_SOURCE
#undef _FILE_OFFSET_BITS
#undef _FORTIFY_SOURCE
#include "sim/driver/driver.h"
#include "sim/driver/interpose.h"

#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#define EXPORT __attribute__((visibility("default")))

static dev_t device_number(int device)
{
    return device ? makedev(226, sim_card_render_minor((unsigned)device - 1)) : makedev(511, 0);
}

/* What the program finds out of a device: a character device with its number. */
#define DRESS(status, device)                                                                      \
    do {                                                                                           \
        if ((device) >= 0) {                                                                       \
            (status)->st_mode = S_IFCHR | 0666;                                                    \
            (status)->st_rdev = device_number(device);                                             \
            (status)->st_size = 0;                                                                 \
        }                                                                                          \
    } while (0)

#define STAT(name, type)                                                                           \
    EXPORT int name(const char *path, struct type *status)                                         \
    {                                                                                              \
        REAL(name);                                                                                \
        char buffer[INTERPOSE_PATH];                                                               \
        const int result = real(interpose_path(path, buffer), status);                             \
        if (!result) DRESS(status, interpose_device(path));                                        \
        return result;                                                                             \
    }
STAT(stat, stat)
STAT(stat64, stat64)
STAT(lstat, stat)
STAT(lstat64, stat64)

#define FSTAT(name, type)                                                                          \
    EXPORT int name(int fd, struct type *status)                                                   \
    {                                                                                              \
        REAL(name);                                                                                \
        const int result = real(fd, status);                                                       \
        if (!result && driver_root()) DRESS(status, driver_device_of(fd));                         \
        return result;                                                                             \
    }
FSTAT(fstat, stat)
FSTAT(fstat64, stat64)

#define FSTATAT(name, type)                                                                        \
    EXPORT int name(int folder, const char *path, struct type *status, int flags)                  \
    {                                                                                              \
        REAL(name);                                                                                \
        char buffer[INTERPOSE_PATH];                                                               \
        const int result = real(folder, interpose_path(path, buffer), status, flags);              \
        if (result || !driver_root()) return result;                                               \
        const bool itself = (flags & AT_EMPTY_PATH) && !strcmp(path, "");                          \
        DRESS(status, itself ? driver_device_of(folder) : interpose_device(path));                 \
        return 0;                                                                                  \
    }
FSTATAT(fstatat, stat)
FSTATAT(fstatat64, stat64)

EXPORT int statx(int folder, const char *restrict path, int flags, unsigned mask,
                 struct statx *restrict status)
{
    REAL(statx);
    char buffer[INTERPOSE_PATH];
    const int result = real(folder, interpose_path(path, buffer), flags, mask, status);
    if (result || !driver_root()) return result;
    const bool itself = (flags & AT_EMPTY_PATH) && !strcmp(path, "");
    const int device = itself ? driver_device_of(folder) : interpose_device(path);
    if (device >= 0) {
        status->stx_mode = S_IFCHR | 0666;
        status->stx_rdev_major = major(device_number(device));
        status->stx_rdev_minor = minor(device_number(device));
        status->stx_size = 0;
    }
    return 0;
}

/* What programs built for C libraries before 2.33 call; the version of the structure is always the
 * only one there is. */
#define OLD_STAT(name, type, now)                                                                  \
    EXPORT int name(int version, const char *path, struct type *status);                           \
    int name(int version, const char *path, struct type *status)                                   \
    {                                                                                              \
        (void)version;                                                                             \
        return now(path, status);                                                                  \
    }
OLD_STAT(__xstat, stat, stat)
OLD_STAT(__xstat64, stat64, stat64)
OLD_STAT(__lxstat, stat, lstat)
OLD_STAT(__lxstat64, stat64, lstat64)

#define OLD_FSTAT(name, type, now)                                                                 \
    EXPORT int name(int version, int fd, struct type *status);                                     \
    int name(int version, int fd, struct type *status)                                             \
    {                                                                                              \
        (void)version;                                                                             \
        return now(fd, status);                                                                    \
    }
OLD_FSTAT(__fxstat, stat, fstat)
OLD_FSTAT(__fxstat64, stat64, fstat64)

#define OLD_FSTATAT(name, type, now)                                                               \
    EXPORT int name(int version, int folder, const char *path, struct type *status, int flags);    \
    int name(int version, int folder, const char *path, struct type *status, int flags)            \
    {                                                                                              \
        (void)version;                                                                             \
        return now(folder, path, status, flags);                                                   \
    }
OLD_FSTATAT(__fxstatat, stat, fstatat)
OLD_FSTATAT(__fxstatat64, stat64, fstatat64)

int driver_device_of(int fd)
{
    static __typeof__(&fstat) real;
    struct stat status;
    if (!driver_root() || driver.kfd_fd < 0) return -1;
    if (!real) interpose_real("fstat", &real);
    if (real(fd, &status)) return -1;
    for (unsigned i = 0; i <= driver.machine.n; i++)
        if (driver.files[i].device == status.st_dev && driver.files[i].inode == status.st_ino)
            return (int)i;
    return -1;
}
