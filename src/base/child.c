/* child.c: starts processes and waits for them, with limits on time and on what is kept. */
#define _GNU_SOURCE /* pipe2, pidfd */
#include "base/child.h"

#include "base/clock.h"
#include "base/error.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

/* A flood must not keep us from looking at the clock: at most so many bytes at a time. */
enum { MOST_AT_ONCE = 1 << 18 };
static const double grace = 10, nap = 0.01; /* seconds: to die after SIGKILL; between looks */

/* ---- starting ---- */

/* Ours with some replaced; free it alone. */
static char **environment_with(const char *const *extra)
{
    size_t n = 0, n_extra = 0, kept = 0;
    while (environ && environ[n]) n++;
    while (extra && extra[n_extra]) n_extra++;
    char **list = malloc((n + n_extra + 1) * sizeof *list);
    if (!list) return NULL;
    for (size_t i = 0; i < n; i++) {
        bool replaced = false;
        for (size_t k = 0; k < n_extra; k++)
            replaced |= !strncmp(environ[i], extra[k], strcspn(extra[k], "=") + 1);
        if (!replaced) list[kept++] = environ[i];
    }
    for (size_t k = 0; k < n_extra; k++) list[kept++] = (char *)(uintptr_t)extra[k];
    list[kept] = NULL;
    return list;
}

static void close_both(int ends[2])
{
    for (int i = 0; i < 2; i++)
        if (ends[i] >= 0) close(ends[i]);
    ends[0] = ends[1] = -1;
}

/* A pipe whose ends are no standard streams, even where those are closed; ours does not block. */
static bool make_pipe(int ends[2])
{
    int made[2];
    ends[0] = ends[1] = -1;
    if (pipe2(made, O_CLOEXEC)) return false;
    for (int i = 0; i < 2; i++) ends[i] = fcntl(made[i], F_DUPFD_CLOEXEC, 3);
    close_both(made);
    if (ends[0] >= 0 && ends[1] >= 0 && !fcntl(ends[0], F_SETFL, O_NONBLOCK)) return true;
    close_both(ends);
    return false;
}

static int add_streams(posix_spawn_file_actions_t *actions,
                       const struct rmcp_child_request *request, int out, int err)
{
    int failed = 0;
    if (!request->attended)
        failed = posix_spawn_file_actions_addopen(actions, 0, "/dev/null", O_RDONLY, 0);
    if (!failed && out >= 0) failed = posix_spawn_file_actions_adddup2(actions, out, 1);
    if (!failed && err >= 0) failed = posix_spawn_file_actions_adddup2(actions, err, 2);
    return failed;
}

static int reset_signals(posix_spawnattr_t *attributes)
{
    sigset_t none, all;
    sigemptyset(&none);
    sigfillset(&all);
    int failed = posix_spawnattr_setsigmask(attributes, &none);
    if (!failed) failed = posix_spawnattr_setsigdefault(attributes, &all);
    if (!failed)
        failed =
            posix_spawnattr_setflags(attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
    return failed;
}

/* A script that does not say what runs it: the shell, as execvp has it. */
static int spawn_script(pid_t *process, const posix_spawn_file_actions_t *actions,
                        const posix_spawnattr_t *attributes, char *const *argv, char **environment)
{
    size_t n = 0;
    while (argv[n]) n++;
    char **list = malloc((n + 2) * sizeof *list);
    if (!list) return ENOMEM;
    list[0] = "/bin/sh";
    memcpy(list + 1, argv, (n + 1) * sizeof *list);
    const int failed = posix_spawn(process, list[0], actions, attributes, list, environment);
    free(list);
    return failed;
}

/* 0, or why it failed. */
static int spawn(const struct rmcp_child_request *request, int out, int err, pid_t *process)
{
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    char **environment = environment_with(request->environment);
    if (!environment) return ENOMEM;
    int failed = posix_spawn_file_actions_init(&actions);
    if (!failed) {
        failed = posix_spawnattr_init(&attributes);
        if (!failed) {
            failed = add_streams(&actions, request, out, err);
            if (!failed && !request->attended) failed = reset_signals(&attributes);
            if (!failed)
                failed = (request->attended ? posix_spawnp : posix_spawn)(
                    process, request->argv[0], &actions, &attributes, request->argv, environment);
            if (failed == ENOEXEC && request->attended)
                failed = spawn_script(process, &actions, &attributes, request->argv, environment);
            posix_spawnattr_destroy(&attributes);
        }
        posix_spawn_file_actions_destroy(&actions);
    }
    free(environment);
    return failed;
}

static int call_in_fork(const struct rmcp_child_request *request, int out, pid_t *process)
{
    fflush(NULL); /* what is in buffers is said once */
    *process = fork();
    if (*process < 0) return errno;
    if (*process) return 0;
    sigset_t none;
    sigemptyset(&none);
    for (int number = 1; number < 32; number++) signal(number, SIG_DFL);
    sigprocmask(SIG_SETMASK, &none, NULL);
    request->function(request->context, out);
    _exit(0);
}

/* Names the process for good, where its number may go to another once the host has reaped it. */
static int open_handle(pid_t process)
{
#ifdef SYS_pidfd_open
    return (int)syscall(SYS_pidfd_open, process, 0u);
#else
    (void)process;
    return -1;
#endif
}

rmcp_status rmcp_child_start(const struct rmcp_child_request *request, struct rmcp_child *child)
{
    *child = (struct rmcp_child){
        .process = -1, .handle = -1, .streams = { -1, -1 }, .outputs = { request->out }
    };
    const bool merged = request->err && request->err == request->out;
    if (!merged) child->outputs[1] = request->err;
    int pipes[2][2] = { { -1, -1 }, { -1, -1 } };
    int failed = 0;
    for (int i = 0; i < 2 && !failed; i++) {
        if (!child->outputs[i]) continue;
        child->outputs[i]->used = 0;
        if (child->outputs[i]->size) child->outputs[i]->data[0] = '\0';
        if (!make_pipe(pipes[i])) failed = errno;
    }
    const int out = pipes[0][1], err = merged ? out : pipes[1][1];
    child->start = rmcp_clock();
    if (!failed)
        failed = request->function ? call_in_fork(request, out, &child->process)
                                   : spawn(request, out, err, &child->process);
    for (int i = 0; i < 2; i++) {
        if (pipes[i][1] >= 0) close(pipes[i][1]);
        pipes[i][1] = -1;
        if (failed) close_both(pipes[i]);
        child->streams[i] = pipes[i][0];
    }
    if (failed)
        return rmcp_fail(failed == ENOMEM ? RMCP_E_NOMEM : RMCP_E_IO, "cannot start '%.200s': %s",
                         request->function ? "a process" : request->argv[0], strerror(failed));
    child->handle = open_handle(child->process);
    return RMCP_OK;
}

/* ---- waiting ---- */

static void keep(struct rmcp_child_output *output, const char *piece, size_t n)
{
    if (!output->size) return;
    const size_t room = output->size - 1;
    if (n > room) {
        piece += n - room;
        n = room;
    }
    if (output->used + n > room) {
        const size_t drop = output->used + n - room;
        memmove(output->data, output->data + drop, output->used - drop);
        output->used -= drop;
    }
    memcpy(output->data + output->used, piece, n);
    output->used += n;
    output->data[output->used] = '\0';
}

/* Take what is there. */
static void drain(struct rmcp_child *child, int i)
{
    char piece[4096];
    size_t sum = 0;
    while (child->streams[i] >= 0 && sum < MOST_AT_ONCE) {
        const ssize_t n = read(child->streams[i], piece, sizeof piece);
        if (n > 0) {
            keep(child->outputs[i], piece, (size_t)n);
            sum += (size_t)n;
        } else if (n == 0 || (errno != EAGAIN && errno != EINTR)) {
            close(child->streams[i]);
            child->streams[i] = -1;
        } else if (errno == EAGAIN) {
            break;
        }
    }
}

static void release(struct rmcp_child *child)
{
    for (int i = 0; i < 2; i++) {
        drain(child, i); /* a grandchild may hold the other end for ever */
        if (child->streams[i] >= 0) close(child->streams[i]);
        child->streams[i] = -1;
    }
    if (child->handle >= 0) close(child->handle);
    child->handle = -1;
    child->process = -1;
    child->seconds = rmcp_clock() - child->start;
}

static bool has_ended(struct rmcp_child *child)
{
    int status = 0;
    const pid_t ended = waitpid(child->process, &status, WNOHANG);
    if (!ended || (ended < 0 && errno == EINTR)) return false;
    if (ended < 0) {
        child->end = RMCP_CHILD_UNKNOWN;
    } else if (WIFSIGNALED(status)) {
        child->end = RMCP_CHILD_KILLED;
        child->code = WTERMSIG(status);
    } else {
        child->end = RMCP_CHILD_EXITED;
        child->code = WEXITSTATUS(status);
    }
    release(child);
    return true;
}

bool rmcp_child_wait(struct rmcp_child *child, double until)
{
    if (child->process < 0) return true;
    for (;;) {
        for (int i = 0; i < 2; i++) drain(child, i);
        if (has_ended(child)) return true;
        double left = until - rmcp_clock();
        if (left <= 0) return false;
        if (child->handle < 0) left = fmin(left, nap);
        struct pollfd list[3] = { { child->streams[0], POLLIN, 0 },
                                  { child->streams[1], POLLIN, 0 },
                                  { child->handle, POLLIN, 0 } };
        poll(list, 3, (int)(fmin(left, 1) * 1000) + 1);
    }
}

void rmcp_child_kill(struct rmcp_child *child)
{
    if (child->process < 0) return;
#ifdef SYS_pidfd_send_signal
    if (child->handle >= 0 &&
        !syscall(SYS_pidfd_send_signal, child->handle, SIGKILL, (void *)NULL, 0u))
        return;
    if (child->handle >= 0 && errno == ESRCH) return;
#endif
    /* Without a handle: its number is its own as long as it can be waited for. */
    if (!has_ended(child)) kill(child->process, SIGKILL);
}

void rmcp_child_leave(struct rmcp_child *child)
{
    if (child->process < 0) return;
    child->end = RMCP_CHILD_STUCK;
    release(child);
}

rmcp_status rmcp_child_run(const struct rmcp_child_request *request, struct rmcp_child *child)
{
    rmcp_status status = rmcp_child_start(request, child);
    if (status) return status;
    const double limit = request->limit_seconds > 0 ? request->limit_seconds : (double)INFINITY;
    if (request->slow && request->slow_seconds < limit) {
        if (rmcp_child_wait(child, child->start + request->slow_seconds)) return RMCP_OK;
        request->slow(request->slow_context);
    }
    if (rmcp_child_wait(child, child->start + limit)) return RMCP_OK;
    rmcp_child_kill(child);
    if (rmcp_child_wait(child, rmcp_clock() + grace))
        child->end = RMCP_CHILD_LATE;
    else
        rmcp_child_leave(child);
    return RMCP_OK;
}
