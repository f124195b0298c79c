/* audit.h: what the files of `rmcp audit` share. */
#ifndef RMCP_CLI_AUDIT_H
#define RMCP_CLI_AUDIT_H

#include "code/audit/audit.h"
#include "command/cli.h"

/* `full`: names of kernels whole, however long. */
void audit_print_text(const struct audit_report *report, bool full);
void audit_print_csv(const struct audit_report *report);
int audit_print_json(const struct audit_report *report); /* an exit status */

/* Print the code of every function of that name, findings marked. Returns an exit status. */
int audit_print_kernel(const char *name, unsigned chip, int n_paths, char **paths);

/* A damaged piece, as a line on stderr; counts in *(uint64_t *)context. */
void audit_complain(void *context, const char *path, const char *message);

#endif
