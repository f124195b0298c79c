/* child.h: runs a program with a time limit and keeps the end of what it says. */
#ifndef RMCP_OWNER_CHILD_H
#define RMCP_OWNER_CHILD_H

#include "rmcp.h"

enum child_end {
    CHILD_EXITED,  /* code is its exit status          */
    CHILD_KILLED,  /* code is the signal that ended it */
    CHILD_TIMEOUT, /* we ended it                      */
    CHILD_STUCK,   /* it cannot even be ended: it sits inside the kernel */
};

struct child_result {
    enum child_end end;
    int code;
    double seconds;
    char out[4096], err[4096]; /* the last bytes of each, terminated */
};

/* Run argv[0] with `argv` (ends with NULL), stdin closed, the environment as it is plus `extra`
 * ("NAME=value", may be NULL). RMCP_OK whatever becomes of it; an error when it cannot be started.
 */
rmcp_status child_run(char *const argv[], const char *extra, double limit_seconds,
                      struct child_result *result);

#endif
