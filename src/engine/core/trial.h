/* trial.h: small problems with known results, tried in another process or in this one. */
#ifndef RMCP_CORE_TRIAL_H
#define RMCP_CORE_TRIAL_H

#include "engine/core/guard.h"
#include "engine/core/notice.h"

/* Case strings that an algorithm takes on a device: some passes of a few small problems. */
enum { RMCP_TRIAL_MOST = 48, RMCP_TRIAL_CASE = 96 };
struct rmcp_trial {
    const struct rmcp_operation *operation;
    const struct rmcp_algo *algo;
    char cases[RMCP_TRIAL_MOST][RMCP_TRIAL_CASE];
    size_t n_cases; /* 0: it refuses them all */
};

struct rmcp_trial rmcp_trial_of(const rmcp_device *device, const struct rmcp_operation *operation,
                                const struct rmcp_algo *algo, rmcp_type type);

/* How a trial ended; when `wait` gets long, the program is told. UNTRIED: nothing can be said (no
 * rmcp command, one that does not work, no memory); else GOOD, or BAD with a reason. */

/* By the rmcp command, in a process of its own with a time limit in seconds. */
struct rmcp_guard_finding rmcp_trial_apart(const rmcp_device *device,
                                           const struct rmcp_trial *trial, unsigned limit,
                                           struct rmcp_wait *wait);

/* In this process, beside whatever the caller's streams do; looks at the clock between problems. */
struct rmcp_guard_finding rmcp_trial_here(rmcp_device *device, const struct rmcp_trial *trial,
                                          struct rmcp_wait *wait);

/* What rmcp_guard_remark is to say; one text for each subject, the last one counts. */
enum rmcp_guard_subject { RMCP_GUARD_ON_RECORD, RMCP_GUARD_ON_COMMAND, RMCP_GUARD_N_SUBJECTS };
void rmcp_guard_say(enum rmcp_guard_subject subject, const char *text);

#endif
