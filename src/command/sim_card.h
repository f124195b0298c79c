/* sim_card.h: what the parts of rmcp sim share that run whole programs. */
#ifndef RMCP_CLI_SIM_CARD_H
#define RMCP_CLI_SIM_CARD_H

#include "command/cli.h"
#include "command/sim.h"
#include "sim/cards/cards.h"

struct sim_request {
    const char *gpu, *override, *trace, *checks, *plant, *write_sysfs, *act_out, *launches;
    uint64_t threads, limit, sample, mhz;
    bool timing, sample_only, stats, allow_reports, json;
    char **command; /* ends with NULL */
};

/* rmcp sim without --kernel. */
int cli_sim_card(int argc, char **argv);

/* Run the command on the machine; returns its exit status, or CLI_FINDINGS when all went well but
 * for reports. */
int sim_program_run(const struct sim_machine *machine, const struct sim_request *request);

/* Print a table of the statistics that the processes left in a file, if there is one; or as JSON,
 * an array. */
void sim_table_print(const char *path);
cJSON *sim_table_json(const char *path);

/* The same of the modelled times; the table is in sim_times.c. */
void sim_times_print(const char *path);
cJSON *sim_times_json(const char *path);

/* Tell what happened in the folder `root`: on stderr, or as JSON on stdout. Reports turn a status
 * of 0 into CLI_FINDINGS. Returns 0, or the exit status of a failure to tell. */
int sim_summary_tell(const struct sim_machine *machine, const struct sim_request *request,
                     const struct sim_options *act, const char *root, int *status);

#endif
