/* place.h: a folder that is repaired in place: its room, its lock, what is where in it. */
#ifndef RMCP_REPAIR_PLACE_H
#define RMCP_REPAIR_PLACE_H

#include "code/repair/manifest.h"

#include <limits.h>

struct repair_place {
    char root[PATH_MAX]; /* without links in it */
    char room[PATH_MAX + 32], staged[PATH_MAX + 48], kept[PATH_MAX + 48],
        manifest_path[PATH_MAX + 48];
    int lock;
    struct repair_manifest manifest;
    bool has_manifest;
};

/* What a file of the manifest is now. */
enum repair_state { REPAIR_STATE_BEFORE, REPAIR_STATE_AFTER, REPAIR_STATE_OTHER };

/* Locked for other processes, its manifest read. To be closed also on failure. */
rmcp_status repair_place_open(struct repair_place *place, const char *folder);
void repair_place_close(struct repair_place *place);

/* The folder of a path below another, opened without following links, and the last part of it;
 * with `make` folders that are missing are made. -1: errno says why. */
int repair_open_parent(const char *root, const char *path, bool make, const char **base);

/* The hash and size of a file below a folder; `*there` false: there is none. */
rmcp_status repair_hash_at(const char *root, const char *path, char out[static SHA256_HEX],
                           uint64_t *size, bool *there);

rmcp_status repair_state_of(const struct repair_place *place, const struct repair_kept *one,
                            enum repair_state *out);

/* Whether the original of a changed file is in the room, as it was. */
rmcp_status repair_has_original(const struct repair_place *place, const struct repair_kept *one,
                                bool *has, bool *there);

/* RMCP_OK: every file of the manifest is what was there or what was put there, and can be restored;
 * `*is_complete`: all are what was put there. RMCP_E_IO: which one is not. */
rmcp_status repair_check_all(const struct repair_place *place, bool *is_complete);

#endif
