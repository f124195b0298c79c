/* probe.c: asks every driver for its devices, each in a process of its own.
 *
 * A GPU driver may end the process that loads it: PoCL does so without /sys, and two drivers with
 * an LLVM each do when they meet. A list of devices must survive that, and say which one it was. */
#include "command/probe.h"

#include "base/child.h"
#include "base/error.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { LIMIT_SECONDS = 30, MOST_PER_DRIVER = 64 };

/* The child's side: every entry of one driver, as the bytes they are. */
static void answer(void *context, int out)
{
    const struct rmcp_driver *driver = context;
    rmcp_device_info info;
    int n = 1;
    for (int i = 0; i < n && i < MOST_PER_DRIVER; i++) {
        n = rmcp_driver_ask(driver, i, &info);
        if (write(out, &info, sizeof info) != (ssize_t)sizeof info) break;
    }
}

static rmcp_status add(struct cli_device_list *list, const rmcp_device_info *info)
{
    if (list->n == list->room) {
        const size_t room = list->room ? 2 * list->room : 16;
        rmcp_device_info *entries = realloc(list->entries, room * sizeof *entries);
        if (!entries) return rmcp_fail_memory("list of devices", room * sizeof *entries);
        list->entries = entries;
        list->room = room;
    }
    list->entries[list->n++] = *info;
    return RMCP_OK;
}

static void say_how_it_ended(const struct rmcp_driver *driver, const struct rmcp_child *child,
                             rmcp_device_info *info)
{
    *info = (rmcp_device_info){ .struct_size = sizeof *info };
    snprintf(info->spec, sizeof info->spec, "%s", driver->name);
    if (child->end == RMCP_CHILD_LATE || child->end == RMCP_CHILD_STUCK)
        snprintf(info->why, sizeof info->why, "its driver did not answer within %d s",
                 LIMIT_SECONDS);
    else if (child->end == RMCP_CHILD_KILLED)
        snprintf(info->why, sizeof info->why,
                 "its driver ended the process that asked it: signal %d (%s)", child->code,
                 strsignal(child->code));
    else
        snprintf(info->why, sizeof info->why,
                 "its driver ended the process that asked it: exit status %d", child->code);
}

static rmcp_status probe(const struct rmcp_driver *driver, struct cli_device_list *list)
{
    static char bytes[MOST_PER_DRIVER * sizeof(rmcp_device_info) + 1];
    struct rmcp_child_output out = { .data = bytes, .size = sizeof bytes };
    const struct rmcp_child_request request = { .function = answer,
                                                .context = (void *)(uintptr_t)driver,
                                                .out = &out,
                                                .limit_seconds = LIMIT_SECONDS };
    struct rmcp_child child;
    rmcp_device_info info;
    rmcp_status status = rmcp_child_run(&request, &child);
    /* What it said stands, however it ended. */
    const size_t n = out.used / sizeof info;
    for (size_t i = 0; i < n && !status; i++) {
        memcpy(&info, bytes + i * sizeof info, sizeof info);
        status = add(list, &info);
    }
    if (status || n) return status;
    say_how_it_ended(driver, &child, &info);
    return add(list, &info);
}

rmcp_status cli_probe_devices(struct cli_device_list *list)
{
    const struct rmcp_driver *drivers[RMCP_MOST_DRIVERS];
    const size_t n = rmcp_drivers_by_rank(drivers);
    rmcp_status status = RMCP_OK;
    for (size_t i = 0; i < n && !status; i++) status = probe(drivers[i], list);
    return status;
}

struct plain_call {
    void (*function)(void);
};

static void call(void *context, int out)
{
    (void)out;
    ((const struct plain_call *)context)->function();
    fflush(stdout);
}

void cli_apart(void (*function)(void))
{
    struct plain_call plain = { function };
    const struct rmcp_child_request request = { .function = call, .context = &plain };
    struct rmcp_child child;
    rmcp_child_run(&request, &child);
}
