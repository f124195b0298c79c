/* clean.h: taking private things out of what is recorded. */
#ifndef RMCP_DOCTOR_CLEAN_H
#define RMCP_DOCTOR_CLEAN_H

#include "help/doctor/machine.h"

struct doctor_cleaner {
    const struct doctor_machine *machine;
    char host[256], short_host[256], user[128];
    size_t n_prefixes; /* Python environments at home: shown as /home/user/env1 … */
    struct {
        char from[DOCTOR_PATH], to[40];
    } prefixes[DOCTOR_PYTHONS + 2];
};

void doctor_cleaner_init(struct doctor_cleaner *cleaner, const struct doctor_machine *machine);

/* Cleaned copies, the caller's to free; NULL when memory runs out.
 * In texts: homes, host and user names, MAC addresses, UUIDs, long numbers of serial and unique
 * ids. In paths below a home: environments by number, the rest by the last component only. */
char *doctor_clean_text(const struct doctor_cleaner *cleaner, const char *text);
char *doctor_clean_path(const struct doctor_cleaner *cleaner, const char *path);

#endif
