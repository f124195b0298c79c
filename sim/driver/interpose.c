/* interpose.c: the calls of a program that reach the simulated machine instead of the kernel: open,
 * opendir, access, links and ioctl. Memory needs none: the devices are files that can be mapped. */
#define _GNU_SOURCE
#undef _FILE_OFFSET_BITS /* both forms of each function are defined here */
#undef _FORTIFY_SOURCE
#include "sim/driver/interpose.h"
#include "sim/driver/driver.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#define EXPORT __attribute__((visibility("default")))

/* A new descriptor of the file behind a device. */
static int open_device(int device, int flags)
{
    int error = driver_start();
    if (!error && device > (int)driver.machine.n) error = ENOENT;
    if (error) {
        errno = error;
        return -1;
    }
    const int fd = device ? driver.gpus[device - 1].fd : driver.kfd_fd;
    return fcntl(fd, flags & O_CLOEXEC ? F_DUPFD_CLOEXEC : F_DUPFD, 3);
}

static mode_t mode_of(int flags, va_list arguments)
{
    const bool creates = (flags & O_CREAT) || (flags & O_TMPFILE) == O_TMPFILE;
    return creates ? va_arg(arguments, mode_t) : 0;
}

#define OPEN(name)                                                                                 \
    EXPORT int name(const char *path, int flags, ...)                                              \
    {                                                                                              \
        REAL(name);                                                                                \
        va_list arguments;                                                                         \
        va_start(arguments, flags);                                                                \
        const mode_t mode = mode_of(flags, arguments);                                             \
        va_end(arguments);                                                                         \
        const int device = interpose_device(path);                                                 \
        char buffer[INTERPOSE_PATH];                                                               \
        return device >= 0 ? open_device(device, flags)                                            \
                           : real(interpose_path(path, buffer), flags, mode);                      \
    }
OPEN(open)
OPEN(open64)

#define OPENAT(name)                                                                               \
    EXPORT int name(int folder, const char *path, int flags, ...)                                  \
    {                                                                                              \
        REAL(name);                                                                                \
        va_list arguments;                                                                         \
        va_start(arguments, flags);                                                                \
        const mode_t mode = mode_of(flags, arguments);                                             \
        va_end(arguments);                                                                         \
        const int device = interpose_device(path);                                                 \
        char buffer[INTERPOSE_PATH];                                                               \
        return device >= 0 ? open_device(device, flags)                                            \
                           : real(folder, interpose_path(path, buffer), flags, mode);              \
    }
OPENAT(openat)
OPENAT(openat64)

/* What fortified programs call. */
EXPORT int __open_2(const char *path, int flags);
EXPORT int __open64_2(const char *path, int flags);
EXPORT int __openat_2(int folder, const char *path, int flags);
EXPORT int __openat64_2(int folder, const char *path, int flags);
int __open_2(const char *path, int flags)
{
    return open(path, flags);
}
int __open64_2(const char *path, int flags)
{
    return open64(path, flags);
}
int __openat_2(int folder, const char *path, int flags)
{
    return openat(folder, path, flags);
}
int __openat64_2(int folder, const char *path, int flags)
{
    return openat64(folder, path, flags);
}

#define FOPEN(name)                                                                                \
    EXPORT FILE *name(const char *path, const char *mode)                                          \
    {                                                                                              \
        REAL(name);                                                                                \
        char buffer[INTERPOSE_PATH];                                                               \
        return real(interpose_path(path, buffer), mode);                                           \
    }
FOPEN(fopen)
FOPEN(fopen64)

EXPORT DIR *opendir(const char *path)
{
    REAL(opendir);
    char buffer[INTERPOSE_PATH];
    return real(interpose_path(path, buffer));
}

typedef int keep_entry(const struct dirent *);
typedef int order_entries(const struct dirent **, const struct dirent **);
EXPORT int scandir(const char *path, struct dirent ***list, keep_entry *keep, order_entries *order)
{
    REAL(scandir);
    char buffer[INTERPOSE_PATH];
    return real(interpose_path(path, buffer), list, keep, order);
}

EXPORT int access(const char *path, int mode)
{
    REAL(access);
    char buffer[INTERPOSE_PATH];
    return real(interpose_path(path, buffer), mode);
}

EXPORT int faccessat(int folder, const char *path, int mode, int flags)
{
    REAL(faccessat);
    char buffer[INTERPOSE_PATH];
    return real(folder, interpose_path(path, buffer), mode, flags);
}

EXPORT int euidaccess(const char *path, int mode)
{
    REAL(euidaccess);
    char buffer[INTERPOSE_PATH];
    return real(interpose_path(path, buffer), mode);
}

EXPORT ssize_t readlink(const char *path, char *target, size_t bytes)
{
    REAL(readlink);
    char buffer[INTERPOSE_PATH];
    return real(interpose_path(path, buffer), target, bytes);
}

EXPORT ssize_t readlinkat(int folder, const char *path, char *target, size_t bytes)
{
    REAL(readlinkat);
    char buffer[INTERPOSE_PATH];
    return real(folder, interpose_path(path, buffer), target, bytes);
}

/* The result is a path of the program again, without our folder in front. */
EXPORT char *realpath(const char *path, char *resolved)
{
    REAL(realpath);
    char buffer[INTERPOSE_PATH];
    const char *inside = interpose_path(path, buffer);
    char *result = real(inside, resolved);
    if (!result || inside == path) return result;
    const char *root = driver_root();
    const size_t n = strlen(root);
    if (!strncmp(result, root, n) && result[n] == '/')
        memmove(result, result + n, strlen(result + n) + 1);
    return result;
}

EXPORT int ioctl(int fd, unsigned long request, ...)
{
    REAL(ioctl);
    va_list arguments;
    va_start(arguments, request);
    void *argument = va_arg(arguments, void *);
    va_end(arguments);
    const unsigned type = _IOC_TYPE(request);
    const int device = type == 'K' || type == 'd' ? driver_device_of(fd) : -1;
    if (device < 0) return real(fd, request, argument);
    const int error =
        device == 0 && type == 'K' ? kfd_ioctl(_IOC_NR(request), _IOC_SIZE(request), argument)
        : device > 0 && type == 'd'
            ? drm_ioctl(&driver.gpus[device - 1], _IOC_NR(request), _IOC_SIZE(request), argument)
            : ENOTTY;
    if (!error) return 0;
    errno = error;
    return -1;
}
