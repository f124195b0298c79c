/* files.h: one file repaired. */
#ifndef RMCP_REPAIR_FILES_H
#define RMCP_REPAIR_FILES_H

#include "base/files.h"
#include "code/repair/pool.h"

enum repair_made {
    REPAIR_NOTHING, /* no file: it is one code object, which is refused */
    REPAIR_COPIED,  /* the same bytes; with `changes_only`: no file     */
    REPAIR_CHANGED
};

struct repair_how {
    struct repair_pool *pool;
    const struct repair_options *options;
    bool changes_only; /* files that stay the same are not written */
};

/* `to` NULL: all but writing. Whatever is wrong with the file's contents is in the report; an error
 * is one of writing, of memory, or a file that cannot be read. */
rmcp_status repair_file(const char *from, const char *to, const struct repair_how *how,
                        struct repair_report *report, enum repair_made *made);
/* The same of bytes in memory. */
rmcp_status repair_bytes(const struct codeobj_source *source, unsigned mode, const char *to,
                         const struct repair_how *how, struct repair_report *report,
                         enum repair_made *made);

/* How many code objects there are to repair in a library, at a glance; 0 for other files. */
size_t repair_count(const char *path);

/* A wheel; `scratch`: a folder for files that are removed again. RMCP_E_UNSUPPORTED, with the
 * reason: it cannot be written again. */
rmcp_status repair_wheel(const char *from, const char *to, const char *scratch,
                         const struct repair_how *how, struct repair_report *report);
bool repair_is_wheel(const char *path);

#endif
