/* probe.c: asks every driver for its devices, each in a process of its own.
 *
 * A GPU driver may end the process that loads it: PoCL does so without /sys, and two drivers with
 * an LLVM each do when they meet. A list of devices must survive that, and say which one it was. */
#include "cli/probe.h"

#include "base/error.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { LIMIT_SECONDS = 30, MOST_PER_DRIVER = 64 };

/* The child's side: every entry of one driver, as the bytes they are. */
static void answer(const struct rmcp_driver *driver, int out)
{
    rmcp_device_info info;
    int n = 1;
    for (int i = 0; i < n && i < MOST_PER_DRIVER; i++) {
        n = rmcp_driver_ask(driver, i, &info);
        if (write(out, &info, sizeof info) != (ssize_t)sizeof info) break;
    }
}

static bool grow(struct cli_device_list *list)
{
    if (list->n < list->room) return true;
    const size_t room = list->room ? 2 * list->room : 16;
    rmcp_device_info *entries = realloc(list->entries, room * sizeof *entries);
    if (!entries) return false;
    list->entries = entries;
    list->room = room;
    return true;
}

/* Read entries until the child closes its end or the time is over. Returns how many came. */
static size_t read_entries(int in, struct cli_device_list *list)
{
    const time_t deadline = time(NULL) + LIMIT_SECONDS;
    size_t got = 0, n = 0;
    while (time(NULL) <= deadline && grow(list)) {
        struct pollfd wait = { in, POLLIN, 0 };
        if (poll(&wait, 1, 200) <= 0) continue;
        ssize_t bytes =
            read(in, (char *)&list->entries[list->n] + got, sizeof *list->entries - got);
        if (bytes < 0 && errno == EINTR) continue;
        if (bytes <= 0) break;
        got += (size_t)bytes;
        if (got < sizeof *list->entries) continue;
        list->n++;
        n++;
        got = 0;
    }
    return n;
}

static void say_how_it_ended(const struct rmcp_driver *driver, int status, rmcp_device_info *info)
{
    *info = (rmcp_device_info){ .struct_size = sizeof *info };
    snprintf(info->spec, sizeof info->spec, "%s", driver->name);
    if (WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL)
        snprintf(info->why, sizeof info->why, "its driver did not answer within %d s",
                 LIMIT_SECONDS);
    else if (WIFSIGNALED(status))
        snprintf(info->why, sizeof info->why,
                 "its driver ended the process that asked it: signal %d (%s)", WTERMSIG(status),
                 strsignal(WTERMSIG(status)));
    else
        snprintf(info->why, sizeof info->why,
                 "its driver ended the process that asked it: exit status %d", WEXITSTATUS(status));
}

/* Give the child two seconds to end by itself. */
static int reap(pid_t child)
{
    const struct timespec moment = { 0, 20000000 };
    int status = 0;
    for (int i = 0; i < 100; i++) {
        if (waitpid(child, &status, WNOHANG)) return status;
        nanosleep(&moment, NULL);
    }
    kill(child, SIGKILL);
    waitpid(child, &status, 0);
    return status;
}

static rmcp_status probe(const struct rmcp_driver *driver, struct cli_device_list *list)
{
    int ends[2];
    if (pipe(ends)) return rmcp_fail(RMCP_E_IO, "no pipe: %s", strerror(errno));
    fflush(NULL);
    pid_t child = fork();
    if (child < 0) {
        close(ends[0]);
        close(ends[1]);
        return rmcp_fail(RMCP_E_IO, "no process to ask a driver in: %s", strerror(errno));
    }
    if (!child) {
        close(ends[0]);
        answer(driver, ends[1]);
        _exit(0);
    }
    close(ends[1]);
    const size_t n = read_entries(ends[0], list);
    close(ends[0]);
    const int status = reap(child);
    if (!n) {
        if (!grow(list)) return rmcp_fail_memory("list of devices", sizeof *list->entries);
        say_how_it_ended(driver, status, &list->entries[list->n++]);
    }
    return RMCP_OK;
}

rmcp_status cli_probe_devices(struct cli_device_list *list)
{
    const struct rmcp_driver *drivers[RMCP_MOST_DRIVERS];
    const size_t n = rmcp_drivers_by_rank(drivers);
    rmcp_status status = RMCP_OK;
    for (size_t i = 0; i < n && !status; i++) status = probe(drivers[i], list);
    return status;
}

void cli_apart(void (*function)(void))
{
    fflush(NULL);
    pid_t child = fork();
    if (!child) {
        function();
        fflush(stdout);
        _exit(0);
    }
    if (child > 0) waitpid(child, NULL, 0);
}
