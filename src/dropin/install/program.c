/* program.c: finds a command's program and who runs it: the kernel, Python, or others. */
#define _GNU_SOURCE /* realpath */
#include "dropin/install/program.h"
#include "base/error.h"
#include "base/files.h"
#include "code/codeobj/linked.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

enum { SCRIPT_HEAD = 2048, MOST_LINE = 512 };

static bool is_executable(const char *path)
{
    struct stat about;
    return !stat(path, &about) && S_ISREG(about.st_mode) && !access(path, X_OK);
}

bool dropin_program_search(const char *name, char path[static PATH_MAX])
{
    if (strchr(name, '/')) {
        const int length = snprintf(path, PATH_MAX, "%s", name);
        return length > 0 && length < PATH_MAX && is_executable(path);
    }
    const char *list = getenv("PATH");
    if (!list) list = "/bin:/usr/bin";
    for (;; list++) {
        const size_t n = strcspn(list, ":");
        const int length = snprintf(path, PATH_MAX, "%.*s%s%s", (int)n, list, n ? "/" : "./", name);
        if (*name && length > 0 && length < PATH_MAX && is_executable(path)) return true;
        list += n;
        if (!*list) return false;
    }
}

static const char *base_of(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

/* python, python3, python3.12, python3.13t, pypy3; not python3-config. */
static bool is_python(const char *path)
{
    const char *name = base_of(path);
    if (strncmp(name, "python", 6) && strncmp(name, "pypy", 4)) return false;
    name += *name == 'p' && name[2] == 't' ? 6 : 4;
    return strspn(name, "0123456789.t") == strlen(name);
}

void dropin_program_linker(const char *path, char linker[static 256])
{
    struct rmcp_file map;
    struct codeobj_linked linked;
    linker[0] = '\0';
    if (rmcp_file_map(AT_FDCWD, path, &map)) return;
    if (!codeobj_linked_read(map.bytes, map.size, &linked))
        memcpy(linker, linked.interpreter, sizeof linked.interpreter);
    rmcp_file_unmap(&map);
}

static uint16_t host_machine(void)
{
    struct rmcp_file map;
    struct codeobj_linked linked = { 0 };
    if (rmcp_file_map(AT_FDCWD, "/proc/self/exe", &map)) return 0;
    if (codeobj_linked_read(map.bytes, map.size, &linked)) linked.machine = 0;
    rmcp_file_unmap(&map);
    return linked.machine;
}

/* ---- Python's arguments ---- */

static void take_folder(const char *script, struct dropin_program *out)
{
    struct stat about;
    if (!realpath(script, out->folder)) {
        out->folder[0] = '\0';
        return;
    }
    char *slash = strrchr(out->folder, '/');
    if (!stat(out->folder, &about) && S_ISDIR(about.st_mode)) return; /* imports from itself */
    if (slash && slash != out->folder) *slash = '\0';
}

/* Options of the interpreter that change where it imports from, up to the script. */
static void read_arguments(char *const *arguments, struct dropin_program *out)
{
    for (; *arguments; arguments++) {
        const char *word = *arguments;
        if (word[0] != '-' || !word[1]) {
            if (word[0] != '-') take_folder(word, out);
            return;
        }
        if (word[1] == '-') { /* --check-hash-based-pycs default */
            if (!strchr(word, '=') && !strncmp(word, "--check", 7) && arguments[1]) arguments++;
            continue;
        }
        for (const char *letter = word + 1; *letter; letter++) {
            if (strchr("cm", *letter)) return;
            if (strchr("WX", *letter)) {
                if (!letter[1] && arguments[1]) arguments++;
                break;
            }
            if (strchr("EIPsS", *letter) && out->n_flags < DROPIN_MOST_FLAGS)
                snprintf(out->flags[out->n_flags++], sizeof *out->flags, "-%c", *letter);
        }
    }
}

/* ---- scripts ---- */

static size_t read_head(const char *path, char text[static SCRIPT_HEAD])
{
    const int file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (file < 0) return 0;
    const ssize_t n = read(file, text, SCRIPT_HEAD - 1);
    close(file);
    text[n > 0 ? n : 0] = '\0';
    return n > 0 ? (size_t)n : 0;
}

/* The next word, where blanks separate them and quotes hold them together. */
static bool next_word(const char **at, char *out, size_t room)
{
    size_t n = 0;
    char quote = '\0';
    *at += strspn(*at, " \t");
    if (!**at || **at == '\n') return false;
    for (; **at && **at != '\n' && (quote || !strchr(" \t", **at)); ++*at) {
        if (quote ? **at == quote : **at == '"' || **at == '\'')
            quote = quote ? '\0' : **at;
        else if (n + 1 < room)
            out[n++] = **at;
    }
    out[n] = '\0';
    return true;
}

/* The interpreter that a script names: "#!/usr/bin/env -S A=1 python3 -I", "#!/venv/bin/python";
 * and where pip had no room for that, a shell that executes Python in its second line. */
static bool read_interpreter(const char *head, char path[static PATH_MAX],
                             struct dropin_program *out)
{
    char word[MOST_LINE], name[MOST_LINE] = "", flags[DROPIN_MOST_FLAGS][MOST_LINE];
    char *list[DROPIN_MOST_FLAGS + 1] = { NULL };
    const char *at = head + 2, *second = strchr(head, '\n');
    if (strncmp(head, "#!", 2)) return false;
    if (!next_word(&at, name, sizeof name)) return false;
    if (second && !strncmp(second, "\n'''exec' ", 10)) {
        at = second + 10;
        if (!next_word(&at, name, sizeof name)) return false;
        at = "";
    }
    if (!strcmp(base_of(name), "env")) {
        name[0] = '\0';
        while (next_word(&at, word, sizeof word))
            if (word[0] != '-' && !strchr(word, '=')) {
                snprintf(name, sizeof name, "%s", word);
                break;
            }
    }
    for (size_t n = 0; n < DROPIN_MOST_FLAGS && next_word(&at, flags[n], MOST_LINE); n++)
        list[n] = flags[n];
    if (!dropin_program_search(name, path)) return false;
    if (is_python(path)) read_arguments(list, out);
    return true;
}

/* ---- */

static bool is_setuid(const char *path)
{
    struct stat about;
    if (stat(path, &about)) return false;
    if ((about.st_mode & S_ISUID && about.st_uid != geteuid()) ||
        (about.st_mode & S_ISGID && about.st_gid != getegid()))
        return true;
    return geteuid() && getxattr(path, "security.capability", NULL, 0) > 0;
}

static enum dropin_program_kind read_binary(struct dropin_program *out)
{
    struct rmcp_file map;
    struct codeobj_linked linked;
    if (rmcp_file_map(AT_FDCWD, out->path, &map)) return DROPIN_PROGRAM_OTHER;
    const rmcp_status status = codeobj_linked_read(map.bytes, map.size, &linked);
    rmcp_file_unmap(&map);
    if (status || linked.machine != host_machine()) return DROPIN_PROGRAM_OTHER;
    memcpy(out->linker, linked.interpreter, sizeof out->linker);
    return *out->linker ? DROPIN_PROGRAM_LINKED : DROPIN_PROGRAM_STATIC;
}

rmcp_status dropin_program_read(char *const *command, struct dropin_program *out)
{
    char head[SCRIPT_HEAD];
    *out = (struct dropin_program){ .kind = DROPIN_PROGRAM_OTHER };
    if (!dropin_program_search(command[0], out->path)) {
        const bool is_there = strchr(command[0], '/') && !access(command[0], F_OK);
        return rmcp_fail(is_there ? RMCP_E_UNSUPPORTED : RMCP_E_ARG, "%.300s: %s", command[0],
                         is_there ? "it cannot be executed" : "no such program");
    }
    const size_t n = read_head(out->path, head);
    out->is_setuid = is_setuid(out->path);
    if (is_python(out->path)) { /* also where a script of pyenv or asdf stands in for it */
        out->kind = DROPIN_PROGRAM_PYTHON;
        memcpy(out->python, out->path, sizeof out->python);
        read_arguments(command + 1, out);
    } else if (n >= 4 && !memcmp(head, "\177ELF", 4)) {
        out->kind = read_binary(out);
    } else {
        out->kind = DROPIN_PROGRAM_SCRIPT;
        out->is_setuid = false; /* the kernel ignores it */
        if (read_interpreter(head, out->python, out) && is_python(out->python)) {
            out->kind = DROPIN_PROGRAM_PYTHON;
            take_folder(out->path, out);
        } else {
            out->python[0] = '\0';
        }
    }
    return RMCP_OK;
}
