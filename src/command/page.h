/* page.h: pages that need nothing else: their text, and the file. */
#ifndef RMCP_CLI_PAGE_H
#define RMCP_CLI_PAGE_H

#include <stdio.h>

/* Text from anywhere: markup escaped, bytes that are no UTF-8 and marks that turn the direction of
 * text replaced. */
void cli_page_text(FILE *out, const char *text);

/* A page begins with the mark of its command. A file of somebody else is not overwritten, an older
 * page is; NULL is standard output. All return an exit status, and have said what is wrong. */
int cli_page_check(const char *command, const char *mark, const char *file);
int cli_page_open(const char *command, const char *mark, const char *file, FILE **out);
int cli_page_close(const char *command, const char *file, FILE *out);

#endif
