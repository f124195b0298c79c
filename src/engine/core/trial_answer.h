/* trial_answer.h: what the process of a trial says on its stdout, two lines and nothing else:
 *
 *     rmcp-trial 1 VERSION begin
 *     rmcp-trial 1 good|bad|untried REASON
 *
 * The first stands before the device is touched. Whoever does not say it, in our own version, has
 * tried nothing: a command that does not load, a shell's message, another release. Whoever says it
 * and not the second did not survive. */
#ifndef RMCP_CORE_TRIAL_ANSWER_H
#define RMCP_CORE_TRIAL_ANSWER_H

#include "engine/core/guard.h"

#include <stdio.h>

/* Write a line and flush. `finding` is GOOD, BAD or UNTRIED. */
void rmcp_trial_write_begin(FILE *out);
void rmcp_trial_write_end(FILE *out, const struct rmcp_guard_finding *finding);

/* Read all that was said. False: it is not the answer of a trial of this version. Else `*out` is
 * the finding; without a whole second line it is RMCP_GUARD_TRYING. */
bool rmcp_trial_read(const char *text, struct rmcp_guard_finding *out);

#endif
