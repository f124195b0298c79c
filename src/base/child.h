/* child.h: another program, or a function of ours, in a process of its own, with limits.
 *
 * Made for hosts of all kinds: those with many threads (programs are spawned, not forked), those
 * that reap every child or ignore SIGCHLD (then the exit status is lost, and said to be), those
 * that have closed their standard streams. */
#ifndef RMCP_BASE_CHILD_H
#define RMCP_BASE_CHILD_H

#include "rmcp.h"

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/* Keeps the last size - 1 bytes of a stream, terminated. */
struct rmcp_child_output {
    char *data;
    size_t size, used;
};

struct rmcp_child_request {
    /* Either a program and its arguments up to NULL, where argv[0] is its path … */
    char *const *argv;
    /* … or a function, called in a fork with `context` and a descriptor that leads to `out` (-1
     * without it). The process ends when it returns, with what is still in buffers lost; it shares
     * stdout and stderr with ours. */
    void (*function)(void *context, int out);
    void *context;

    const char *const *environment; /* "NAME=value" up to NULL, before what ours has; or NULL */
    struct rmcp_child_output *out, *err; /* of a program: NULL: our own; the same twice: merged */
    bool attended;        /* a program gets our stdin and signals, and is searched for in PATH;   */
                          /* else stdin is empty and signals are as in a fresh process            */
    double limit_seconds; /* of rmcp_child_run; 0: none                                           */

    /* Called by rmcp_child_run, once, when it has run so long and goes on; NULL: nobody. */
    void (*slow)(void *slow_context);
    void *slow_context;
    double slow_seconds;
};

enum rmcp_child_end {
    RMCP_CHILD_RUNS,
    RMCP_CHILD_EXITED,  /* code is its exit status                                       */
    RMCP_CHILD_KILLED,  /* code is the signal that ended it                              */
    RMCP_CHILD_LATE,    /* we ended it, at its limit                                     */
    RMCP_CHILD_STUCK,   /* it cannot even be ended: it sits inside the kernel, left there */
    RMCP_CHILD_UNKNOWN, /* ended; how, only the host knows, which reaps our children     */
};

struct rmcp_child {
    enum rmcp_child_end end;
    int code;
    double seconds; /* from its start to its end */
    /* The runner's. */
    pid_t process;
    int handle, streams[2];
    double start;
    struct rmcp_child_output *outputs[2];
};

/* Start, wait for the end, and end it at its limit. RMCP_OK whatever becomes of it; RMCP_E_IO or
 * RMCP_E_NOMEM when it cannot be started. */
rmcp_status rmcp_child_run(const struct rmcp_child_request *request, struct rmcp_child *child);

/* The same in pieces, for several at once. After RMCP_OK from rmcp_child_start the child must be
 * waited for until that returns true, or left. */
rmcp_status rmcp_child_start(const struct rmcp_child_request *request, struct rmcp_child *child);
/* Read what it says until it ends or `until`, by rmcp_clock (INFINITY: whatever it takes). True
 * when it has ended: child->end then tells how, and nothing is held any more. */
bool rmcp_child_wait(struct rmcp_child *child, double until);
/* End it; wait for it still. */
void rmcp_child_kill(struct rmcp_child *child);
/* Give up on it: it stays, as RMCP_CHILD_STUCK. */
void rmcp_child_leave(struct rmcp_child *child);

#endif
