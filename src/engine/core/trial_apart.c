/* trial_apart.c: tries an algorithm with the rmcp command in a process of its own, with a time
 * limit. */
#define _GNU_SOURCE /* dladdr */
#include "base/child.h"
#include "engine/core/trial.h"
#include "engine/core/trial_answer.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MOST_PATH = 1024, MOST_OUTPUT = 4096, MOST_COMPLAINT = 1024 };

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

/* ---- judging ---- */

/* A command that has not worked in this process; it may have taken all of its time. */
static char given_up[MOST_PATH];

static struct rmcp_guard_finding found(enum rmcp_guard_state state, const char *reason)
{
    struct rmcp_guard_finding finding = { .state = state };
    snprintf(finding.reason, sizeof finding.reason, "%s", reason);
    return finding;
}

/* Say that it does not work, with its last words. */
static struct rmcp_guard_finding complain(const char *text)
{
    char remark[RMCP_GUARD_REMARK_MAX], words[MOST_COMPLAINT];
    snprintf(words, sizeof words, "%s", text);
    size_t length = strlen(words);
    while (length && words[length - 1] == '\n') words[--length] = '\0';
    const char *last = strrchr(words, '\n');
    last = last ? last + 1 : words;
    snprintf(remark, sizeof remark,
             "first use: algorithms are tried in the process itself, since the rmcp command does "
             "not work%s%.140s",
             *last ? ": " : "", last);
    for (char *c = remark; *c; c++)
        if ((unsigned char)*c < 32 || *c == 127) *c = ' ';
    rmcp_guard_say(RMCP_GUARD_ON_COMMAND, remark);
    return found(RMCP_GUARD_UNTRIED, "the rmcp command does not work");
}

struct rmcp_guard_finding rmcp_trial_apart(const rmcp_device *device,
                                           const struct rmcp_trial *trial, unsigned limit,
                                           struct rmcp_wait *wait)
{
    char command[MOST_PATH], seconds[16], text[MOST_OUTPUT] = "", complaint[MOST_COMPLAINT] = "";
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
    /* The child is the trial, it shall not make one. */
    const char *environment[] = { "RMCP_GUARD=0", NULL };
    struct rmcp_child_output out = { .data = text, .size = sizeof text },
                             err = { .data = complaint, .size = sizeof complaint };
    const struct rmcp_child_request request = { .argv = arguments,
                                                .environment = environment,
                                                .out = &out,
                                                .err = &err,
                                                .limit_seconds = limit,
                                                .slow = rmcp_wait_tell,
                                                .slow_context = wait,
                                                .slow_seconds = RMCP_LONG_WAIT };
    struct rmcp_child child;
    struct rmcp_guard_finding finding;
    if (rmcp_child_run(&request, &child)) return complain(rmcp_last_error());
    /* A command that says nothing of its own trial is no evidence against an algorithm. The exit
     * status may be lost to a host program that reaps all children, so the lines count. */
    if (!rmcp_trial_read(text, &finding)) {
        snprintf(given_up, sizeof given_up, "%s", command);
        return complain(complaint);
    }
    if (finding.state != RMCP_GUARD_TRYING) return finding;
    if (child.end != RMCP_CHILD_LATE && child.end != RMCP_CHILD_STUCK)
        return found(RMCP_GUARD_BAD, "the process that tried it ended without a result");
    char reason[64];
    snprintf(reason, sizeof reason, "no result within %u seconds", limit);
    return found(RMCP_GUARD_BAD, reason);
}
