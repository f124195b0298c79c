/* check_python.c: rmcp check in a Python: which one, and what became of it. */
#define _XOPEN_SOURCE 700 /* realpath */
#include "command/check.h"

#include "base/child.h"
#include "base/error.h"
#include "base/files.h"
#include "dropin/install/dropin.h"
#include "dropin/install/program.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MOST_ANSWER = 1 << 18 };

/* ---- which Python ---- */

/* Ask one; true when it has PyTorch. */
static bool has_torch(const char *path)
{
    struct dropin_program program;
    struct dropin_python python;
    char *command[] = { (char *)(uintptr_t)path, NULL };
    if (dropin_program_read(command, &program) || program.kind != DROPIN_PROGRAM_PYTHON)
        return false;
    return !dropin_python_ask(&program, &python) && *python.torch;
}

/* The candidates in their order, "" where there is none: the active environment's first. */
static const char *candidate(size_t i, char path[static PATH_MAX])
{
    static const struct {
        const char *variable, *name;
    } places[] = { { "RMCP_PYTHON", NULL },
                   { "VIRTUAL_ENV", "bin/python" },
                   { "CONDA_PREFIX", "bin/python" },
                   { NULL, "python3" },
                   { NULL, "python" },
                   { NULL, "/usr/bin/python3" } };
    if (i >= sizeof places / sizeof *places) return NULL;
    const char *value = places[i].variable ? getenv(places[i].variable) : NULL;
    path[0] = '\0';
    if (places[i].variable && (!value || !*value)) return path;
    if (value && places[i].name) {
        if (!rmcp_file_join(path, value, places[i].name)) path[0] = '\0';
    } else {
        snprintf(path, PATH_MAX, "%s", value ? value : places[i].name);
    }
    char found[PATH_MAX];
    if (*path && !dropin_program_search(path, found))
        path[0] = '\0';
    else if (*path)
        snprintf(path, PATH_MAX, "%s", found);
    return path;
}

bool check_python_find(const struct check_request *request, char path[static PATH_MAX],
                       cJSON *report)
{
    static const char cure[] =
        "activate the environment that has PyTorch, or: rmcp check --python PYTHON; rmcp doctor "
        "says which PyTorch suits this machine";
    char asked[1024] = "", found[PATH_MAX];
    if (request->python) {
        snprintf(path, PATH_MAX, "%s",
                 dropin_program_search(request->python, found) ? found : request->python);
        if (has_torch(path)) return true;
        check_add(report, "no-torch", cure, "%.700s has no PyTorch", path);
        return false;
    }
    for (size_t i = 0; candidate(i, path); i++) {
        const size_t used = strlen(asked);
        char listed[PATH_MAX + 3];
        snprintf(listed, sizeof listed, "%s, ", path);
        if (!*path || strstr(asked, listed)) continue;
        if (has_torch(path)) {
            if (used)
                check_note(report, "first asked, without PyTorch: %.*s", (int)used - 2, asked);
            check_note(report, "PyTorch of %s", path);
            return true;
        }
        snprintf(asked + used, sizeof asked - used, "%.400s, ", path);
    }
    if (!*asked)
        check_note(report, "no PyTorch was checked: there is no Python here; rmcp check --python "
                           "PYTHON names one");
    else
        check_note(report, "no PyTorch was checked: none in %.*s; %s", (int)strlen(asked) - 2,
                   asked, cure);
    if (request->miopen)
        check_add(report, *asked ? "no-torch" : "no-python", cure, "no Python here has PyTorch");
    return false;
}

/* ---- asking it ---- */

/* The package rmcp that belongs to this program, for a Python that has none: a folder, or "". */
static void find_package(const char *command, char folder[static PATH_MAX])
{
    static const char *const places[] = { "../python",
                                          "../lib/rmcp/python",
                                          "../share/rmcp/python",
                                          "../lib/python3/dist-packages",
                                          "../..",
                                          "../../.." };
    char base[PATH_MAX], place[PATH_MAX], path[PATH_MAX];
    snprintf(base, sizeof base, "%s", command);
    char *slash = strrchr(base, '/');
    if (slash) *slash = '\0';
    for (size_t i = 0; slash && i < sizeof places / sizeof *places; i++)
        if (rmcp_file_join(place, base, places[i]) && realpath(place, folder) &&
            rmcp_file_join(path, folder, "rmcp/_check.py") && !access(path, R_OK))
            return;
    folder[0] = '\0';
}

/* Its own package rmcp if it has one: that is what its programs use. */
static const char program[] = "import os, sys\n"
                              "from importlib.util import find_spec\n"
                              "package, library = sys.argv[1:3]\n"
                              "spec = find_spec('rmcp')\n"
                              "if (spec is None or not spec.origin) and package:\n"
                              "    sys.path.insert(0, package)\n"
                              "    if library: os.environ.setdefault('RMCP_LIBRARY', library)\n"
                              "elif spec is None or not spec.origin:\n"
                              "    print('# no package'); sys.exit(1)\n"
                              "from rmcp.__main__ import main\n"
                              "sys.exit(main(['check', '--json', '--stages'] + sys.argv[3:]))\n";

/* The JSON is the last line, the stage the last with a '#'. */
static cJSON *read_answer(char *text, char stage[static 256])
{
    cJSON *report = NULL;
    char *rest = text, *line;
    while ((line = strtok_r(rest, "\n", &rest))) {
        if (!strncmp(line, "# ", 2)) snprintf(stage, 256, "%.255s", line + 2);
        if (*line != '{') continue;
        cJSON_Delete(report);
        report = cJSON_Parse(line);
    }
    if (cJSON_IsArray(cJSON_GetObjectItem(report, "notes")) &&
        cJSON_IsArray(cJSON_GetObjectItem(report, "in_the_way")))
        return report;
    cJSON_Delete(report);
    return NULL;
}

static cJSON *explain_end(const struct rmcp_child *child, const char *python, const char *stage,
                          uint64_t limit)
{
    static const char cure[] =
        "rmcp check --engine tries RMCP without PyTorch; rmcp doctor looks for causes in the "
        "machine, sudo dmesg | rmcp explain - in the kernel log";
    cJSON *report = check_report();
    cJSON_AddStringToObject(report, "python", python);
    const char *at = *stage ? stage : "its start";
    if (!strcmp(stage, "no package"))
        check_add(report, "no-package", "install RMCP's wheel into its environment",
                  "%.300s has no package rmcp, and none is beside this program", python);
    else if (child->end == RMCP_CHILD_KILLED)
        check_add(report, "crashed", cure, "%.300s was ended by signal %d (%s) at: %s", python,
                  child->code, strsignal(child->code), at);
    else if (child->end == RMCP_CHILD_LATE || child->end == RMCP_CHILD_STUCK)
        check_add(report, "hung", cure,
                  "%.300s came to no end within %" PRIu64 " seconds (--limit) at: %s", python,
                  limit, at);
    else
        check_add(report, "failed", cure, "%.300s gave no answer (exit status %d) at: %s", python,
                  child->code, at);
    return report;
}

cJSON *check_python_run(const struct check_request *request, const char *python)
{
    struct dropin_ours ours;
    char package[PATH_MAX], stage[256] = "";
    (void)dropin_ours_find(&ours); /* the library is looked for whatever becomes of the drop-in */
    find_package(ours.command, package);
    char *argv[9] = { (char *)(uintptr_t)python, "-c", (char *)(uintptr_t)program, package,
                      ours.library };
    size_t n = 5;
    if (request->device) {
        argv[n++] = "--device";
        argv[n++] = (char *)(uintptr_t)request->device;
    }
    if (request->miopen) argv[n++] = "--miopen";
    char *text = malloc(MOST_ANSWER);
    struct rmcp_child_output out = { .data = text, .size = MOST_ANSWER };
    const struct rmcp_child_request child_request = { .argv = argv,
                                                      .out = &out,
                                                      .limit_seconds = (double)request->limit };
    struct rmcp_child child = { .end = RMCP_CHILD_UNKNOWN };
    cJSON *report = NULL;
    if (text && !rmcp_child_run(&child_request, &child)) report = read_answer(text, stage);
    free(text);
    if (report && child.end == RMCP_CHILD_EXITED) return report;
    cJSON_Delete(report); /* what ends badly after its answer was not right */
    return explain_end(&child, python, stage, request->limit);
}
