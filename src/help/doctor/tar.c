/* tar.c: tar files of recorded machines: reading one whole in memory, writing one (ustar). */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/round.h"
#include "help/doctor/view.h"

enum { BLOCK = 512, MOST_ENTRIES = 20000, DEEPEST = 32 };

static bool read_octal(const uint8_t *field, size_t n, uint64_t *value)
{
    *value = 0;
    for (size_t i = 0; i < n && field[i] && field[i] != ' '; i++) {
        if (field[i] < '0' || field[i] > '7') return false;
        *value = *value * 8 + (field[i] - '0');
    }
    return true;
}

static bool checksum_is_right(const uint8_t *block)
{
    uint64_t sum = 0, told;
    for (size_t i = 0; i < BLOCK; i++) sum += i >= 148 && i < 156 ? ' ' : block[i];
    return read_octal(block + 148, 8, &told) && told == sum;
}

/* "/a/b" of "./a//b/"; false for paths with ".." in them, which nobody has a reason to write. */
static bool canonical(const char *path, char *out, size_t room)
{
    size_t length = 0, depth = 0;
    while (*path) {
        const size_t skip = strspn(path, "/"), n = strcspn(path + skip, "/");
        path += skip;
        if (!n) break;
        if (n == 2 && !strncmp(path, "..", 2)) return false;
        if (!(n == 1 && *path == '.')) {
            if (++depth > DEEPEST || length + n + 2 > room) return false;
            out[length++] = '/';
            memcpy(out + length, path, n);
            length += n;
        }
        path += n;
    }
    out[length] = '\0';
    return length;
}

static int compare_entries(const void *left, const void *right)
{
    const struct doctor_tar_entry *a = left, *b = right;
    int order = strcmp(a->path, b->path);
    /* Files before folders of the same name: what is said explicitly wins. */
    return order ? order : (a->kind == DOCTOR_FOLDER) - (b->kind == DOCTOR_FOLDER);
}

static rmcp_status add(struct doctor_view *view, const char *path, enum doctor_kind kind,
                       const uint8_t *bytes, size_t size, const char *target)
{
    if (view->n_entries >= MOST_ENTRIES)
        return rmcp_fail(RMCP_E_IO, "more than %d files in the recorded machine", MOST_ENTRIES);
    if (!(view->n_entries % 256)) {
        struct doctor_tar_entry *grown =
            realloc(view->entries, (view->n_entries + 256) * sizeof *grown);
        if (!grown) return rmcp_fail_memory("recorded machine", view->n_entries * sizeof *grown);
        view->entries = grown;
    }
    struct doctor_tar_entry entry = { .path = strdup(path),
                                      .kind = kind,
                                      .bytes = bytes,
                                      .size = size,
                                      .target = target ? strdup(target) : NULL };
    if (!entry.path || (target && !entry.target)) {
        free(entry.path);
        free(entry.target);
        return rmcp_fail_memory("recorded machine", strlen(path));
    }
    view->entries[view->n_entries++] = entry;
    return RMCP_OK;
}

/* The entry itself and the folders above it, which need no entry of their own. */
static rmcp_status add_with_folders(struct doctor_view *view, char *path, enum doctor_kind kind,
                                    const uint8_t *bytes, size_t size, const char *target)
{
    const size_t before = view->n_entries;
    rmcp_status status = add(view, path, kind, bytes, size, target);
    for (char *slash = strrchr(path, '/'); !status && slash && slash != path;
         slash = strrchr(path, '/')) {
        *slash = '\0';
        /* The entry before is usually in the same folder. */
        const size_t length = strlen(path);
        bool known = false;
        for (size_t back = 1; back < 12 && back <= before && !known; back++) {
            const char *other = view->entries[before - back].path;
            known = !strncmp(other, path, length) && (!other[length] || other[length] == '/');
        }
        if (known) break;
        status = add(view, path, DOCTOR_FOLDER, NULL, 0, NULL);
    }
    return status;
}

static rmcp_status read_block(struct doctor_view *view, size_t *at)
{
    const uint8_t *block = view->tar + *at;
    char name[257] = "", path[512], target[101] = "";
    uint64_t size;
    if (!checksum_is_right(block) || !read_octal(block + 124, 12, &size))
        return rmcp_fail(RMCP_E_IO, "tar: damaged header at byte %zu", *at);
    *at += BLOCK;
    const char type = (char)block[156];
    const bool has_bytes = type == '0' || !type || type == 'x' || type == 'g' || type == 'L';
    if (!has_bytes) size = 0;
    if (size > view->tar_size - *at) return rmcp_fail(RMCP_E_IO, "tar: cut off at byte %zu", *at);
    const uint8_t *bytes = view->tar + *at;
    const size_t blocks = (size_t)rmcp_round_up(size, BLOCK);
    *at = blocks > view->tar_size - *at ? view->tar_size : *at + blocks;
    if (!memcmp(block + 257, "ustar", 5) && block[345])
        snprintf(name, sizeof name, "%.155s/%.100s", (const char *)block + 345,
                 (const char *)block);
    else
        snprintf(name, sizeof name, "%.100s", (const char *)block);
    memcpy(target, block + 157, 100);
    if (!canonical(name, path, sizeof path)) return RMCP_OK;
    switch (type) {
    case '0':
    case '\0': return add_with_folders(view, path, DOCTOR_FILE, bytes, (size_t)size, NULL);
    case '2': return add_with_folders(view, path, DOCTOR_LINK, NULL, 0, target);
    case '5': return add_with_folders(view, path, DOCTOR_FOLDER, NULL, 0, NULL);
    case '3': /* devices and pipes are there, but never opened */
    case '4':
    case '6': return add_with_folders(view, path, DOCTOR_OTHER, NULL, 0, NULL);
    default: return RMCP_OK;
    }
}

rmcp_status doctor_tar_index(struct doctor_view *view)
{
    size_t at = 0;
    rmcp_status status = RMCP_OK;
    while (!status && view->tar_size - at >= BLOCK && view->tar[at]) status = read_block(view, &at);
    if (!status && !view->n_entries) status = rmcp_fail(RMCP_E_IO, "tar: nothing in it");
    if (view->n_entries)
        qsort(view->entries, view->n_entries, sizeof *view->entries, compare_entries);
    size_t n = 0;
    for (size_t i = 0; i < view->n_entries; i++) {
        if (n && !strcmp(view->entries[n - 1].path, view->entries[i].path)) {
            free(view->entries[i].path);
            free(view->entries[i].target);
        } else {
            view->entries[n++] = view->entries[i];
        }
    }
    view->n_entries = n;
    return status;
}

const struct doctor_tar_entry *doctor_tar_find(const struct doctor_view *view, const char *path)
{
    static const struct doctor_tar_entry root = { .kind = DOCTOR_FOLDER };
    size_t low = 0, high = view->n_entries;
    if (!strcmp(path, "/")) return &root;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        const int order = strcmp(view->entries[middle].path, path);
        if (!order) return &view->entries[middle];
        if (order < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return NULL;
}

/* ---- writing ---- */

static void put(struct doctor_tar_writer *writer, const void *bytes, size_t size)
{
    for (size_t done = 0; !writer->status && done < size;) {
        ssize_t n = write(writer->file, (const char *)bytes + done, size - done);
        if (n < 0 && errno == EINTR) continue;
        if (n <= 0)
            writer->status =
                rmcp_fail(RMCP_E_IO, "cannot write the recording: %s", strerror(errno));
        if (n > 0) done += (size_t)n;
    }
}

/* Put a path into name (100) and prefix (155); false: it does not fit. */
static bool split_path(const char *path, char *block)
{
    const size_t length = strlen(path);
    if (length <= 100) {
        memcpy(block, path, length);
        return true;
    }
    for (size_t at = length - 101; at < length && at <= 155; at++) {
        if (path[at] != '/') continue;
        memcpy(block + 345, path, at);
        memcpy(block, path + at + 1, length - at - 1);
        return true;
    }
    return false;
}

void doctor_tar_put(struct doctor_tar_writer *writer, enum doctor_kind kind, const char *path,
                    const char *text, size_t size)
{
    char block[BLOCK + 1] = { 0 };
    static const char zeros[BLOCK];
    path += *path == '/';
    if (!*path || !split_path(path, block)) return;
    if (kind == DOCTOR_LINK && size > 100) return;
    memcpy(block + 100, kind == DOCTOR_FOLDER ? "0000755" : "0000644", 8);
    memcpy(block + 108, "0000000", 8);
    memcpy(block + 116, "0000000", 8);
    snprintf(block + 124, 12, "%011llo", kind == DOCTOR_FILE ? (unsigned long long)size : 0ULL);
    memcpy(block + 136, "00000000000", 12); /* no times: they would tell when it was made */
    block[156] = kind == DOCTOR_FOLDER ? '5' : kind == DOCTOR_LINK ? '2' : '0';
    if (kind == DOCTOR_LINK) memcpy(block + 157, text, size);
    memcpy(block + 257, "ustar\00000", 8);
    memset(block + 148, ' ', 8);
    unsigned sum = 0;
    for (size_t i = 0; i < BLOCK; i++) sum += (unsigned char)block[i];
    snprintf(block + 148, 8, "%06o", sum);
    block[155] = ' ';
    put(writer, block, BLOCK);
    if (kind != DOCTOR_FILE) return;
    put(writer, text, size);
    put(writer, zeros, (BLOCK - size % BLOCK) % BLOCK);
}

void doctor_tar_end(struct doctor_tar_writer *writer)
{
    static const char zeros[2 * BLOCK];
    put(writer, zeros, sizeof zeros);
}
