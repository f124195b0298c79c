/* folder.c: a file or a folder repaired into a new place, which is there whole or not at all. */
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <ftw.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "codeobj/codeobj.h"
#include "repair/files.h"

enum { DEEPEST = 64, MOST_JOBS = 256 };

struct entry {
    char *from, *to; /* whole paths; `to` NULL: of a dry run */
    struct repair_report report;
};

struct work {
    const struct repair_options *options;
    struct entry *list;
    size_t n, room, n_left_out;
    /* by workers */
    pthread_mutex_t lock;
    size_t next, n_done;
    rmcp_status status;
    char message[512];
};

static rmcp_status failure(const char *what, const char *path)
{
    return rmcp_fail(RMCP_E_IO, "%s %.300s: %s", what, path, strerror(errno));
}

static rmcp_status join(const char *folder, const char *name, char **out)
{
    const size_t room = strlen(folder) + strlen(name) + 2;
    *out = malloc(room);
    if (!*out) return rmcp_fail_memory("path", room);
    snprintf(*out, room, "%s/%s", folder, name);
    return RMCP_OK;
}

/* ---- what is to be done ---- */

/* Takes both paths over. */
static rmcp_status add(struct work *w, char *from, char *to)
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
    w->list[w->n++] = (struct entry){ .from = from, .to = to };
    return RMCP_OK;
}

/* Whether a name has another chip in it, as Tensile's files have. */
static bool names_a_chip(const char *name)
{
    for (const char *at = name; (at = strstr(at, "gfx")); at++) {
        char word[32];
        struct codeobj_target target;
        const size_t length = strcspn(at, "_-.");
        if ((at == name || strchr("_-.", at[-1])) && length < sizeof word) {
            snprintf(word, sizeof word, "%.*s", (int)length, at);
            if (codeobj_target_parse(word, &target)) return true;
        }
    }
    return false;
}

/* The name that a file of the folder gets: `*out` is to be freed, NULL: it is left out. */
static rmcp_status choose_name(const struct work *w, const char *folder, const char *name,
                               char **out)
{
    const char *chip = isa_chip_name(w->options->target);
    char *source = NULL, *path = NULL;
    rmcp_status status = repair_rename(name, "gfx1030", chip, out);
    if (status || *out) return status;
    if (names_a_chip(name)) {
        /* Its own stays, unless what is made here takes its place. */
        status = repair_rename(name, chip, "gfx1030", &source);
        if (status || !source) return status;
        status = join(folder, source, &path);
        const bool replaced = !status && !access(path, F_OK);
        free(source);
        free(path);
        if (status || replaced) return status;
    }
    *out = strdup(name);
    return *out ? RMCP_OK : rmcp_fail_memory("name", strlen(name));
}

static rmcp_status copy_link(const char *from, const char *to)
{
    char target[4096];
    const ssize_t n = readlink(from, target, sizeof target - 1);
    if (n < 0) return failure("reading the link", from);
    target[n] = 0;
    return to && symlink(target, to) ? failure("making the link", to) : RMCP_OK;
}

static rmcp_status list_folder(struct work *w, const char *from, const char *to, unsigned depth);

static rmcp_status list_name(struct work *w, const char *from, const char *to, const char *name,
                             unsigned depth)
{
    char *source = NULL, *made = NULL, *chosen = NULL;
    struct stat about;
    rmcp_status status = join(from, name, &source);
    if (!status && lstat(source, &about)) status = failure("reading", source);
    if (!status && S_ISREG(about.st_mode)) status = choose_name(w, from, name, &chosen);
    if (!status && S_ISREG(about.st_mode) && !chosen) {
        w->n_left_out++;
        free(source);
        return RMCP_OK;
    }
    if (!status && to) status = join(to, chosen ? chosen : name, &made);
    free(chosen);
    if (!status && S_ISREG(about.st_mode)) return add(w, source, made);
    if (!status && S_ISLNK(about.st_mode)) status = copy_link(source, made);
    if (!status && S_ISDIR(about.st_mode)) {
        if (made && mkdir(made, about.st_mode & 0777)) status = failure("making", made);
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

static void *work_on(void *context)
{
    struct work *w = context;
    for (;;) {
        pthread_mutex_lock(&w->lock);
        const size_t i = w->next;
        const bool over = i >= w->n || w->status;
        if (!over) w->next++;
        if (!over && w->options->progress)
            w->options->progress(w->options->context, w->n_done, w->n, w->list[i].from);
        pthread_mutex_unlock(&w->lock);
        if (over) return NULL;
        enum repair_made made;
        const rmcp_status status = repair_file(w->list[i].from, w->list[i].to, w->options->target,
                                               &w->list[i].report, &made);
        pthread_mutex_lock(&w->lock);
        w->n_done++;
        if (status && !w->status) {
            w->status = status;
            snprintf(w->message, sizeof w->message, "%s", rmcp_last_error());
        }
        pthread_mutex_unlock(&w->lock);
    }
}

static rmcp_status run(struct work *w, struct repair_report *report)
{
    const long cores = sysconf(_SC_NPROCESSORS_ONLN);
    size_t jobs = w->options->jobs ? w->options->jobs : (size_t)(cores > 0 ? cores : 1);
    if (jobs > MOST_JOBS) jobs = MOST_JOBS;
    if (jobs > w->n) jobs = w->n;
    pthread_t threads[MOST_JOBS];
    size_t n_threads = 0;
    pthread_mutex_init(&w->lock, NULL);
    while (n_threads + 1 < jobs && !pthread_create(&threads[n_threads], NULL, work_on, w))
        n_threads++;
    work_on(w); /* this thread works, too */
    for (size_t i = 0; i < n_threads; i++) pthread_join(threads[i], NULL);
    pthread_mutex_destroy(&w->lock);
    rmcp_status status = w->status ? rmcp_fail(w->status, "%s", w->message) : RMCP_OK;
    report->n_left_out_files += w->n_left_out;
    for (size_t i = 0; i < w->n; i++) {
        const rmcp_status merged = repair_report_merge(report, &w->list[i].report);
        if (!status) status = merged;
        free(w->list[i].from);
        free(w->list[i].to);
    }
    free(w->list);
    return status;
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

static rmcp_status repair_into(struct work *w, const char *from, bool is_folder, const char *place,
                               struct repair_report *report)
{
    char *source, *made = NULL;
    rmcp_status status = RMCP_OK;
    if (is_folder) {
        status = list_folder(w, from, place, 0);
    } else {
        source = strdup(from);
        if (!source) status = rmcp_fail_memory("path", strlen(from));
        if (!status && place) status = join(place, "file", &made);
        if (!status)
            status = add(w, source, made);
        else
            free(source);
    }
    if (status) {
        w->status = status; /* then nothing is done, but all is freed */
        snprintf(w->message, sizeof w->message, "%s", rmcp_last_error());
    }
    return run(w, report);
}

/* A file is worth writing when there was anything for the chip. */
static bool is_worth(const struct repair_report *report)
{
    return report->n_changed_files || report->n_already || report->n_native;
}

rmcp_status repair_path(const char *from, const char *to, const struct repair_options *options,
                        struct repair_report *report)
{
    struct stat about;
    struct work work = { .options = options };
    char *place = NULL, *file = NULL;
    if (!from || !options || !report || (!to && !options->dry_run))
        return rmcp_fail(RMCP_E_ARG, "a path, options or report is NULL");
    if (stat(from, &about)) return failure("reading", from);
    const bool is_folder = S_ISDIR(about.st_mode);
    rmcp_status status = options->dry_run ? RMCP_OK : check_place(from, to);
    if (!status && !options->dry_run) status = make_temporary(to, &place);
    if (status) return status;
    status = repair_into(&work, from, is_folder, place, report);
    if (!status && place && is_folder) {
        if (chmod(place, about.st_mode & 0777) || rename(place, to))
            status = failure("renaming to", to);
    } else if (!status && place && is_worth(report)) {
        status = join(place, "file", &file);
        if (!status && rename(file, to)) status = failure("renaming to", to);
    }
    if (place && (status || !is_folder)) nftw(place, remove_one, 16, FTW_DEPTH | FTW_PHYS);
    free(file);
    free(place);
    return status;
}
