/* ours.c: where our own copies of MIOpen are, and how one is told from AMD's. */
#define _GNU_SOURCE /* memmem */
#include "base/error.h"
#include "base/files.h"
#include "code/codeobj/linked.h"
#include "dropin/install/dropin.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

const char *const dropin_names[] = {
    [DROPIN_SYSTEM] = "libMIOpen.so.1", [DROPIN_WHEEL] = "libMIOpen.so"
};
/* Below the folder of both. */
static const char *const below[] = {
    [DROPIN_SYSTEM] = "libMIOpen.so.1", [DROPIN_WHEEL] = "wheel/libMIOpen.so"
};

/* AMD's has hundreds of megabytes, and no word of this variable, which all versions of ours ask
 * for. */
static const char mark[] = "RMCP_MIOPEN_ORIGINAL";
enum { LARGEST_OF_OURS = 1 << 26 };

bool dropin_is_ours(const void *bytes, size_t size)
{
    return size <= LARGEST_OF_OURS && memmem(bytes, size, mark, sizeof mark);
}

bool dropin_file_is_ours(const char *path)
{
    struct rmcp_file map;
    if (rmcp_file_map(AT_FDCWD, path, &map)) return false;
    const bool is_ours = dropin_is_ours(map.bytes, map.size);
    rmcp_file_unmap(&map);
    return is_ours;
}

rmcp_status dropin_check_miopen(const char *path)
{
    struct rmcp_file map;
    struct codeobj_linked linked;
    rmcp_status status = rmcp_file_map(AT_FDCWD, path, &map);
    if (status) return status;
    if (codeobj_linked_read(map.bytes, map.size, &linked))
        status = rmcp_fail(RMCP_E_IO, "%.300s is no library, or a damaged one", path);
    else if (strcmp(linked.soname, dropin_names[DROPIN_SYSTEM]) &&
             strcmp(linked.soname, dropin_names[DROPIN_WHEEL]))
        status =
            rmcp_fail(RMCP_E_IO, "%.300s is no MIOpen: its SONAME is '%s'", path, linked.soname);
    else if (!codeobj_linked_exports(map.bytes, map.size, "miopenCreate"))
        status = rmcp_fail(RMCP_E_IO, "%.300s is no MIOpen: it has no miopenCreate", path);
    rmcp_file_unmap(&map);
    return status;
}

static bool is_file(const char *path)
{
    struct stat about;
    return !stat(path, &about) && S_ISREG(about.st_mode);
}

/* Both copies, when they are below this folder. */
static bool take_copies(const char *folder, struct dropin_ours *out)
{
    for (int i = 0; i < DROPIN_COPIES; i++) {
        char path[PATH_MAX];
        if (!rmcp_file_join(path, folder, below[i]) || !realpath(path, out->copies[i]) ||
            !is_file(out->copies[i]))
            return false;
    }
    return true;
}

static rmcp_status take_named(const char *named, struct dropin_ours *out)
{
    struct stat about;
    if (stat(named, &about))
        return rmcp_fail(RMCP_E_IO, "RMCP_MIOPEN_LIBRARY is %.300s, which is not there", named);
    if (S_ISDIR(about.st_mode)) {
        if (take_copies(named, out)) return RMCP_OK;
        return rmcp_fail(RMCP_E_IO,
                         "RMCP_MIOPEN_LIBRARY is %.300s, which lacks libMIOpen.so.1 or "
                         "wheel/libMIOpen.so",
                         named);
    }
    for (int i = 0; i < DROPIN_COPIES; i++)
        if (!realpath(named, out->copies[i]))
            return rmcp_fail(RMCP_E_IO, "RMCP_MIOPEN_LIBRARY: %.300s is too long", named);
    return RMCP_OK;
}

/* librmcp.so.0: named, beside the command, or where the command's installation has it. */
static void find_library(const char *folder, struct dropin_ours *out)
{
    static const char *const places[] = { "librmcp.so.0", "../" RMCP_LIBRARY_FOLDER "/librmcp.so.0",
                                          RMCP_LIBRARY_FOLDER "/librmcp.so.0" };
    const char *named = getenv("RMCP_LIBRARY");
    if (named && *named && realpath(named, out->library)) return;
    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        char path[PATH_MAX];
        const bool absolute = places[i][0] == '/';
        if (rmcp_file_join(path, absolute ? "" : folder, places[i]) && realpath(path, out->library))
            return;
    }
    out->library[0] = '\0';
}

rmcp_status dropin_ours_find(struct dropin_ours *out)
{
    static const char *const places[] = { "src/dropin/miopen", "../" RMCP_LIBRARY_FOLDER "/rmcp",
                                          RMCP_LIBRARY_FOLDER "/rmcp" };
    *out = (struct dropin_ours){ 0 };
    const ssize_t length = readlink("/proc/self/exe", out->command, sizeof out->command - 1);
    if (length <= 0) return rmcp_fail(RMCP_E_IO, "/proc/self/exe cannot be read");
    char folder[PATH_MAX];
    snprintf(folder, sizeof folder, "%s", out->command);
    *strrchr(folder, '/') = '\0';
    find_library(folder, out);
    char beside[PATH_MAX];
    if (!rmcp_file_join(beside, folder, "../" RMCP_LIBRARY_FOLDER "/rmcp") ||
        !realpath(beside, out->carried))
        out->carried[0] = '\0';
    const char *named = getenv("RMCP_MIOPEN_LIBRARY");
    if (named && *named) return take_named(named, out);
    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        char path[PATH_MAX];
        const bool absolute = places[i][0] == '/';
        if (rmcp_file_join(path, absolute ? "" : folder, places[i]) && take_copies(path, out))
            return RMCP_OK;
    }
    return rmcp_fail(RMCP_E_IO,
                     "RMCP's libMIOpen.so.1 is neither beside %.200s nor installed with it; "
                     "RMCP_MIOPEN_LIBRARY may name its folder",
                     out->command);
}
