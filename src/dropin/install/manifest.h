/* manifest.h: what an installation remembers of itself, in rmcp/manifest beside the library. */
#ifndef RMCP_DROPIN_MANIFEST_H
#define RMCP_DROPIN_MANIFEST_H

#include "base/files.h"

/* What tells one file from another. */
struct dropin_print {
    uint64_t size, hash;
};
struct dropin_print dropin_print_of(const struct rmcp_file *file);

struct dropin_manifest {
    char name[32];    /* "libMIOpen.so" */
    char version[32]; /* of RMCP */
    struct dropin_print ours, original;
    char link[PATH_MAX]; /* what the original was a link to, or "" */
};

/* In `folder`, which is …/rmcp. False: there is none, or it cannot be read. */
bool dropin_manifest_read(int folder, struct dropin_manifest *out);
rmcp_status dropin_manifest_write(int folder, const struct dropin_manifest *manifest);

#endif
