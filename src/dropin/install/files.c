/* files.c: files mapped, told apart, and copied so that they last. */
#include "dropin/install/files.h"

#include "base/error.h"
#include "base/hash.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

bool dropin_join(char path[static PATH_MAX], const char *folder, const char *name)
{
    const int length = snprintf(path, PATH_MAX, "%s%s%s", folder, *folder ? "/" : "", name);
    return length > 0 && length < PATH_MAX;
}

rmcp_status dropin_map_at(int folder, const char *name, struct dropin_map *out)
{
    struct stat about;
    void *bytes = MAP_FAILED;
    *out = (struct dropin_map){ 0 };
    const int file = openat(folder, name, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (file < 0) return rmcp_fail(RMCP_E_IO, "cannot open %.300s: %s", name, strerror(errno));
    if (fstat(file, &about)) about.st_mode = 0;
    if (!S_ISREG(about.st_mode) || about.st_size <= 0 || (uintmax_t)about.st_size > SIZE_MAX / 2) {
        close(file);
        return rmcp_fail(RMCP_E_IO, "%.300s is no file with anything in it", name);
    }
    bytes = mmap(NULL, (size_t)about.st_size, PROT_READ, MAP_PRIVATE, file, 0);
    const int failed = errno;
    close(file);
    if (bytes == MAP_FAILED)
        return rmcp_fail(RMCP_E_IO, "cannot read %.300s: %s", name, strerror(failed));
    *out = (struct dropin_map){ bytes, (size_t)about.st_size };
    return RMCP_OK;
}

rmcp_status dropin_map(const char *path, struct dropin_map *out)
{
    return dropin_map_at(AT_FDCWD, path, out);
}

void dropin_unmap(struct dropin_map *map)
{
    if (map->size) munmap((void *)(uintptr_t)map->bytes, map->size);
    *map = (struct dropin_map){ 0 };
}

struct dropin_print dropin_print_of(const struct dropin_map *map)
{
    return (struct dropin_print){ map->size, rmcp_hash(RMCP_HASH_START, map->bytes, map->size) };
}

/* ".NAME.rmcp-new" */
static void new_name(char out[static 80], const char *name)
{
    snprintf(out, 80, ".%.60s.rmcp-new", name);
}

static rmcp_status failed_to(const char *what, const char *name)
{
    return rmcp_fail(RMCP_E_IO, "cannot %s %.100s: %s", what, name, strerror(errno));
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

/* New files belong to whom the folder belongs, also when root makes them: else their owner could
 * not remove them again. */
static bool own(int file, int folder)
{
    struct stat about;
    if (geteuid()) return true;
    return !fstat(folder, &about) && !fchown(file, about.st_uid, about.st_gid);
}

static rmcp_status prepare(const void *bytes, size_t size, int folder, const char *name,
                           unsigned mode)
{
    char temporary[80];
    rmcp_status status = RMCP_OK;
    new_name(temporary, name);
    if (unlinkat(folder, temporary, 0) && errno != ENOENT) return failed_to("remove", temporary);
    const int file =
        openat(folder, temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (file < 0) return failed_to("write", temporary);
    status = write_all(file, bytes, size, temporary);
    if (!status && !own(file, folder)) status = failed_to("give away", temporary);
    if (!status && fchmod(file, mode)) status = failed_to("write", temporary);
    if (!status && fsync(file)) status = failed_to("write", temporary);
    if (close(file) && !status) status = failed_to("write", temporary);
    if (status) unlinkat(folder, temporary, 0);
    return status;
}

rmcp_status dropin_prepare(const char *from, int folder, const char *name, unsigned mode)
{
    struct dropin_map map;
    rmcp_status status = dropin_map(from, &map);
    if (status) return status;
    status = prepare(map.bytes, map.size, folder, name, mode);
    dropin_unmap(&map);
    return status;
}

rmcp_status dropin_prepare_link(const char *target, int folder, const char *name)
{
    char temporary[80];
    new_name(temporary, name);
    if (unlinkat(folder, temporary, 0) && errno != ENOENT) return failed_to("remove", temporary);
    if (symlinkat(target, folder, temporary)) return failed_to("write", temporary);
    struct stat about;
    if (!geteuid() && !fstat(folder, &about) &&
        fchownat(folder, temporary, about.st_uid, about.st_gid, AT_SYMLINK_NOFOLLOW))
        return failed_to("give away", temporary);
    return RMCP_OK;
}

rmcp_status dropin_commit(int folder, const char *name)
{
    char temporary[80];
    new_name(temporary, name);
    if (!renameat(folder, temporary, folder, name)) return RMCP_OK;
    const rmcp_status status = failed_to("replace", name);
    unlinkat(folder, temporary, 0);
    return status;
}

void dropin_discard(int folder, const char *name)
{
    char temporary[80];
    new_name(temporary, name);
    unlinkat(folder, temporary, 0);
}

rmcp_status dropin_copy(const char *from, int folder, const char *name, unsigned mode)
{
    rmcp_status status = dropin_prepare(from, folder, name, mode);
    return status ? status : dropin_commit(folder, name);
}

rmcp_status dropin_write(const char *text, int folder, const char *name)
{
    rmcp_status status = prepare(text, strlen(text), folder, name, 0644);
    return status ? status : dropin_commit(folder, name);
}

rmcp_status dropin_sync(int folder)
{
    /* Some file systems have no such thing; that is no failure of ours. */
    if (!fsync(folder) || errno == EINVAL || errno == ENOSYS || errno == ENOTSUP) return RMCP_OK;
    return failed_to("flush", "the folder");
}
