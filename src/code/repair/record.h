/* record.h: a wheel's RECORD: which files there are, with their hashes and sizes. */
#ifndef RMCP_REPAIR_RECORD_H
#define RMCP_REPAIR_RECORD_H

#include "code/codeobj/buffer.h"
#include "code/codeobj/sha256.h"

#include <stdbool.h>

/* What became of a file. */
struct repair_row {
    const char *name, *new_name;  /* new_name NULL: it is gone */
    bool is_changed;              /* then digest and size are the new ones */
    uint8_t before[SHA256_BYTES]; /* of what it was: a RECORD that says otherwise is refused */
    uint8_t digest[SHA256_BYTES];
    uint64_t size;
};

/* The RECORD for the new files: rows that nothing happened to stay as they are, byte by byte.
 * `rows` by rising name, as strcmp has it. `out` is to be freed, also on failure. */
rmcp_status repair_record(const void *text, size_t size, const struct repair_row *rows, size_t n,
                          struct buffer *out);

#endif
