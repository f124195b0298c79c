/* write_bundle.c: offload bundles, plain and compressed, with entries changed and added. */
#include <stdlib.h>
#include <string.h>
#include <zlib.h>
#include <zstd.h>

#include "base/round.h"
#include "code/codeobj/arena.h"
#include "code/codeobj/bytes.h"
#include "code/codeobj/md5.h"
#include "code/codeobj/write_containers.h"

enum { ENTRY_HEADER = 24, DEFAULT_ALIGN = 4096, ZSTD_LEVEL = 3 };

struct codeobj_bundle_own {
    struct codeobj_arena *arena;
    struct spool spool; /* when it was compressed */
    size_t room;
};

static rmcp_status make_room(struct codeobj_bundle *bundle, size_t n)
{
    if (n <= bundle->own->room) return RMCP_OK;
    struct codeobj_entry *grown = arena_alloc(bundle->own->arena, 2 * n, sizeof *grown);
    if (!grown) return rmcp_fail_memory("entries", n);
    if (bundle->n) memcpy(grown, bundle->entries, bundle->n * sizeof *grown);
    bundle->entries = grown;
    bundle->own->room = 2 * n;
    return RMCP_OK;
}

static rmcp_status read_plain(struct codeobj_bundle *bundle, const uint8_t *bytes, size_t size,
                              size_t *extent)
{
    struct bundle found;
    rmcp_status status = bundle_check(bytes, size, &found);
    if (!status) status = make_room(bundle, (size_t)found.n);
    if (status) return status;
    size_t at = BUNDLE_MAGIC_BYTES + 8;
    uint64_t low_bits = DEFAULT_ALIGN;
    for (uint64_t i = 0; i < found.n; i++) {
        const uint64_t offset = load_u64(bytes + at), length = load_u64(bytes + at + 16);
        const size_t entry_size = (size_t)load_u64(bytes + at + 8);
        const char *id =
            arena_string(bundle->own->arena, bytes + at + ENTRY_HEADER, (size_t)length);
        if (!id) return rmcp_fail_memory("name of an entry", (size_t)length);
        if (strlen(id) != length) return rmcp_fail(RMCP_E_IO, "a zero in the name of an entry");
        bundle->entries[bundle->n++] =
            (struct codeobj_entry){ id, entry_size ? bytes + offset : NULL, entry_size };
        low_bits |= offset;
        at += ENTRY_HEADER + (size_t)length;
    }
    bundle->align = low_bits & (0 - low_bits); /* the lowest bit of any offset */
    *extent = found.extent;
    return RMCP_OK;
}

static rmcp_status read_compressed(struct codeobj_bundle *bundle, const uint8_t *bytes, size_t size)
{
    size_t extent;
    bundle->compressed = load_u16(bytes + 4);
    bundle->zstd = load_u16(bytes + 6) == 1;
    rmcp_status status =
        compressed_bundle_unpack(bytes, size, &bundle->own->spool, &bundle->extent);
    if (status) return status;
    return read_plain(bundle, bundle->own->spool.bytes, bundle->own->spool.size, &extent);
}

rmcp_status codeobj_bundle_open(const void *bytes, size_t size, struct codeobj_bundle **out)
{
    if (!out) return rmcp_fail(RMCP_E_ARG, "out is NULL");
    *out = NULL;
    struct codeobj_arena *arena = arena_create();
    struct codeobj_bundle *bundle = arena ? arena_alloc(arena, 1, sizeof *bundle) : NULL;
    struct codeobj_bundle_own *own = bundle ? arena_alloc(arena, 1, sizeof *own) : NULL;
    if (!own) {
        arena_destroy(arena);
        return rmcp_fail_memory("bundle", sizeof *bundle);
    }
    own->arena = arena;
    spool_init(&own->spool, 0);
    bundle->own = own;
    rmcp_status status;
    if (compressed_bundle_is(bytes, size))
        status = read_compressed(bundle, bytes, size);
    else
        status = read_plain(bundle, bytes, size, &bundle->extent);
    if (status)
        codeobj_bundle_close(bundle);
    else
        *out = bundle;
    return status;
}

void codeobj_bundle_close(struct codeobj_bundle *bundle)
{
    if (!bundle) return;
    spool_deinit(&bundle->own->spool);
    arena_destroy(bundle->own->arena); /* the bundle itself, too */
}

const char *codeobj_bundle_text(struct codeobj_bundle *bundle, const char *text)
{
    return arena_string(bundle->own->arena, text, strlen(text));
}

rmcp_status codeobj_bundle_set(struct codeobj_bundle *bundle, const char *id, const void *bytes,
                               size_t size)
{
    for (size_t i = 0; i < bundle->n; i++)
        if (!strcmp(bundle->entries[i].id, id)) {
            bundle->entries[i].bytes = bytes;
            bundle->entries[i].size = size;
            return RMCP_OK;
        }
    rmcp_status status = make_room(bundle, bundle->n + 1);
    if (status) return status;
    const char *copy = codeobj_bundle_text(bundle, id);
    if (!copy) return rmcp_fail_memory("name of an entry", strlen(id));
    bundle->entries[bundle->n++] = (struct codeobj_entry){ copy, bytes, size };
    return RMCP_OK;
}

static rmcp_status write_plain(const struct codeobj_bundle *bundle, struct buffer *out)
{
    uint64_t end = BUNDLE_MAGIC_BYTES + 8;
    for (size_t i = 0; i < bundle->n; i++) end += ENTRY_HEADER + strlen(bundle->entries[i].id);
    buffer_add(out, BUNDLE_MAGIC, BUNDLE_MAGIC_BYTES);
    buffer_add_u64(out, bundle->n);
    for (size_t i = 0; i < bundle->n; i++) {
        const struct codeobj_entry *entry = &bundle->entries[i];
        end = rmcp_round_up(end, bundle->align);
        buffer_add_u64(out, end);
        buffer_add_u64(out, entry->size);
        buffer_add_u64(out, strlen(entry->id));
        buffer_add(out, entry->id, strlen(entry->id));
        end += entry->size;
    }
    for (size_t i = 0; i < bundle->n; i++) {
        buffer_align(out, (size_t)bundle->align);
        buffer_add(out, bundle->entries[i].bytes, bundle->entries[i].size);
    }
    return buffer_status(out);
}

static rmcp_status pack_zlib(const struct buffer *plain, uint8_t *to, size_t *size)
{
    uLongf packed = (uLongf)*size;
    if (compress2(to, &packed, plain->bytes, (uLong)plain->size, Z_BEST_SPEED) != Z_OK)
        return rmcp_fail(RMCP_E_INTERNAL, "zlib could not compress %zu bytes", plain->size);
    *size = packed;
    return RMCP_OK;
}

static rmcp_status pack_zstd(const struct buffer *plain, uint8_t *to, size_t *size)
{
    const size_t packed = ZSTD_compress(to, *size, plain->bytes, plain->size, ZSTD_LEVEL);
    if (ZSTD_isError(packed))
        return rmcp_fail(RMCP_E_INTERNAL, "zstd: %s", ZSTD_getErrorName(packed));
    *size = packed;
    return RMCP_OK;
}

/* Magic, version, method, sizes by version, the first half of the MD5 of what is packed. */
static rmcp_status pack(const struct codeobj_bundle *bundle, const struct buffer *plain,
                        uint8_t **out, size_t *out_size)
{
    const bool wide = plain->size > UINT32_MAX / 2;
    /* Version 2 has 32 bits for its sizes; version 3 is the same with 64. */
    const unsigned version = wide ? 3 : bundle->compressed;
    const size_t header = version == 1 ? 20 : version == 2 ? 24 : 32;
    size_t size = bundle->zstd ? ZSTD_compressBound(plain->size) : compressBound(plain->size);
    uint8_t *bytes = malloc(header + size), digest[16];
    if (!bytes) return rmcp_fail_memory("compressed bundle", header + size);
    rmcp_status status = bundle->zstd ? pack_zstd(plain, bytes + header, &size)
                                      : pack_zlib(plain, bytes + header, &size);
    if (status) {
        free(bytes);
        return status;
    }
    memcpy(bytes, "CCOB", 4);
    store_u16(bytes + 4, (uint16_t)version);
    store_u16(bytes + 6, bundle->zstd);
    if (version == 1) {
        store_u32(bytes + 8, (uint32_t)plain->size);
    } else if (version == 2) {
        store_u32(bytes + 8, (uint32_t)(header + size));
        store_u32(bytes + 12, (uint32_t)plain->size);
    } else {
        store_u64(bytes + 8, header + size);
        store_u64(bytes + 16, plain->size);
    }
    md5(plain->bytes, plain->size, digest);
    memcpy(bytes + header - 8, digest, 8);
    *out = bytes;
    *out_size = header + size;
    return RMCP_OK;
}

rmcp_status codeobj_bundle_write(const struct codeobj_bundle *bundle, uint8_t **out,
                                 size_t *out_size)
{
    struct buffer plain = { 0 };
    *out = NULL;
    *out_size = 0;
    rmcp_status status = write_plain(bundle, &plain);
    if (!status && bundle->compressed) {
        status = pack(bundle, &plain, out, out_size);
    } else if (!status) {
        *out = plain.bytes;
        *out_size = plain.size;
        return RMCP_OK;
    }
    buffer_deinit(&plain);
    return status;
}
