/* manifest.h: what an installation remembers of itself, in FOLDER/rmcp-repair/manifest.
 *
 *     rmcp-repair 1
 *     changed SHA256-BEFORE SHA256-AFTER SIZE-BEFORE SIZE-AFTER PATH
 *     added - SHA256-AFTER 0 SIZE-AFTER PATH
 *     end
 */
#ifndef RMCP_REPAIR_MANIFEST_H
#define RMCP_REPAIR_MANIFEST_H

#include "code/codeobj/sha256.h"
#include "rmcp.h"

#include <stdbool.h>

#define REPAIR_MANIFEST "manifest"

struct repair_kept {
    char *path; /* below the folder */
    bool is_added;
    char before[SHA256_HEX], after[SHA256_HEX]; /* before: "-" when it was added */
    uint64_t size_before, size_after;
};

struct repair_manifest {
    struct repair_kept *list;
    size_t n, room;
};

void repair_manifest_deinit(struct repair_manifest *manifest);
/* Takes the path over, also on failure. */
rmcp_status repair_manifest_add(struct repair_manifest *manifest, struct repair_kept *one);

/* `*found` false: there is none. RMCP_E_IO: it is damaged, or names a path that leads elsewhere. */
rmcp_status repair_manifest_read(const char *path, struct repair_manifest *out, bool *found);
/* Into the folder FOLDER/rmcp-repair. */
rmcp_status repair_manifest_write(int room, const struct repair_manifest *manifest);

#endif
