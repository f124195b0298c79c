/* install.c: a folder repaired in place, and put back.
 *
 *     FOLDER/…                          repaired files in the place of others, and new ones
 *     FOLDER/rmcp-repair/original/…     what was there before
 *     FOLDER/rmcp-repair/manifest       hashes of both
 *     FOLDER/rmcp-repair/new/…          repaired files that are not in place yet
 *
 * The manifest is written before the first file is touched. A file is replaced by a rename, after
 * its original got a second name in rmcp-repair; so each is whole at any moment, and every state in
 * between can be told from the hashes: restoring starts from any of them, and an installation that
 * was cut short is restored before it is tried again. */
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "code/repair/folder.h"
#include "code/repair/names.h"
#include "code/repair/place.h"

static rmcp_status failure(const char *what, const char *path)
{
    return rmcp_fail(RMCP_E_IO, "%s %.300s: %s", what, path, strerror(errno));
}

/* ---- back ---- */

static int remove_folder(const char *path, const struct stat *about, int kind, struct FTW *where)
{
    (void)about;
    (void)where;
    if (kind == FTW_DP) rmdir(path); /* where something is in it, it stays */
    return 0;
}

/* `*stays`: it is something else by now, or there is no original to put back. */
static rmcp_status put_back(const struct repair_place *p, const struct repair_kept *one,
                            bool *stays)
{
    enum repair_state state;
    const char *base, *kept_base;
    bool has = true, there;
    rmcp_status status = repair_state_of(p, one, &state);
    if (!status && !one->is_added && state == REPAIR_STATE_AFTER)
        status = repair_has_original(p, one, &has, &there);
    *stays = state == REPAIR_STATE_OTHER || !has;
    if (status || *stays) return status;
    const int folder = repair_open_parent(p->root, one->path, false, &base);
    if (folder < 0) return one->is_added ? RMCP_OK : failure("opening", one->path);
    if (one->is_added) {
        if (state == REPAIR_STATE_AFTER && unlinkat(folder, base, 0))
            status = failure("removing", base);
        if (!status) rmcp_folder_sync(folder);
        close(folder);
        return status;
    }
    const int kept = repair_open_parent(p->kept, one->path, false, &kept_base);
    if (kept >= 0 && state == REPAIR_STATE_AFTER && renameat(kept, kept_base, folder, base))
        status = failure("restoring", one->path);
    else if (kept < 0 && state == REPAIR_STATE_AFTER)
        status = failure("restoring", one->path);
    else if (kept >= 0 && state == REPAIR_STATE_BEFORE && unlinkat(kept, kept_base, 0) &&
             errno != ENOENT)
        status = failure("removing", one->path);
    if (!status) rmcp_folder_sync(folder);
    if (kept >= 0) close(kept);
    close(folder);
    return status;
}

/* Originals that were not put back are somebody's, too: under another name. */
static void move_aside(const struct repair_place *p, size_t n_stay, struct repair_installed *out)
{
    char aside[sizeof p->room + 16];
    for (unsigned i = 0; i < 100; i++) {
        struct stat about;
        snprintf(aside, sizeof aside, i ? "%s.aside%u" : "%s.aside", p->room, i);
        if (!lstat(aside, &about) || rename(p->room, aside)) continue;
        snprintf(out->said, sizeof out->said,
                 "%zu files changed since and stay as they are; what was kept of them is in %.300s",
                 n_stay, aside);
        return;
    }
}

/* What we put into the room, and nothing else. */
static void clear_room(const struct repair_place *p, struct repair_installed *out)
{
    struct stat about;
    repair_remove(p->staged);
    nftw(p->kept, remove_folder, 16, FTW_DEPTH | FTW_PHYS);
    const int room = open(p->room, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (room >= 0) {
        rmcp_file_discard(room, REPAIR_MANIFEST);
        close(room);
    }
    unlink(p->manifest_path);
    rmdir(p->room);
    if (!lstat(p->room, &about))
        snprintf(out->said, sizeof out->said, "%.300s is not empty, and stays", p->room);
}

static rmcp_status restore(struct repair_place *p, bool keep_changed, struct repair_installed *out)
{
    bool is_complete, stays;
    size_t n_stay = 0;
    struct stat about;
    rmcp_status status = keep_changed ? RMCP_OK : repair_check_all(p, &is_complete);
    for (size_t i = 0; !status && i < p->manifest.n; i++) {
        const struct repair_kept *one = &p->manifest.list[i];
        status = put_back(p, one, &stays);
        if (!status && stays)
            n_stay++;
        else if (!status && one->is_added)
            out->n_added++;
        else if (!status)
            out->n_changed++;
    }
    if (status) return status;
    clear_room(p, out);
    if (n_stay && !lstat(p->room, &about)) move_aside(p, n_stay, out);
    repair_manifest_deinit(&p->manifest);
    p->has_manifest = false;
    return RMCP_OK;
}

rmcp_status repair_restore(const char *folder, bool keep_changed, struct repair_installed *out)
{
    struct repair_place p;
    struct stat about;
    *out = (struct repair_installed){ 0 };
    rmcp_status status = repair_place_open(&p, folder);
    if (!status && !p.has_manifest) {
        const bool had_room = !lstat(p.room, &about);
        if (had_room) clear_room(&p, out);
        snprintf(out->said, sizeof out->said, "nothing is installed there%s",
                 had_room ? "; what was left of an attempt was removed" : "");
    } else if (!status) {
        status = restore(&p, keep_changed, out);
    }
    repair_place_close(&p);
    return status;
}

/* ---- in ---- */

static rmcp_status give(const struct repair_place *p, const char *path)
{
    return rmcp_folder_give(p->lock, AT_FDCWD, path);
}

static rmcp_status make_room(const struct repair_place *p)
{
    if (mkdir(p->room, 0755) && errno != EEXIST) return failure("making", p->room);
    repair_remove(p->staged); /* of an attempt that was cut short */
    if (mkdir(p->staged, 0755)) return failure("making", p->staged);
    rmcp_status status = give(p, p->room);
    return status ? status : give(p, p->staged);
}

/* A file that was repaired, and what is in its place now. `began`: when the repair did. */
static rmcp_status remember(struct repair_place *p, const char *path, const struct timespec *began)
{
    struct repair_kept one = { .before = "-", .path = strdup(path) };
    char *old = NULL, *new = NULL;
    struct stat about;
    bool there;
    if (!one.path) return rmcp_fail_memory("path", strlen(path));
    rmcp_status status = RMCP_OK;
    if (!repair_name_is_safe(path))
        status = rmcp_fail(RMCP_E_UNSUPPORTED, "%.300s: an odd name", path);
    if (!status) status = repair_hash_at(p->staged, path, one.after, &one.size_after, &there);
    if (!status) status = repair_hash_at(p->root, path, one.before, &one.size_before, &there);
    if (!status) one.is_added = !there;
    if (!status) status = repair_join(p->root, path, &old);
    if (!status) status = repair_join(p->staged, path, &new);
    if (!status && there) {
        if (stat(old, &about) || chmod(new, about.st_mode & 07777))
            status = failure("reading", old);
        else if (!geteuid() && chown(new, about.st_uid, about.st_gid))
            status = failure("giving away", new);
        else if (about.st_ctim.tv_sec > began->tv_sec ||
                 (about.st_ctim.tv_sec == began->tv_sec && about.st_ctim.tv_nsec > began->tv_nsec))
            status = rmcp_fail(RMCP_E_IO, "%.300s changed while it was repaired", old);
    } else if (!status) {
        snprintf(one.before, sizeof one.before, "-");
        status = give(p, new);
    }
    free(old);
    free(new);
    if (!status) return repair_manifest_add(&p->manifest, &one);
    free(one.path);
    return status;
}

/* All files below p->staged/`below`. */
static rmcp_status remember_all(struct repair_place *p, const char *below,
                                const struct timespec *began)
{
    struct dirent **names = NULL;
    char *folder = NULL;
    rmcp_status status = repair_join(p->staged, below, &folder);
    if (status) return status;
    const int n = scandir(folder, &names, NULL, alphasort);
    if (n < 0) status = failure("listing", folder);
    free(folder);
    for (int i = 0; i < n; i++) {
        struct stat about;
        char *path = NULL, *whole = NULL;
        const char *name = names[i]->d_name;
        if (!status && strcmp(name, ".") && strcmp(name, "..")) {
            if (*below) {
                status = repair_join(below, name, &path);
            } else {
                path = strdup(name);
                if (!path) status = rmcp_fail_memory("path", strlen(name));
            }
            if (!status) status = repair_join(p->staged, path, &whole);
            if (!status && lstat(whole, &about)) status = failure("reading", whole);
            if (!status && S_ISDIR(about.st_mode))
                status = remember_all(p, path, began);
            else if (!status)
                status = remember(p, path, began);
            free(path);
            free(whole);
        }
        free(names[i]);
    }
    free(names);
    return status;
}

static rmcp_status keep(const struct repair_place *p, const struct repair_kept *one)
{
    const char *base, *kept_base;
    const int folder = repair_open_parent(p->root, one->path, false, &base);
    if (folder < 0) return failure("opening", one->path);
    const int kept = repair_open_parent(p->kept, one->path, true, &kept_base);
    rmcp_status status = kept < 0 ? failure("making the folder of", one->path)
                                  : rmcp_file_keep(folder, base, kept, kept_base);
    if (!status) rmcp_folder_sync(kept);
    if (kept >= 0) close(kept);
    close(folder);
    return status;
}

static rmcp_status put_in(const struct repair_place *p, const struct repair_kept *one)
{
    const char *base, *new_base;
    const int folder = repair_open_parent(p->root, one->path, false, &base);
    const int staged = folder < 0 ? -1 : repair_open_parent(p->staged, one->path, false, &new_base);
    rmcp_status status = staged < 0 ? failure("opening", one->path) : RMCP_OK;
    if (!status && one->is_added) {
        /* Not over what somebody put there meanwhile. */
        if (!linkat(staged, new_base, folder, base, 0))
            unlinkat(staged, new_base, 0);
        else if (errno == EEXIST || renameat(staged, new_base, folder, base))
            status = failure("adding", one->path);
    } else if (!status && renameat(staged, new_base, folder, base)) {
        status = failure("replacing", one->path);
    }
    if (staged >= 0) close(staged);
    if (!status) rmcp_folder_sync(folder);
    if (folder >= 0) close(folder);
    return status;
}

static rmcp_status put_all_in(struct repair_place *p, struct repair_installed *out)
{
    if (mkdir(p->kept, 0755) && errno != EEXIST) return failure("making", p->kept);
    rmcp_status status = give(p, p->kept);
    const int room = open(p->room, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (!status && room < 0) status = failure("opening", p->room);
    if (!status) status = repair_manifest_write(room, &p->manifest);
    if (room >= 0) close(room);
    p->has_manifest = !status;
    for (size_t i = 0; !status && i < p->manifest.n; i++) {
        const struct repair_kept *one = &p->manifest.list[i];
        if (!one->is_added) status = keep(p, one);
        if (!status) status = put_in(p, one);
        if (!status && one->is_added)
            out->n_added++;
        else if (!status)
            out->n_changed++;
    }
    if (!status) repair_remove(p->staged);
    return status;
}

/* What an earlier one left: RMCP_OK when the folder is as it was before. */
static rmcp_status settle(struct repair_place *p, bool *is_installed)
{
    struct repair_installed undone = { 0 };
    bool is_complete = false;
    *is_installed = false;
    if (!p->has_manifest) return RMCP_OK;
    rmcp_status status = repair_check_all(p, &is_complete);
    if (status) return status;
    *is_installed = is_complete;
    return is_complete ? RMCP_OK : restore(p, false, &undone);
}

/* Whether all that was made below `staged` is in place below `root` already, as files with other
 * names are that were made of the same ones before. */
static bool is_in_place(const char *staged, const char *root)
{
    DIR *folder = opendir(staged);
    bool in_place = folder != NULL;
    for (const struct dirent *one; in_place && (one = readdir(folder));) {
        char *made = NULL, *there = NULL;
        struct stat about;
        if (!strcmp(one->d_name, ".") || !strcmp(one->d_name, "..")) continue;
        in_place = !repair_join(staged, one->d_name, &made) &&
                   !repair_join(root, one->d_name, &there) && !lstat(made, &about) &&
                   (S_ISDIR(about.st_mode) ? is_in_place(made, there)
                                           : rmcp_file_same(AT_FDCWD, made, AT_FDCWD, there));
        free(made);
        free(there);
    }
    if (folder) closedir(folder);
    return in_place;
}

static rmcp_status install(struct repair_place *p, const struct repair_how *how,
                           struct repair_report *report, struct repair_installed *out)
{
    struct timespec began;
    bool is_installed;
    rmcp_status status = settle(p, &is_installed);
    if (!status) status = make_room(p);
    clock_gettime(CLOCK_REALTIME, &began);
    if (!status) status = repair_tree(p->root, p->staged, how, report);
    if (is_installed) { /* it stays so, whatever happened */
        if (!status && report->n_changed_files && !is_in_place(p->staged, p->root))
            status = rmcp_fail(RMCP_E_ARG,
                               "%.300s was repaired in place before, and there is more to repair "
                               "now: rmcp repair --restore first",
                               p->root);
        repair_remove(p->staged);
        if (!status) snprintf(out->said, sizeof out->said, "it was repaired before: nothing to do");
        return status;
    }
    if (!status) status = remember_all(p, "", &began);
    if (!status && p->manifest.n) status = put_all_in(p, out);
    if (!status && p->manifest.n) return RMCP_OK;
    /* Nothing, or not all of it: as it was. */
    char why[512];
    snprintf(why, sizeof why, "%s", status ? rmcp_last_error() : "");
    struct repair_installed undone = { 0 };
    rmcp_status undoing = RMCP_OK;
    if (p->has_manifest)
        undoing = restore(p, false, &undone);
    else
        clear_room(p, &undone);
    *out = (struct repair_installed){ 0 };
    if (!status) return RMCP_OK;
    return rmcp_fail(status, "%.350s%s", why,
                     undoing ? "; and not all of it could be undone: rmcp repair --restore" : "");
}

rmcp_status repair_install(const char *folder, const struct repair_options *options,
                           struct repair_report *report, struct repair_installed *out)
{
    struct repair_place p;
    struct repair_how how = { .options = options, .changes_only = true };
    *out = (struct repair_installed){ 0 };
    rmcp_status status = repair_place_open(&p, folder);
    if (!status) status = repair_workers(options, &how.pool);
    if (!status && options->dry_run)
        status = repair_tree(p.root, NULL, &how, report);
    else if (!status && faccessat(AT_FDCWD, p.root, W_OK | X_OK, AT_EACCESS))
        status = failure("writing into", p.root);
    else if (!status)
        status = install(&p, &how, report, out);
    repair_pool_destroy(how.pool);
    repair_place_close(&p);
    return status;
}
