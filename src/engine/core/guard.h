/* guard.h: first use of an algorithm on a GPU is guarded, and remembered between processes.
 *
 * A kernel that does not agree with the silicon can hang the card or take the machine down. So
 * before an algorithm runs for the first time with an element type on a device and driver, a marker
 * is written to disk and synced, and small problems with known results are tried, in a process of
 * their own where an rmcp command that works is at hand, else in this one. What was found is
 * remembered; a marker without a finding means that the process, or the machine, did not survive,
 * and the algorithm is passed over until somebody says `rmcp devices --forget`.
 *
 * Only drivers that ask for it are guarded (rmcp_driver.guarded). RMCP_GUARD=0 in the environment
 * switches all of it off. Thread-safe. */
#ifndef RMCP_CORE_GUARD_H
#define RMCP_CORE_GUARD_H

#include "engine/core/algo.h"

enum rmcp_guard_state {
    RMCP_GUARD_UNTRIED,
    RMCP_GUARD_TRYING, /* by a process that is alive */
    RMCP_GUARD_GOOD,
    RMCP_GUARD_BAD,    /* wrong result, error, time limit */
    RMCP_GUARD_CRASHED /* the process that tried is gone  */
};

struct rmcp_guard_finding {
    enum rmcp_guard_state state;
    rmcp_status status; /* why it could not be tried, when it was meant to be: UNTRIED only */
    char reason[200];   /* of BAD and CRASHED; of UNTRIED with a status; else ""           */
};

/* Whether this device of this driver is guarded at all. */
bool rmcp_guard_applies(const struct rmcp_driver *driver);

/* What is known, without trying anything. `info` needs chip and driver only. */
struct rmcp_guard_finding rmcp_guard_look(const rmcp_device_info *info,
                                          const struct rmcp_operation *operation,
                                          const struct rmcp_algo *algo, rmcp_type type);

/* Try the algorithm now unless it is known. RMCP_OK when it may be used; RMCP_E_UNSUPPORTED with
 * the reason when not. For plan time: may take seconds once, then nothing. */
rmcp_status rmcp_guard_admit(rmcp_device *device, const struct rmcp_operation *operation,
                             const struct rmcp_algo *algo, rmcp_type type);

/* Forget what is known about devices with this chip and driver; NULL: about all. RMCP_E_IO when
 * that cannot be written. */
rmcp_status rmcp_guard_forget(const rmcp_device_info *info);

/* One line about what keeps first use from being tried apart or findings from being remembered, ""
 * when nothing does. */
enum { RMCP_GUARD_REMARK_MAX = 256 };
void rmcp_guard_remark(char text[static RMCP_GUARD_REMARK_MAX]);

#endif
