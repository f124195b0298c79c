/* kdb.c: MIOpen's kernel databases: SQLite, table kern_db, a bzip2-compressed object a row.
 *
 * MIOpen's kern_db.hpp: kernel_name TEXT, kernel_args TEXT, kernel_blob BLOB, kernel_hash TEXT,
 * uncompressed_size INT; the blob is plain where the size is 0. */
#include <stdlib.h>
#include <string.h>

#include "code/codeobj/database.h"
#include "code/codeobj/walker.h"

static rmcp_status walk_row(struct walk *walk, sqlite3_stmt *row)
{
    const uint8_t *blob = sqlite3_column_blob(row, 2);
    size_t size = (size_t)sqlite3_column_bytes(row, 2), used;
    sqlite3_int64 uncompressed = sqlite3_column_int64(row, 3);
    const unsigned char *name = sqlite3_column_text(row, 1);
    if (!blob || !size) return RMCP_OK;
    struct spool spool;
    size_t before = walk_enter(walk, "row %lld %s", (long long)sqlite3_column_int64(row, 0),
                               name ? (const char *)name : "");
    spool_init(&spool, walk->limits.heap_bytes);
    rmcp_status status = RMCP_OK;
    if (uncompressed < 0)
        status = rmcp_fail(RMCP_E_IO, "uncompressed_size is negative");
    else if (uncompressed)
        status =
            walk_decompress(walk, METHOD_BZIP2, blob, size, (uint64_t)uncompressed, &spool, &used);
    if (status)
        status = walk_trouble(walk, status);
    else if (uncompressed)
        status = walk_blob(walk, spool.bytes, spool.size);
    else
        status = walk_blob(walk, blob, size);
    spool_deinit(&spool);
    walk_leave(walk, before);
    return status;
}

static rmcp_status walk_rows(struct walk *walk, sqlite3 *db, size_t size)
{
    static const char query[] =
        "SELECT rowid, kernel_name, kernel_blob, uncompressed_size FROM kern_db";
    sqlite3_stmt *row = NULL;
    if (sqlite3_prepare_v2(db, query, -1, &row, NULL)) {
        /* Databases of other programs, and MIOpen's performance databases, have no such table. */
        bool other = strstr(sqlite3_errmsg(db), "no such table");
        return other ? RMCP_OK : walk_trouble(walk, database_failed(db, "kern_db"));
    }
    rmcp_status status = RMCP_OK;
    int result = SQLITE_OK;
    unsigned steps = DATABASE_MOST_STEPS;
    uint64_t total = 0;
    sqlite3_progress_handler(db, 100000, database_count_steps, &steps);
    while (!status && (steps = DATABASE_MOST_STEPS, result = sqlite3_step(row)) == SQLITE_ROW) {
        /* In a crafted file many rows may share their pages; a row takes some bytes anyway. */
        total += 8 + (uint64_t)sqlite3_column_bytes(row, 2);
        if (total > size) break;
        status = walk_row(walk, row);
    }
    if (!status && result != SQLITE_DONE)
        status = walk_trouble(walk, result == SQLITE_ROW
                                        ? rmcp_fail(RMCP_E_IO, "SQLite: its rows overlap")
                                        : database_failed(db, "rows"));
    sqlite3_finalize(row);
    return status;
}

rmcp_status walk_kdb(struct walk *walk, const uint8_t *bytes, size_t size)
{
    sqlite3 *db = NULL;
    uint8_t *copy = NULL;
    rmcp_status status = RMCP_OK;
    if (size < DATABASE_HEADER_BYTES)
        return walk_trouble(walk, rmcp_fail(RMCP_E_IO, "SQLite: cut off in its header"));
    if (bytes[18] == 2 || bytes[19] == 2) {
        /* Write-ahead log: SQLite wants the log's files. As it stands, without them. */
        copy = size <= walk->limits.heap_bytes ? malloc(size) : NULL;
        if (!copy)
            return walk_trouble(walk, rmcp_fail(RMCP_E_IO,
                                                "SQLite: in write-ahead mode, and %zu "
                                                "bytes are too many to copy",
                                                size));
        memcpy(copy, bytes, size);
        copy[18] = copy[19] = 1;
        bytes = copy;
    }
    /* The bytes are used where they are, and not written to. */
    status = database_open((unsigned char *)(uintptr_t)bytes, size, SQLITE_DESERIALIZE_READONLY,
                           NULL, &db);
    status = status ? walk_trouble(walk, status) : walk_rows(walk, db, size);
    sqlite3_close(db);
    free(copy);
    return status;
}
