/* doctor_html.h: rmcp doctor's report as one page that needs nothing else. */
#ifndef RMCP_CLI_DOCTOR_HTML_H
#define RMCP_CLI_DOCTOR_HTML_H

#include "command/doctor.h"

/* Write the page to a file (NULL: standard output). A file of somebody else is not overwritten, an
 * older page is. Returns an exit status. */
int doctor_write_html(const struct doctor_report *report, const char *file);

/* ---- parts ---- */

void doctor_html_page(FILE *out, const struct doctor_report *report);
/* The decision tree as an SVG picture, this machine's path marked. */
void doctor_html_tree(FILE *out, const struct doctor_report *report);

#endif
