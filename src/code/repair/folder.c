/* folder.c: a file or a folder repaired into a new place, which is there whole or not at all. */
#define _GNU_SOURCE
#include "code/repair/folder.h"

#include <dirent.h>
#include <errno.h>
#include <ftw.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "code/codeobj/codeobj.h"
#include "code/repair/names.h"

enum { DEEPEST = 64 };

struct entry {
    char *from, *to; /* whole paths; `to` NULL: of a dry run */
    bool is_renamed;
    struct repair_report report;
    rmcp_status status;
    char message[512];
};

/* A folder that gets its permissions in the end: until then its owner has to write in it. */
struct late {
    char *path;
    mode_t mode;
    struct late *next;
};

struct work {
    const struct repair_how *how;
    struct entry *list;
    size_t n, room, n_left_out;
    struct late *late;   /* the innermost first */
    atomic_bool is_over; /* a file failed: the others need not be tried */
};

static rmcp_status failure(const char *what, const char *path)
{
    return rmcp_fail(RMCP_E_IO, "%s %.300s: %s", what, path, strerror(errno));
}

rmcp_status repair_join(const char *folder, const char *name, char **out)
{
    const size_t room = strlen(folder) + strlen(name) + 2;
    *out = malloc(room);
    if (!*out) return rmcp_fail_memory("path", room);
    snprintf(*out, room, "%s/%s", folder, name);
    return RMCP_OK;
}

/* ---- what is to be done ---- */

/* Takes both paths over. */
static rmcp_status add(struct work *w, char *from, char *to, bool is_renamed)
{
    if (w->n == w->room) {
        const size_t room = w->room ? 2 * w->room : 64;
        struct entry *grown = realloc(w->list, room * sizeof *grown);
        if (!grown) {
            free(from);
            free(to);
            return rmcp_fail_memory("files", room * sizeof *grown);
        }
        w->list = grown;
        w->room = room;
    }
    w->list[w->n++] = (struct entry){ .from = from, .to = to, .is_renamed = is_renamed };
    const bool counts = w->how->options->progress != NULL;
    repair_pool_expect(w->how->pool, 1 + (counts ? repair_count(from) : 0));
    return RMCP_OK;
}

static bool exists(void *context, const char *name)
{
    char *path = NULL;
    struct stat about;
    if (repair_join(context, name, &path)) return false;
    const bool found = !lstat(path, &about);
    free(path);
    return found;
}

/* The name that a file of the folder gets: `*out` is to be freed, NULL: it is left out. */
static rmcp_status choose_name(const struct work *w, const char *folder, const char *name,
                               char **out)
{
    char *context = strdup(folder);
    if (!context) return rmcp_fail_memory("path", strlen(folder));
    const struct repair_names names = { w->how->options->target, w->how->options->replace, context,
                                        exists };
    rmcp_status status = repair_choose_name(&names, name, out);
    free(context);
    return status;
}

static rmcp_status copy_link(const char *from, const char *to)
{
    char target[4096];
    const ssize_t n = readlink(from, target, sizeof target - 1);
    if (n < 0) return failure("reading the link", from);
    target[n] = 0;
    return to && symlink(target, to) ? failure("making the link", to) : RMCP_OK;
}

static rmcp_status make_folder(struct work *w, const char *path, mode_t mode)
{
    if (mkdir(path, mode | 0700)) return failure("making", path);
    /* What is changed in place is moved out of it again. */
    if ((mode & 0700) == 0700 || w->how->changes_only) return RMCP_OK;
    struct late *late = malloc(sizeof *late);
    if (late) *late = (struct late){ strdup(path), mode, w->late };
    if (!late || !late->path) {
        free(late);
        return rmcp_fail_memory("folder", strlen(path));
    }
    w->late = late;
    return RMCP_OK;
}

/* Frees the list; nothing is done after a failure, so that what was made can be removed. */
static rmcp_status set_late_modes(struct work *w, rmcp_status status)
{
    while (w->late) {
        struct late *late = w->late;
        if (!status && chmod(late->path, late->mode)) status = failure("changing", late->path);
        w->late = late->next;
        free(late->path);
        free(late);
    }
    return status;
}

static rmcp_status list_folder(struct work *w, const char *from, const char *to, unsigned depth);

static rmcp_status list_name(struct work *w, const char *from, const char *to, const char *name,
                             unsigned depth)
{
    char *source = NULL, *made = NULL, *chosen = NULL;
    struct stat about;
    const bool changes_only = w->how->changes_only;
    /* What was there before a repair in place, also where that was moved aside. */
    static const size_t n_room = sizeof REPAIR_ROOM - 1;
    if (!strncmp(name, REPAIR_ROOM, n_room) && (!name[n_room] || name[n_room] == '.'))
        return RMCP_OK;
    rmcp_status status = repair_join(from, name, &source);
    if (!status && lstat(source, &about)) status = failure("reading", source);
    if (!status && S_ISREG(about.st_mode)) status = choose_name(w, from, name, &chosen);
    if (!status && S_ISREG(about.st_mode) && !chosen) {
        w->n_left_out += !changes_only;
        free(source);
        return RMCP_OK;
    }
    const bool is_renamed = chosen && strcmp(chosen, name);
    if (!status && to) status = repair_join(to, chosen ? chosen : name, &made);
    free(chosen);
    if (!status && S_ISREG(about.st_mode)) return add(w, source, made, is_renamed);
    if (!status && S_ISLNK(about.st_mode) && !changes_only) status = copy_link(source, made);
    if (!status && S_ISDIR(about.st_mode)) {
        if (made) status = make_folder(w, made, about.st_mode & 0777);
        if (!status) status = list_folder(w, source, made, depth + 1);
    }
    free(source);
    free(made);
    return status;
}

static rmcp_status list_folder(struct work *w, const char *from, const char *to, unsigned depth)
{
    struct dirent **names = NULL;
    rmcp_status status = RMCP_OK;
    if (depth > DEEPEST) return rmcp_fail(RMCP_E_IO, "%.300s: folders nested too deeply", from);
    const int n = scandir(from, &names, NULL, alphasort);
    if (n < 0) return failure("listing", from);
    for (int i = 0; i < n; i++) {
        if (!status && strcmp(names[i]->d_name, ".") && strcmp(names[i]->d_name, ".."))
            status = list_name(w, from, to, names[i]->d_name, depth);
        free(names[i]);
    }
    free(names);
    return status;
}

/* ---- doing it ---- */

static rmcp_status repair_entry(struct work *w, struct entry *e)
{
    struct repair_how how = *w->how;
    enum repair_made made;
    if (e->is_renamed) how.changes_only = false; /* it is a new file in any case */
    rmcp_status status = repair_file(e->from, e->to, &how, &e->report, &made);
    if (!status && repair_is_wheel(e->from))
        status = repair_report_refuse(&e->report, e->from,
                                      "a wheel within a folder: repair it by itself", false);
    return status;
}

static void task(void *context, size_t i)
{
    struct work *w = context;
    struct entry *e = &w->list[i];
    if (atomic_load(&w->is_over)) return;
    repair_pool_advance(w->how->pool, e->from, 0);
    e->status = repair_entry(w, e);
    if (e->status) {
        snprintf(e->message, sizeof e->message, "%s", rmcp_last_error());
        atomic_store(&w->is_over, true);
    }
    repair_pool_advance(w->how->pool, e->from, 1);
}

/* The work that was listed, unless listing failed; frees it. */
static rmcp_status run(struct work *w, rmcp_status status, struct repair_report *report)
{
    char why[512];
    snprintf(why, sizeof why, "%s", status ? rmcp_last_error() : "");
    if (!status) repair_pool_run(w->how->pool, w->n, task, w);
    report->n_left_out_files += w->n_left_out;
    for (size_t i = 0; i < w->n; i++) {
        struct entry *e = &w->list[i];
        if (e->status && !status) {
            status = e->status;
            snprintf(why, sizeof why, "%s", e->message);
        }
        const rmcp_status merged = repair_report_merge(report, &e->report);
        if (merged && !status) {
            status = merged;
            snprintf(why, sizeof why, "%s", rmcp_last_error());
        }
        free(e->from);
        free(e->to);
    }
    free(w->list);
    if (!status) return set_late_modes(w, status);
    set_late_modes(w, status);
    return rmcp_fail(status, "%s", why);
}

rmcp_status repair_tree(const char *from, const char *to, const struct repair_how *how,
                        struct repair_report *report)
{
    struct work w = { .how = how };
    return run(&w, list_folder(&w, from, to, 0), report);
}

static rmcp_status repair_alone(const char *from, const char *to, const struct repair_how *how,
                                struct repair_report *report)
{
    struct work w = { .how = how };
    char *source = strdup(from), *made = to ? strdup(to) : NULL;
    rmcp_status status = RMCP_OK;
    if (source && (made || !to)) {
        status = add(&w, source, made, false);
    } else {
        free(source);
        free(made);
        status = rmcp_fail_memory("path", strlen(from));
    }
    return run(&w, status, report);
}

rmcp_status repair_workers(const struct repair_options *options, struct repair_pool **out)
{
    const long cores = sysconf(_SC_NPROCESSORS_ONLN);
    const size_t jobs = options->jobs ? options->jobs : (size_t)(cores > 0 ? cores : 1);
    return repair_pool_create(jobs, options, out);
}

/* ---- the new place ---- */

static int remove_one(const char *path, const struct stat *about, int kind, struct FTW *where)
{
    (void)about;
    (void)kind;
    (void)where;
    return remove(path);
}

/* What was there when nothing may be: RMCP_OK when there is nothing. */
static rmcp_status check_place(const char *from, const char *to)
{
    struct stat about;
    if (!lstat(to, &about)) return rmcp_fail(RMCP_E_ARG, "%.300s is there already", to);
    if (errno != ENOENT) return failure("writing", to);
    /* Not within what is read. */
    char *parent = strdup(to), *whole = NULL, *source = realpath(from, NULL);
    if (parent) {
        size_t length = strlen(parent);
        while (length > 1 && parent[length - 1] == '/') parent[--length] = 0;
        char *slash = strrchr(parent, '/');
        if (slash) slash[slash == parent] = 0;
        whole = realpath(slash ? parent : ".", NULL);
    }
    rmcp_status status = RMCP_OK;
    if (!source)
        status = failure("reading", from);
    else if (!whole)
        status = failure("writing", to);
    else if (!strncmp(whole, source, strlen(source)) &&
             (!whole[strlen(source)] || whole[strlen(source)] == '/'))
        status = rmcp_fail(RMCP_E_ARG, "%.300s would lie within %.300s", to, from);
    free(parent);
    free(whole);
    free(source);
    return status;
}

static rmcp_status make_temporary(const char *to, char **out)
{
    static const char suffix[] = ".rmcp-XXXXXX";
    size_t length = strlen(to);
    while (length > 1 && to[length - 1] == '/') length--;
    *out = malloc(length + sizeof suffix);
    if (!*out) return rmcp_fail_memory("path", length);
    memcpy(*out, to, length);
    memcpy(*out + length, suffix, sizeof suffix);
    if (mkdtemp(*out)) return RMCP_OK;
    const rmcp_status status = failure("writing", to);
    free(*out);
    *out = NULL;
    return status;
}

/* A file is worth writing when there was anything for the chip; a folder also when something in it
 * is refused, and the rest may be wanted. */
static bool is_worth(const struct repair_report *report, bool is_folder)
{
    return report->n_changed_files || report->n_already || report->n_native ||
           (is_folder && report->n_refusals);
}

/* Into `place`, a folder of our own, which a folder becomes; a file is `place`/file. */
static rmcp_status repair_into(const char *from, bool is_folder, const char *place,
                               const struct repair_options *options, struct repair_report *report)
{
    char *file = NULL;
    struct repair_how how = { .options = options };
    rmcp_status status = repair_workers(options, &how.pool);
    if (!status && place && !is_folder) status = repair_join(place, "file", &file);
    if (!status && is_folder)
        status = repair_tree(from, place, &how, report);
    else if (!status && repair_is_wheel(from))
        status = repair_wheel(from, file, place, &how, report);
    else if (!status)
        status = repair_alone(from, file, &how, report);
    repair_pool_destroy(how.pool);
    free(file);
    return status;
}

static int open_one(const char *path, const struct stat *about, int kind, struct FTW *where)
{
    (void)where;
    if (kind == FTW_D || kind == FTW_DNR) chmod(path, (about->st_mode & 0777) | 0700);
    return 0;
}

void repair_remove(const char *folder)
{
    nftw(folder, open_one, 16, FTW_PHYS); /* what has no permission to be written in */
    nftw(folder, remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

rmcp_status repair_path(const char *from, const char *to, const struct repair_options *options,
                        struct repair_report *report)
{
    struct stat about;
    char *place = NULL, *file = NULL;
    if (!from || !options || !report || (!to && !options->dry_run))
        return rmcp_fail(RMCP_E_ARG, "a path, options or report is NULL");
    if (stat(from, &about)) return failure("reading", from);
    const bool is_folder = S_ISDIR(about.st_mode);
    rmcp_status status = options->dry_run ? RMCP_OK : check_place(from, to);
    if (!status && !options->dry_run) status = make_temporary(to, &place);
    if (status) return status;
    status = repair_into(from, is_folder, place, options, report);
    const bool is_kept = !status && place && is_worth(report, is_folder);
    if (is_kept && is_folder) {
        if (chmod(place, about.st_mode & 0777) || rename(place, to))
            status = failure("renaming to", to);
    } else if (is_kept) {
        status = repair_join(place, "file", &file);
        if (!status && rename(file, to)) status = failure("renaming to", to);
    }
    if (place && (status || !is_kept || !is_folder)) repair_remove(place);
    free(file);
    free(place);
    return status;
}
