/* place.c: which folder is meant when a PyTorch, its environment or its libraries are named. */
#define _GNU_SOURCE /* realpath */
#include "base/error.h"
#include "base/files.h"
#include "code/codeobj/linked.h"
#include "dropin/install/dropin.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MOST_FOUND = 8 };

struct found {
    struct dropin_place list[MOST_FOUND];
    size_t n;
};

static bool is_there(const char *folder, const char *name, struct stat *about)
{
    char path[PATH_MAX];
    return rmcp_file_join(path, folder, name) && !lstat(path, about);
}

static bool soname_is(const char *folder, const char *name)
{
    char path[PATH_MAX];
    struct rmcp_file map;
    struct codeobj_linked linked = { 0 };
    if (!rmcp_file_join(path, folder, name) || rmcp_file_map(AT_FDCWD, path, &map)) return false;
    if (codeobj_linked_read(map.bytes, map.size, &linked)) linked.soname[0] = '\0';
    rmcp_file_unmap(&map);
    return !strcmp(linked.soname, name);
}

/* Which of the names is the library here? libMIOpen.so often is a link for compilers. */
static bool name_in(const char *folder, enum dropin_copy *copy)
{
    struct stat system, wheel, left;
    const bool has_system = is_there(folder, dropin_names[DROPIN_SYSTEM], &system);
    const bool has_wheel = is_there(folder, dropin_names[DROPIN_WHEEL], &wheel);
    *copy = DROPIN_SYSTEM;
    if (has_wheel &&
        (!has_system || (S_ISREG(wheel.st_mode) && soname_is(folder, dropin_names[DROPIN_WHEEL]))))
        *copy = DROPIN_WHEEL;
    /* What an installation left where the library itself is gone. */
    if (!has_system && !has_wheel && is_there(folder, "rmcp/manifest", &left)) {
        char path[PATH_MAX], text[256] = "";
        rmcp_file_join(path, folder, "rmcp/manifest");
        FILE *file = fopen(path, "r");
        if (file) {
            text[fread(text, 1, sizeof text - 1, file)] = '\0';
            fclose(file);
        }
        if (strstr(text, "\nname libMIOpen.so\n")) *copy = DROPIN_WHEEL;
        return true;
    }
    return has_system || has_wheel;
}

static void try_folder(const char *folder, struct found *found)
{
    struct dropin_place place;
    if (!realpath(folder, place.folder) || !name_in(place.folder, &place.copy)) return;
    for (size_t i = 0; i < found->n; i++)
        if (!strcmp(found->list[i].folder, place.folder)) return;
    if (found->n < MOST_FOUND) found->list[found->n++] = place;
}

/* Calls `visit` for the folders below `folder` whose names begin so. */
static void each_below(const char *folder, const char *start, const char *behind,
                       void (*visit)(const char *path, struct found *found), struct found *found)
{
    DIR *list = opendir(folder);
    for (struct dirent *entry; list && (entry = readdir(list));) {
        char name[512], path[PATH_MAX];
        if (strncmp(entry->d_name, start, strlen(start))) continue;
        snprintf(name, sizeof name, "%s%s", entry->d_name, behind);
        if (rmcp_file_join(path, folder, name)) visit(path, found);
    }
    if (list) closedir(list);
}

static void try_site(const char *site, struct found *found)
{
    char path[PATH_MAX];
    if (rmcp_file_join(path, site, "torch/lib")) try_folder(path, found);
    each_below(site, "_rocm_sdk_libraries", "/lib", try_folder, found);
}

rmcp_status dropin_place_find(const char *path, struct dropin_place *out)
{
    struct found found = { .n = 0 };
    struct stat about;
    char below[PATH_MAX];
    if (stat(path, &about)) return rmcp_fail(RMCP_E_ARG, "%.300s: %s", path, strerror(errno));
    if (!S_ISDIR(about.st_mode)) return rmcp_fail(RMCP_E_ARG, "%.300s is no folder", path);
    try_folder(path, &found);
    if (!found.n && rmcp_file_join(below, path, "lib")) try_folder(below, &found); /* torch */
    if (!found.n) try_site(path, &found);
    if (!found.n &&
        rmcp_file_join(below, path, "..")) { /* TheRock's torch: its ROCm is beside it */
        char init[PATH_MAX];
        if (rmcp_file_join(init, path, "_rocm_init.py") && !access(init, F_OK))
            each_below(below, "_rocm_sdk_libraries", "/lib", try_folder, &found);
    }
    static const char *const libs[] = { "lib", "lib64" };
    for (size_t i = 0; !found.n && i < 2; i++)
        if (rmcp_file_join(below, path, libs[i])) {
            each_below(below, "python3", "/site-packages", try_site, &found);
            each_below(below, "python3", "/dist-packages", try_site, &found);
        }
    if (!found.n)
        return rmcp_fail(RMCP_E_ARG,
                         "no MIOpen in %.300s: it is neither a PyTorch for ROCm (torch, torch/lib, "
                         "site-packages, a virtual environment) nor a folder with libMIOpen.so",
                         path);
    if (found.n > 1)
        return rmcp_fail(RMCP_E_ARG, "there are several in %.100s; name one: %.200s or %.200s",
                         path, found.list[0].folder, found.list[1].folder);
    *out = found.list[0];
    return RMCP_OK;
}

bool dropin_place_is_system(const struct dropin_place *place)
{
    static const char *const folders[] = { "/usr/",       "/lib/", "/lib64/", "/opt/rocm",
                                           "/opt/amdgpu", "/nix/", "/gnu/" };
    const char *at = place->folder;
    if (!strncmp(at, "/usr/local/", 11)) return false;
    for (size_t i = 0; i < sizeof folders / sizeof *folders; i++)
        if (!strncmp(at, folders[i], strlen(folders[i]))) return true;
    return false;
}
