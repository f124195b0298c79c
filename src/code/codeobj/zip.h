/* zip.h: zip files and wheels: their members read, by the central directory, and written.
 *
 * Every byte is taken as hostile; see codeobj.h. Members are stored or deflated; zip64. */
#ifndef RMCP_CODEOBJ_ZIP_H
#define RMCP_CODEOBJ_ZIP_H

#include "code/codeobj/output.h"
#include "code/codeobj/spool.h"

#include <stdbool.h>

enum { ZIP_STORED = 0, ZIP_DEFLATED = 8, ZIP_ENCRYPTED = 1 };

struct zip {
    const uint8_t *bytes; /* borrowed */
    size_t size;
    uint64_t offset, directory_size, n; /* of the central directory; members */
    uint64_t next, packed;              /* how far zip_next is */
};

struct zip_member {
    uint32_t flags, method, crc;
    uint64_t compressed, uncompressed, header;
    const char *name; /* no zero behind it */
    size_t name_length;
    const uint8_t *record; /* its record in the directory */
    size_t extra_length, comment_length;
};

/* RMCP_E_IO for what is no zip file, or a damaged one. */
rmcp_status zip_open(struct zip *zip, const void *bytes, size_t size);
/* The next of `n` members. RMCP_E_IO also when they share bytes, by which small files become
 * endless work. */
rmcp_status zip_next(struct zip *zip, struct zip_member *out);
/* The member's compressed bytes in the file. */
rmcp_status zip_data(const struct zip *zip, const struct zip_member *member, const uint8_t **out);
/* Whether the uncompressed bytes are those that the directory speaks of. */
rmcp_status zip_check(const struct zip_member *member, const uint8_t *bytes, uint64_t size);
uint32_t zip_crc(const uint8_t *bytes, uint64_t size);
/* Everything about one member: its bytes in the file itself when it is stored, else in the spool,
 * which is to be freed with spool_deinit, also on failure. At most `most` bytes. */
rmcp_status zip_extract(const struct zip *zip, const struct zip_member *member, uint64_t most,
                        struct spool *spool, const uint8_t **out);

/* ---- writing ---- */

struct zip_writer; /* appends to an output that somebody else commits */

rmcp_status zip_writer_open(struct codeobj_output *output, struct zip_writer **out);
void zip_writer_close(struct zip_writer *writer); /* NULL is fine */

/* A member like `from`, of another file, with these names, sizes and bytes: attributes, times and
 * comments stay. `member->record` is not read. `bytes` are as the method says. */
rmcp_status zip_writer_add(struct zip_writer *writer, const struct zip_member *from,
                           const struct zip_member *member, const uint8_t *bytes);
/* The directory. */
rmcp_status zip_writer_finish(struct zip_writer *writer);

/* Append bytes to an output, deflated. */
rmcp_status zip_deflate(const uint8_t *bytes, uint64_t size, struct codeobj_output *output);

#endif
