/* check.h: what the files of rmcp check share. */
#ifndef RMCP_CLI_CHECK_H
#define RMCP_CLI_CHECK_H

#include "command/cli.h"

#include <limits.h>

struct check_request {
    const char *python, *device; /* NULL: find one; auto */
    uint64_t limit;              /* seconds */
    bool miopen, engine, json;
};

/* Something in the way, or wrong, as JSON: {"id", "what", "cure"} appended to the report's
 * "in_the_way". */
#if defined(__GNUC__)
__attribute__((format(printf, 4, 5)))
#endif
void check_add(cJSON *report, const char *id, const char *cure, const char *what, ...);

/* A line of the report's "notes". */
#if defined(__GNUC__)
__attribute__((format(printf, 2, 3)))
#endif
void check_note(cJSON *report, const char *format, ...);

/* check_engine.c: the convolutions of the suite "check" in RMCP itself, each judged against the
 * reference, in a process of its own. Fills "engine", "device", "convolutions", "verdict" and
 * "says". Returns 0 or an exit status, with a complaint. */
int check_engine(const struct check_request *request, cJSON *report);

/* check_python.c: the Python to ask: that of --python, else the first that has PyTorch. False:
 * none; the report then has the reason. */
bool check_python_find(const struct check_request *request, char path[static PATH_MAX],
                       cJSON *report);
/* Have it run python -m rmcp check; returns its report, or one that says how it ended. */
cJSON *check_python_run(const struct check_request *request, const char *python);

/* An empty report of the schema rmcp.check/1. */
cJSON *check_report(void);

#endif
