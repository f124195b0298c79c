/* sim_program.c: runs a program with the simulated kernel driver in it, and tells what happened. */
#define _GNU_SOURCE
#include "base/cache_path.h"
#include "base/child.h"
#include "cli/sim.h"
#include "cli/sim_card.h"
#include "sim/driver/protocol.h"
#include "sim/sim.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <inttypes.h>
#include <limits.h>
#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MAX_REPORTS_SHOWN = 20 };

/* The library lies in the build folder beside the command, or where it was installed. */
static bool find_library(char path[static PATH_MAX])
{
    char self[PATH_MAX];
    const ssize_t n = readlink("/proc/self/exe", self, sizeof self - 1);
    if (n <= 0) return false;
    self[n] = 0;
    char *slash = strrchr(self, '/');
    if (!slash) return false;
    *slash = 0;
    static const char *const folders[] = { "sim/driver", "../" RMCP_SIM_FOLDER };
    for (size_t i = 0; i < sizeof folders / sizeof *folders; i++) {
        const int length = snprintf(path, PATH_MAX, "%s/%s/librmcp-sim.so", self, folders[i]);
        if (length > 0 && length < PATH_MAX && !access(path, R_OK)) return true;
    }
    return false;
}

/* The dynamic linker splits LD_PRELOAD at blanks and colons, whatever is done about them: a path
 * with one goes by a link in `root`. False when that has one too, or cannot be written. */
static bool make_preloadable(const char *root, char path[static PATH_MAX])
{
    char link[PATH_MAX];
    if (!strpbrk(path, " :")) return true;
    const int length = snprintf(link, sizeof link, "%s/librmcp-sim.so", root);
    if (strpbrk(root, " :") || length < 0 || length >= PATH_MAX || symlink(path, link))
        return false;
    memcpy(path, link, (size_t)length + 1);
    return true;
}

static void set_number(const char *variable, uint64_t value)
{
    char text[32];
    snprintf(text, sizeof text, "%" PRIu64, value);
    setenv(variable, text, 1);
}

/* What RMCP remembers of a simulated card (plans, first uses) must not be taken for what happened
 * on a real one: caches go to a folder of their own. */
static void set_cache(void)
{
    char path[PATH_MAX];
    if (!rmcp_cache_path("simulated", path, sizeof path)) return;
    rmcp_cache_make_folders(path); /* else the program would have to make more than one */
    setenv("XDG_CACHE_HOME", path, 1);
}

/* What the program finds in its environment. Returns 0 or an exit status. */
static int set_environment(const struct sim_request *request, const struct sim_options *act,
                           const char *root)
{
    char library[PATH_MAX], preload[2 * PATH_MAX];
    uint32_t checks = SIM_CHECK_ALL;
    const char *before = getenv("LD_PRELOAD");
    if (!find_library(library))
        return cli_complain("sim", "librmcp-sim.so is neither beside this command nor installed");
    if (!make_preloadable(root, library))
        return cli_complain("sim",
                            "no program can load '%.300s', for a blank or a colon in it; TMPDIR "
                            "may name a folder without",
                            library);
    if (request->checks && !sim_read_checks(request->checks, &checks))
        return cli_complain("sim", "--checks is '%.60s'; rmcp sim --help lists them",
                            request->checks);
    snprintf(preload, sizeof preload, "%s%s%s", library, before && *before ? ":" : "",
             before && *before ? before : "");
    setenv("LD_PRELOAD", preload, 1);
    setenv(SIM_ENV_ROOT, root, 1);
    set_cache();
    set_number(SIM_ENV_CHECKS, checks);
    if (request->threads) set_number(SIM_ENV_THREADS, request->threads);
    if (request->limit) set_number(SIM_ENV_LIMIT, request->limit);
    if (request->stats) setenv(SIM_ENV_STATS, "1", 1);
    if (act->act_out) {
        set_number(SIM_ENV_ACT_OUT, act->act_out);
        set_number(SIM_ENV_ACT_CHANCE, act->act_out_chance);
        set_number(SIM_ENV_ACT_SEED, act->act_out_seed);
    }
    if (request->trace) setenv(SIM_ENV_TRACE, request->trace, 1);
    if (request->plant) setenv(SIM_ENV_PLANT, request->plant, 1);
    if (request->override) setenv("HSA_OVERRIDE_GFX_VERSION", request->override, 1);
    return CLI_OK;
}

static volatile sig_atomic_t running; /* process id of the program */

static void pass_on(int number)
{
    if (running > 0) kill((pid_t)running, number);
}

/* Start the command and wait; its exit status, as a shell counts it. */
static int run(const struct sim_request *request, const struct sim_options *act, const char *root)
{
    const int wrong = set_environment(request, act, root);
    if (wrong) return wrong;
    const struct rmcp_child_request attended = { .argv = request->command, .attended = true };
    struct rmcp_child child;
    signal(SIGCHLD, SIG_DFL); /* whoever ignores it gets no exit status */
    if (rmcp_child_start(&attended, &child)) {
        cli_complain("sim", "%s", rmcp_last_error());
        return 127;
    }
    /* Signals are for the program; we tell how it ended. */
    struct sigaction ignore = { .sa_handler = SIG_IGN }, forward = { .sa_handler = pass_on };
    running = child.process;
    sigaction(SIGINT, &ignore, NULL);
    sigaction(SIGQUIT, &ignore, NULL);
    sigaction(SIGTERM, &forward, NULL);
    sigaction(SIGHUP, &forward, NULL);
    rmcp_child_wait(&child, (double)INFINITY);
    running = 0;
    if (child.end == RMCP_CHILD_EXITED) return child.code;
    fprintf(stderr, "rmcp sim: the program was ended by signal %d (%s)\n", child.code,
            strsignal(child.code));
    return 128 + child.code;
}

/* Whether a line tells of what ended a kernel. */
static bool is_fatal(const char *line)
{
    for (unsigned kind = 0; kind < SIM_N_FATAL; kind++) {
        const char *name = sim_kind_name((enum sim_kind)kind);
        const size_t n = strlen(name);
        if (!strncmp(line, name, n) && line[n] == ':') return true;
    }
    return false;
}

/* What ended a kernel comes first. */
static void print_reports(const char *root)
{
    char path[PATH_MAX + 32], line[2048];
    snprintf(path, sizeof path, "%s/" SIM_FILE_REPORTS, root);
    FILE *file = fopen(path, "r");
    if (!file) return;
    unsigned n = 0;
    for (int fatal = 1; fatal >= 0; fatal--) {
        rewind(file);
        while (fgets(line, sizeof line, file))
            if (is_fatal(line) == fatal && n++ < MAX_REPORTS_SHOWN)
                fprintf(stderr, "rmcp sim: %s", line);
    }
    if (n > MAX_REPORTS_SHOWN) fprintf(stderr, "rmcp sim: and %u more\n", n - MAX_REPORTS_SHOWN);
    fclose(file);
}

/* The one line at the end, before it those of what was acted out; returns the number of reports. */
static uint64_t print_summary(const struct sim_machine *machine, const struct sim_options *act,
                              const char *root)
{
    char path[PATH_MAX + 32];
    struct {
        uint64_t processes, kernels, instructions, findings, happened, acted_out[16];
    } sum = { 0 };
    _Static_assert(sizeof sum == sizeof(struct sim_summary), "the same counters");
    snprintf(path, sizeof path, "%s/" SIM_FILE_SUMMARY, root);
    FILE *file = fopen(path, "r");
    if (file) {
        if (fread(&sum, sizeof sum, 1, file) != 1) memset(&sum, 0, sizeof sum);
        fclose(file);
    }
    sim_print_acted_out(stderr, "rmcp sim: ", act->act_out, sum.acted_out);
    fprintf(stderr, "rmcp sim: simulated");
    for (unsigned i = 0; i < machine->n; i++)
        fprintf(stderr, "%s %s", i ? " and" : "", machine->cards[i].card);
    fprintf(stderr, ": %" PRIu64 " kernels, %" PRIu64 " instructions, %" PRIu64 " reports\n",
            sum.kernels, sum.instructions, sum.findings);
    return sum.findings;
}

static int remove_one(const char *path, const struct stat *status, int kind, struct FTW *where)
{
    (void)status;
    (void)kind;
    (void)where;
    return remove(path);
}

int sim_program_run(const struct sim_machine *machine, const struct sim_request *request)
{
    char root[PATH_MAX], error[SIM_ERROR_MAX];
    struct sim_options act = { 0 };
    const char *folder = getenv("TMPDIR");
    const int wrong = sim_read_act_out(request->act_out, &act);
    if (wrong) return wrong;
    const int n =
        snprintf(root, sizeof root, "%s/rmcp-sim-XXXXXX", folder && *folder ? folder : "/tmp");
    if (n < 0 || n >= (int)sizeof root - 64 || !mkdtemp(root)) {
        cli_complain("sim", "cannot make the folder '%.300s': %s", root, strerror(errno));
        return CLI_INTERNAL;
    }
    int status = CLI_INTERNAL;
    if (sim_machine_write(machine, root, error)) {
        status = run(request, &act, root);
        print_reports(root);
        if (request->stats) {
            char path[PATH_MAX + 32];
            snprintf(path, sizeof path, "%s/" SIM_FILE_STATS, root);
            sim_table_print(path);
        }
        const uint64_t reports = print_summary(machine, &act, root);
        if (!status && reports && !request->allow_reports) status = CLI_FINDINGS;
    } else {
        cli_complain("sim", "%s", error);
    }
    nftw(root, remove_one, 16, FTW_DEPTH | FTW_PHYS);
    return status;
}
