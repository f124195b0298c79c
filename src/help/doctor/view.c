/* view.c: reading a machine: this one, a recorded folder, or a recorded tar file. */
#define _GNU_SOURCE
#include "help/doctor/view.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "code/codeobj/walk.h"

enum {
    LONGEST_PATH = 4096,
    MOST_LINKS = 40,
    MOST_NAMES = 20000,
    LARGEST_TAR = 64 << 20,
    LARGEST_NOTE = 1 << 20
};

rmcp_status doctor_view_open_tar(struct doctor_view *view, const uint8_t *bytes, size_t size)
{
    *view = (struct doctor_view){ .root = -1, .sysfs = -1, .journal = -1 };
    view->tar = (uint8_t *)(uintptr_t)bytes; /* never written to */
    view->tar_size = size;
    rmcp_status status = doctor_tar_index(view);
    if (status) doctor_view_close(view);
    return status;
}

static rmcp_status read_tar(struct doctor_view *view, int file, const struct stat *about,
                            const char *name)
{
    if (about->st_size > LARGEST_TAR)
        return rmcp_fail(RMCP_E_ARG,
                         "%.300s: %lld bytes are too many for a recorded machine (%d MiB)", name,
                         (long long)about->st_size, LARGEST_TAR >> 20);
    const size_t size = (size_t)about->st_size;
    uint8_t *bytes = malloc(size + 1);
    if (!bytes) return rmcp_fail_memory("recorded machine", size);
    size_t have = 0;
    for (ssize_t n; have < size && (n = read(file, bytes + have, size - have)) > 0;)
        have += (size_t)n;
    rmcp_status status = doctor_view_open_tar(view, bytes, have);
    if (status) {
        bool compressed = false;
        const char *packed = codeobj_packed_as(bytes, have, &compressed);
        free(bytes);
        if (packed && compressed)
            return rmcp_fail(RMCP_E_ARG, "%.300s is %s: unpack it first", name, packed);
        return rmcp_fail(RMCP_E_ARG,
                         "%.300s is neither a folder nor a tar file of rmcp doctor --record", name);
    }
    view->tar_is_ours = true;
    return RMCP_OK;
}

/* Is there any of what every machine has? Another folder would be one without a GPU. */
static bool is_machine(int folder)
{
    static const char *const names[] = { "sys", "proc", "etc", "dev", "usr" };
    struct stat about;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (!fstatat(folder, names[i], &about, AT_SYMLINK_NOFOLLOW)) return true;
    return false;
}

rmcp_status doctor_view_open(struct doctor_view *view, const char *root)
{
    *view = (struct doctor_view){ .is_live = !root, .root = -1, .sysfs = -1, .journal = -1 };
    const int flags = O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY;
    struct stat about;
    int file = open(root ? root : "/", flags);
    if (file < 0 || fstat(file, &about)) {
        if (file >= 0) close(file);
        return rmcp_fail(RMCP_E_ARG, "cannot open %.300s: %s", root ? root : "/", strerror(errno));
    }
    if (S_ISDIR(about.st_mode)) {
        if (root && !is_machine(file)) {
            close(file);
            return rmcp_fail(
                RMCP_E_ARG,
                "%.300s is no recorded machine: it has none of sys, proc, etc, dev, usr", root);
        }
        view->root = file;
        const char *sysfs = root ? NULL : getenv("RMCP_SYSFS_ROOT");
        if (sysfs) view->sysfs = open(sysfs, flags | O_DIRECTORY);
        return RMCP_OK;
    }
    rmcp_status status =
        S_ISREG(about.st_mode)
            ? read_tar(view, file, &about, root)
            : rmcp_fail(RMCP_E_ARG, "%.300s is neither a folder nor a tar file", root);
    close(file);
    return status;
}

void doctor_view_close(struct doctor_view *view)
{
    if (view->root >= 0) close(view->root);
    if (view->sysfs >= 0) close(view->sysfs);
    for (size_t i = 0; i < view->n_entries; i++) {
        free(view->entries[i].path);
        free(view->entries[i].target);
    }
    free(view->entries);
    if (view->tar_is_ours) free(view->tar);
    *view = (struct doctor_view){ .root = -1, .sysfs = -1, .journal = -1 };
}

/* ---- notes for a recording ---- */

static void put_note(const struct doctor_view *view, enum doctor_kind kind, const char *path,
                     const char *text, size_t size)
{
    if (view->journal < 0 || size > LARGEST_NOTE) return;
    const struct doctor_note_header head = { (uint32_t)kind, (uint32_t)strlen(path),
                                             (uint32_t)size };
    const size_t total = sizeof head + head.path_size + size;
    uint8_t *all = malloc(total);
    if (!all) return;
    memcpy(all, &head, sizeof head);
    memcpy(all + sizeof head, path, head.path_size);
    if (size) memcpy(all + sizeof head + head.path_size, text, size);
    /* One write to a file opened for appending: notes of several processes do not mix. */
    ssize_t written = write(view->journal, all, total);
    (void)written; /* a recording that lacks a file is still a recording */
    free(all);
}

void doctor_note(const struct doctor_view *view, const char *path, const char *text)
{
    char real[LONGEST_PATH];
    if (view->journal < 0) return;
    const bool there = doctor_real(view, path, false, real, sizeof real, NULL, NULL);
    put_note(view, DOCTOR_FILE, there ? real : path, text, strlen(text));
}

/* ---- finding ---- */

/* The folder that a canonical path is in, and the path from there. */
static int place(const struct doctor_view *view, const char *real, const char **rest)
{
    const bool in_sysfs =
        view->sysfs >= 0 && !strncmp(real, "/sys", 4) && (!real[4] || real[4] == '/');
    *rest = real + (in_sysfs ? 4 : 0);
    *rest += **rest == '/';
    if (!**rest) *rest = ".";
    return in_sysfs ? view->sysfs : view->root;
}

/* What is at a canonical path, links not followed. */
static enum doctor_kind look(const struct doctor_view *view, const char *real, uint64_t *size)
{
    *size = 0;
    if (view->tar) {
        const struct doctor_tar_entry *entry = doctor_tar_find(view, real);
        if (entry) *size = entry->size;
        return entry ? entry->kind : DOCTOR_NOTHING;
    }
    struct stat about;
    const char *rest;
    const int from = place(view, real, &rest);
    if (fstatat(from, rest, &about, AT_SYMLINK_NOFOLLOW)) return DOCTOR_NOTHING;
    if (about.st_size > 0) *size = (uint64_t)about.st_size;
    return S_ISREG(about.st_mode)   ? DOCTOR_FILE
           : S_ISDIR(about.st_mode) ? DOCTOR_FOLDER
           : S_ISLNK(about.st_mode) ? DOCTOR_LINK
                                    : DOCTOR_OTHER;
}

static bool read_target(const struct doctor_view *view, const char *real, char *target, size_t room)
{
    if (view->tar) {
        const struct doctor_tar_entry *entry = doctor_tar_find(view, real);
        if (!entry || !entry->target || strlen(entry->target) >= room) return false;
        memcpy(target, entry->target, strlen(entry->target) + 1);
        return true;
    }
    const char *rest;
    const int from = place(view, real, &rest);
    ssize_t n = readlinkat(from, rest, target, room - 1);
    if (n <= 0) return false;
    target[n] = '\0';
    return true;
}

/* Put the link's target before what is left of the path. */
static bool follow(const struct doctor_view *view, char *real, size_t *length, char *rest,
                   size_t parent)
{
    char target[LONGEST_PATH], joined[2 * LONGEST_PATH + 1];
    if (!read_target(view, real, target, sizeof target)) return false;
    if (view->journal >= 0) put_note(view, DOCTOR_LINK, real, target, strlen(target));
    if (snprintf(joined, sizeof joined, "%s/%s", target, rest) >= LONGEST_PATH) return false;
    memcpy(rest, joined, strlen(joined) + 1);
    *length = *target == '/' ? 0 : parent;
    real[*length] = '\0';
    return true;
}

bool doctor_real(const struct doctor_view *view, const char *path, bool link_last, char *real,
                 size_t room, enum doctor_kind *kind_out, uint64_t *size_out)
{
    char rest[LONGEST_PATH + 1], done[LONGEST_PATH] = "";
    size_t length = 0;
    uint64_t size = 0;
    enum doctor_kind kind = DOCTOR_FOLDER;
    if (strlen(path) >= LONGEST_PATH) return false;
    memcpy(rest, path, strlen(path) + 1);
    for (int links = 0;;) {
        const size_t skip = strspn(rest, "/"), n = strcspn(rest + skip, "/");
        char *name = rest + skip;
        if (!n) break;
        const bool last = !name[n + strspn(name + n, "/")];
        char component[256];
        if (n >= sizeof component) return false;
        memcpy(component, name, n);
        component[n] = '\0';
        memmove(rest, name + n, strlen(name + n) + 1);
        if (!strcmp(component, ".")) continue;
        if (!strcmp(component, "..")) {
            while (length && done[--length] != '/') {
            }
            done[length] = '\0';
            kind = DOCTOR_FOLDER;
            continue;
        }
        if (kind != DOCTOR_FOLDER || length + n + 2 > sizeof done) return false;
        const size_t parent = length;
        done[length++] = '/';
        memcpy(done + length, component, n + 1);
        length += n;
        kind = look(view, done, &size);
        if (kind == DOCTOR_NOTHING) return false;
        if (kind == DOCTOR_LINK && !(last && link_last)) {
            if (++links > MOST_LINKS || !follow(view, done, &length, rest, parent)) return false;
            kind = DOCTOR_FOLDER;
        }
    }
    if (!length) memcpy(done, "/", 2), length = 1;
    if (length >= room) return false;
    memcpy(real, done, length + 1);
    if (kind_out) *kind_out = kind;
    if (size_out) *size_out = size;
    return true;
}

enum doctor_kind doctor_at(const struct doctor_view *view, const char *path)
{
    char real[LONGEST_PATH];
    enum doctor_kind kind = DOCTOR_NOTHING;
    if (!doctor_real(view, path, false, real, sizeof real, &kind, NULL)) return DOCTOR_NOTHING;
    if (view->journal >= 0) put_note(view, kind, real, "", 0);
    return kind;
}

/* ---- reading ---- */

/* The file at a canonical path, or -1. */
static int open_file(const struct doctor_view *view, const char *real)
{
    struct stat about;
    const char *rest;
    const int from = place(view, real, &rest);
    int file = openat(from, rest, O_RDONLY | O_NONBLOCK | O_NOFOLLOW | O_CLOEXEC | O_NOCTTY);
    if (file >= 0 && (fstat(file, &about) || !S_ISREG(about.st_mode))) {
        close(file);
        return -1;
    }
    return file;
}

static long read_some(const struct doctor_view *view, const char *path, char *text, size_t room,
                      bool from_end)
{
    char real[LONGEST_PATH];
    enum doctor_kind kind;
    uint64_t size;
    size_t have = 0;
    *text = '\0';
    if (!doctor_real(view, path, false, real, sizeof real, &kind, &size) || kind != DOCTOR_FILE)
        return -1;
    const uint64_t skip = from_end && size > room - 1 ? size - (room - 1) : 0;
    if (view->tar) {
        const struct doctor_tar_entry *entry = doctor_tar_find(view, real);
        if (!entry) return -1;
        have = entry->size - (size_t)skip < room - 1 ? entry->size - (size_t)skip : room - 1;
        memcpy(text, entry->bytes + skip, have);
    } else {
        int file = open_file(view, real);
        if (file < 0) return -1;
        if (skip && lseek(file, (off_t)skip, SEEK_SET) < 0) have = 0;
        for (ssize_t n; have < room - 1 && (n = read(file, text + have, room - 1 - have)) > 0;)
            have += (size_t)n;
        close(file);
    }
    for (size_t i = 0; i < have; i++)
        if (!text[i]) text[i] = ' ';
    text[have] = '\0';
    return (long)have;
}

long doctor_read(const struct doctor_view *view, const char *path, char *text, size_t room)
{
    long n = read_some(view, path, text, room, false);
    if (n >= 0 && view->journal >= 0) doctor_note(view, path, text);
    return n;
}

long doctor_read_end(const struct doctor_view *view, const char *path, char *text, size_t room)
{
    return read_some(view, path, text, room, true);
}

bool doctor_read_link(const struct doctor_view *view, const char *path, char *target, size_t room)
{
    char real[LONGEST_PATH];
    enum doctor_kind kind;
    if (!doctor_real(view, path, true, real, sizeof real, &kind, NULL) || kind != DOCTOR_LINK)
        return false;
    if (!read_target(view, real, target, room)) return false;
    if (view->journal >= 0) put_note(view, DOCTOR_LINK, real, target, strlen(target));
    return true;
}

bool doctor_map(const struct doctor_view *view, const char *path, struct doctor_map *map)
{
    char real[LONGEST_PATH];
    enum doctor_kind kind;
    uint64_t size;
    struct stat about;
    *map = (struct doctor_map){ 0 };
    if (!doctor_real(view, path, false, real, sizeof real, &kind, &size) || kind != DOCTOR_FILE)
        return false;
    if (view->tar) {
        const struct doctor_tar_entry *entry = doctor_tar_find(view, real);
        if (entry) *map = (struct doctor_map){ entry->bytes, entry->size, false };
        return entry;
    }
    int file = open_file(view, real);
    if (file < 0) return false;
    if (!fstat(file, &about) && about.st_size > 0 && (uintmax_t)about.st_size < SIZE_MAX / 2) {
        void *bytes = mmap(NULL, (size_t)about.st_size, PROT_READ, MAP_PRIVATE, file, 0);
        if (bytes != MAP_FAILED) *map = (struct doctor_map){ bytes, (size_t)about.st_size, true };
    }
    close(file);
    return map->bytes;
}

void doctor_unmap(struct doctor_map *map)
{
    if (map->is_mapped) munmap((void *)(uintptr_t)map->bytes, map->size);
    *map = (struct doctor_map){ 0 };
}

/* ---- folders ---- */

static void add_name(struct doctor_names *names, const char *name, size_t length)
{
    if (names->n >= MOST_NAMES || !length ||
        (*name == '.' && (length == 1 || !strncmp(name, "..", length))))
        return;
    if (!(names->n % 64)) {
        char **grown = realloc(names->list, (names->n + 64) * sizeof *grown);
        if (!grown) return;
        names->list = grown;
    }
    char *copy = strndup(name, length);
    if (copy) names->list[names->n++] = copy;
}

static int compare_names(const void *left, const void *right)
{
    return strcmp(*(char *const *)left, *(char *const *)right);
}

static void list_tar(const struct doctor_view *view, const char *real, struct doctor_names *names)
{
    const size_t length = strcmp(real, "/") ? strlen(real) : 0;
    for (size_t i = 0; i < view->n_entries; i++) {
        const char *path = view->entries[i].path;
        if (strncmp(path, real, length) || path[length] != '/' || !path[length + 1]) continue;
        if (!strchr(path + length + 1, '/'))
            add_name(names, path + length + 1, strlen(path + length + 1));
    }
}

void doctor_list(const struct doctor_view *view, const char *path, struct doctor_names *names)
{
    char real[LONGEST_PATH];
    enum doctor_kind kind;
    *names = (struct doctor_names){ 0 };
    if (!doctor_real(view, path, false, real, sizeof real, &kind, NULL) || kind != DOCTOR_FOLDER)
        return;
    if (view->tar) {
        list_tar(view, real, names);
    } else {
        const char *rest;
        const int from = place(view, real, &rest);
        int file = openat(from, rest, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK);
        DIR *folder = file < 0 ? NULL : fdopendir(file);
        if (!folder && file >= 0) close(file);
        for (struct dirent *entry; folder && (entry = readdir(folder));)
            add_name(names, entry->d_name, strlen(entry->d_name));
        if (folder) closedir(folder);
    }
    if (names->n) qsort(names->list, names->n, sizeof *names->list, compare_names);
}

void doctor_names_deinit(struct doctor_names *names)
{
    for (size_t i = 0; i < names->n; i++) free(names->list[i]);
    free(names->list);
    *names = (struct doctor_names){ 0 };
}
