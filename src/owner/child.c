/* child.c: a child process with a time limit. */
#include "owner/child.h"

#include "base/error.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

extern char **environ;

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* Append what is there to a buffer that keeps the last bytes. False at the end of the stream. */
static bool drain(int fd, char *keep, size_t size)
{
    char piece[1024];
    for (;;) {
        ssize_t n = read(fd, piece, sizeof piece);
        if (n < 0) return errno == EAGAIN || errno == EINTR;
        if (!n) return false;
        size_t have = strlen(keep);
        for (ssize_t i = 0; i < n; i++)
            if (!piece[i]) piece[i] = ' ';
        if (have + (size_t)n >= size) {
            size_t drop = have + (size_t)n - (size - 1);
            if (drop > have) drop = have;
            memmove(keep, keep + drop, have - drop);
            have -= drop;
        }
        size_t take = (size_t)n < size - 1 - have ? (size_t)n : size - 1 - have;
        memcpy(keep + have, piece + ((size_t)n - take), take);
        keep[have + take] = '\0';
    }
}

/* Wait for the child, reading both streams, until `deadline`. */
static bool wait_until(pid_t child, const int streams[2], double deadline, struct child_result *r,
                       int *status)
{
    bool open[2] = { true, true };
    for (;;) {
        struct pollfd poll_list[2] = { { open[0] ? streams[0] : -1, POLLIN, 0 },
                                       { open[1] ? streams[1] : -1, POLLIN, 0 } };
        poll(poll_list, 2, 20);
        if (open[0]) open[0] = drain(streams[0], r->out, sizeof r->out);
        if (open[1]) open[1] = drain(streams[1], r->err, sizeof r->err);
        pid_t ended = waitpid(child, status, WNOHANG);
        if (ended == child) {
            if (open[0]) drain(streams[0], r->out, sizeof r->out);
            if (open[1]) drain(streams[1], r->err, sizeof r->err);
            return true;
        }
        if (now() > deadline) return false;
    }
}

static char **environment_with(const char *extra)
{
    size_t n = 0;
    while (environ[n]) n++;
    char **list = malloc((n + 2) * sizeof *list);
    if (!list) return NULL;
    size_t name = extra ? strcspn(extra, "=") + 1 : 0, kept = 0;
    for (size_t i = 0; i < n; i++)
        if (!extra || strncmp(environ[i], extra, name)) list[kept++] = environ[i];
    if (extra) list[kept++] = (char *)(uintptr_t)extra;
    list[kept] = NULL;
    return list;
}

rmcp_status child_run(char *const argv[], const char *extra, double limit_seconds,
                      struct child_result *r)
{
    *r = (struct child_result){ .end = CHILD_EXITED };
    int out[2] = { -1, -1 }, err[2] = { -1, -1 };
    char **environment = environment_with(extra);
    rmcp_status status = environment ? RMCP_OK : rmcp_fail_memory("an environment", 0);
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    if (!status && (pipe(out) || pipe(err)))
        status = rmcp_fail(RMCP_E_IO, "no pipe for a child process: %s", strerror(errno));
    pid_t child = -1;
    const double start = now();
    if (!status) {
        for (int i = 0; i < 2; i++) {
            fcntl(out[i], F_SETFD, FD_CLOEXEC);
            fcntl(err[i], F_SETFD, FD_CLOEXEC);
        }
        posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
        posix_spawn_file_actions_adddup2(&actions, out[1], STDOUT_FILENO);
        posix_spawn_file_actions_adddup2(&actions, err[1], STDERR_FILENO);
        int failed = posix_spawn(&child, argv[0], &actions, NULL, argv, environment);
        if (failed)
            status = rmcp_fail(RMCP_E_IO, "cannot start '%.200s': %s", argv[0], strerror(failed));
    }
    posix_spawn_file_actions_destroy(&actions);
    free(environment);
    if (out[1] >= 0) close(out[1]);
    if (err[1] >= 0) close(err[1]);
    if (!status) {
        const int streams[2] = { out[0], err[0] };
        fcntl(out[0], F_SETFL, O_NONBLOCK);
        fcntl(err[0], F_SETFL, O_NONBLOCK);
        int ended = 0;
        bool in_time = wait_until(child, streams, start + limit_seconds, r, &ended);
        if (!in_time) {
            kill(child, SIGKILL);
            r->end =
                wait_until(child, streams, now() + 10, r, &ended) ? CHILD_TIMEOUT : CHILD_STUCK;
        } else if (WIFSIGNALED(ended)) {
            r->end = CHILD_KILLED;
            r->code = WTERMSIG(ended);
        } else {
            r->code = WEXITSTATUS(ended);
        }
        r->seconds = now() - start;
    }
    if (out[0] >= 0) close(out[0]);
    if (err[0] >= 0) close(err[0]);
    return status;
}
