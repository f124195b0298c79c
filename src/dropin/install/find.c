/* find.c: which MIOpen a command would load, as Python and the dynamic linker tell it. */
#include "base/error.h"
#include "base/files.h"
#include "dropin/install/dropin.h"
#include "dropin/install/program.h"

#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

const char *const dropin_kind_names[DROPIN_KINDS] = {
    [DROPIN_NONE] = "none",       [DROPIN_UNSEEN] = "unseen", [DROPIN_BUNDLED] = "wheel",
    [DROPIN_THEROCK] = "therock", [DROPIN_LOADER] = "loader", [DROPIN_SETUID] = "setuid",
};

static bool exists(const char *folder, const char *name, char path[static PATH_MAX])
{
    return rmcp_file_join(path, folder, name) && !access(path, F_OK);
}

static bool is_in(const char *file, const char *folder)
{
    char above[PATH_MAX];
    struct stat left, right;
    snprintf(above, sizeof above, "%s", file);
    char *slash = strrchr(above, '/');
    if (!slash) return false;
    *slash = '\0';
    return !stat(above, &left) && !stat(folder, &right) && left.st_dev == right.st_dev &&
           left.st_ino == right.st_ino;
}

static enum dropin_copy copy_for(const char *name)
{
    return strcmp(name, dropin_names[DROPIN_WHEEL]) ? DROPIN_SYSTEM : DROPIN_WHEEL;
}

/* The library of a PyTorch that leads to MIOpen. */
static bool torch_object(const char *torch, char path[static PATH_MAX])
{
    static const char *const names[] = { "lib/libtorch_hip.so", "lib/libtorch.so",
                                         "lib/libtorch_python.so" };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (exists(torch, names[i], path)) return true;
    char pattern[PATH_MAX];
    glob_t list;
    if (!rmcp_file_join(pattern, torch, "_C.*.so") || glob(pattern, 0, NULL, &list)) return false;
    const bool found = list.gl_pathc && snprintf(path, PATH_MAX, "%s", list.gl_pathv[0]) < PATH_MAX;
    globfree(&list);
    return found;
}

static void set(struct dropin_found *out, enum dropin_kind kind, enum dropin_copy copy,
                const char *what)
{
    out->kind = kind;
    out->copy = copy;
    snprintf(out->what, sizeof out->what, "%s%s%s", what, *out->rocm ? ", ROCm " : "", out->rocm);
}

/* The system's, for whatever a Python loads besides PyTorch. */
static bool find_system(const char *linker, const char *object, struct dropin_found *out)
{
    char name[64];
    return dropin_loader_ask(linker, object, dropin_names[DROPIN_SYSTEM], out->original, name);
}

static void find_without_rocm(const struct dropin_python *python, const char *linker,
                              struct dropin_found *out)
{
    const bool has = *python->torch;
    const char *build = *python->cuda ? "for CUDA" : "without ROCm";
    if (find_system(linker, python->executable, out)) {
        set(out, DROPIN_LOADER, DROPIN_SYSTEM, "the system's");
    } else {
        out->original[0] = '\0';
        set(out, DROPIN_NONE, DROPIN_SYSTEM, "");
    }
    const size_t used = strlen(out->what);
    snprintf(out->what + used, sizeof out->what - used, "%s%s %.60s%s%.200s%s%s", used ? "; " : "",
             has ? "PyTorch" : "no PyTorch in", has ? python->version : "", has ? " in " : "",
             has ? python->torch : python->executable, has ? " is built " : "", has ? build : "");
}

static void find_in_python(const struct dropin_python *python, struct dropin_found *out)
{
    char linker[256], path[PATH_MAX], name[64] = "", folder[PATH_MAX];
    dropin_program_linker(python->executable, linker);
    snprintf(out->python, sizeof out->python, "%s", python->executable);
    snprintf(out->torch, sizeof out->torch, "%s", python->torch);
    snprintf(out->version, sizeof out->version, "%s", python->version);
    const bool has_hip =
        *python->torch && (*python->hip || exists(python->torch, "lib/libtorch_hip.so", path));
    if (!has_hip) {
        find_without_rocm(python, linker, out);
        return;
    }
    unsigned major, minor;
    if (sscanf(python->hip, "%3u.%3u", &major, &minor) == 2)
        snprintf(out->rocm, sizeof out->rocm, "%u.%u", major, minor);
    /* TheRock's torch loads its libraries by their paths before anything needs them by name. */
    if (*python->sdk && exists(python->torch, "_rocm_init.py", path)) {
        snprintf(out->original, sizeof out->original, "%s", python->sdk);
        set(out, DROPIN_THEROCK, DROPIN_SYSTEM, "TheRock's wheel");
    } else if (torch_object(python->torch, path) &&
               dropin_loader_ask(linker, path, NULL, out->original, name)) {
        const bool bundled =
            rmcp_file_join(folder, python->torch, "lib") && is_in(out->original, folder);
        set(out, bundled ? DROPIN_BUNDLED : DROPIN_LOADER, copy_for(name),
            bundled ? "pytorch.org wheel" : "PyTorch with the system's MIOpen");
    } else if (exists(python->torch, "lib/libMIOpen.so", out->original)) {
        set(out, DROPIN_BUNDLED, DROPIN_WHEEL, "pytorch.org wheel");
    } else if (*python->sdk) {
        snprintf(out->original, sizeof out->original, "%s", python->sdk);
        set(out, DROPIN_THEROCK, DROPIN_SYSTEM, "TheRock's wheel");
    } else if (find_system(linker, python->executable, out)) {
        set(out, DROPIN_LOADER, DROPIN_SYSTEM, "PyTorch with the system's MIOpen");
    } else {
        out->original[0] = '\0';
        set(out, DROPIN_NONE, DROPIN_SYSTEM, "PyTorch whose MIOpen is nowhere to be found");
    }
}

/* The Python that programs get which say no more than "python". */
static bool active_python(char path[static PATH_MAX])
{
    static const char *const variables[] = { "VIRTUAL_ENV", "CONDA_PREFIX" };
    for (size_t i = 0; i < sizeof variables / sizeof *variables; i++) {
        const char *prefix = getenv(variables[i]);
        if (prefix && *prefix == '/' && exists(prefix, "bin/python", path)) return true;
    }
    return dropin_program_search("python3", path) || dropin_program_search("python", path);
}

/* A program that loads no MIOpen itself may start one that does. */
static void find_unseen(const struct dropin_program *program, struct dropin_found *out)
{
    static const char *const reasons[] = {
        [DROPIN_PROGRAM_LINKED] = "it needs no MIOpen itself",
        [DROPIN_PROGRAM_PYTHON] = "its Python does not tell",
        [DROPIN_PROGRAM_SCRIPT] = "a script",
        [DROPIN_PROGRAM_STATIC] = "a static program, which itself stays as it is",
        [DROPIN_PROGRAM_OTHER] = "no program of this processor",
    };
    struct dropin_program active = { .kind = DROPIN_PROGRAM_PYTHON };
    struct dropin_python python;
    if (program->kind != DROPIN_PROGRAM_PYTHON && active_python(active.python) &&
        !dropin_python_ask(&active, &python))
        find_in_python(&python, out);
    if (out->kind == DROPIN_NONE) out->original[0] = '\0';
    out->kind = DROPIN_UNSEEN;
    snprintf(out->what, sizeof out->what, "%s", reasons[program->kind]);
}

rmcp_status dropin_find(char *const *command, const char *python, struct dropin_found *out)
{
    struct dropin_program program;
    struct dropin_python answer;
    char name[64];
    *out = (struct dropin_found){ .kind = DROPIN_NONE };
    rmcp_status status = dropin_program_read(command, &program);
    if (status) return status;
    snprintf(out->program, sizeof out->program, "%s", program.path);
    if (program.is_setuid) {
        out->kind = DROPIN_SETUID;
        return RMCP_OK;
    }
    if (python) {
        program = (struct dropin_program){ .kind = DROPIN_PROGRAM_PYTHON };
        if (!dropin_program_search(python, program.python))
            return rmcp_fail(RMCP_E_ARG, "--python: %.300s is no program", python);
        status = dropin_python_ask(&program, &answer);
        if (!status) find_in_python(&answer, out);
        return status;
    }
    if (program.kind == DROPIN_PROGRAM_PYTHON && !dropin_python_ask(&program, &answer)) {
        find_in_python(&answer, out);
        return RMCP_OK;
    }
    if (program.kind == DROPIN_PROGRAM_LINKED &&
        dropin_loader_ask(program.linker, program.path, NULL, out->original, name))
        set(out, DROPIN_LOADER, copy_for(name), "which the program is linked with");
    else
        find_unseen(&program, out);
    return RMCP_OK;
}
