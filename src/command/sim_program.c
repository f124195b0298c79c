/* sim_program.c: runs a program with the simulated kernel driver in it, and tells what happened. */
#define _GNU_SOURCE
#include "base/cache_path.h"
#include "base/child.h"
#include "command/sim.h"
#include "command/sim_card.h"
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

/* Where the library may lie, seen from the folder of the command: beside it, in the build folder,
 * where it was installed. */
static const char *const library_folders[] = { ".", "sim/driver", "../lib/rmcp",
                                               ("../" RMCP_SIM_FOLDER), RMCP_SIM_FOLDER };

/* Returns 0, or an exit status after a complaint that names every place. */
static int find_library(char path[static PATH_MAX])
{
    char self[PATH_MAX], looked[3 * PATH_MAX] = "";
    const ssize_t n = readlink("/proc/self/exe", self, sizeof self - 1);
    self[n > 0 ? n : 0] = 0;
    char *slash = strrchr(self, '/');
    if (slash) *slash = 0;
    for (size_t i = 0; i < sizeof library_folders / sizeof *library_folders; i++) {
        const bool absolute = library_folders[i][0] == '/',
                   beside = !strcmp(library_folders[i], ".");
        /* Meson's folder may be absolute, and is the last one then. */
        if (!strncmp(library_folders[i], "..//", 4)) continue;
        if (i == sizeof library_folders / sizeof *library_folders - 1 && !absolute) continue;
        const size_t used = strlen(looked);
        const int length =
            snprintf(path, PATH_MAX, "%s%s%s/librmcp-sim.so", absolute ? "" : self,
                     absolute || beside ? "" : "/", beside ? "" : library_folders[i]);
        if (length > 0 && length < PATH_MAX && !access(path, R_OK)) return CLI_OK;
        snprintf(looked + used, sizeof looked - used, "%s%s", used ? ", " : "", path);
    }
    cli_complain("sim", "there is no librmcp-sim.so, which is the simulated card; looked for: %s",
                 looked);
    return CLI_FINDINGS;
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

/* The program may go to another folder. False after a complaint. */
static bool set_launches(const char *path)
{
    char whole[PATH_MAX];
    const int file = open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0666);
    const bool good = file >= 0 && realpath(path, whole);
    if (!good) cli_complain("sim", "--launches: writing '%.300s': %s", path, strerror(errno));
    if (file >= 0) close(file);
    if (good) setenv(SIM_ENV_LAUNCHES, whole, 1);
    return good;
}

/* What the program finds in its environment. Returns 0 or an exit status. */
static int set_environment(const struct sim_request *request, const struct sim_options *act,
                           const char *root)
{
    char library[PATH_MAX], preload[2 * PATH_MAX];
    uint32_t checks = SIM_CHECK_ALL;
    const char *before = getenv("LD_PRELOAD");
    const int missing = find_library(library);
    if (missing) return missing;
    if (!make_preloadable(root, library))
        return cli_complain("sim",
                            "no program can load '%.300s', for a blank or a colon in it; TMPDIR "
                            "may name a folder without",
                            library);
    if (request->checks) sim_read_checks(request->checks, &checks); /* it was tried before */
    snprintf(preload, sizeof preload, "%s%s%s", library, before && *before ? ":" : "",
             before && *before ? before : "");
    setenv("LD_PRELOAD", preload, 1);
    setenv(SIM_ENV_ROOT, root, 1);
    set_cache();
    set_number(SIM_ENV_CHECKS, checks);
    if (request->threads) set_number(SIM_ENV_THREADS, request->threads);
    if (request->limit) set_number(SIM_ENV_LIMIT, request->limit);
    if (request->timing) set_number(SIM_ENV_TIMING, request->sample ? request->sample : 32000000);
    if (request->sample_only) set_number(SIM_ENV_TIMING_ONLY, 1);
    if (request->mhz) set_number(SIM_ENV_MHZ, request->mhz);
    if (request->launches && !set_launches(request->launches)) return CLI_USAGE;
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

/* With --json our stdout is for JSON alone: the program's goes to stderr. The descriptor to put
 * back, or -1. */
static int give_stdout_away(bool json)
{
    const int kept = json ? fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3) : -1;
    if (kept >= 0) dup2(STDERR_FILENO, STDOUT_FILENO);
    return kept;
}

/* Start the command and wait; its exit status, as a shell counts it. */
static int run(const struct sim_request *request)
{
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
        status = set_environment(request, &act, root);
        if (!status) {
            const int kept = give_stdout_away(request->json);
            status = run(request);
            if (kept >= 0) {
                dup2(kept, STDOUT_FILENO);
                close(kept);
            }
            const int told = sim_summary_tell(machine, request, &act, root, &status);
            if (told) status = told;
        }
    } else {
        cli_complain("sim", "%s", error);
    }
    nftw(root, remove_one, 16, FTW_DEPTH | FTW_PHYS);
    return status;
}
