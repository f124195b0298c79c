/* sim.h: what the parts of rmcp sim share. */
#ifndef RMCP_CLI_SIM_H
#define RMCP_CLI_SIM_H

#include "command/cli.h"
#include "sim/runner/runner.h"

/* The options of a simulated kernel as they were written. */
struct sim_cli {
    const char *kernel; /* file with the code object */
    const char *grid, *block, *checks, *act_out;
    int chip; /* enum isa_chip */
    uint64_t threads, wave, lds, limit, most_reports;
    bool json, stats, trace;
    bool timing, ranges;        /* model the time; by all readings of the sources          */
    uint64_t sample, mhz;       /* instructions that are replayed; clock of the engine     */
    bool sample_only;           /* what is not sampled is not executed either              */
    const char *card, *picture; /* card that is modelled; file of the drawing              */
};

/* Run one kernel: words[0] is its name, the others are its arguments. Returns an exit status. */
int sim_kernel(const struct sim_cli *cli, int n_words, char **words);

/* ---- sim_object.c ---- */

/* The code object in a file that has the kernel, that for the chip (enum isa_chip) if there
 * is one. The caller frees the bytes. Returns 0, or an exit status after a complaint. */
int sim_object_read(const char *path, const char *kernel, int chip, unsigned char **bytes,
                    size_t *n_bytes);

/* ---- sim_args.c: arguments of a kernel ---- */

struct sim_argument {
    const char *text;
    unsigned char bytes[64]; /* value, or the GPU address of a buffer */
    size_t n_bytes;
    void *host; /* of a buffer */
    size_t n_host;
    uint32_t local_bytes; /* of a pointer to local memory, else 0 */
    const char *to_file;  /* where a buffer goes when the kernel has run */
};

/* Read "i32:5", "buf:4096=0" and their like; makes the buffers. Returns 0 or an exit status. */
int sim_argument_read(struct sim_runner *runner, const char *text, struct sim_argument *out);
/* Whether the files of buffers can be written, each by one of them: better known before a long run
 * than after it. Returns 0 or an exit status. */
int sim_arguments_try(const struct sim_argument *arguments, int n);
/* Write the buffers that have a file. Returns 0 or an exit status. */
int sim_argument_save(const struct sim_argument *argument);
/* Lay the arguments out as the kernel's metadata says, or one after the other by their alignment;
 * sets the number of their bytes and adds local memory to `launch`. Returns 0 or an exit status. */
int sim_arguments_place(const struct codeobj_kernel *kernel, const struct sim_argument *arguments,
                        int n, unsigned char *segment, size_t room, struct sim_launch *launch);

/* ---- sim_print.c ---- */
/* `function` is where in another function of the kernel it happened, or "". */
void sim_print_report(const struct sim_report *report, const char *line, const char *function);
void sim_print_stats(const struct sim_stats *stats, double seconds);
cJSON *sim_report_json(const struct sim_report *report, const char *line, const char *function);
cJSON *sim_result_json(const struct sim_result *result, double seconds);
/* Read "x,y,z"; missing ones are 1. */
bool sim_read_size(const char *text, uint32_t size[3]);
/* Read a list of checks: "all", "none", names, and names with '-' before them. */
bool sim_read_checks(const char *text, uint32_t *checks);
/* What to act out, from RULES[:p=CHANCE][:seed=NUMBER], where RULES are "all", "data" (all but the
 * hang), "none" or names of rules. Sets act_out* of the options; 0 or an exit status. */
int sim_read_act_out(const char *text, struct sim_options *options);
/* One line for each rule of a set: how often it was acted out. */
void sim_print_acted_out(FILE *to, const char *before, uint32_t rules, const uint64_t *times);
extern const char *const sim_act_out_default[];
#define SIM_ACT_OUT_VALUE "RULES[:p=P][:seed=N]"
#define SIM_ACT_OUT_HELP                                                                           \
    "silicon-bug patterns that have their effect: data (when\n"                                    \
    "                         nothing is given), all (with the hang), or rules; with chance P,\n"  \
    "                         as the seed N draws it"

#endif
