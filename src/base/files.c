/* files.c: files mapped, compared, kept, and replaced so that each is whole at any moment. */
#define _GNU_SOURCE
#include "base/files.h"

#include "base/error.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

bool rmcp_file_join(char path[static PATH_MAX], const char *folder, const char *name)
{
    const int length = snprintf(path, PATH_MAX, "%s%s%s", folder, *folder ? "/" : "", name);
    return length > 0 && length < PATH_MAX;
}

static rmcp_status failed_to(const char *what, const char *name)
{
    return rmcp_fail(RMCP_E_IO, "cannot %s %.300s: %s", what, name, strerror(errno));
}

/* ---- what is in it ---- */

rmcp_status rmcp_file_map(int folder, const char *name, struct rmcp_file *out)
{
    struct stat about;
    const void *bytes = "";
    *out = (struct rmcp_file){ bytes, 0, 0 };
    const int file = openat(folder, name, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (file < 0) return failed_to("open", name);
    if (fstat(file, &about)) about.st_mode = 0;
    if (!S_ISREG(about.st_mode) || (uintmax_t)about.st_size > SIZE_MAX / 2) {
        close(file);
        return rmcp_fail(RMCP_E_IO, "%.300s is not a file", name);
    }
    if (about.st_size) bytes = mmap(NULL, (size_t)about.st_size, PROT_READ, MAP_PRIVATE, file, 0);
    const int error = errno;
    close(file);
    errno = error;
    if (bytes == MAP_FAILED) return failed_to("read", name);
    *out = (struct rmcp_file){ bytes, (size_t)about.st_size, about.st_mode };
    return RMCP_OK;
}

void rmcp_file_unmap(struct rmcp_file *file)
{
    if (file->size) munmap((void *)(uintptr_t)file->bytes, file->size);
    *file = (struct rmcp_file){ "", 0, 0 };
}

bool rmcp_file_same(int left_folder, const char *left, int right_folder, const char *right)
{
    struct stat a, b;
    struct rmcp_file one, other;
    bool same = false;
    if (fstatat(left_folder, left, &a, 0) || fstatat(right_folder, right, &b, 0)) return false;
    if (a.st_dev == b.st_dev && a.st_ino == b.st_ino) return true;
    if (a.st_size != b.st_size || rmcp_file_map(left_folder, left, &one)) return false;
    if (!rmcp_file_map(right_folder, right, &other)) {
        same = one.size == other.size && !memcmp(one.bytes, other.bytes, one.size);
        rmcp_file_unmap(&other);
    }
    rmcp_file_unmap(&one);
    return same;
}

/* ---- a folder that is changed ---- */

rmcp_status rmcp_folder_open(const char *path, int *folder)
{
    *folder = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (*folder < 0) return failed_to("open", path);
    /* Some file systems have no locks; that is no failure of ours. */
    if (!flock(*folder, LOCK_EX | LOCK_NB) || errno != EWOULDBLOCK) return RMCP_OK;
    close(*folder);
    *folder = -1;
    return rmcp_fail(RMCP_E_IO, "another rmcp is at work in %.300s", path);
}

rmcp_status rmcp_folder_sync(int folder)
{
    /* Some file systems have no such thing; that is no failure of ours. */
    if (!fsync(folder) || errno == EINVAL || errno == ENOSYS || errno == ENOTSUP) return RMCP_OK;
    return failed_to("flush", "the folder");
}

rmcp_status rmcp_folder_give(int folder, int made_in, const char *name)
{
    struct stat about;
    if (geteuid()) return RMCP_OK;
    if (!fstat(folder, &about) &&
        !fchownat(made_in, name, about.st_uid, about.st_gid, AT_SYMLINK_NOFOLLOW))
        return RMCP_OK;
    return failed_to("give away", name);
}

/* ---- new files ---- */

/* ".NAME.rmcp-new"; of a name that is as long as can be, its start. */
static void new_name(char out[static NAME_MAX + 1], const char *name)
{
    snprintf(out, NAME_MAX + 1, ".%.200s.rmcp-new", name);
}

static rmcp_status write_all(int file, const char *bytes, size_t size, const char *name)
{
    while (size) {
        const ssize_t n = write(file, bytes, size < 1 << 20 ? size : 1 << 20);
        if (n < 0 && errno == EINTR) continue;
        if (n <= 0) return failed_to("write", name);
        bytes += n;
        size -= (size_t)n;
    }
    return RMCP_OK;
}

rmcp_status rmcp_file_prepare(int folder, const char *name, unsigned mode, const void *bytes,
                              size_t size)
{
    char temporary[NAME_MAX + 1];
    new_name(temporary, name);
    if (unlinkat(folder, temporary, 0) && errno != ENOENT) return failed_to("remove", temporary);
    const int file =
        openat(folder, temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (file < 0) return failed_to("write", temporary);
    rmcp_status status = write_all(file, bytes, size, temporary);
    if (!status) status = rmcp_folder_give(folder, folder, temporary);
    if (!status && fchmod(file, mode & 07777)) status = failed_to("write", temporary);
    if (!status && fsync(file)) status = failed_to("write", temporary);
    if (close(file) && !status) status = failed_to("write", temporary);
    if (status) unlinkat(folder, temporary, 0);
    return status;
}

rmcp_status rmcp_file_prepare_copy(int folder, const char *name, unsigned mode, const char *from)
{
    struct rmcp_file file;
    rmcp_status status = rmcp_file_map(AT_FDCWD, from, &file);
    if (status) return status;
    status = rmcp_file_prepare(folder, name, mode, file.bytes, file.size);
    rmcp_file_unmap(&file);
    return status;
}

rmcp_status rmcp_file_prepare_link(int folder, const char *name, const char *target)
{
    char temporary[NAME_MAX + 1];
    new_name(temporary, name);
    if (unlinkat(folder, temporary, 0) && errno != ENOENT) return failed_to("remove", temporary);
    if (symlinkat(target, folder, temporary)) return failed_to("write", temporary);
    return rmcp_folder_give(folder, folder, temporary);
}

rmcp_status rmcp_file_commit(int folder, const char *name)
{
    char temporary[NAME_MAX + 1];
    new_name(temporary, name);
    if (!renameat(folder, temporary, folder, name)) return RMCP_OK;
    const rmcp_status status = failed_to("replace", name);
    unlinkat(folder, temporary, 0);
    return status;
}

void rmcp_file_discard(int folder, const char *name)
{
    char temporary[NAME_MAX + 1];
    new_name(temporary, name);
    unlinkat(folder, temporary, 0);
}

rmcp_status rmcp_file_write(int folder, const char *name, unsigned mode, const void *bytes,
                            size_t size)
{
    const rmcp_status status = rmcp_file_prepare(folder, name, mode, bytes, size);
    return status ? status : rmcp_file_commit(folder, name);
}

rmcp_status rmcp_file_copy(int folder, const char *name, unsigned mode, const char *from)
{
    const rmcp_status status = rmcp_file_prepare_copy(folder, name, mode, from);
    return status ? status : rmcp_file_commit(folder, name);
}

rmcp_status rmcp_file_keep(int folder, const char *name, int kept_folder, const char *kept)
{
    struct rmcp_file file;
    if (!linkat(folder, name, kept_folder, kept, 0)) return RMCP_OK;
    rmcp_status status = rmcp_file_map(folder, name, &file);
    if (status) return status;
    status = rmcp_file_write(kept_folder, kept, file.mode, file.bytes, file.size);
    rmcp_file_unmap(&file);
    return status;
}
