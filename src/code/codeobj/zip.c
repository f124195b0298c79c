/* zip.c: zip files and wheels by their central directory; stored and deflated members, zip64. */
#include "code/codeobj/zip.h"

#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "code/codeobj/bytes.h"
#include "code/codeobj/walker.h"

enum {
    END_BYTES = 22,
    END64_BYTES = 56,
    LOCATOR_BYTES = 20,
    CENTRAL_BYTES = 46,
    LOCAL_BYTES = 30,
    MOST_COMMENT = 65535
};

static rmcp_status malformed(const char *what)
{
    return rmcp_fail(RMCP_E_IO, "zip: %s", what);
}

rmcp_status zip_open(struct zip *out, const void *data, size_t size)
{
    const uint8_t *bytes = data;
    if (size < END_BYTES) return malformed("too short");
    size_t at = size - END_BYTES;
    size_t last = at > MOST_COMMENT ? at - MOST_COMMENT : 0;
    while (load_u32(bytes + at) != 0x06054b50 || load_u16(bytes + at + 20) > size - END_BYTES - at)
        if (at-- == last) return malformed("no end record; cut off?");
    *out = (struct zip){ .bytes = bytes,
                         .size = size,
                         .offset = load_u32(bytes + at + 16),
                         .directory_size = load_u32(bytes + at + 12),
                         .n = load_u16(bytes + at + 10) };
    if (at >= LOCATOR_BYTES && load_u32(bytes + at - LOCATOR_BYTES) == 0x07064b50) {
        uint64_t end64 = load_u64(bytes + at - LOCATOR_BYTES + 8);
        if (!in_range(end64, END64_BYTES, size) || load_u32(bytes + end64) != 0x06064b50)
            return malformed("zip64 end record is not where it should be");
        out->offset = load_u64(bytes + end64 + 48);
        out->directory_size = load_u64(bytes + end64 + 40);
        out->n = load_u64(bytes + end64 + 32);
    }
    if (!in_range(out->offset, out->directory_size, size) ||
        out->n > out->directory_size / CENTRAL_BYTES)
        return malformed("central directory is not within the file");
    out->next = out->offset;
    return RMCP_OK;
}

/* Sizes of 0xffffffff are in the extra field 1, each only when it is needed. */
static bool read_zip64(const uint8_t *extra, size_t length, struct zip_member *m)
{
    uint64_t *const wanted[] = { &m->uncompressed, &m->compressed, &m->header };
    while (length >= 4) {
        size_t n = load_u16(extra + 2);
        if (n > length - 4) return false;
        if (load_u16(extra) == 1) {
            const uint8_t *at = extra + 4;
            for (int i = 0; i < 3; i++) {
                if (*wanted[i] != 0xffffffff) continue;
                if (n < 8) return false;
                *wanted[i] = load_u64(at);
                at += 8;
                n -= 8;
            }
            return true;
        }
        extra += 4 + n;
        length -= 4 + n;
    }
    return false;
}

rmcp_status zip_next(struct zip *zip, struct zip_member *m)
{
    const uint64_t end = zip->offset + zip->directory_size;
    if (!in_range(zip->next, CENTRAL_BYTES, end) || load_u32(zip->bytes + zip->next) != 0x02014b50)
        return malformed("central directory is cut off");
    const uint8_t *head = zip->bytes + zip->next;
    const size_t name = load_u16(head + 28), extra = load_u16(head + 30),
                 comment = load_u16(head + 32);
    *m = (struct zip_member){ .flags = load_u16(head + 8),
                              .method = load_u16(head + 10),
                              .crc = load_u32(head + 16),
                              .compressed = load_u32(head + 20),
                              .uncompressed = load_u32(head + 24),
                              .header = load_u32(head + 42),
                              .name = (const char *)head + CENTRAL_BYTES,
                              .name_length = name,
                              .record = head,
                              .extra_length = extra,
                              .comment_length = comment };
    if (!in_range(zip->next + CENTRAL_BYTES, name + extra + comment, end))
        return malformed("central directory is cut off");
    zip->next += CENTRAL_BYTES + name + extra + comment;
    if ((m->compressed == 0xffffffff || m->uncompressed == 0xffffffff || m->header == 0xffffffff) &&
        !read_zip64(head + CENTRAL_BYTES + name, extra, m))
        return malformed("zip64 sizes are missing");
    if (m->compressed > zip->size || (zip->packed += m->compressed) > zip->size)
        return malformed("members overlap");
    return RMCP_OK;
}

uint32_t zip_crc(const uint8_t *bytes, uint64_t size)
{
    uLong crc = crc32(0, NULL, 0);
    while (size) {
        uInt n = size < 1 << 30 ? (uInt)size : 1 << 30;
        crc = crc32(crc, bytes, n);
        bytes += n;
        size -= n;
    }
    return (uint32_t)crc;
}

rmcp_status zip_check(const struct zip_member *m, const uint8_t *bytes, uint64_t size)
{
    return zip_crc(bytes, size) == m->crc ? RMCP_OK : malformed("checksum of the member is wrong");
}

rmcp_status zip_data(const struct zip *zip, const struct zip_member *m, const uint8_t **out)
{
    const uint8_t *bytes = zip->bytes;
    *out = NULL;
    if (m->flags & ZIP_ENCRYPTED) return malformed("the member is encrypted");
    if (!in_range(m->header, LOCAL_BYTES, zip->size) || load_u32(bytes + m->header) != 0x04034b50)
        return malformed("no local header where the directory says");
    const uint64_t data = m->header + LOCAL_BYTES + load_u16(bytes + m->header + 26) +
                          load_u16(bytes + m->header + 28);
    if (!in_range(data, m->compressed, zip->size)) return malformed("the member is cut off");
    if (m->method == ZIP_STORED && m->compressed != m->uncompressed)
        return malformed("stored member of two sizes");
    if (m->method != ZIP_STORED && m->method != ZIP_DEFLATED)
        return rmcp_fail(RMCP_E_IO, "zip: compression method %u", (unsigned)m->method);
    *out = bytes + data;
    return RMCP_OK;
}

/* Without the checksum. */
static rmcp_status unpack(struct walk *walk, const struct zip *zip, const struct zip_member *m,
                          struct spool *spool, const uint8_t **out)
{
    size_t used;
    const uint8_t *data = NULL;
    rmcp_status status = zip_data(zip, m, &data);
    *out = data;
    if (status || m->method == ZIP_STORED) return status;
    status = walk_decompress(walk, METHOD_RAW_DEFLATE, data, (size_t)m->compressed, m->uncompressed,
                             spool, &used);
    *out = spool->bytes;
    return status;
}

rmcp_status zip_extract(const struct zip *zip, const struct zip_member *m, uint64_t most,
                        struct spool *spool, const uint8_t **out)
{
    struct walk *walk = calloc(1, sizeof *walk);
    *out = NULL;
    spool_init(spool, 0);
    if (!walk) return rmcp_fail_memory("member of a zip file", sizeof *walk);
    walk_init(walk, &(struct codeobj_limits){ .blob_bytes = most, .total_bytes = most }, NULL,
              NULL);
    spool_init(spool, walk->limits.heap_bytes);
    rmcp_status status = unpack(walk, zip, m, spool, out);
    if (!status) status = zip_check(m, *out, m->uncompressed);
    free(walk);
    return status;
}

static rmcp_status walk_member(struct walk *walk, const struct zip *zip, const struct zip_member *m)
{
    struct spool spool;
    const uint8_t *contents = NULL;
    if (!m->uncompressed) return RMCP_OK; /* also folders */
    size_t before = walk_enter(walk, "%.*s", (int)m->name_length, m->name);
    spool_init(&spool, walk->limits.heap_bytes);
    rmcp_status status = unpack(walk, zip, m, &spool, &contents);
    if (!status) status = zip_check(m, contents, m->uncompressed);
    if (status)
        status = walk_trouble(walk, status);
    else
        status = walk_blob(walk, contents, (size_t)m->uncompressed);
    spool_deinit(&spool);
    walk_leave(walk, before);
    return status;
}

rmcp_status walk_zip(struct walk *walk, const uint8_t *bytes, size_t size)
{
    struct zip zip;
    rmcp_status status = zip_open(&zip, bytes, size);
    if (status) return walk_trouble(walk, status);
    for (uint64_t i = 0; !status && i < zip.n; i++) {
        struct zip_member m;
        status = zip_next(&zip, &m);
        if (status) return walk_trouble(walk, status);
        status = walk_member(walk, &zip, &m);
    }
    return status;
}
