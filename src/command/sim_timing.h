/* sim_timing.h: the modelled time of kernels: what was asked for, and how it is shown. */
#ifndef RMCP_CLI_SIM_TIMING_H
#define RMCP_CLI_SIM_TIMING_H

#include "command/cli.h"
#include "sim/timing/timing.h"

/* The card of a name, at a clock (0: its highest), ready to be modelled. Returns 0 or an exit
 * status. */
int sim_timing_card(const char *name, uint64_t mhz, struct timing_card *out);

/* The table of one kernel; and the same as JSON. */
void sim_timing_print(const struct timing_result *result, const struct timing_card *card,
                      const char *card_name, FILE *to);
cJSON *sim_timing_json(const struct timing_result *result, const struct timing_card *card,
                       const char *card_name);
/* Write the picture to a file. Returns 0 or an exit status. */
int sim_timing_draw(const struct timing_picture *picture, const char *path, const char *kernel,
                    const char *card_name);

#endif
