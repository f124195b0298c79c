/* page.h: pages that need nothing else: head and style, text, and the file. */
#ifndef RMCP_CLI_PAGE_H
#define RMCP_CLI_PAGE_H

#include <stdio.h>

/* Text from anywhere: markup escaped, bytes that are no UTF-8 and marks that turn the direction of
 * text replaced. */
void cli_page_text(FILE *out, const char *text);

/* What a page's style sheet has beside what all of them have. */
struct cli_page_style {
    const char *light, *dark; /* its own colours: "--way:#0b62d6;…", the same names in both */
    const char *rules;
};
/* From the mark of the command to <main>. */
void cli_page_begin(FILE *out, const char *command, const struct cli_page_style *style);

/* A page begins with the mark of its command. A file of somebody else is not overwritten, an older
 * page is; NULL is standard output. All return an exit status, and have said what is wrong. */
int cli_page_check(const char *command, const char *file);
int cli_page_open(const char *command, const char *file, FILE **out);
int cli_page_close(const char *command, const char *file, FILE *out);

#endif
