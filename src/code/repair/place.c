/* place.c: a folder that is repaired in place: its room, its lock, what is where in it. */
#define _GNU_SOURCE
#include "code/repair/place.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"
#include "code/repair/folder.h"

static rmcp_status failure(const char *what, const char *path)
{
    return rmcp_fail(RMCP_E_IO, "%s %.300s: %s", what, path, strerror(errno));
}

/* ---- the folder ---- */

rmcp_status repair_place_open(struct repair_place *p, const char *folder)
{
    struct stat about;
    *p = (struct repair_place){ .lock = -1 };
    if (!realpath(folder, p->root)) {
        const rmcp_status status = errno == ENOENT || errno == ENOTDIR ? RMCP_E_ARG : RMCP_E_IO;
        return rmcp_fail(status, "opening %.300s: %s", folder, strerror(errno));
    }
    if (stat(p->root, &about) || !S_ISDIR(about.st_mode))
        return rmcp_fail(RMCP_E_ARG, "%.300s is not a folder", folder);
    snprintf(p->room, sizeof p->room, "%s/" REPAIR_ROOM, p->root);
    snprintf(p->staged, sizeof p->staged, "%s/" REPAIR_ROOM "/new", p->root);
    snprintf(p->kept, sizeof p->kept, "%s/" REPAIR_ROOM "/original", p->root);
    snprintf(p->manifest_path, sizeof p->manifest_path, "%s/" REPAIR_ROOM "/" REPAIR_MANIFEST,
             p->root);
    if (!lstat(p->room, &about) && !S_ISDIR(about.st_mode))
        return rmcp_fail(RMCP_E_IO, "%.300s is not a folder", p->room);
    rmcp_status status = rmcp_folder_open(p->root, &p->lock);
    if (status) return status;
    return repair_manifest_read(p->manifest_path, &p->manifest, &p->has_manifest);
}

void repair_place_close(struct repair_place *p)
{
    repair_manifest_deinit(&p->manifest);
    if (p->lock >= 0) close(p->lock);
}

int repair_open_parent(const char *root, const char *path, bool make, const char **base)
{
    int at = open(root, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    for (const char *slash; at >= 0 && (slash = strchr(path, '/')); path = slash + 1) {
        char name[NAME_MAX + 1];
        if ((size_t)(slash - path) >= sizeof name) {
            close(at);
            errno = ENAMETOOLONG;
            return -1;
        }
        memcpy(name, path, (size_t)(slash - path));
        name[slash - path] = 0;
        if (make && mkdirat(at, name, 0755) && errno != EEXIST) {
            const int error = errno;
            close(at);
            errno = error;
            return -1;
        }
        const int next = openat(at, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
        const int error = errno;
        close(at);
        at = next;
        errno = error;
    }
    *base = path;
    return at;
}

/* ---- what is where ---- */

rmcp_status repair_hash_at(const char *root, const char *path, char out[static SHA256_HEX],
                           uint64_t *size, bool *there)
{
    char *whole = NULL;
    struct stat about;
    struct rmcp_file file;
    const char *base;
    *there = false;
    const int parent = repair_open_parent(root, path, false, &base);
    if (parent < 0) return errno == ENOENT ? RMCP_OK : failure("opening", path);
    const bool missing = fstatat(parent, base, &about, AT_SYMLINK_NOFOLLOW) && errno == ENOENT;
    close(parent);
    if (missing) return RMCP_OK;
    *there = true;
    rmcp_status status = repair_join(root, path, &whole);
    if (!status && !S_ISREG(about.st_mode)) { /* a link in its place: no hash is like this */
        snprintf(out, SHA256_HEX, "link");
        *size = 0;
        free(whole);
        return RMCP_OK;
    }
    if (!status) status = rmcp_file_map(AT_FDCWD, whole, &file);
    free(whole);
    if (status) return status;
    sha256_hex(file.bytes, file.size, out);
    *size = file.size;
    rmcp_file_unmap(&file);
    return RMCP_OK;
}

rmcp_status repair_state_of(const struct repair_place *p, const struct repair_kept *one,
                            enum repair_state *out)
{
    char hash[SHA256_HEX];
    uint64_t size;
    bool there;
    rmcp_status status = repair_hash_at(p->root, one->path, hash, &size, &there);
    if (status) return status;
    if (!there)
        *out = one->is_added ? REPAIR_STATE_BEFORE : REPAIR_STATE_OTHER;
    else if (!strcmp(hash, one->after))
        *out = REPAIR_STATE_AFTER;
    else
        *out =
            !one->is_added && !strcmp(hash, one->before) ? REPAIR_STATE_BEFORE : REPAIR_STATE_OTHER;
    return RMCP_OK;
}

rmcp_status repair_has_original(const struct repair_place *p, const struct repair_kept *one,
                                bool *has, bool *there)
{
    char hash[SHA256_HEX];
    uint64_t size;
    rmcp_status status = repair_hash_at(p->kept, one->path, hash, &size, there);
    *has = !status && *there && !strcmp(hash, one->before);
    return status;
}

rmcp_status repair_check_all(const struct repair_place *p, bool *is_complete)
{
    *is_complete = true;
    for (size_t i = 0; i < p->manifest.n; i++) {
        const struct repair_kept *one = &p->manifest.list[i];
        enum repair_state state;
        bool has, there;
        rmcp_status status = repair_state_of(p, one, &state);
        if (status) return status;
        if (state == REPAIR_STATE_OTHER)
            return rmcp_fail(
                RMCP_E_IO,
                "%.200s/%.150s was changed or removed since it was repaired (an "
                "upgrade?): nothing is touched; --restore %.200s --keep-changed leaves "
                "such files as they are",
                p->root, one->path, p->root);
        if (state == REPAIR_STATE_BEFORE) *is_complete = false;
        if (state == REPAIR_STATE_BEFORE || one->is_added) continue;
        status = repair_has_original(p, one, &has, &there);
        if (status) return status;
        if (!has)
            return rmcp_fail(RMCP_E_IO, "%.200s/%.150s, the original, is %s: nothing is touched",
                             p->kept, one->path, there ? "damaged" : "gone");
    }
    return RMCP_OK;
}
