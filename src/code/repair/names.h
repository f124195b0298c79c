/* names.h: names of files that tell a chip, as Tensile's do. */
#ifndef RMCP_REPAIR_NAMES_H
#define RMCP_REPAIR_NAMES_H

#include "code/repair/repair.h"

/* The name with "gfx1030" as a word in it, for another chip: `*out` is to be freed. NULL, and
 * RMCP_OK, when there is no such word. */
rmcp_status repair_rename(const char *name, const char *from, const char *to, char **out);

/* What becomes of a file beside others. */
struct repair_names {
    enum isa_chip target;
    bool replace; /* what is made here comes before what was made for the chip */
    void *context;
    bool (*exists)(void *context, const char *name); /* beside it */
};

/* The name that it gets: `*out` is to be freed; NULL: it is left out, because it is another chip's,
 * or because another file takes its place. */
rmcp_status repair_choose_name(const struct repair_names *names, const char *name, char **out);

/* Whether a path, as a wheel or a manifest has it, stays below where it starts, on any system: no
 * "..", no empty parts, no backslashes, no control characters. */
bool repair_name_is_safe(const char *name);

#endif
