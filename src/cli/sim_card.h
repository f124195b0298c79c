/* sim_card.h: what the parts of rmcp sim share that run whole programs. */
#ifndef RMCP_CLI_SIM_CARD_H
#define RMCP_CLI_SIM_CARD_H

#include "cli/cli.h"
#include "sim/cards/cards.h"

struct sim_request {
    const char *gpu, *override, *trace, *checks, *plant, *write_sysfs, *act_out;
    uint64_t threads, limit;
    bool stats, allow_reports;
    char **command; /* ends with NULL */
};

/* rmcp sim without --kernel. */
int cli_sim_card(int argc, char **argv);

/* Run the command on the machine; returns its exit status, or CLI_FINDINGS when all went well but
 * for reports. */
int sim_program_run(const struct sim_machine *machine, const struct sim_request *request);

/* Print a table of the statistics that the processes left in a file, if there is one. */
void sim_table_print(const char *path);

#endif
