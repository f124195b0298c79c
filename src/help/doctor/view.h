/* view.h: reading a machine: this one, a recorded folder, or a recorded tar file.
 *
 * Recorded trees are hostile: paths never lead out of the root (".." at the top stays there,
 * absolute links start at the root, at most 40 links are followed), only regular files are opened,
 * and every read has a limit. No function here waits: pipes and devices are not opened. */
#ifndef RMCP_DOCTOR_VIEW_H
#define RMCP_DOCTOR_VIEW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

enum doctor_kind { DOCTOR_NOTHING = 0, DOCTOR_FILE, DOCTOR_FOLDER, DOCTOR_LINK, DOCTOR_OTHER };

struct doctor_tar_entry {
    char *path; /* "/etc/os-release", canonical */
    enum doctor_kind kind;
    const uint8_t *bytes; /* of a file; a link's target ends with NUL */
    size_t size;
    char *target;
};

struct doctor_view {
    bool is_live;
    int root;  /* folder, -1 for a tar file */
    int sysfs; /* what stands in for /sys of this machine ($RMCP_SYSFS_ROOT), or -1 */
    uint8_t *tar;
    size_t tar_size;
    bool tar_is_ours;                 /* to be freed */
    struct doctor_tar_entry *entries; /* sorted by path */
    size_t n_entries;
    int journal; /* what is read is written there for a recording; -1: not */
};

/* Open this machine (NULL), a folder or a tar file. */
rmcp_status doctor_view_open(struct doctor_view *view, const char *root);
/* The same for the bytes of a tar file, which must outlive the view. */
rmcp_status doctor_view_open_tar(struct doctor_view *view, const uint8_t *bytes, size_t size);
void doctor_view_close(struct doctor_view *view);

/* The path without links, "." and ".."; false: there is nothing. `link_last` leaves the last
 * component alone when it is a link. */
bool doctor_real(const struct doctor_view *view, const char *path, bool link_last, char *real,
                 size_t room, enum doctor_kind *kind, uint64_t *size);

/* What is at a path, links followed. */
enum doctor_kind doctor_at(const struct doctor_view *view, const char *path);

/* Read at most room - 1 bytes of a file as text: ends with NUL, NUL bytes in it become blanks.
 * Returns the length, or -1. `doctor_read_end` reads the end of a long file. */
long doctor_read(const struct doctor_view *view, const char *path, char *text, size_t room);
long doctor_read_end(const struct doctor_view *view, const char *path, char *text, size_t room);

/* The target of a link; false: it is none. */
bool doctor_read_link(const struct doctor_view *view, const char *path, char *target, size_t room);

/* Names in a folder, sorted; at most 20,000. Empty when there is no such folder. */
struct doctor_names {
    char **list;
    size_t n;
};
void doctor_list(const struct doctor_view *view, const char *path, struct doctor_names *names);
void doctor_names_deinit(struct doctor_names *names);

/* The bytes of a file, mapped. */
struct doctor_map {
    const uint8_t *bytes;
    size_t size;
    bool is_mapped;
};
bool doctor_map(const struct doctor_view *view, const char *path, struct doctor_map *map);
void doctor_unmap(struct doctor_map *map);

/* Note a file for the recording (no-op without one): instead of what is on disk. */
void doctor_note(const struct doctor_view *view, const char *path, const char *text);

/* One thing noted: the kind, then the path, then the text or the target of a link. */
struct doctor_note_header {
    uint32_t kind, path_size, text_size;
};

/* ---- tar.c ---- */

/* Fill entries from view->tar. */
rmcp_status doctor_tar_index(struct doctor_view *view);
const struct doctor_tar_entry *doctor_tar_find(const struct doctor_view *view, const char *path);

struct doctor_tar_writer {
    int file;
    rmcp_status status; /* of the first failure */
};
void doctor_tar_put(struct doctor_tar_writer *writer, enum doctor_kind kind, const char *path,
                    const char *text, size_t size);
void doctor_tar_end(struct doctor_tar_writer *writer);

#endif
