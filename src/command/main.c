/* main.c: the rmcp command: a table of subcommands. */
#include "command/cli.h"
#include "engine/core/guard.h"
#include "engine/core/plan_cache.h"

#include <string.h>

static const struct {
    const char *name;
    int (*run)(int argc, char **argv);
    const char *summary;
} commands[] = {
    { "check", cli_check, "does this machine's PyTorch use RMCP, and rightly?" },
    { "devices", cli_devices, "list the devices that convolutions can run on" },
    { "verify", cli_verify, "check a device against a double-precision reference" },
    { "bench", cli_bench, "time convolutions: networks, DeepBench, single cases" },
    { "plan", cli_plan, "show which algorithm a case gets, and why" },
    { "audit", cli_audit, "check GPU libraries on disk for an RDNA1 chip" },
    { "doctor", cli_doctor, "examine this machine and recommend how to compute on it" },
    { "explain", cli_explain, "say what a log means, why, and what to do" },
    { "recipe", cli_recipe, "scripts that bring this machine to a working PyTorch" },
    { "repair", cli_repair, "make GPU code of gfx1030 code for gfx1010, with a report" },
    { "run", cli_run, "run a program with RMCP's MIOpen in the place of AMD's" },
    { "sim", cli_sim, "run GPU code on a simulated card, with checks" },
    { "version", cli_version, "show version, drivers and algorithms" },
};
enum { N_COMMANDS = sizeof commands / sizeof *commands };

static void help(FILE *out)
{
    fprintf(out,
            "usage: rmcp COMMAND [options]\n\n"
            "Convolutions, forward and backward, on whichever device is there.\n\ncommands:\n");
    for (size_t i = 0; i < N_COMMANDS; i++)
        fprintf(out, "  %-9s %s\n", commands[i].name, commands[i].summary);
    fprintf(out,
            "\nrmcp help COMMAND, or rmcp COMMAND --help, shows its options and an example.\n"
            "Exit status: 0 all well, 1 findings or failures, 2 wrong usage, 3 internal error.\n");
}

/* A result that never reached its reader is no result (a full disk, say). */
static int finish(const char *command, int status)
{
    if (!fflush(stdout) && !ferror(stdout)) return status;
    cli_complain(command, "cannot write the result");
    return CLI_INTERNAL;
}

/* rmcp help COMMAND is rmcp COMMAND --help. */
static int help_of(const char *name)
{
    char option[] = "--help", *words[] = { option, NULL };
    for (size_t i = 0; i < N_COMMANDS; i++)
        if (!strcmp(name, commands[i].name)) return finish(name, commands[i].run(1, words));
    return cli_complain("help", "no command '%.60s'; rmcp --help lists them", name);
}

int main(int argc, char **argv)
{
    if (argc < 2) {
        help(stderr);
        return CLI_USAGE;
    }
    const char *name = argv[1];
    if (!strcmp(name, "--help") || !strcmp(name, "-h") || !strcmp(name, "help")) {
        if (argc > 3)
            return cli_complain("help", "'%.60s' is too much: one command at a time", argv[3]);
        if (argc == 3) return help_of(argv[2]);
        help(stdout);
        return finish("help", CLI_OK);
    }
    if (!strcmp(name, "--version")) name = "version";
    for (size_t i = 0; i < N_COMMANDS; i++) {
        if (strcmp(name, commands[i].name)) continue;
        int status = commands[i].run(argc - 2, argv + 2);
        if (*rmcp_plan_cache_remark()) fprintf(stderr, "rmcp: %s\n", rmcp_plan_cache_remark());
        char remark[RMCP_GUARD_REMARK_MAX];
        rmcp_guard_remark(remark);
        if (*remark) fprintf(stderr, "rmcp: %s\n", remark);
        return finish(name, status);
    }
    return cli_complain(NULL, "no command '%.60s'; rmcp --help lists them", name);
}
