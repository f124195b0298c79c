/* cli.h: what the subcommands of rmcp share. */
#ifndef RMCP_CLI_H
#define RMCP_CLI_H

#include "engine/core/plan.h"
#include "engine/ops/conv/conv.h"

#include <cjson/cJSON.h>
#include <stdio.h>

/* Exit status of every subcommand. */
enum { CLI_OK = 0, CLI_FINDINGS = 1, CLI_USAGE = 2, CLI_INTERNAL = 3 };

enum cli_kind { CLI_FLAG, CLI_TEXT, CLI_OPTIONAL, CLI_NUMBER, CLI_CHOICE };

/* One option: --name sets *(bool *); --name VALUE sets *(const char **), *(uint64_t *), or *(int *)
 * to the index of VALUE among the choices. The VALUE of CLI_OPTIONAL, a text, may be missing when
 * the next word begins with '-': it is choices[0] then. */
struct cli_option {
    const char *name; /* NULL ends the table */
    enum cli_kind kind;
    void *target;
    const char *value, *help;   /* without help: for ourselves, not listed */
    const char *const *choices; /* of CLI_CHOICE and CLI_OPTIONAL; ends with NULL */
};

struct cli_usage {
    const char *command;   /* "verify"                               */
    const char *arguments; /* "[CASE…]", "" when it takes none       */
    const char *about;     /* what it does, a few lines              */
    const char *example;   /* command lines, one per line            */
    const struct cli_option *options;
};

/* Read the options; what is left stands in argv[0 … *n_arguments - 1]. Returns false when the
 * command is over (--help, or wrong usage), with its exit status in *status. */
bool cli_parse(const struct cli_usage *usage, int argc, char **argv, int *n_arguments, int *status);

/* Whether an option of the last command line that was read was given there. */
bool cli_given(const struct cli_usage *usage, const char *name);

/* Complain about the first of `names` (separated by blanks) that was given, with `why` it has no
 * place there: "--step is only for --first-owner". Returns 0 or an exit status. */
int cli_refuse(const struct cli_usage *usage, const char *names, const char *why);

/* One line "rmcp COMMAND: …" on stderr, control characters made '?'; returns CLI_USAGE. `command`
 * may be NULL. */
#if defined(__GNUC__)
__attribute__((format(printf, 2, 3)))
#endif
int cli_complain(const char *command, const char *format, ...);

/* The last error of the library as such a line; returns the fitting exit status. */
int cli_failed(const char *command, rmcp_status status);

/* Complain about an algorithm of a name that there is not; NULL is fine. Returns 0 or an exit
 * status. */
int cli_check_algorithm(const char *command, const char *name);

/* "direct", and "batchnorm.direct" of an operation whose case strings have its name. */
const char *cli_algorithm(const struct rmcp_operation *operation, const struct rmcp_algo *algo,
                          char text[static 64]);

/* Complain about an option of a number that was given as 0, where that only stands for its default.
 * Returns 0 or an exit status. */
int cli_refuse_zero(const struct cli_usage *usage, const char *name, uint64_t value);

/* Open a device for a command; NULL spec means auto, 0 threads the default; other numbers are for
 * the CPU device alone. Returns 0 or an exit status. */
int cli_open(const char *command, const char *spec, uint64_t threads, rmcp_device **out);

/* Print a JSON object with its schema, e.g. "rmcp.verify/1", and free it. */
int cli_print_json(cJSON *object, const char *schema);

/* A progress line on stderr, only when that is a terminal. `total` 0 removes it. */
void cli_progress(size_t done, size_t total, const char *what);

/* ---- terminal.c ---- */

/* Whether what is written to a descriptor may have colours: a terminal that is not dumb, and no
 * NO_COLOR. And whether lines may be written over. */
bool cli_takes_colours(int descriptor);
bool cli_takes_motion(int descriptor);
/* Columns: COLUMNS, else the terminal's; 0 where neither says. */
int cli_width(int descriptor);
/* Text on stdout after `indent` blanks and a label, in lines of at most `width` columns where words
 * allow it, the further ones below the first word. */
void cli_print_wrapped(int width, int indent, const char *label, const char *text);
/* The same where column `hang` is reached already. */
void cli_print_words(int width, int hang, const char *text);
/* Text with its middle left out when it is longer than `width` columns (0: never), control
 * characters made
 * '?'. */
void cli_print_shortened(FILE *out, const char *text, int width);

/* Words that end with NULL, with commas and before the last one `last`: "a, b and c". */
const char *cli_join(const char *const *words, const char *last, char *text, size_t size);

/* "1.5 GiB" */
const char *cli_bytes(uint64_t bytes, char text[static 32]);
/* "1.234 ms" */
const char *cli_seconds(double seconds, char text[static 32]);

/* Names of enum values as case strings write them; each list ends with NULL. */
extern const char *const cli_passes[], *const cli_layouts[], *const cli_efforts[];

/* A problem of any operation to run, with where it comes from. */
struct cli_case {
    const struct rmcp_operation *operation;
    struct rmcp_any_problem problem;
    unsigned count; /* how often a network has it; 1 for others */
    char label[48]; /* layer name, or "" */
};
struct cli_cases {
    struct cli_case *list;
    size_t n, room;
};
/* Append a case; RMCP_E_NOMEM when there is no room for it. */
rmcp_status cli_case_add(struct cli_cases *cases, const struct cli_case *one);
/* Read case strings, one per argument; a case for each pass that one leaves open. Returns 0 or an
 * exit status. */
int cli_cases_read(const char *command, struct cli_cases *cases, int n, char **texts);

/* A line of MIOpen's MIOPEN_ENABLE_LOGGING_CMD, as case strings: one for each pass that it has. */
enum { CLI_DRIVER_CASES = 4 };
struct cli_driver_cases {
    size_t n;
    char text[CLI_DRIVER_CASES][RMCP_CASE_MAX];
};
bool cli_is_driver_line(const char *text);
rmcp_status cli_driver_line(const char *text, struct cli_driver_cases *out);
/* There is no GPU code in a file or folder, as far as it was looked into: a line that says so. */
void cli_complain_no_code(const char *command, const char *path);

/* Fill from the lists kept in data/: a verification suite ("quick", "full"), or the layers of a
 * network. RMCP_E_ARG when there is none of that name. */
rmcp_status cli_cases_suite(struct cli_cases *cases, const char *suite);
struct cli_network {
    const char *name;
    int64_t batch;          /* images; 0: its own                 */
    int type, layout, pass; /* -1: f32, nchw; all of them         */
};
rmcp_status cli_cases_network(struct cli_cases *cases, const struct cli_network *network);
void cli_cases_deinit(struct cli_cases *cases);
/* Networks and DeepBench sets that cli_cases_network knows, separated by spaces. */
const char *cli_networks(void);

/* rmcp verify --first-owner. */
struct cli_first_owner {
    const char *device, *log,
        *step;        /* NULL: the default; step: only this one, for the child process */
    const char *skip; /* stages to leave out, separated by commas */
    bool yes;
};
int cli_first_owner(const struct cli_first_owner *options);

int cli_check(int argc, char **argv);
int cli_devices(int argc, char **argv);
int cli_verify(int argc, char **argv);
int cli_bench(int argc, char **argv);
int cli_plan(int argc, char **argv);
int cli_audit(int argc, char **argv);
int cli_doctor(int argc, char **argv);
int cli_explain(int argc, char **argv);
int cli_recipe(int argc, char **argv);
int cli_repair(int argc, char **argv);
int cli_run(int argc, char **argv);
int cli_sim(int argc, char **argv);
int cli_version(int argc, char **argv);

#endif
