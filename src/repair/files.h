/* files.h: one file repaired. */
#ifndef RMCP_REPAIR_FILES_H
#define RMCP_REPAIR_FILES_H

#include "repair/repair.h"

enum repair_made {
    REPAIR_NOTHING, /* no file: it is one code object, which is refused */
    REPAIR_COPIED,  /* the same bytes */
    REPAIR_CHANGED
};

/* `to` NULL: all but writing. Whatever is wrong with the file's contents is in the report; an error
 * is one of writing, of memory, or a file that cannot be read. */
rmcp_status repair_file(const char *from, const char *to, enum isa_chip target,
                        struct repair_report *report, enum repair_made *made);

/* The name of a file with "gfx1030" as a word in it, for another chip: `*out` is to be freed. NULL,
 * and RMCP_OK, when there is no such word. */
rmcp_status repair_rename(const char *name, const char *from, const char *to, char **out);

#endif
