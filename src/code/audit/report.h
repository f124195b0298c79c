/* report.h: a report while it grows. */
#ifndef RMCP_AUDIT_REPORT_H
#define RMCP_AUDIT_REPORT_H

#include "code/audit/scan.h"

/* The library named by the first `length` bytes of `path`, one of those from `first` on or new. */
rmcp_status report_find_library(struct audit_report *report, size_t first, const char *path,
                                size_t length, size_t *index);
rmcp_status report_find_group(struct audit_library *library, const char *target,
                              enum audit_kind kind, size_t *index);

/* Whether a finding may be among the `most` worst, by its numbers alone. */
bool report_is_worse(const struct audit_report *report, size_t most, const struct audit_worst *one);
/* Copies what `one` points to. */
rmcp_status report_add_worst(struct audit_report *report, size_t most,
                             const struct audit_worst *one);

/* Totals and lacking instructions, when all is in. */
rmcp_status report_finish(struct audit_report *report, const struct scan_opcodes *opcodes,
                          size_t n);

#endif
