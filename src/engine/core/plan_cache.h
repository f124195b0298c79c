/* plan_cache.h: what was measured, remembered between processes.
 *
 * Text under $XDG_CACHE_HOME/rmcp/plans (else ~/.cache/rmcp/plans), one file per host so that two
 * hosts never append to one file over NFS; all files are read. One line per measurement:
 *
 *     CHECKSUM DIGEST OPTIONS CASE ALGORITHM SECONDS
 *
 * DIGEST stands for device, driver and all algorithm versions: when one changes, old lines no
 * longer match. A line is one write to a file opened for appending: there is no lock, a process
 * killed at any moment leaves at most one torn line, and a line whose checksum is wrong is passed
 * over. */
#ifndef RMCP_CORE_PLAN_CACHE_H
#define RMCP_CORE_PLAN_CACHE_H

#include "engine/core/plan.h"

/* The algorithm that was fastest for this request; false when nobody has measured it. */
bool rmcp_plan_cache_find(const rmcp_device *device, const struct rmcp_request *request,
                          uint64_t max_workspace, char algorithm[static 32]);

/* Remember. A cache that cannot be written is no error: it is measured again next time. */
void rmcp_plan_cache_add(const rmcp_device *device, const struct rmcp_request *request,
                         uint64_t max_workspace, const char *algorithm, double seconds);

/* One line about damaged lines found, "" when there were none. Static storage. */
const char *rmcp_plan_cache_remark(void);

#endif
