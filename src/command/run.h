/* run.h: what the files of rmcp run share. */
#ifndef RMCP_CLI_RUN_H
#define RMCP_CLI_RUN_H

#include "command/cli.h"
#include "dropin/install/dropin.h"

struct run_request {
    bool print, json, require, force;
    const char *python, *install, *restore;
    char **command;
};

/* What is done for a command. */
struct run_plan {
    struct dropin_found found;
    bool replaces;                  /* something is preloaded, or ours is there already          */
    char preload[2 * PATH_MAX + 2]; /* our files, separated by colons; "": nothing               */
    char original[PATH_MAX];        /* for RMCP_MIOPEN_ORIGINAL, or ""                           */
    char library[PATH_MAX];         /* for RMCP_LIBRARY, where the copy would not find it; or "" */
    char line[1024];                /* in one line */
};

/* run_plan.c: decide. Returns 0 or an exit status, with a complaint. */
int run_plan_make(const struct run_request *request, struct run_plan *plan);

/* run_install.c: --install-into and --restore. */
int run_install(const struct run_request *request);

#endif
