/* archive.h: what compiled kernels are packed into, in the byte order of the machine. */
#ifndef RMCP_GPU_ARCHIVE_H
#define RMCP_GPU_ARCHIVE_H

#include <stdbool.h>
#include <stdint.h>

/* Followed by that many entries, then by the bytes of the files. */
struct rmcp_archive {
    uint64_t n_entries;
};

struct rmcp_archive_entry {
    char name[48];         /* of the kernel, as in variants.inc */
    uint64_t offset, size; /* from the start of the archive     */
};

#endif
