/* walker.h: what the parts of the walk share: the place in the file, limits, trouble. */
#ifndef RMCP_CODEOBJ_WALKER_H
#define RMCP_CODEOBJ_WALKER_H

#include "code/codeobj/spool.h"
#include "code/codeobj/walk.h"

struct walk {
    struct codeobj_limits limits; /* no zeros any more */
    codeobj_visit visit;
    void *context;
    char path[4096];
    size_t path_length;
    const char *entry_id;
    uint64_t decompressed;
    uint32_t depth, troubles;
};

void walk_init(struct walk *walk, const struct codeobj_limits *limits, codeobj_visit visit,
               void *context);

/* ---- walk.c ---- */

/* Append to the path; the result takes it back. A separator comes first where one is needed. */
#if defined(__GNUC__)
__attribute__((format(printf, 2, 3)))
#endif
size_t
walk_enter(struct walk *walk, const char *format, ...);
size_t walk_enter_file(struct walk *walk, const char *name); /* with a slash before it */
void walk_leave(struct walk *walk, size_t before);

/* Report the message of the last failure for the current path; what it returns ends the walk or
 * not. For failures of one piece (RMCP_E_IO, RMCP_E_UNSUPPORTED); others are returned unchanged. */
rmcp_status walk_trouble(struct walk *walk, rmcp_status failure);

rmcp_status walk_object(struct walk *walk, const uint8_t *bytes, size_t size, uint64_t offset);
rmcp_status walk_other(struct walk *walk, const uint8_t *bytes, size_t size, uint64_t offset,
                       const char *what);

/* Anything: by its first bytes. */
rmcp_status walk_blob(struct walk *walk, const uint8_t *bytes, size_t size);

/* ---- the kinds of blob, each in a file of its own ---- */

/* scan.c: bundles and code objects anywhere from `start` to `end`. `label` goes before "bundle 12"
 * in paths. `quiet`: a magic string that no valid header follows is not worth a word, because
 * compilers contain it as well. */
rmcp_status walk_scan(struct walk *walk, const uint8_t *bytes, size_t start, size_t end,
                      const char *label, bool quiet);

/* bundle.c */
struct bundle {
    uint64_t n;    /* entries                                */
    size_t extent; /* bytes from its magic to its last entry */
};
#define BUNDLE_MAGIC "__CLANG_OFFLOAD_BUNDLE__"
#define BUNDLE_MAGIC_BYTES 24
rmcp_status bundle_check(const uint8_t *bytes, size_t size, struct bundle *bundle);
rmcp_status walk_bundle(struct walk *walk, const uint8_t *bytes, const struct bundle *bundle,
                        uint64_t offset);

enum { COMPRESSED_HEADER_MOST = 32 };
bool compressed_bundle_is(const uint8_t *bytes, size_t size);
/* `*used`: how far the next thing is, also after trouble. */
rmcp_status walk_compressed_bundle(struct walk *walk, const uint8_t *bytes, size_t size,
                                   size_t *used);

/* Without a walk. `spool` is to be freed with spool_deinit, also on failure. */
rmcp_status compressed_bundle_unpack(const uint8_t *bytes, size_t size, struct spool *spool,
                                     size_t *used);

/* host.c, zip.c, kdb.c */
rmcp_status walk_host_elf(struct walk *walk, const uint8_t *bytes, size_t size);
rmcp_status walk_zip(struct walk *walk, const uint8_t *bytes, size_t size);
rmcp_status walk_kdb(struct walk *walk, const uint8_t *bytes, size_t size);

/* ---- decompress.c ---- */

enum method { METHOD_ZLIB, METHOD_RAW_DEFLATE, METHOD_ZSTD, METHOD_BZIP2 };

/* Decompress one stream of exactly `expected` bytes. `*used` bytes of the input were taken, also on
 * failure. RMCP_E_IO: damaged or over a limit for one piece. RMCP_E_NOMEM and
 * RMCP_E_INTERNAL: the walk cannot go on. */
rmcp_status walk_decompress(struct walk *walk, enum method method, const uint8_t *in, size_t size,
                            uint64_t expected, struct spool *out, size_t *used);

#endif
