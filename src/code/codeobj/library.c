/* library.c: what a GPU library has code for, read from its headers in milliseconds. */
#include <stdlib.h>
#include <string.h>
#include <zlib.h>
#include <zstd.h>

#include "code/codeobj/bytes.h"
#include "code/codeobj/elf.h"
#include "code/codeobj/walker.h"

enum {
    TABLE = 1 << 14, /* bytes of a compressed bundle that hold its table */
    GAP = 1 << 16,   /* padding between bundles                          */
    MOST_BUNDLES = 4096,
    MOST_DYNAMIC = 4096,
    SHT_DYNAMIC = 6,
    DT_SONAME = 14
};

/* The ids in the table of a bundle, of which at least the table is there. */
static void read_table(const struct codeobj_library_reader *reader, const uint8_t *bytes,
                       size_t size)
{
    if (size < BUNDLE_MAGIC_BYTES + 8 || memcmp(bytes, BUNDLE_MAGIC, BUNDLE_MAGIC_BYTES)) return;
    uint64_t n = load_u64(bytes + BUNDLE_MAGIC_BYTES);
    size_t at = BUNDLE_MAGIC_BYTES + 8;
    for (; n && in_range(at, 24, size); n--) {
        const uint64_t length = load_u64(bytes + at + 16);
        at += 24;
        if (!in_range(at, length, size)) return;
        reader->target(reader->context, (const char *)bytes + at, (size_t)length);
        at += (size_t)length;
    }
}

/* A compressed bundle: only as much as its table needs. Returns its size in the file, 0: unknown.
 */
static uint64_t read_compressed(const struct codeobj_library_reader *reader, const uint8_t *bytes,
                                size_t size)
{
    if (!compressed_bundle_is(bytes, size)) return 0;
    static const size_t headers[] = { 0, 20, 24, 32 };
    const unsigned version = load_u16(bytes + 4), method = load_u16(bytes + 6);
    const uint64_t file_size = version == 2   ? load_u32(bytes + 8)
                               : version == 3 ? load_u64(bytes + 8)
                                              : 0;
    const size_t header = headers[version], left = size - header;
    uint8_t *table = malloc(TABLE);
    size_t have = 0;
    if (!table) return 0;
    if (method == 1) {
        ZSTD_DStream *z = ZSTD_createDStream();
        ZSTD_inBuffer in = { bytes + header, left, 0 };
        ZSTD_outBuffer to = { table, TABLE, 0 };
        while (z && to.pos < to.size && in.pos < in.size) {
            const size_t before_in = in.pos, before_out = to.pos;
            const size_t result = ZSTD_decompressStream(z, &to, &in);
            if (ZSTD_isError(result) || !result) break;
            if (in.pos == before_in && to.pos == before_out) break;
        }
        have = to.pos;
        ZSTD_freeDStream(z);
    } else {
        z_stream z = { .next_in = (Bytef *)(uintptr_t)(bytes + header),
                       .avail_in = left < 1 << 20 ? (uInt)left : 1 << 20,
                       .next_out = table,
                       .avail_out = TABLE };
        if (inflateInit(&z) == Z_OK) {
            inflate(&z, Z_SYNC_FLUSH);
            have = TABLE - z.avail_out;
            inflateEnd(&z);
        }
    }
    read_table(reader, table, have);
    free(table);
    return file_size;
}

/* All bundles of a section, one behind the other. */
static void read_bundles(const struct codeobj_library_reader *reader, const uint8_t *bytes,
                         size_t size)
{
    size_t at = 0;
    for (int n = 0; at < size && n < MOST_BUNDLES; n++) {
        struct bundle bundle;
        uint64_t used;
        if (!reader->go_on(reader->context)) return;
        if (!bundle_check(bytes + at, size - at, &bundle)) {
            read_table(reader, bytes + at, bundle.extent);
            used = bundle.extent;
        } else {
            used = read_compressed(reader, bytes + at, size - at);
        }
        if (!used || used > size - at) return;
        at += (size_t)used;
        const size_t end = size - at < GAP ? size : at + GAP;
        while (at < end && !bytes[at]) at++;
        if (at == end) return;
    }
}

static void read_soname(const struct codeobj_library_reader *reader, const struct elf_view *view,
                        const struct codeobj_section *dynamic)
{
    if (dynamic->link >= view->n_sections) return;
    const struct codeobj_section names = elf_section(view, dynamic->link);
    for (uint64_t at = 0; names.bytes && at + 16 <= dynamic->size && at < 16 * MOST_DYNAMIC;
         at += 16) {
        const uint64_t tag = load_u64(dynamic->bytes + at),
                       value = load_u64(dynamic->bytes + at + 8);
        if (!tag) return;
        if (tag != DT_SONAME || value >= names.size) continue;
        const char *name = (const char *)names.bytes + value;
        const size_t room = (size_t)(names.size - value);
        reader->soname(reader->context, name, strnlen(name, room));
        return;
    }
}

rmcp_status codeobj_library_read(const void *bytes, size_t size,
                                 const struct codeobj_library_reader *reader)
{
    struct elf_view view;
    if (!elf_is(bytes, size, NULL))
        return rmcp_fail(RMCP_E_IO, "not an ELF file: a torn download?");
    rmcp_status status = elf_view_init(&view, bytes, size);
    for (uint32_t i = 0; !status && i < view.n_sections; i++) {
        const struct codeobj_section section = elf_section(&view, i);
        if (!section.bytes) continue;
        if (!strcmp(section.name, ".hip_fatbin"))
            read_bundles(reader, section.bytes, (size_t)section.size);
        if (section.type == SHT_DYNAMIC) read_soname(reader, &view, &section);
    }
    return status;
}
