/* cache_path.c: where this user's caches live. */
#include "base/cache_path.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

bool rmcp_cache_path(const char *name, char *path, size_t size)
{
    const char *base = getenv("XDG_CACHE_HOME"), *below = "";
    if (!base || base[0] != '/') { /* its specification says to ignore relative ones */
        base = getenv("HOME");
        below = "/.cache";
    }
    if (!base || base[0] != '/') return false;
    int length = snprintf(path, size, "%s%s/rmcp/%s", base, below, name);
    return length > 0 && (size_t)length < size;
}

bool rmcp_cache_host_path(const char *folder, const char *ending, char *path, size_t size)
{
    char host[64] = "", name[160];
    gethostname(host, sizeof host - 1);
    for (char *c = host; *c; c++)
        if (!strchr("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_", *c))
            *c = '_';
    snprintf(name, sizeof name, "%s/%s%s", folder, *host ? host : "host", ending);
    return rmcp_cache_path(name, path, size);
}

bool rmcp_cache_make_folders(const char *path)
{
    char folder[1024];
    if (!rmcp_cache_path("", folder, sizeof folder) || strlen(path) >= sizeof folder) return false;
    const size_t own = strlen(folder) - strlen("/rmcp/");
    if (strncmp(path, folder, own)) return false;
    for (const char *slash = path + own; slash; slash = strchr(slash + 1, '/')) {
        size_t length = (size_t)(slash - path);
        memcpy(folder, path, length);
        folder[length] = '\0';
        if (mkdir(folder, 0700) && errno != EEXIST) return false;
    }
    return true;
}
