/* run.c: rmcp run: a program with our MIOpen in the place of the one that it would load. */
#include "command/run.h"
#include "dropin/install/program.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The command begins at "--", or at the first word that is no option and no option's value: what
 * stands behind it is the command's own. */
static int find_command(const struct cli_option *options, int argc, char **argv)
{
    int i = 0;
    while (i < argc && argv[i][0] == '-' && argv[i][1] && strcmp(argv[i], "--")) {
        const struct cli_option *o = options;
        while (o->name && (strncmp(argv[i], "--", 2) || strcmp(argv[i] + 2, o->name))) o++;
        i += o->name && o->kind != CLI_FLAG ? 2 : 1;
    }
    return i < argc ? i : argc;
}

static bool set_environment(const struct run_plan *plan)
{
    const char *before = getenv("LD_PRELOAD");
    if (*plan->preload) {
        const size_t room = strlen(plan->preload) + (before ? strlen(before) : 0) + 2;
        char *list = malloc(room);
        if (!list) return false;
        snprintf(list, room, "%s%s%s", plan->preload, before && *before ? ":" : "",
                 before && *before ? before : "");
        const int failed = setenv("LD_PRELOAD", list, 1);
        free(list);
        if (failed) return false;
    }
    return (!*plan->original || !setenv("RMCP_MIOPEN_ORIGINAL", plan->original, 0)) &&
           (!*plan->library || !setenv("RMCP_LIBRARY", plan->library, 0));
}

static int print_json(const struct run_request *request, const struct run_plan *plan)
{
    const struct dropin_found *found = &plan->found;
    cJSON *object = cJSON_CreateObject();
    cJSON *command = cJSON_AddArrayToObject(object, "command");
    for (char **word = request->command; *word; word++)
        cJSON_AddItemToArray(command, cJSON_CreateString(*word));
    cJSON_AddStringToObject(object, "program", found->program);
    cJSON_AddStringToObject(object, "kind", dropin_kind_names[found->kind]);
    cJSON_AddStringToObject(object, "python", found->python);
    cJSON_AddStringToObject(object, "torch", found->torch);
    cJSON_AddStringToObject(object, "torch_version", found->version);
    cJSON_AddStringToObject(object, "rocm", found->rocm);
    cJSON_AddStringToObject(object, "miopen", found->original);
    cJSON_AddBoolToObject(object, "replaced", plan->replaces);
    cJSON *environment = cJSON_AddObjectToObject(object, "environment");
    if (*plan->preload) cJSON_AddStringToObject(environment, "LD_PRELOAD", getenv("LD_PRELOAD"));
    if (*plan->original)
        cJSON_AddStringToObject(environment, "RMCP_MIOPEN_ORIGINAL",
                                getenv("RMCP_MIOPEN_ORIGINAL"));
    if (*plan->library) cJSON_AddStringToObject(environment, "RMCP_LIBRARY", plan->library);
    cJSON_AddStringToObject(object, "says", plan->line);
    return cli_print_json(object, "rmcp.run/1");
}

static int print_text(const struct run_plan *plan)
{
    printf("%s\n", plan->line);
    if (*plan->preload) printf("LD_PRELOAD=%s\n", getenv("LD_PRELOAD"));
    if (*plan->original) printf("RMCP_MIOPEN_ORIGINAL=%s\n", getenv("RMCP_MIOPEN_ORIGINAL"));
    if (*plan->library) printf("RMCP_LIBRARY=%s\n", plan->library);
    return CLI_OK;
}

static int execute(const struct run_request *request)
{
    struct run_plan plan;
    const int status = run_plan_make(request, &plan);
    if (status) return status;
    if (request->require && !plan.replaces) {
        cli_complain("run", "%s; --require: not run", plan.line);
        return CLI_FINDINGS;
    }
    if (!set_environment(&plan)) {
        cli_complain("run", "out of memory");
        return CLI_INTERNAL;
    }
    if (request->json) return print_json(request, &plan);
    if (request->print) return print_text(&plan);
    const char *log = getenv("RMCP_LOG");
    if (!log || strcmp(log, "0")) cli_complain("run", "%s", plan.line);
    execvp(request->command[0], request->command);
    const int failed = errno;
    cli_complain("run", "cannot run %.300s: %s", request->command[0], strerror(failed));
    return failed == ENOENT ? 127 : 126;
}

int cli_run(int argc, char **argv)
{
    struct run_request r = { .print = false };
    const struct cli_option options[] = {
        { "print", CLI_FLAG, &r.print, NULL, "only show what would be done", NULL },
        { "json", CLI_FLAG, &r.json, NULL, "the same as JSON", NULL },
        { "require", CLI_FLAG, &r.require, NULL,
          "do not run the command when no MIOpen was found that it loads", NULL },
        { "python", CLI_TEXT, &r.python, "PYTHON",
          "the Python that counts, where a script or a launcher hides it", NULL },
        { "install-into", CLI_TEXT, &r.install, "DIR",
          "put ours into a PyTorch for good: its folder, site-packages, or\n"
          "                         a virtual environment; the original is kept",
          NULL },
        { "restore", CLI_TEXT, &r.restore, "DIR", "undo that", NULL },
        { "force", CLI_FLAG, &r.force, NULL,
          "install also where files belong to the system's packages", NULL },
        { 0 },
    };
    const struct cli_usage usage = {
        "run",
        "-- COMMAND…",
        "Runs a program with RMCP's MIOpen in the place of the one that it would load: AMD's\n"
        "library for convolutions and batch normalisation, which PyTorch for ROCm calls. It finds\n"
        "out which one that is (Python is asked where torch lies, the dynamic linker what it\n"
        "loads), says in one line what it does, and becomes the command: exit status and signals\n"
        "are the command's. Exit status 127: no such program, 126: it cannot be executed.\n"
        "RMCP_DISABLE=1 leaves everything as it is.",
        "  rmcp run -- python train.py\n"
        "  rmcp run --print -- python train.py\n"
        "  rmcp run --install-into ~/venv\n"
        "  rmcp run --restore ~/venv",
        options,
    };
    int n = 0, status = CLI_OK;
    const int start = find_command(options, argc, argv);
    if (!cli_parse(&usage, start, argv, &n, &status)) return status;
    r.command = argv + start + (start < argc && !strcmp(argv[start], "--"));
    const bool has_command = r.command < argv + argc;
    if (r.install || r.restore) {
        if (r.install && r.restore)
            return cli_complain("run", "--install-into and --restore: only one at a time");
        if (has_command)
            return cli_complain("run", "--%s takes no command",
                                r.install ? "install-into" : "restore");
        if ((status = cli_refuse(&usage, "print require python", "is for a command alone")))
            return status;
        return run_install(&r);
    }
    if ((status = cli_refuse(&usage, "force", "is only for --install-into and --restore")))
        return status;
    if (!has_command) return cli_complain("run", "which program? rmcp run -- COMMAND");
    if (!*r.command[0]) return cli_complain("run", "the command is empty");
    char path[PATH_MAX];
    if (r.python && !dropin_program_search(r.python, path))
        return cli_complain("run", "--python is '%.300s', which is no program", r.python);
    return execute(&r);
}
