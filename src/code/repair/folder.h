/* folder.h: what repairing into a new place and repairing in place share. */
#ifndef RMCP_REPAIR_FOLDER_H
#define RMCP_REPAIR_FOLDER_H

#include "code/repair/files.h"

/* The folder in which an installation keeps what was there before. */
#define REPAIR_ROOM "rmcp-repair"

/* As many workers as the options say. */
rmcp_status repair_workers(const struct repair_options *options, struct repair_pool **out);

/* Everything in a folder, into another that is there already; NULL: all but writing. With
 * `changes_only` nothing is left out, and only what is new or changed is written. */
rmcp_status repair_tree(const char *from, const char *to, const struct repair_how *how,
                        struct repair_report *report);

rmcp_status repair_join(const char *folder, const char *name, char **out); /* to be freed */
/* A folder of our own, with all that is in it. */
void repair_remove(const char *folder);

#endif
