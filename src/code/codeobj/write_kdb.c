/* write_kdb.c: MIOpen's kernel databases with other code objects; see kdb.c for their form. */
#include <bzlib.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "code/codeobj/database.h"
#include "code/codeobj/md5.h"
#include "code/codeobj/write_containers.h"

enum { BLOCK_100K = 9 };

struct kdb {
    struct rewriting *r;
    sqlite3 *db;
    sqlite3_stmt *update;
    bool changed;
};

/* A copy that SQLite owns and may let grow. */
static rmcp_status open_copy(const uint8_t *bytes, size_t size, sqlite3 **db)
{
    unsigned char *copy = sqlite3_malloc64(size);
    if (!copy) return rmcp_fail_memory("kernel database", size);
    memcpy(copy, bytes, size);
    copy[18] = copy[19] = 1; /* not in write-ahead mode: there are no other files */
    return database_open(copy, size, SQLITE_DESERIALIZE_FREEONCLOSE | SQLITE_DESERIALIZE_RESIZEABLE,
                         "kern_db", db);
}

static rmcp_status unpack(struct rewriting *r, const uint8_t *blob, size_t size,
                          sqlite3_int64 uncompressed, struct spool *spool)
{
    size_t used;
    spool_init(spool, r->walk.limits.heap_bytes);
    if (uncompressed < 0) return rmcp_fail(RMCP_E_IO, "a negative size in the kernel database");
    return walk_decompress(&r->walk, METHOD_BZIP2, blob, size, (uint64_t)uncompressed, spool,
                           &used);
}

static rmcp_status pack(const uint8_t *bytes, size_t size, uint8_t **out, unsigned *out_size)
{
    if (size > DATABASE_LARGEST_BLOB)
        return rmcp_fail(RMCP_E_UNSUPPORTED, "a code object of %zu bytes in a database", size);
    *out_size = (unsigned)(size + size / 100 + 600); /* what bzip2 asks for */
    *out = malloc(*out_size);
    if (!*out) return rmcp_fail_memory("compressed object", *out_size);
    if (BZ2_bzBuffToBuffCompress((char *)*out, out_size, (char *)(uintptr_t)bytes, (unsigned)size,
                                 BLOCK_100K, 0, 0) == BZ_OK)
        return RMCP_OK;
    free(*out);
    *out = NULL;
    return rmcp_fail(RMCP_E_INTERNAL, "bzip2 could not compress %zu bytes", size);
}

static void hex(const uint8_t digest[16], char out[33])
{
    static const char digits[] = "0123456789abcdef";
    for (int i = 0; i < 16; i++) {
        out[2 * i] = digits[digest[i] >> 4];
        out[2 * i + 1] = digits[digest[i] & 15];
    }
    out[32] = 0;
}

/* Options name the chip, and MIOpen looks the kernel up by them. */
static void rename_chip(const struct rewriting *r, const char *text, struct buffer *out)
{
    const size_t length = strlen(r->changed_from);
    for (const char *at = text; length && (at = strstr(text, r->changed_from));
         text = at + length) {
        buffer_add(out, text, (size_t)(at - text));
        buffer_add(out, r->changed_to, strlen(r->changed_to));
    }
    buffer_add(out, text, strlen(text) + 1);
}

static rmcp_status update(struct kdb *k, sqlite3_stmt *row, const uint8_t *bytes, size_t size)
{
    const unsigned char *arguments = sqlite3_column_text(row, 4);
    const bool compressed = sqlite3_column_int64(row, 3) != 0;
    uint8_t *packed = NULL, digest[16];
    unsigned packed_size = 0;
    char hash[33];
    struct buffer text = { 0 };
    rmcp_status status = compressed ? pack(bytes, size, &packed, &packed_size) : RMCP_OK;
    rename_chip(k->r, arguments ? (const char *)arguments : "", &text);
    if (!status) status = buffer_status(&text);
    if (!status) {
        md5(bytes, size, digest);
        hex(digest, hash);
        sqlite3_stmt *u = k->update;
        sqlite3_reset(u);
        if (sqlite3_bind_blob64(u, 1, compressed ? packed : bytes, compressed ? packed_size : size,
                                SQLITE_STATIC) ||
            sqlite3_bind_text(u, 2, hash, -1, SQLITE_STATIC) ||
            sqlite3_bind_int64(u, 3, compressed ? (sqlite3_int64)size : 0) ||
            sqlite3_bind_text(u, 4, (const char *)text.bytes, -1, SQLITE_STATIC) ||
            sqlite3_bind_int64(u, 5, sqlite3_column_int64(row, 0)) ||
            sqlite3_step(u) != SQLITE_DONE)
            status = database_failed(k->db, "changing a row");
        sqlite3_reset(u);
        sqlite3_clear_bindings(u);
    }
    buffer_deinit(&text);
    free(packed);
    return status;
}

static rmcp_status rewrite_row(struct kdb *k, sqlite3_stmt *row)
{
    const uint8_t *blob = sqlite3_column_blob(row, 2);
    size_t size = (size_t)sqlite3_column_bytes(row, 2), out_size = 0;
    const sqlite3_int64 uncompressed = sqlite3_column_int64(row, 3);
    const unsigned char *name = sqlite3_column_text(row, 1);
    uint8_t *out = NULL;
    struct spool spool;
    rmcp_status status = RMCP_OK;
    if (!blob || !size) return RMCP_OK;
    spool_init(&spool, 0);
    const size_t before =
        walk_enter(&k->r->walk, "row %lld %s", (long long)sqlite3_column_int64(row, 0),
                   name ? (const char *)name : "");
    *k->r->changed_from = 0;
    if (uncompressed) {
        status = unpack(k->r, blob, size, uncompressed, &spool);
        blob = spool.bytes;
        size = spool.size;
    }
    if (!status && size) status = rewrite_blob(k->r, blob, size, &out, &out_size);
    if (!status && out) {
        status = update(k, row, out, out_size);
        k->changed = true;
    }
    walk_leave(&k->r->walk, before);
    spool_deinit(&spool);
    free(out);
    return status;
}

/* Keys first: rows that change while they are listed may be seen twice. */
static rmcp_status rewrite_rows(struct kdb *k, sqlite3_stmt *keys, sqlite3_stmt *row, size_t size)
{
    rmcp_status status = RMCP_OK;
    uint64_t total = 0;
    struct buffer list = { 0 };
    int result;
    while ((result = sqlite3_step(keys)) == SQLITE_ROW && list.size < size) {
        const sqlite3_int64 key = sqlite3_column_int64(keys, 0);
        buffer_add(&list, &key, sizeof key);
    }
    if (result != SQLITE_DONE) status = database_failed(k->db, "its rows");
    if (!status) status = buffer_status(&list);
    for (size_t at = 0; !status && at < list.size; at += sizeof(sqlite3_int64)) {
        sqlite3_int64 key;
        memcpy(&key, list.bytes + at, sizeof key);
        if (sqlite3_bind_int64(row, 1, key) || sqlite3_step(row) != SQLITE_ROW) {
            status = database_failed(k->db, "a row");
        } else {
            total += 8 + (uint64_t)sqlite3_column_bytes(row, 2);
            status = total > size ? rmcp_fail(RMCP_E_IO, "SQLite: its rows overlap")
                                  : rewrite_row(k, row);
        }
        sqlite3_reset(row);
    }
    buffer_deinit(&list);
    return status;
}

static rmcp_status write_out(struct kdb *k, struct codeobj_output *output)
{
    sqlite3_int64 size = 0;
    if (!k->changed) return RMCP_OK;
    sqlite3_set_authorizer(k->db, NULL, NULL);
    unsigned char *bytes = sqlite3_serialize(k->db, "main", &size, SQLITE_SERIALIZE_NOCOPY);
    if (!bytes) return database_failed(k->db, "writing");
    return codeobj_output_write(output, bytes, (size_t)size);
}

rmcp_status rewrite_kdb(struct rewriting *r, const uint8_t *bytes, size_t size,
                        struct codeobj_output *output)
{
    struct kdb k = { .r = r };
    sqlite3_stmt *keys = NULL, *row = NULL;
    unsigned steps = DATABASE_MOST_STEPS;
    if (size < DATABASE_HEADER_BYTES) return rmcp_fail(RMCP_E_IO, "SQLite: cut off in its header");
    rmcp_status status = open_copy(bytes, size, &k.db);
    if (!status) sqlite3_progress_handler(k.db, 1000000, database_count_steps, &steps);
    if (!status && (sqlite3_prepare_v2(k.db, "SELECT rowid FROM kern_db", -1, &keys, NULL) ||
                    sqlite3_prepare_v2(k.db,
                                       "SELECT rowid, kernel_name, kernel_blob, uncompressed_size, "
                                       "kernel_args FROM kern_db WHERE rowid = ?1",
                                       -1, &row, NULL) ||
                    sqlite3_prepare_v2(k.db,
                                       "UPDATE kern_db SET kernel_blob = ?1, kernel_hash = ?2, "
                                       "uncompressed_size = ?3, kernel_args = ?4 WHERE rowid = ?5",
                                       -1, &k.update, NULL)))
        status = database_failed(k.db, "kern_db");
    if (!status) status = rewrite_rows(&k, keys, row, size);
    sqlite3_finalize(keys);
    sqlite3_finalize(row);
    sqlite3_finalize(k.update);
    if (!status) status = write_out(&k, output);
    sqlite3_close(k.db);
    return status;
}
