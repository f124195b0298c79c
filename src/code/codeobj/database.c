/* database.c: SQLite on databases of unknown origin. */
#include "code/codeobj/database.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

rmcp_status database_failed(sqlite3 *db, const char *what)
{
    return rmcp_fail(RMCP_E_IO, "SQLite, %s: %s", what, db ? sqlite3_errmsg(db) : "no memory");
}

/* Reading, and changing rows of the one table that the context names: no more, whatever the schema
 * says. */
static int allow(void *context, int action, const char *a, const char *b, const char *c,
                 const char *d)
{
    (void)b, (void)c, (void)d;
    const char *writable = context;
    if (action == SQLITE_SELECT || action == SQLITE_READ) return SQLITE_OK;
    const bool change = action == SQLITE_UPDATE && writable && a && !strcmp(a, writable);
    return change ? SQLITE_OK : SQLITE_DENY;
}

rmcp_status database_open(unsigned char *bytes, size_t size, unsigned flags, const char *writable,
                          sqlite3 **db)
{
    if (sqlite3_open_v2(":memory:", db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_MEMORY, NULL)) {
        if (flags & SQLITE_DESERIALIZE_FREEONCLOSE) sqlite3_free(bytes);
        return database_failed(*db, "opening");
    }
    sqlite3_db_config(*db, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
    sqlite3_db_config(*db, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, NULL);
    sqlite3_db_config(*db, SQLITE_DBCONFIG_ENABLE_TRIGGER, 0, NULL);
    sqlite3_db_config(*db, SQLITE_DBCONFIG_ENABLE_VIEW, 0, NULL);
    sqlite3_limit(*db, SQLITE_LIMIT_LENGTH, DATABASE_LARGEST_BLOB);
    sqlite3_limit(*db, SQLITE_LIMIT_ATTACHED, 0);
    if (sqlite3_deserialize(*db, "main", bytes, (sqlite3_int64)size, (sqlite3_int64)size, flags) ||
        sqlite3_exec(*db, "PRAGMA cell_size_check=1; PRAGMA mmap_size=0; PRAGMA journal_mode=OFF",
                     NULL, NULL, NULL))
        return database_failed(*db, "reading");
    sqlite3_set_authorizer(*db, allow, (void *)(uintptr_t)writable);
    return RMCP_OK;
}

int database_count_steps(void *left)
{
    unsigned *steps = left;
    if (!*steps) return 1;
    --*steps;
    return 0;
}
