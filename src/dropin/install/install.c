/* install.c: puts our MIOpen into a folder in the place of another, which is kept, and back.
 *
 *     FOLDER/libMIOpen.so                   ours
 *     FOLDER/rmcp/librmcp.so.0, rmcp        what it needs: the library, the command for first uses
 *     FOLDER/rmcp/libgomp.so.1 …            what these need, where a package brought it along
 *     FOLDER/rmcp/libMIOpen.so.original     what was there before
 *     FOLDER/libMIOpen.so.rmcp-original     a link to it: opened here, it finds its own libraries
 *     FOLDER/rmcp/manifest                  what is what
 *
 * Every file is written under another name, flushed and renamed; the rename of the library itself
 * comes last when installing and first when restoring. So at any moment the library is either
 * whole and the original, or whole and ours with all that it needs. */
#include "base/error.h"
#include "dropin/install/dropin.h"
#include "dropin/install/manifest.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const char room_name[] = "rmcp", backup[] = "libMIOpen.so.original",
                  library[] = "librmcp.so.0", command[] = "rmcp", manifest_name[] = "manifest";
/* What tools/package puts beside our own files for systems without it. */
static const char *const carried[] = { "libgomp.so.1", "libcjson.so.1" };
enum { CARRIED = sizeof carried / sizeof *carried };

enum state {
    GONE,     /* no library of that name                                */
    OURS,     /* of whatever version                                    */
    ORIGINAL, /* the same that is kept already: an attempt was cut short */
    STRANGER  /* any other                                              */
};

struct work {
    const char *path, *name;
    int folder, room; /* -1: none */
    enum state state;
    bool has_backup, has_manifest;
    struct dropin_manifest manifest;
};

static rmcp_status inspect(struct work *w)
{
    struct stat about;
    struct rmcp_file map;
    w->has_backup = w->room >= 0 && !fstatat(w->room, backup, &about, AT_SYMLINK_NOFOLLOW);
    w->has_manifest = w->room >= 0 && dropin_manifest_read(w->room, &w->manifest);
    if (fstatat(w->folder, w->name, &about, AT_SYMLINK_NOFOLLOW)) {
        if (errno != ENOENT)
            return rmcp_fail(RMCP_E_IO, "%.300s/%s: %s", w->path, w->name, strerror(errno));
        w->state = GONE;
        return RMCP_OK;
    }
    w->state = STRANGER;
    if (!rmcp_file_map(w->folder, w->name, &map)) {
        if (dropin_is_ours(map.bytes, map.size)) w->state = OURS;
        rmcp_file_unmap(&map);
    }
    if (w->state == STRANGER && w->has_backup &&
        rmcp_file_same(w->folder, w->name, w->room, backup))
        w->state = ORIGINAL;
    return RMCP_OK;
}

static void deinit(struct work *w)
{
    if (w->room >= 0) close(w->room);
    if (w->folder >= 0) close(w->folder); /* gives the lock back, too */
}

static void name_beside(const struct work *w, char name[static 64])
{
    snprintf(name, 64, "%s.rmcp-original", w->name);
}

static rmcp_status open_room(struct work *w)
{
    w->room = openat(w->folder, room_name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (w->room >= 0 || errno == ENOENT) return RMCP_OK;
    return rmcp_fail(RMCP_E_IO, "%.300s/rmcp: %s", w->path, strerror(errno));
}

static rmcp_status init(struct work *w, const struct dropin_place *place)
{
    struct stat about;
    *w = (struct work){ .path = place->folder, .name = dropin_names[place->copy], .room = -1 };
    rmcp_status status = rmcp_folder_open(place->folder, &w->folder);
    if (status) return status;
    if (faccessat(w->folder, ".", W_OK | X_OK, AT_EACCESS)) {
        const int failed = errno;
        if (fstat(w->folder, &about)) about.st_uid = 0;
        return rmcp_fail(RMCP_E_IO, "cannot write into %.300s: %s; it belongs to user %u",
                         place->folder, strerror(failed), (unsigned)about.st_uid);
    }
    status = open_room(w);
    return status ? status : inspect(w);
}

/* ---- out ---- */

/* Remove what we put there, and nothing else. */
static bool remove_room(struct work *w)
{
    static const char *const names[] = { library, command, backup, manifest_name };
    char beside[64];
    struct stat about;
    rmcp_file_discard(w->folder, w->name);
    name_beside(w, beside);
    rmcp_file_discard(w->folder, beside);
    if (!fstatat(w->folder, beside, &about, AT_SYMLINK_NOFOLLOW) && S_ISLNK(about.st_mode))
        unlinkat(w->folder, beside, 0);
    if (w->room < 0) return true;
    for (size_t i = 0; i < sizeof names / sizeof *names + CARRIED; i++) {
        const char *name = i < CARRIED ? carried[i] : names[i - CARRIED];
        rmcp_file_discard(w->room, name);
        unlinkat(w->room, name, 0);
    }
    const bool removed = !unlinkat(w->folder, room_name, AT_REMOVEDIR);
    rmcp_folder_sync(w->folder);
    return removed;
}

/* Whether any other library is left in the folder: pip removes all of them together. */
static bool has_others(const struct work *w)
{
    bool found = false;
    const int again = openat(w->folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *list = again < 0 ? NULL : fdopendir(again);
    if (!list && again >= 0) close(again);
    for (struct dirent *entry; list && !found && (entry = readdir(list));)
        found = entry->d_name[0] != '.' && strstr(entry->d_name, ".so") &&
                strncmp(entry->d_name, "libMIOpen.so", 12);
    if (list) closedir(list);
    return found;
}

static rmcp_status check_backup(struct work *w)
{
    struct rmcp_file map;
    rmcp_status status = rmcp_file_map(w->room, backup, &map);
    if (status) return status;
    if (w->has_manifest) {
        const struct dropin_print now = dropin_print_of(&map);
        if (now.size != w->manifest.original.size || now.hash != w->manifest.original.hash)
            status = rmcp_fail(RMCP_E_IO,
                               "%.300s/rmcp/%s is not what was put there: damaged; install that "
                               "PyTorch again (pip install --force-reinstall)",
                               w->path, backup);
    }
    rmcp_file_unmap(&map);
    return status;
}

static rmcp_status put_back(struct work *w)
{
    struct stat about;
    char target[PATH_MAX];
    if (fstatat(w->room, backup, &about, AT_SYMLINK_NOFOLLOW))
        return rmcp_fail(RMCP_E_IO, "%.300s/rmcp/%s: %s", w->path, backup, strerror(errno));
    if (S_ISLNK(about.st_mode)) {
        const ssize_t n = readlinkat(w->room, backup, target, sizeof target - 1);
        if (n <= 0) return rmcp_fail(RMCP_E_IO, "%.300s/rmcp/%s cannot be read", w->path, backup);
        target[n] = '\0';
        const char *text = strncmp(target, "../", 3) ? target : target + 3;
        rmcp_status status = rmcp_file_prepare_link(w->folder, w->name, text);
        return status ? status : rmcp_file_commit(w->folder, w->name);
    }
    rmcp_status status = check_backup(w);
    if (status) return status;
    if (renameat(w->room, backup, w->folder, w->name))
        return rmcp_fail(RMCP_E_IO, "cannot restore %.300s/%s: %s", w->path, w->name,
                         strerror(errno));
    return RMCP_OK;
}

static rmcp_status fail_without_backup(const struct work *w)
{
    return rmcp_fail(
        RMCP_E_IO,
        "%.300s/%s is RMCP's, but the original is not in rmcp/ beside it; install that "
        "PyTorch again (pip install --force-reinstall)",
        w->path, w->name);
}

rmcp_status dropin_restore(const struct dropin_place *place, enum dropin_change *change,
                           char said[static 400])
{
    struct work w;
    *change = DROPIN_UNCHANGED;
    said[0] = '\0';
    rmcp_status status = init(&w, place);
    if (status) goto done;
    const bool had_backup = w.has_backup, is_removed = w.state == GONE && !has_others(&w);
    if (w.state == OURS && !w.has_backup) {
        status = fail_without_backup(&w);
        goto done;
    }
    if (w.room < 0) {
        remove_room(&w); /* what an attempt that was cut short may have left beside it */
        snprintf(said, 400, "nothing of RMCP's is installed there");
        goto done;
    }
    if (w.state == OURS || (w.state == GONE && w.has_backup && !is_removed)) {
        status = put_back(&w);
        if (!status) status = rmcp_folder_sync(w.folder);
        if (status) goto done;
        if (w.state == GONE) snprintf(said, 400, "the library was missing; it is the original now");
    } else if (w.state == ORIGINAL) {
        snprintf(said, 400, "the original was in place already");
    } else if (w.state == STRANGER && had_backup) {
        snprintf(said, 400,
                 "the library is neither RMCP's nor the one that RMCP replaced (was PyTorch "
                 "upgraded?): it stays, and the old backup was dropped");
    } else if (is_removed && had_backup) {
        snprintf(said, 400, "PyTorch was removed from there: the old backup was dropped");
    }
    *change = DROPIN_RESTORED;
    if (!remove_room(&w) && !*said) snprintf(said, 400, "the folder rmcp there is not empty");
done:
    deinit(&w);
    return status;
}

/* ---- in ---- */

static rmcp_status make_room(struct work *w)
{
    if (w->room >= 0) return RMCP_OK;
    if (mkdirat(w->folder, room_name, 0755) && errno != EEXIST)
        return rmcp_fail(RMCP_E_IO, "cannot make %.300s/rmcp: %s", w->path, strerror(errno));
    rmcp_status status = open_room(w);
    if (status) return status;
    if (w->room < 0) return rmcp_fail(RMCP_E_IO, "%.300s/rmcp is gone again", w->path);
    return rmcp_folder_give(w->folder, w->folder, room_name);
}

/* Keep what is there: a link as a link, since what it leads to stays. */
static rmcp_status keep(struct work *w)
{
    struct stat about;
    char target[PATH_MAX], moved[PATH_MAX + 4];
    struct rmcp_file map;
    rmcp_status status = rmcp_file_map(w->folder, w->name, &map);
    if (status) return status;
    w->manifest.original = dropin_print_of(&map);
    rmcp_file_unmap(&map);
    if (fstatat(w->folder, w->name, &about, AT_SYMLINK_NOFOLLOW))
        return rmcp_fail(RMCP_E_IO, "%.300s/%s: %s", w->path, w->name, strerror(errno));
    if (S_ISLNK(about.st_mode)) {
        const ssize_t n = readlinkat(w->folder, w->name, target, sizeof target - 1);
        target[n > 0 ? n : 0] = '\0';
        if (n <= 0 || strpbrk(target, "\n"))
            return rmcp_fail(RMCP_E_IO, "%.300s/%s is an odd link", w->path, w->name);
        snprintf(w->manifest.link, sizeof w->manifest.link, "%s", target);
        snprintf(moved, sizeof moved, "%s%s", *target == '/' ? "" : "../", target);
        status = rmcp_file_prepare_link(w->room, backup, moved);
        return status ? status : rmcp_file_commit(w->room, backup);
    }
    w->manifest.link[0] = '\0';
    return w->has_backup ? RMCP_OK : rmcp_file_keep(w->folder, w->name, w->room, backup);
}

/* What a lost manifest said of the original, read from the backup. */
static rmcp_status remember(struct work *w)
{
    struct rmcp_file map;
    char target[PATH_MAX];
    rmcp_status status = rmcp_file_map(w->room, backup, &map);
    if (status) return status;
    w->manifest.original = dropin_print_of(&map);
    rmcp_file_unmap(&map);
    const ssize_t n = readlinkat(w->room, backup, target, sizeof target - 1);
    target[n > 0 ? n : 0] = '\0';
    snprintf(w->manifest.link, sizeof w->manifest.link, "%s",
             strncmp(target, "../", 3) ? target : target + 3);
    return RMCP_OK;
}

/* What the library opens when it hands calls on to the original: what that needs is looked for
 * beside the path by which it is opened. */
static rmcp_status link_beside(const struct work *w)
{
    char beside[64];
    name_beside(w, beside);
    rmcp_status status = rmcp_file_prepare_link(
        w->folder, beside, *w->manifest.link ? w->manifest.link : "rmcp/libMIOpen.so.original");
    return status ? status : rmcp_file_commit(w->folder, beside);
}

/* The path of the package's own `name`, where it brought one along. */
static bool find_carried(const struct dropin_ours *ours, const char *name,
                         char path[static PATH_MAX])
{
    return *ours->carried && rmcp_file_join(path, ours->carried, name) && !access(path, R_OK);
}

static rmcp_status put_carried(const struct work *w, const struct dropin_ours *ours)
{
    rmcp_status status = RMCP_OK;
    char path[PATH_MAX];
    for (size_t i = 0; i < CARRIED && !status; i++)
        if (find_carried(ours, carried[i], path))
            status = rmcp_file_copy(w->room, carried[i], 0644, path);
    return status;
}

static rmcp_status put_in(struct work *w, const struct dropin_ours *ours, const char *copy,
                          bool is_upgrade)
{
    struct rmcp_file map;
    rmcp_status status = make_room(w);
    if (!status) status = put_carried(w, ours);
    if (!status) status = rmcp_file_copy(w->room, library, 0755, ours->library);
    if (!status) status = rmcp_file_copy(w->room, command, 0755, ours->command);
    if (!status && !is_upgrade) status = keep(w);
    if (!status && is_upgrade && !w->has_manifest) status = remember(w);
    if (!status) status = link_beside(w);
    if (!status) status = rmcp_file_map(AT_FDCWD, copy, &map);
    if (status) return status;
    w->manifest.ours = dropin_print_of(&map);
    rmcp_file_unmap(&map);
    snprintf(w->manifest.name, sizeof w->manifest.name, "%s", w->name);
    snprintf(w->manifest.version, sizeof w->manifest.version, "%s", rmcp_version());
    status = rmcp_file_prepare_copy(w->folder, w->name, 0755, copy);
    if (!status) status = dropin_manifest_write(w->room, &w->manifest);
    if (!status) status = rmcp_folder_sync(w->room);
    if (!status) status = rmcp_file_commit(w->folder, w->name);
    return status ? status : rmcp_folder_sync(w->folder);
}

static bool is_up_to_date(const struct work *w, const struct dropin_ours *ours, const char *copy)
{
    char path[PATH_MAX];
    for (size_t i = 0; i < CARRIED; i++)
        if (find_carried(ours, carried[i], path) &&
            !rmcp_file_same(w->room, carried[i], AT_FDCWD, path))
            return false;
    return w->has_manifest && rmcp_file_same(w->folder, w->name, AT_FDCWD, copy) &&
           rmcp_file_same(w->room, library, AT_FDCWD, ours->library) &&
           rmcp_file_same(w->room, command, AT_FDCWD, ours->command);
}

/* Whether what is there may be replaced. */
static rmcp_status check_state(const struct work *w)
{
    char path[PATH_MAX];
    if (w->state == GONE)
        return rmcp_fail(RMCP_E_IO,
                         "there is no %s in %.300s; rmcp run --restore removes what is "
                         "left of RMCP there",
                         w->name, w->path);
    if (w->state == OURS) return w->has_backup ? RMCP_OK : fail_without_backup(w);
    if (w->state == STRANGER && w->has_backup)
        return rmcp_fail(RMCP_E_IO,
                         "%.250s/%s is neither RMCP's nor the one that RMCP replaced (was PyTorch "
                         "upgraded?); rmcp run --restore %.250s keeps it and drops the old backup, "
                         "then install again",
                         w->path, w->name, w->path);
    if (!rmcp_file_join(path, w->path, w->name))
        return rmcp_fail(RMCP_E_IO, "%.300s: the path is too long", w->path);
    return dropin_check_miopen(path);
}

rmcp_status dropin_install(const struct dropin_place *place, const struct dropin_ours *ours,
                           enum dropin_change *change)
{
    struct work w;
    const char *copy = ours->copies[place->copy];
    *change = DROPIN_UNCHANGED;
    if (!*ours->library)
        return rmcp_fail(RMCP_E_IO, "librmcp.so.0 is neither beside %.200s nor installed with it",
                         ours->command);
    rmcp_status status = dropin_check_miopen(copy);
    if (status) return status;
    if (!dropin_file_is_ours(copy))
        return rmcp_fail(RMCP_E_IO, "%.300s is a MIOpen, but not RMCP's", copy);
    status = init(&w, place);
    if (!status) status = check_state(&w);
    if (status) goto done;
    const bool is_upgrade = w.state == OURS, had_room = w.room >= 0;
    if (is_upgrade && is_up_to_date(&w, ours, copy)) goto done;
    status = put_in(&w, ours, copy, is_upgrade);
    if (!status) *change = is_upgrade ? DROPIN_UPGRADED : DROPIN_INSTALLED;
    if (!status) goto done;
    /* Nothing was replaced unless the last step of all failed, which only flushes. */
    char words[512];
    snprintf(words, sizeof words, "%s", rmcp_last_error());
    if (inspect(&w) || w.state != OURS) {
        rmcp_file_discard(w.folder, w.name);
        if (!had_room) remove_room(&w);
    }
    status = rmcp_fail(status, "%s", words);
done:
    deinit(&w);
    return status;
}
