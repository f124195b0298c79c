/* journal.h: a text file that survives a crash: what was tried, and how it ended.
 *
 * Every line is on the disk before the next thing happens. A step that has a "try" line and no
 * other was running when the process, the system or the card gave up; it is not tried again. */
#ifndef RMCP_OWNER_JOURNAL_H
#define RMCP_OWNER_JOURNAL_H

#include "rmcp.h"

#include <stdbool.h>

enum journal_state {
    JOURNAL_UNKNOWN, /* never tried                                     */
    JOURNAL_TRYING,  /* has begun, and nobody wrote how it ended        */
    JOURNAL_PASSED,
    JOURNAL_FAILED,  /* a wrong result or an error                      */
    JOURNAL_SKIPPED, /* refused by the algorithm, or declined by the user */
    JOURNAL_LOST,    /* a run ended in the middle of it                 */
    JOURNAL_N_STATES
};
extern const char
    *const journal_words[JOURNAL_N_STATES]; /* "", "try", "pass", "FAIL", "skip", "LOST" */

struct journal;

/* Open `path`, made when it is not there. `title` is its first line; a file with another first line
 * is refused, so that nobody's file is written to. `*resumed` tells whether it had been there. On
 * RMCP_OK `*out` is to be closed with journal_close; on any error it is NULL. Another process that
 * has it open is an error. */
rmcp_status journal_open(const char *path, const char *title, bool *resumed, struct journal **out);
void journal_close(struct journal *journal); /* NULL is fine */

/* How a step stands, by its last line. */
enum journal_state journal_state(const struct journal *journal, const char *step);
/* Its text after the state; "" when there is none. */
const char *journal_detail(const struct journal *journal, const char *step);
/* The value of the last "key: value" line, or NULL. */
const char *journal_value(const struct journal *journal, const char *key);

/* Write one line and wait until it is on the disk. Line ends in `detail` become spaces. */
rmcp_status journal_step(struct journal *journal, enum journal_state state, const char *step,
                         const char *detail);
rmcp_status journal_note(struct journal *journal, const char *key, const char *value);

#endif
