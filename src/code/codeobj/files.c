/* files.c: walks of files, which are mapped, and of folders, in the order of their names. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "code/codeobj/walker.h"

struct names {
    char **list;
    size_t n, room;
};

static rmcp_status system_failure(const char *what, const char *name)
{
    return rmcp_fail(RMCP_E_IO, "%s %.300s: %s", what, name, strerror(errno));
}

static rmcp_status walk_file(struct walk *walk, int file, const struct stat *about)
{
    if (about->st_size <= 0) return RMCP_OK;
    if ((uintmax_t)about->st_size > SIZE_MAX / 2)
        return walk_trouble(walk, rmcp_fail(RMCP_E_IO, "too large to map"));
    size_t size = (size_t)about->st_size;
    void *bytes = mmap(NULL, size, PROT_READ, MAP_PRIVATE, file, 0);
    if (bytes == MAP_FAILED) return walk_trouble(walk, system_failure("mapping", walk->path));
    rmcp_status status = walk_blob(walk, bytes, size);
    munmap(bytes, size);
    return status;
}

static void names_deinit(struct names *names)
{
    for (size_t i = 0; i < names->n; i++) free(names->list[i]);
    free(names->list);
}

static rmcp_status names_add(struct names *names, const char *name)
{
    if (names->n == names->room) {
        size_t room = names->room ? 2 * names->room : 64;
        char **grown = realloc(names->list, room * sizeof *grown);
        if (!grown) return rmcp_fail_memory("names", room * sizeof *grown);
        names->list = grown;
        names->room = room;
    }
    names->list[names->n] = strdup(name);
    if (!names->list[names->n]) return rmcp_fail_memory("name", strlen(name));
    names->n++;
    return RMCP_OK;
}

static int compare_names(const void *left, const void *right)
{
    return strcmp(*(char *const *)left, *(char *const *)right);
}

static rmcp_status list_folder(DIR *folder, struct names *names)
{
    rmcp_status status = RMCP_OK;
    for (struct dirent *entry; !status && (entry = readdir(folder));)
        if (strcmp(entry->d_name, ".") && strcmp(entry->d_name, ".."))
            status = names_add(names, entry->d_name);
    if (!status && names->n) qsort(names->list, names->n, sizeof *names->list, compare_names);
    return status;
}

static rmcp_status walk_opened(struct walk *walk, int file);

/* One name of a folder. Links, devices, sockets and pipes are passed over: the first may lead in
 * circles, and opening the others may do harm or wait for ever. */
static rmcp_status walk_name(struct walk *walk, int folder, const char *name)
{
    struct stat about;
    if (fstatat(folder, name, &about, AT_SYMLINK_NOFOLLOW))
        return walk_trouble(walk, system_failure("reading", name));
    if (!S_ISREG(about.st_mode) && !S_ISDIR(about.st_mode)) return RMCP_OK;
    int file = openat(folder, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC | O_NOCTTY);
    if (file < 0) return walk_trouble(walk, system_failure("opening", name));
    return walk_opened(walk, file);
}

static rmcp_status walk_folder(struct walk *walk, int file)
{
    struct names names = { 0 };
    if (walk->depth > walk->limits.depth) {
        close(file);
        return walk_trouble(walk, rmcp_fail(RMCP_E_IO, "folders nested too deeply"));
    }
    DIR *folder = fdopendir(file);
    if (!folder) {
        close(file);
        return walk_trouble(walk, system_failure("listing", walk->path));
    }
    rmcp_status status = list_folder(folder, &names);
    for (size_t i = 0; !status && i < names.n; i++) {
        size_t before = walk_enter_file(walk, names.list[i]);
        status = walk_name(walk, dirfd(folder), names.list[i]);
        walk_leave(walk, before);
    }
    names_deinit(&names);
    closedir(folder);
    return status;
}

/* Takes `file` over. */
static rmcp_status walk_opened(struct walk *walk, int file)
{
    struct stat about;
    rmcp_status status = RMCP_OK;
    if (fstat(file, &about)) {
        status = walk_trouble(walk, system_failure("reading", walk->path));
    } else if (S_ISDIR(about.st_mode)) {
        return walk_folder(walk, file);
    } else if (S_ISREG(about.st_mode)) {
        status = walk_file(walk, file, &about);
    }
    close(file);
    return status;
}

rmcp_status codeobj_walk_path(const char *path, const struct codeobj_limits *limits,
                              codeobj_visit visit, void *context)
{
    if (!path || !visit) return rmcp_fail(RMCP_E_ARG, "path or visit is NULL");
    struct stat about;
    int file = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC | O_NOCTTY);
    if (file < 0) return system_failure("opening", path);
    if (fstat(file, &about) || (!S_ISREG(about.st_mode) && !S_ISDIR(about.st_mode))) {
        close(file);
        return rmcp_fail(RMCP_E_IO, "%.300s is neither a file nor a folder", path);
    }
    struct walk walk;
    walk_init(&walk, limits, visit, context);
    size_t before = walk_enter(&walk, "%s", path);
    rmcp_status status = walk_opened(&walk, file);
    walk_leave(&walk, before);
    return status;
}
