/* fault.c: to be preloaded: the FAULT_AT-th call that changes a file system fails with FAULT_ERRNO,
 * or kills the process where that is not set: before it has its effect, or after it with
 * FAULT_AFTER. */
#define _GNU_SOURCE
#undef _FILE_OFFSET_BITS /* both names of openat are ours */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static long calls;

/* 0: nothing happens, 1: the call is to fail. */
static int strike(int after)
{
    const char *at = getenv("FAULT_AT"), *number = getenv("FAULT_ERRNO");
    if (!after) calls++;
    if (!at || calls != atol(at) || after != (getenv("FAULT_AFTER") != NULL)) return 0;
    if (!number) kill(getpid(), SIGKILL);
    errno = number ? atoi(number) : EIO;
    return 1;
}

static void find(const char *name, void *function)
{
    void *address = dlsym(RTLD_NEXT, name);
    memcpy(function, &address, sizeof address);
}

#define WRAP(type, name, parameters, arguments)                                                    \
    type name parameters                                                                           \
    {                                                                                              \
        type(*real) parameters;                                                                    \
        find(#name, &real);                                                                        \
        if (strike(0)) return -1;                                                                  \
        const type result = real arguments;                                                        \
        strike(1);                                                                                 \
        return result;                                                                             \
    }

WRAP(int, mkdirat, (int folder, const char *path, mode_t mode), (folder, path, mode))
WRAP(ssize_t, write, (int file, const void *bytes, size_t size), (file, bytes, size))
WRAP(int, fsync, (int file), (file))
WRAP(int, fchmod, (int file, mode_t mode), (file, mode))
WRAP(int, fchown, (int file, uid_t user, gid_t group), (file, user, group))
WRAP(int, fchownat, (int folder, const char *path, uid_t user, gid_t group, int flags),
     (folder, path, user, group, flags))
WRAP(int, renameat, (int a, const char *from, int b, const char *to), (a, from, b, to))
WRAP(int, linkat, (int a, const char *from, int b, const char *to, int flags),
     (a, from, b, to, flags))
WRAP(int, symlinkat, (const char *target, int folder, const char *path), (target, folder, path))
WRAP(int, unlinkat, (int folder, const char *path, int flags), (folder, path, flags))
WRAP(ssize_t, pwrite, (int file, const void *bytes, size_t size, off_t at), (file, bytes, size, at))
WRAP(ssize_t, pwrite64, (int file, const void *bytes, size_t size, off64_t at),
     (file, bytes, size, at))
WRAP(int, mkdir, (const char *path, mode_t mode), (path, mode))
WRAP(int, rename, (const char *from, const char *to), (from, to))
WRAP(int, unlink, (const char *path), (path))
WRAP(int, rmdir, (const char *path), (path))
WRAP(int, chmod, (const char *path, mode_t mode), (path, mode))
WRAP(int, lchown, (const char *path, uid_t user, gid_t group), (path, user, group))
WRAP(int, chown, (const char *path, uid_t user, gid_t group), (path, user, group))
WRAP(int, mkstemp64, (char *path), (path))

static int open_it(int (*real)(int, const char *, int, ...), int folder, const char *path,
                   int flags, mode_t mode)
{
    if (!(flags & O_CREAT)) return real(folder, path, flags);
    if (strike(0)) return -1;
    const int file = real(folder, path, flags, mode);
    strike(1);
    return file;
}

#define OPEN(name)                                                                                 \
    int name(int folder, const char *path, int flags, ...)                                         \
    {                                                                                              \
        va_list more;                                                                              \
        va_start(more, flags);                                                                     \
        const mode_t mode = flags & O_CREAT ? va_arg(more, mode_t) : 0;                            \
        va_end(more);                                                                              \
        int (*real)(int, const char *, int, ...);                                                  \
        find(#name, &real);                                                                        \
        return open_it(real, folder, path, flags, mode);                                           \
    }
OPEN(openat)
OPEN(openat64)
