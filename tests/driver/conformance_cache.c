/* conformance_cache.c: a cache folder that a test may empty. */
#define _XOPEN_SOURCE 700 /* nftw */
#include "conformance.h"

#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

static char folder[64]; /* in memory where possible: thousands of records are synced */

static int remove_item(const char *path, const struct stat *stat, int kind, struct FTW *where)
{
    (void)stat, (void)kind, (void)where;
    return remove(path);
}

bool conformance_make_cache(void)
{
    snprintf(folder, sizeof folder, "%s/rmcp-conformance-XXXXXX",
             access("/dev/shm", W_OK) ? "/tmp" : "/dev/shm");
    return mkdtemp(folder) && !setenv("XDG_CACHE_HOME", folder, 1);
}

void conformance_forget(void)
{
    char path[128];
    snprintf(path, sizeof path, "%s/rmcp", folder);
    nftw(path, remove_item, 8, FTW_DEPTH | FTW_PHYS);
}

void conformance_remove_cache(void)
{
    nftw(folder, remove_item, 8, FTW_DEPTH | FTW_PHYS);
}
