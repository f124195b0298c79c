/* trial_apart.c: tries an algorithm with the rmcp command in a process of its own, with a time limit. */
#define _GNU_SOURCE /* dladdr, pipe2 */
#include "core/trial.h"
#include "core/trial_answer.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

extern char **environ;

enum { MOST_PATH = 1024, MOST_OUTPUT = 4096 };

/* ---- the command ---- */

static bool is_command(const char *path)
{
    return !access(path, X_OK);
}

/* The rmcp command of the same installation as this library: named by RMCP_COMMAND, this very
 * program, beside the library, or where programs are when it is where libraries are. */
static bool find_command(char *path, size_t size)
{
    const char *named = getenv("RMCP_COMMAND");
    if (named && *named) {
        snprintf(path, size, "%s", named);
        return is_command(path);
    }
    ssize_t length = readlink("/proc/self/exe", path, size - 1);
    if (length > 0) {
        path[length] = '\0';
        const char *slash = strrchr(path, '/');
        if (slash && !strcmp(slash, "/rmcp")) return is_command(path);
    }
    Dl_info place;
    /* A function pointer is no object pointer in C; POSIX makes it one. */
    const char *(*function)(void) = rmcp_version;
    void *address = NULL;
    memcpy(&address, &function, sizeof address);
    if (!dladdr(address, &place) || !place.dli_fname) return false;
    const char *slash = strrchr(place.dli_fname, '/');
    if (!slash) return false;
    static const char *const beside[] = { "rmcp", "../bin/rmcp", "../../bin/rmcp" };
    for (size_t i = 0; i < sizeof beside / sizeof *beside; i++) {
        int n = snprintf(path, size, "%.*s/%s", (int)(slash - place.dli_fname), place.dli_fname,
                         beside[i]);
        if (n > 0 && (size_t)n < size && is_command(path)) return true;
    }
    return false;
}

/* ---- running it ---- */

/* Our environment with RMCP_GUARD=0: the child is the trial, it shall not make one. */
static char **unguarded_environment(void)
{
    static char off[] = "RMCP_GUARD=0";
    size_t n = 0, used = 0;
    while (environ && environ[n]) n++;
    char **copy = calloc(n + 2, sizeof *copy);
    if (!copy) return NULL;
    for (size_t i = 0; i < n; i++)
        if (strncmp(environ[i], "RMCP_GUARD=", strlen("RMCP_GUARD="))) copy[used++] = environ[i];
    copy[used] = off;
    return copy;
}

/* What it writes to stdout comes out of `out`. Signals are as in a fresh process. */
static bool start(char **arguments, char **environment, int out, pid_t *child)
{
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    sigset_t none, all;
    sigemptyset(&none);
    sigfillset(&all);
    if (posix_spawn_file_actions_init(&actions)) return false;
    if (posix_spawnattr_init(&attributes)) {
        posix_spawn_file_actions_destroy(&actions);
        return false;
    }
    bool failed =
        posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0) ||
        posix_spawn_file_actions_adddup2(&actions, out, 1) ||
        posix_spawn_file_actions_addopen(&actions, 2, "/dev/null", O_WRONLY, 0) ||
        posix_spawnattr_setsigmask(&attributes, &none) ||
        posix_spawnattr_setsigdefault(&attributes, &all) ||
        posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF) ||
        posix_spawn(child, arguments[0], &actions, &attributes, arguments, environment);
    posix_spawnattr_destroy(&attributes);
    posix_spawn_file_actions_destroy(&actions);
    return !failed;
}

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* Read until the child has closed its end, keeping the last part as text. False: time is up. */
static bool read_output(int in, double end, char text[MOST_OUTPUT])
{
    size_t used = 0;
    bool closed = false;
    for (double left; !closed && (left = end - now()) > 0;) {
        struct pollfd wait = { .fd = in, .events = POLLIN };
        const int ready = poll(&wait, 1, (int)(left * 1000) + 1);
        if (ready < 0 && errno != EINTR) break;
        if (ready <= 0) continue;
        if (used == MOST_OUTPUT - 1) {
            memmove(text, text + MOST_OUTPUT / 2, used - MOST_OUTPUT / 2);
            used -= MOST_OUTPUT / 2;
        }
        const ssize_t n = read(in, text + used, MOST_OUTPUT - 1 - used);
        closed = n == 0 || (n < 0 && errno != EINTR);
        if (n > 0) used += (size_t)n;
    }
    text[used] = '\0';
    return closed;
}

/* Wait for its end. One that is late, or that closed its output and lives on, is ended. A host
 * program that reaps all children may have been here before us. */
static void reap(pid_t child, double end)
{
    pid_t reaped;
    while (!(reaped = waitpid(child, NULL, WNOHANG)) && now() < end)
        nanosleep(&(struct timespec){ .tv_nsec = 2000000 }, NULL);
    if (reaped) return;
    kill(child, SIGKILL);
    while (waitpid(child, NULL, 0) < 0 && errno == EINTR) continue;
}

/* ---- judging ---- */

/* A command that has not worked in this process; it may have taken all of its time. */
static char given_up[MOST_PATH];

static struct rmcp_guard_finding found(enum rmcp_guard_state state, const char *reason)
{
    struct rmcp_guard_finding finding = { .state = state };
    snprintf(finding.reason, sizeof finding.reason, "%s", reason);
    return finding;
}

/* A command that says nothing of its own trial is no evidence against an algorithm. The exit status
 * may be lost to a host program that reaps all children, so the lines count. */
static struct rmcp_guard_finding judge(const char *command, const char *text, bool ended,
                                       unsigned limit)
{
    struct rmcp_guard_finding finding;
    char reason[64] = "the process that tried it ended without a result";
    if (!rmcp_trial_read(text, &finding)) {
        snprintf(given_up, sizeof given_up, "%s", command);
        rmcp_guard_say(
            RMCP_GUARD_ON_COMMAND,
            "first use: the rmcp command beside the library does not work, so algorithms "
            "are tried in the process itself");
        return found(RMCP_GUARD_UNTRIED, "the rmcp command does not work");
    }
    if (finding.state != RMCP_GUARD_TRYING) return finding;
    if (!ended) snprintf(reason, sizeof reason, "no result within %u seconds", limit);
    return found(RMCP_GUARD_BAD, reason);
}

struct rmcp_guard_finding rmcp_trial_apart(const rmcp_device *device,
                                           const struct rmcp_trial *trial, unsigned limit)
{
    char command[MOST_PATH], seconds[16], text[MOST_OUTPUT] = "";
    if (!find_command(command, sizeof command) || !strcmp(command, given_up))
        return found(RMCP_GUARD_UNTRIED, "no rmcp command");
    /* It ends by itself when we are no longer there to end it. */
    snprintf(seconds, sizeof seconds, "%u", limit + 10);
    char *arguments[RMCP_TRIAL_MOST + 10] = { command,
                                              "verify",
                                              "--trial",
                                              "--device",
                                              (char *)device->info.spec,
                                              "--algorithm",
                                              (char *)trial->algo->name,
                                              "--limit",
                                              seconds };
    for (size_t i = 0; i < trial->n_cases; i++) arguments[9 + i] = (char *)trial->cases[i];

    int ends[2];
    pid_t child = -1;
    char **environment = unguarded_environment();
    if (!environment || pipe2(ends, O_CLOEXEC)) {
        free(environment);
        return found(RMCP_GUARD_UNTRIED, "no pipe");
    }
    const bool started = start(arguments, environment, ends[1], &child);
    free(environment);
    close(ends[1]);
    const double end = now() + limit;
    const bool ended = started && read_output(ends[0], end, text);
    close(ends[0]);
    if (started) reap(child, end);
    return judge(command, text, ended, limit);
}
