/* notice.h: telling the program, once, that something takes long (rmcp_on_notice). */
#ifndef RMCP_CORE_NOTICE_H
#define RMCP_CORE_NOTICE_H

#include "rmcp.h"

#include <stdbool.h>

/* After so many seconds a wait is a long one. */
enum { RMCP_LONG_WAIT = 2 };

struct rmcp_wait {
    double start; /* by rmcp_clock */
    bool told;
    char line[256]; /* what is waited for */
};

/* Tell the program if it was not told yet. `wait` is a struct rmcp_wait. */
void rmcp_wait_tell(void *wait);

/* The same if it is a long one by now. */
void rmcp_wait_look(struct rmcp_wait *wait);

#endif
