/* bundle.c: clang offload bundles, plain (__CLANG_OFFLOAD_BUNDLE__) and compressed (CCOB). */
#include <string.h>

#include "code/codeobj/bytes.h"
#include "code/codeobj/elf.h"
#include "code/codeobj/walker.h"

enum {
    BUNDLE_HEADER = BUNDLE_MAGIC_BYTES + 8,
    ENTRY_HEADER = 24, /* offset, size, length of the id; then the id */
    MAX_ENTRIES = 4096,
    LONGEST_ID = 1024
};

struct bundle_entry {
    uint64_t offset, size, id_length;
    const uint8_t *id;
};

static bool read_entry(const uint8_t *bytes, size_t size, size_t *at, struct bundle_entry *entry)
{
    if (!in_range(*at, ENTRY_HEADER, size)) return false;
    const uint8_t *head = bytes + *at;
    *entry = (struct bundle_entry){ load_u64(head), load_u64(head + 8), load_u64(head + 16),
                                    head + ENTRY_HEADER };
    if (entry->id_length > LONGEST_ID || !in_range(*at + ENTRY_HEADER, entry->id_length, size))
        return false;
    *at += ENTRY_HEADER + (size_t)entry->id_length;
    return true;
}

rmcp_status bundle_check(const uint8_t *bytes, size_t size, struct bundle *bundle)
{
    if (size < BUNDLE_HEADER || memcmp(bytes, BUNDLE_MAGIC, BUNDLE_MAGIC_BYTES))
        return rmcp_fail(RMCP_E_IO, "not an offload bundle");
    uint64_t n = load_u64(bytes + BUNDLE_MAGIC_BYTES), total = 0;
    if (!n || n > MAX_ENTRIES)
        return rmcp_fail(RMCP_E_IO, "offload bundle of %llu entries", (unsigned long long)n);
    size_t at = BUNDLE_HEADER, extent = 0;
    for (uint64_t i = 0; i < n; i++) {
        struct bundle_entry entry;
        if (!read_entry(bytes, size, &at, &entry))
            return rmcp_fail(RMCP_E_IO, "offload bundle: its table is cut off at entry %llu",
                             (unsigned long long)i);
        if (!entry.size) continue;
        if (!in_range(entry.offset, entry.size, size))
            return rmcp_fail(RMCP_E_IO, "offload bundle: entry %llu ends beyond the file",
                             (unsigned long long)i);
        total += entry.size;
        if (extent < entry.offset + entry.size) extent = (size_t)(entry.offset + entry.size);
    }
    if (extent < at) extent = at;
    /* Overlapping entries would make a small file into much work. */
    if (total > extent) return rmcp_fail(RMCP_E_IO, "offload bundle: its entries overlap");
    *bundle = (struct bundle){ n, extent };
    return RMCP_OK;
}

static rmcp_status walk_entry(struct walk *walk, const uint8_t *bytes,
                              const struct bundle_entry *entry, uint64_t offset)
{
    const uint8_t *at = bytes + entry->offset;
    size_t size = (size_t)entry->size;
    uint16_t machine = 0;
    offset += entry->offset;
    if (elf_is(at, size, &machine) && machine == EM_AMDGPU)
        return walk_object(walk, at, size, offset);
    if (size >= 4 && !memcmp(at, "BC\300\336", 4))
        return walk_other(walk, at, size, offset, "LLVM bitcode");
    if (size >= 4 && load_u32(at) == 0x07230203)
        return walk_other(walk, at, size, offset, "SPIR-V");
    return walk_blob(walk, at, size);
}

rmcp_status walk_bundle(struct walk *walk, const uint8_t *bytes, const struct bundle *bundle,
                        uint64_t offset)
{
    size_t at = BUNDLE_HEADER;
    rmcp_status status = RMCP_OK;
    for (uint64_t i = 0; !status && i < bundle->n; i++) {
        struct bundle_entry entry;
        char id[LONGEST_ID + 1];
        if (!read_entry(bytes, bundle->extent, &at, &entry)) break; /* checked before */
        memcpy(id, entry.id, (size_t)entry.id_length);
        id[entry.id_length] = 0;
        if (!entry.size || !strncmp(id, "host", 4)) continue;
        const char *outer = walk->entry_id;
        size_t before = walk_enter(walk, "%s", id);
        walk->entry_id = id;
        status = walk_entry(walk, bytes, &entry, offset);
        walk->entry_id = outer;
        walk_leave(walk, before);
    }
    return status;
}

struct compressed {
    size_t header;
    uint64_t file_size; /* header and data; 0 in version 1, which does not say */
    uint64_t uncompressed;
    enum method method;
};

/* clang's OffloadBundler: magic, version, method, then by version: 1: size, hash; 2: file size and
 * size in 32 bits each, hash; 3: the same in 64 bits. */
static bool read_compressed(const uint8_t *bytes, size_t size, struct compressed *c)
{
    if (size < COMPRESSED_HEADER_MOST || memcmp(bytes, "CCOB", 4)) return false;
    unsigned version = load_u16(bytes + 4), method = load_u16(bytes + 6);
    *c = (struct compressed){ .method = method ? METHOD_ZSTD : METHOD_ZLIB };
    if (version == 1) {
        c->header = 20;
        c->uncompressed = load_u32(bytes + 8);
    } else if (version == 2) {
        c->header = 24;
        c->file_size = load_u32(bytes + 8);
        c->uncompressed = load_u32(bytes + 12);
    } else if (version == 3) {
        c->header = 32;
        c->file_size = load_u64(bytes + 8);
        c->uncompressed = load_u64(bytes + 16);
    } else {
        return false;
    }
    if (size < c->header + 4) return false;
    const uint8_t *data = bytes + c->header;
    if (method == 0) return (data[0] & 0xf) == 8 && (data[0] << 8 | data[1]) % 31 == 0;
    return method == 1 && load_u32(data) == 0xfd2fb528;
}

bool compressed_bundle_is(const uint8_t *bytes, size_t size)
{
    struct compressed c;
    return read_compressed(bytes, size, &c);
}

static rmcp_status decompress(struct walk *walk, const struct compressed *c, const uint8_t *bytes,
                              size_t size, struct spool *spool, size_t *used)
{
    *used = c->header;
    if (c->file_size && (c->file_size < c->header || c->file_size > size))
        return rmcp_fail(RMCP_E_IO, "compressed bundle: %llu bytes announced, %zu left",
                         (unsigned long long)c->file_size, size);
    size_t end = c->file_size ? (size_t)c->file_size : size, taken;
    rmcp_status status = walk_decompress(walk, c->method, bytes + c->header, end - c->header,
                                         c->uncompressed, spool, &taken);
    *used = !status && c->file_size ? end : c->header + taken;
    return status;
}

rmcp_status compressed_bundle_unpack(const uint8_t *bytes, size_t size, struct spool *spool,
                                     size_t *used)
{
    struct compressed c;
    struct walk walk; /* for its limits */
    *used = 0;
    if (!read_compressed(bytes, size, &c))
        return rmcp_fail(RMCP_E_IO, "compressed bundle of unknown form");
    walk_init(&walk, NULL, NULL, NULL);
    spool_init(spool, walk.limits.heap_bytes);
    return decompress(&walk, &c, bytes, size, spool, used);
}

/* One bundle, and at most the padding of its last entry behind it. */
static bool is_one_bundle(const struct spool *spool, struct bundle *bundle)
{
    if (bundle_check(spool->bytes, spool->size, bundle)) return false;
    for (size_t i = bundle->extent; i < spool->size; i++)
        if (spool->bytes[i]) return false;
    return true;
}

rmcp_status walk_compressed_bundle(struct walk *walk, const uint8_t *bytes, size_t size,
                                   size_t *used)
{
    struct compressed c;
    struct bundle bundle;
    struct spool spool;
    *used = 4;
    if (!read_compressed(bytes, size, &c))
        return walk_trouble(walk, rmcp_fail(RMCP_E_IO, "compressed bundle of unknown form"));
    spool_init(&spool, walk->limits.heap_bytes);
    rmcp_status status = decompress(walk, &c, bytes, size, &spool, used);
    if (status)
        status = walk_trouble(walk, status);
    else if (spool.size && is_one_bundle(&spool, &bundle))
        status = walk_bundle(walk, spool.bytes, &bundle, 0);
    else if (spool.size)
        status = walk_blob(walk, spool.bytes, spool.size);
    spool_deinit(&spool);
    return status;
}
