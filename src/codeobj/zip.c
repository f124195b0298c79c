/* zip.c: zip files and wheels by their central directory; stored and deflated members, zip64. */
#include <string.h>
#include <zlib.h>

#include "codeobj/bytes.h"
#include "codeobj/walker.h"

enum {
    END_BYTES = 22,
    END64_BYTES = 56,
    LOCATOR_BYTES = 20,
    CENTRAL_BYTES = 46,
    LOCAL_BYTES = 30,
    MOST_COMMENT = 65535
};

struct directory {
    uint64_t offset, size, n;
};

struct member {
    uint32_t flags, method, crc;
    uint64_t compressed, uncompressed, header;
    const uint8_t *name;
    size_t name_length;
};

static rmcp_status malformed(const char *what)
{
    return rmcp_fail(RMCP_E_IO, "zip: %s", what);
}

static rmcp_status find_directory(const uint8_t *bytes, size_t size, struct directory *out)
{
    if (size < END_BYTES) return malformed("too short");
    size_t at = size - END_BYTES;
    size_t last = at > MOST_COMMENT ? at - MOST_COMMENT : 0;
    while (load_u32(bytes + at) != 0x06054b50 || load_u16(bytes + at + 20) > size - END_BYTES - at)
        if (at-- == last) return malformed("no end record; cut off?");
    *out = (struct directory){ load_u32(bytes + at + 16), load_u32(bytes + at + 12),
                               load_u16(bytes + at + 10) };
    if (at >= LOCATOR_BYTES && load_u32(bytes + at - LOCATOR_BYTES) == 0x07064b50) {
        uint64_t end64 = load_u64(bytes + at - LOCATOR_BYTES + 8);
        if (!in_range(end64, END64_BYTES, size) || load_u32(bytes + end64) != 0x06064b50)
            return malformed("zip64 end record is not where it should be");
        *out = (struct directory){ load_u64(bytes + end64 + 48), load_u64(bytes + end64 + 40),
                                   load_u64(bytes + end64 + 32) };
    }
    if (!in_range(out->offset, out->size, size) || out->n > out->size / CENTRAL_BYTES)
        return malformed("central directory is not within the file");
    return RMCP_OK;
}

/* Sizes of 0xffffffff are in the extra field 1, each only when it is needed. */
static bool read_zip64(const uint8_t *extra, size_t length, struct member *m)
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

static rmcp_status read_member(const uint8_t *bytes, const struct directory *directory,
                               uint64_t *at, struct member *m)
{
    uint64_t end = directory->offset + directory->size;
    if (!in_range(*at, CENTRAL_BYTES, end) || load_u32(bytes + *at) != 0x02014b50)
        return malformed("central directory is cut off");
    const uint8_t *head = bytes + *at;
    size_t name = load_u16(head + 28), extra = load_u16(head + 30), comment = load_u16(head + 32);
    *m = (struct member){ .flags = load_u16(head + 8),
                          .method = load_u16(head + 10),
                          .crc = load_u32(head + 16),
                          .compressed = load_u32(head + 20),
                          .uncompressed = load_u32(head + 24),
                          .header = load_u32(head + 42),
                          .name = head + CENTRAL_BYTES,
                          .name_length = name };
    if (!in_range(*at + CENTRAL_BYTES, name + extra + comment, end))
        return malformed("central directory is cut off");
    *at += CENTRAL_BYTES + name + extra + comment;
    if ((m->compressed == 0xffffffff || m->uncompressed == 0xffffffff || m->header == 0xffffffff) &&
        !read_zip64(m->name + name, extra, m))
        return malformed("zip64 sizes are missing");
    return RMCP_OK;
}

static rmcp_status check_crc(const struct member *m, const uint8_t *bytes, uint64_t size)
{
    uLong crc = crc32(0, NULL, 0);
    while (size) {
        uInt n = size < 1 << 30 ? (uInt)size : 1 << 30;
        crc = crc32(crc, bytes, n);
        bytes += n;
        size -= n;
    }
    return crc == m->crc ? RMCP_OK : malformed("checksum of the member is wrong");
}

/* The member's bytes: in the file itself when stored, else in the spool. */
static rmcp_status extract(struct walk *walk, const uint8_t *bytes, size_t size,
                           const struct member *m, struct spool *spool, const uint8_t **out)
{
    size_t used;
    if (m->flags & 1) return malformed("the member is encrypted");
    if (!in_range(m->header, LOCAL_BYTES, size) || load_u32(bytes + m->header) != 0x04034b50)
        return malformed("no local header where the directory says");
    uint64_t data = m->header + LOCAL_BYTES + load_u16(bytes + m->header + 26) +
                    load_u16(bytes + m->header + 28);
    if (!in_range(data, m->compressed, size)) return malformed("the member is cut off");
    if (m->method == 0) {
        if (m->compressed != m->uncompressed) return malformed("stored member of two sizes");
        *out = bytes + data;
        return RMCP_OK;
    }
    if (m->method != 8)
        return rmcp_fail(RMCP_E_IO, "zip: compression method %u", (unsigned)m->method);
    rmcp_status status = walk_decompress(walk, METHOD_RAW_DEFLATE, bytes + data,
                                         (size_t)m->compressed, m->uncompressed, spool, &used);
    *out = spool->bytes;
    return status;
}

static rmcp_status walk_member(struct walk *walk, const uint8_t *bytes, size_t size,
                               const struct member *m)
{
    struct spool spool;
    const uint8_t *contents = NULL;
    if (!m->uncompressed) return RMCP_OK; /* also folders */
    size_t before = walk_enter(walk, "%.*s", (int)m->name_length, (const char *)m->name);
    spool_init(&spool, walk->limits.heap_bytes);
    rmcp_status status = extract(walk, bytes, size, m, &spool, &contents);
    if (!status) status = check_crc(m, contents, m->uncompressed);
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
    struct directory directory = { 0 };
    rmcp_status status = find_directory(bytes, size, &directory);
    if (status) return walk_trouble(walk, status);
    uint64_t at = directory.offset, total = 0;
    for (uint64_t i = 0; !status && i < directory.n; i++) {
        struct member m = { 0 };
        status = read_member(bytes, &directory, &at, &m);
        /* Members that share bytes are how a small file becomes endless work. */
        if (!status && (m.compressed > size || (total += m.compressed) > size))
            status = malformed("members overlap");
        if (status) return walk_trouble(walk, status);
        status = walk_member(walk, bytes, size, &m);
    }
    return status;
}
