/* database.h: SQLite on databases of unknown origin: in memory, within limits, with nothing allowed
 * that is not needed. */
#ifndef RMCP_CODEOBJ_DATABASE_H
#define RMCP_CODEOBJ_DATABASE_H

#include <sqlite3.h>
#include <stddef.h>

#include "base/error.h"

enum {
    DATABASE_HEADER_BYTES = 100,
    DATABASE_LARGEST_BLOB = 256 << 20,
    DATABASE_MOST_STEPS = 1000, /* for database_count_steps */
};

/* The trouble that SQLite had, and with what. */
rmcp_status database_failed(sqlite3 *db, const char *what);

/* The database in `bytes`, with sqlite3_deserialize's flags. Statements may read, and change rows
 * of one table (NULL: of none). Whatever comes back, the caller closes *db; with
 * SQLITE_DESERIALIZE_FREEONCLOSE it owns the bytes. */
rmcp_status database_open(unsigned char *bytes, size_t size, unsigned flags, const char *writable,
                          sqlite3 **db);

/* A progress handler: ends a statement after as many calls as `*left` (unsigned) says, which works
 * on without giving rows, as a crafted file may make it. */
int database_count_steps(void *left);

#endif
