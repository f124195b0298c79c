/* check.h: RMCP_CHECK: every execution compared with its operation's reference, on the caller's own
 * data. What is found goes to stderr and to rmcp_check_describe. */
#ifndef RMCP_CORE_CHECK_H
#define RMCP_CORE_CHECK_H

#include "engine/core/plan.h"

/* Whether RMCP_CHECK was set when this was first asked: one load ever after. */
bool rmcp_check_is_on(void);

/* Submit a plan with memory that is in order, then look at what it wrote. The status is that of the
 * submission, whatever is found; or RMCP_E_LOST, when the device is gone. */
rmcp_status rmcp_check_execute(const rmcp_plan *plan, void *stream, const struct rmcp_given *given,
                               double *seconds);

/* ---- check_report.c: counting and telling ---- */

bool rmcp_check_is_full(void); /* RMCP_CHECK=full: every element */

/* One element that is not as expected. */
struct rmcp_check_difference {
    const char *tensor;
    int64_t element;
    bool unwritten; /* it still holds what was there before; else `got` */
    float got;
    struct rmcp_expected expected;
};

void rmcp_check_count_skipped(void);
void rmcp_check_count_good(void);
/* `problem`: the plan's with the scalars of the execution. */
void rmcp_check_count_wrong(const rmcp_plan *plan, const void *problem,
                            const struct rmcp_check_difference *difference);

#endif
