/* builtin.c: the card descriptions that come with the command. */
#include "sim/cards/cards.h"

#include <string.h>

#include "card_files.inc"

const char *sim_card_builtin(const char *name)
{
    const size_t n = strlen(name);
    for (size_t i = 0; sources[i].file; i++)
        if (!strncmp(sources[i].file, name, n) && !strcmp(sources[i].file + n, ".card"))
            return sources[i].text;
    return NULL;
}

const char *sim_timing_builtin(const char *name)
{
    const size_t n = strlen(name);
    for (size_t i = 0; sources[i].file; i++)
        if (!strncmp(sources[i].file, name, n) && !strcmp(sources[i].file + n, ".timing"))
            return sources[i].text;
    return NULL;
}

const char *sim_card_builtin_names(void)
{
    static char names[256];
    size_t used = 0;
    if (*names) return names;
    for (size_t i = 0; sources[i].file && used < sizeof names; i++)
        if (strstr(sources[i].file, ".card"))
            used += (size_t)snprintf(names + used, sizeof names - used, "%s%.*s", i ? ", " : "",
                                     (int)strcspn(sources[i].file, "."), sources[i].file);
    return names;
}
