/* dynlib.c: libraries found at run time, each with one list of symbols. */
#define _GNU_SOURCE /* dl_iterate_phdr */
#include "base/dynlib.h"

#include <dlfcn.h>
#include <link.h>
#include <stdio.h>
#include <string.h>

static const char *fill(void *library, const struct rmcp_symbol *symbols, void *table)
{
    for (; symbols->name; symbols++) {
        void *address = dlsym(library, symbols->name);
        if (!address && !symbols->optional) return symbols->name;
        memcpy((char *)table + symbols->offset, &address, sizeof address);
    }
    return NULL;
}

void *rmcp_dynlib_open(const char *const *names, const struct rmcp_symbol *symbols, void *table,
                       char *why, size_t why_size)
{
    snprintf(why, why_size, "no library to look for");
    for (; *names; names++) {
        void *library = dlopen(*names, RTLD_NOW | RTLD_LOCAL);
        if (!library) {
            const char *reason = dlerror();
            snprintf(why, why_size, "%s", reason ? reason : *names);
            continue;
        }
        const char *missing = fill(library, symbols, table);
        if (!missing) return library;
        snprintf(why, why_size, "%s is too old: it has no %s", *names, missing);
        dlclose(library);
    }
    return NULL;
}

void rmcp_dynlib_close(void *library)
{
    if (library) dlclose(library);
}

struct search {
    const char *start;
    char *path;
    size_t size;
};

static int look(struct dl_phdr_info *info, size_t size, void *data)
{
    (void)size;
    const struct search *search = data;
    const char *slash = info->dlpi_name ? strrchr(info->dlpi_name, '/') : NULL;
    if (!slash || strncmp(slash + 1, search->start, strlen(search->start))) return 0;
    if (strlen(info->dlpi_name) >= search->size) return 0;
    memcpy(search->path, info->dlpi_name, strlen(info->dlpi_name) + 1);
    return 1;
}

bool rmcp_dynlib_loaded(const char *start, char *path, size_t size)
{
    struct search search = { start, path, size };
    return dl_iterate_phdr(look, &search);
}
