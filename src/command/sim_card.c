/* sim_card.c: rmcp sim -- COMMAND: options, and which machine to simulate. */
#include "command/sim_card.h"
#include "command/sim.h"
#include "help/doctor/machine.h"
#include "sim/timing/timing.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_DESCRIPTION = 1 << 16 };

/* The text of a description file; NULL with a complaint. The caller frees it. */
static char *read_description(const char *path)
{
    FILE *file = fopen(path, "r");
    char *text = file ? malloc(MAX_DESCRIPTION) : NULL;
    if (!text) {
        cli_complain("sim", "cannot read the card '%.300s': %s", path, strerror(errno));
        if (file) fclose(file);
        return NULL;
    }
    const size_t n = fread(text, 1, MAX_DESCRIPTION - 1, file);
    const bool bad = ferror(file) || n == MAX_DESCRIPTION - 1;
    fclose(file);
    text[n] = 0;
    if (!bad) return text;
    cli_complain("sim", "'%.300s' is not a description of a card", path);
    free(text);
    return NULL;
}

/* `gpu` is a name that comes with the command, or a file when it has a slash or a dot in it. */
static int read_machine(const char *gpu, struct sim_machine *machine)
{
    char error[SIM_ERROR_MAX];
    char *own = NULL;
    const char *text = sim_card_builtin(gpu);
    if (!text && strpbrk(gpu, "/.")) {
        text = own = read_description(gpu);
        if (!own) return CLI_USAGE;
    }
    if (!text)
        return cli_complain("sim", "no card '%.60s'; known are %s, or a file", gpu,
                            sim_card_builtin_names());
    const bool good = sim_machine_parse(text, sim_card_builtin, machine, error);
    free(own);
    return good ? CLI_OK : cli_complain("sim", "card '%.200s': %s", gpu, error);
}

/* What the program would otherwise get as it is, and nobody read. Returns 0 or an exit status. */
static int check_values(const struct cli_usage *usage, const struct sim_request *r)
{
    static const char *const plants[] = { "hang:", "fault:", "illegal:" };
    bool known = !r->plant;
    uint32_t number;
    for (size_t i = 0; i < sizeof plants / sizeof *plants && !known; i++)
        known = !strncmp(r->plant, plants[i], strlen(plants[i])) && r->plant[strlen(plants[i])];
    if (!known)
        return cli_complain(
            "sim", "--plant is '%.60s'; hang:KERNEL, fault:KERNEL or illegal:KERNEL", r->plant);
    if (r->checks && !sim_read_checks(r->checks, &number))
        return cli_complain("sim", "--checks is '%.60s'; rmcp sim --help lists them", r->checks);
    if (r->override && !doctor_override_parse(r->override, &number))
        return cli_complain("sim", "--override is '%.60s'; a version as ROCm reads it: 10.3.0",
                            r->override);
    if (r->threads > 1024 || (!r->threads && cli_given(usage, "threads")))
        return cli_complain("sim", "--threads is %" PRIu64 "; from 1 to 1024", r->threads);
    return cli_refuse_zero(usage, "limit", r->limit);
}

/* A card whose code nothing here executes shows up, and then no kernel runs on it. */
static int check_chips(const struct sim_machine *machine)
{
    for (unsigned i = 0; i < machine->n; i++) {
        unsigned k = 0;
        char known[128];
        while (isa_chip_names[k] && strcmp(isa_chip_names[k], machine->cards[i].chip)) k++;
        if (!isa_chip_names[k])
            return cli_complain("sim",
                                "card %.60s: code for %.20s cannot be executed; for %s it can",
                                machine->cards[i].card, machine->cards[i].chip,
                                cli_join(isa_chip_names, " and ", known, sizeof known));
    }
    return CLI_OK;
}

static int check_timing(const struct cli_usage *usage, const struct sim_request *r,
                        const struct sim_machine *machine)
{
    char error[SIM_ERROR_MAX];
    struct timing_card card;
    const char *given = cli_given(usage, "mhz")           ? "mhz"
                        : cli_given(usage, "sample")      ? "sample"
                        : cli_given(usage, "sample-only") ? "sample-only"
                                                          : NULL;
    if (!r->timing)
        return given ? cli_complain("sim", "--%s says how --timing is to be done; give that too",
                                    given)
                     : CLI_OK;
    if (strcmp(r->act_out, "none"))
        return cli_complain("sim", "--timing is of a card that does right: not with --act-out");
    if (r->mhz > 10000) return cli_complain("sim", "--mhz is %" PRIu64 "; at most 10000", r->mhz);
    for (unsigned i = 0; i < machine->n; i++)
        if (!timing_card_of(&machine->cards[i], (double)r->mhz, &card, error))
            return cli_complain("sim", "%s", error);
    const int status = cli_refuse_zero(usage, "sample", r->sample);
    return status ? status : cli_refuse_zero(usage, "mhz", r->mhz);
}

int cli_sim_card(int argc, char **argv)
{
    struct sim_request r = { .gpu = "rx5600xt", .act_out = "none" };
    const struct cli_option options[] = {
        { "gpu", CLI_TEXT, &r.gpu, "NAME", "card or machine: a name or a file (rx5600xt)", NULL },
        { "override", CLI_TEXT, &r.override, "V",
          "HSA_OVERRIDE_GFX_VERSION for the program: 10.3.0", NULL },
        { "checks", CLI_TEXT, &r.checks, "LIST",
          "all, none, or some of waitcnt,patterns,alignment,\n"
          "                         registers,lds,barrier,unaligned; -NAME leaves one out (all)",
          NULL },
        { "threads", CLI_NUMBER, &r.threads, "N", "threads for each kernel (2)", NULL },
        { "limit", CLI_NUMBER, &r.limit, "N",
          "instructions of a wave after which it counts as hung", NULL },
        { "trace", CLI_TEXT, &r.trace, "KERNEL", "print each instruction of kernels of that name",
          NULL },
        { "plant", CLI_TEXT, &r.plant, "WHAT:KERNEL",
          "let a kernel end badly: hang, fault or illegal", NULL },
        { "act-out", CLI_OPTIONAL, &r.act_out, SIM_ACT_OUT_VALUE, SIM_ACT_OUT_HELP,
          sim_act_out_default },
        { "timing", CLI_FLAG, &r.timing, NULL,
          "kernels take the time that is modelled for an RDNA1 card,\n"
          "                         as the program's events see it; a table of them",
          NULL },
        { "mhz", CLI_NUMBER, &r.mhz, "N", "clock of --timing (the highest of the card)", NULL },
        { "sample", CLI_NUMBER, &r.sample, "N",
          "instructions of a kernel that --timing replays (32000000)", NULL },
        { "sample-only", CLI_FLAG, &r.sample_only, NULL,
          "execute only workgroups that --timing replays: what the\n"
          "                         program computes is wrong where kernels are long",
          NULL },
        { "launches", CLI_TEXT, &r.launches, "FILE",
          "append a line for each kernel that is launched: the chip\n"
          "                         of its code, a digest of it, its name",
          NULL },
        { "stats", CLI_FLAG, &r.stats, NULL, "a table of the kernels that ran", NULL },
        { "allow-reports", CLI_FLAG, &r.allow_reports, NULL,
          "reports do not change the exit status", NULL },
        { "json", CLI_FLAG, &r.json, NULL,
          "what happened as JSON on stdout; the program's output\n"
          "                         goes to stderr",
          NULL },
        { "write-sysfs", CLI_TEXT, &r.write_sysfs, "DIR", "only write the machine's files into DIR",
          NULL },
        { 0 },
    };
    const struct cli_usage usage = {
        "sim",
        "-- COMMAND…",
        "Runs a program on a simulated card, under the ROCm runtime that it uses anyway. The\n"
        "machine code of its kernels is executed and checked on the processor. Ends with one line\n"
        "on stderr. Exit status: that of the program; 1 when it is 0 but there were reports.\n"
        "A single kernel runs without ROCm: rmcp sim --kernel FILE --help tells how.",
        "  rmcp sim -- rocminfo\n"
        "  rmcp sim --gpu rx5500xt --stats -- ./my_hip_program",
        options,
    };
    int n = 0, status = CLI_OK;
    struct sim_machine machine;
    if (!cli_parse(&usage, argc, argv, &n, &status)) return status;
    if ((status = check_values(&usage, &r)) != CLI_OK) return status;
    if ((status = read_machine(r.gpu, &machine)) != CLI_OK) return status;
    if (r.write_sysfs) {
        char error[SIM_ERROR_MAX];
        if (n) return cli_complain("sim", "--write-sysfs takes no command");
        status = cli_refuse(&usage,
                            "override checks threads limit trace plant act-out timing mhz sample "
                            "sample-only launches stats allow-reports json",
                            "has no meaning for --write-sysfs");
        if (status) return status;
        return sim_machine_write(&machine, r.write_sysfs, error) ? CLI_OK
                                                                 : cli_complain("sim", "%s", error);
    }
    if (!n) return cli_complain("sim", "which program? rmcp sim -- COMMAND");
    if ((status = check_chips(&machine)) || (status = check_timing(&usage, &r, &machine)))
        return status;
    argv[n] = NULL; /* there was a "--" or this is the end */
    r.command = argv;
    return sim_program_run(&machine, &r);
}
