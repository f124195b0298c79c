/* patterns.h: kernels that have one silicon-bug pattern each, run on a device. */
#ifndef RMCP_OWNER_PATTERNS_H
#define RMCP_OWNER_PATTERNS_H

#include "engine/core/device.h"
#include "help/owner/journal.h"

struct owner_pattern {
    const char *kernel; /* in patterns.cl                                    */
    const char *rule;   /* as rmcp audit calls it, or "absent instruction"   */
    const char *danger; /* what LLVM's sources let one fear                  */
};
extern const struct owner_pattern owner_patterns[]; /* ends with a NULL kernel */

/* Run a pattern's kernel as compiled for "gfx1010" (cured) or "gfx1030" (not) and compare. `detail`
 * gets what was seen. */
enum journal_state owner_pattern_run(rmcp_device *device, const struct owner_pattern *pattern,
                                     const char *target, char *detail, size_t size);

/* The code object with all of them for that target; NULL when the build made none. */
const void *owner_pattern_object(const char *target, size_t *size);

#endif
