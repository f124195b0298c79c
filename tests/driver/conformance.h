/* conformance.h: what the conformance test must know of a driver. One subject_*.c each. */
#ifndef RMCP_TESTS_CONFORMANCE_H
#define RMCP_TESTS_CONFORMANCE_H

#include "rmcp.h"

#include <stdatomic.h>
#include <stdbool.h>

/* The levers of a fake driver, and how its failures are judged. */
struct faults {
    long *fail_at; /* the call that fails, counted from 1; 0: none   */
    int *code;     /* the error it returns                           */
    int *sticky;   /* 1: and all calls from then on                  */
    atomic_long *calls, *live;
    const char **failed; /* name of the function that failed         */
    int *capturing;      /* 1: what a capture forbids fails; NULL: the driver knows no captures */
    atomic_long *violations;

    const int *codes;    /* errors to fail with, ended by 0                         */
    int no_memory;       /* of these, the one that means want of memory             */
    int lost;            /* and one that means that the device is gone              */
    int least;           /* more calls than this must be seen to fail               */
    bool keeps;          /* kernels are kept on disk, which changes the calls made  */
    void (*check)(void); /* what must hold whatever failed                       */
    void (*judge)(int code, rmcp_status status); /* of one failure               */
};

struct subject {
    const char *name;
    const char *spec;      /* the device under test                                    */
    const char *algorithm; /* one that it computes rightly; NULL: the planner's choice */
    bool tells_limit;      /* a buffer too large is refused with the largest size      */

    /* Make the driver reachable; `library` is the fake's, or NULL. False with the reason in `why`
     * when this machine or build has none: the test is skipped. */
    bool (*begin)(const char *library, char *why, size_t size);
    void (*end)(void);    /* may be NULL */
    void (*calm)(void);   /* back to a driver where all goes well; may be NULL   */
    void (*forget)(void); /* remove what is kept on disk; may be NULL            */
    struct faults faults; /* all zero for a real driver                          */
};

extern struct subject subject_cpu, subject_opencl, subject_fake_opencl, subject_fake_cuda,
    subject_fake_hip;

/* The one under test, its driver, and a program's life on it. */
extern struct subject *subject;
extern const struct rmcp_driver *driver;
extern struct life life;

#define assert_ok(call)                                                                            \
    do {                                                                                           \
        if ((call) != RMCP_OK) fail_msg("%s: %s", #call, rmcp_last_error());                       \
    } while (0)

/* The driver holds nothing more for us. */
void conformance_nothing_left(void);
/* Nothing is known of earlier lives, in this process or on disk. */
void conformance_forget_all(void);

/* Tests in conformance_faults.c. */
void fails_cleanly_wherever_a_call_fails(void **state);
void fails_cleanly_in_the_first_use(void **state);
void fails_cleanly_wherever_memory_runs_out(void **state);

/* A folder of its own for XDG_CACHE_HOME, emptied by conformance_forget, removed at the end. */
bool conformance_make_cache(void);
void conformance_forget(void);
void conformance_remove_cache(void);

#endif
