/* sim.c: rmcp sim: GPU code on a simulated card. */
#include "command/sim.h"
#include "command/sim_card.h"

#include <inttypes.h>
#include <string.h>

/* Whether --kernel stands before the command of a program. */
static bool runs_kernel(int argc, char **argv)
{
    for (int i = 0; i < argc && strcmp(argv[i], "--"); i++)
        if (!strcmp(argv[i], "--kernel") || !strncmp(argv[i], "--kernel=", 9)) return true;
    return false;
}

int cli_sim(int argc, char **argv)
{
    if (!runs_kernel(argc, argv)) return cli_sim_card(argc, argv);
    struct sim_cli cli = {
        .grid = "1", .checks = "all", .act_out = "none", .most_reports = 20, .card = "rx5600xt"
    };
    bool arguments = false;
    const struct cli_option options[] = {
        { "kernel", CLI_TEXT, &cli.kernel, "FILE",
          "run a kernel of this code object, bundle, library or program", NULL },
        { "grid", CLI_TEXT, &cli.grid, "X[,Y,Z]", "work-items in all (default 1)", NULL },
        { "block", CLI_TEXT, &cli.block, "X[,Y,Z]",
          "work-items of a workgroup (default: as the kernel requires, else 1)", NULL },
        { "args", CLI_FLAG, &arguments, NULL, "the kernel's arguments follow, as they may anywhere",
          NULL },
        { "chip", CLI_CHOICE, &cli.chip, "CHIP", "gfx1010 (default), 1011, 1012, 1013 or gfx1030",
          isa_chip_names },
        { "wave", CLI_NUMBER, &cli.wave, "N", "refuse kernels whose waves are not 32 or 64 wide",
          NULL },
        { "lds", CLI_NUMBER, &cli.lds, "BYTES", "dynamic LDS of a workgroup", NULL },
        { "checks", CLI_TEXT, &cli.checks, "LIST",
          "all (default), none, or names: waitcnt, "
          "patterns, alignment, registers, lds, barrier, unaligned; -NAME leaves one out",
          NULL },
        { "act-out", CLI_OPTIONAL, &cli.act_out, SIM_ACT_OUT_VALUE, SIM_ACT_OUT_HELP,
          sim_act_out_default },
        { "limit", CLI_NUMBER, &cli.limit, "N", "most instructions of a wave (default 2^33)",
          NULL },
        { "reports", CLI_NUMBER, &cli.most_reports, "N", "print at most N reports (default 20)",
          NULL },
        { "threads", CLI_NUMBER, &cli.threads, "N", "threads (default: one for each core)", NULL },
        { "stats", CLI_FLAG, &cli.stats, NULL, "print what was executed", NULL },
        { "trace", CLI_FLAG, &cli.trace, NULL, "print every instruction, on one thread", NULL },
        { "timing", CLI_FLAG, &cli.timing, NULL, "model the time that an RDNA1 card takes", NULL },
        { "card", CLI_TEXT, &cli.card, "NAME", "card of --timing (default rx5600xt)", NULL },
        { "mhz", CLI_NUMBER, &cli.mhz, "N", "its clock (default: the highest of the card)", NULL },
        { "ranges", CLI_FLAG, &cli.ranges, NULL,
          "also by the fast and the slow reading of the model's sources", NULL },
        { "sample", CLI_NUMBER, &cli.sample, "N",
          "instructions that are replayed (default 32000000)", NULL },
        { "sample-only", CLI_FLAG, &cli.sample_only, NULL,
          "execute only workgroups that are replayed: results are not whole", NULL },
        { "picture", CLI_TEXT, &cli.picture, "FILE",
          "draw the waves of one workgroup over time, as SVG", NULL },
        { "json", CLI_FLAG, &cli.json, NULL, "print JSON", NULL },
        { NULL, CLI_FLAG, NULL, NULL, NULL, NULL },
    };
    const struct cli_usage usage = {
        .command = "sim",
        .arguments = "NAME [ARGUMENT…]",
        .about =
            "Executes the machine code of a kernel as the chip would, on the CPU, and reports "
            "what\n"
            "silicon punishes: registers used before their load was waited for, accesses outside "
            "of\n"
            "buffers, LDS and scratch, instructions that the chip lacks, values never written,\n"
            "barriers that not all waves reach, endless loops, and the patterns of gfx101x "
            "silicon\n"
            "bugs. Everything is simulated: no card and no ROCm are used.\n"
            "Arguments: i32:N u32:N i64:N u64:N i16:N u16:N i8:N u8:N f16:X f32:X f64:X\n"
            "  hex:BYTES                any value, in the order of memory: hex:0000803f is 1.0f\n"
            "  buf:BYTES[=BYTE][@FILE]  a buffer, filled from a file, the rest with a byte (0)\n"
            "  in:FILE                  a buffer with the bytes of a file\n"
            "  out:BYTES[=BYTE]@FILE    a buffer that is written to a file at the end\n"
            "  inout:FILE@FILE          a buffer read from one file and written to another\n"
            "  local:BYTES              local memory that the kernel takes as an argument\n"
            "Times of --timing are modelled, from what the kernel executed and published figures "
            "of\n"
            "the chip (data/cards/rdna1.timing); docs/performance.md says how good the model is.\n"
            "Exit status 0: the kernel completed and nothing was reported.",
        .example =
            "  rmcp sim --kernel vadd.co vadd --grid 1024 --block 256 --args in:a.bin in:b.bin "
            "out:4096@c.bin i32:1024\n"
            "  rmcp sim --kernel conv.co conv --chip gfx1030 --stats buf:4096 buf:4096",
        .options = options,
    };
    int n_words, exit_status;
    if (!cli_parse(&usage, argc, argv, &n_words, &exit_status)) return exit_status;
    if (!cli.kernel)
        return cli_complain("sim", "no code object given; rmcp sim --help has examples");
    if (!n_words) return cli_complain("sim", "no kernel named; rmcp sim --help has examples");
    if (cli_given(&usage, "wave") && cli.wave != 32 && cli.wave != 64)
        return cli_complain("sim", "--wave is %" PRIu64 "; waves are 32 or 64 wide", cli.wave);
    if (cli.threads > 1024 || (!cli.threads && cli_given(&usage, "threads")))
        return cli_complain("sim", "--threads is %" PRIu64 "; from 1 to 1024", cli.threads);
    if (cli.trace && cli.threads > 1)
        return cli_complain("sim", "--trace runs on one thread, --threads is %" PRIu64,
                            cli.threads);
    if ((exit_status = cli_refuse_zero(&usage, "limit", cli.limit))) return exit_status;
    if (cli.lds > 65536) return cli_complain("sim", "--lds is %" PRIu64 "; at most 65536", cli.lds);
    static const char *const timed[] = {
        "card", "mhz", "ranges", "sample", "sample-only", "picture"
    };
    for (size_t i = 0; i < sizeof timed / sizeof *timed && !cli.timing; i++)
        if (cli_given(&usage, timed[i]))
            return cli_complain("sim", "--%s says how --timing is to be done; give that too",
                                timed[i]);
    if (cli.timing && strcmp(cli.act_out, "none"))
        return cli_complain("sim", "--timing is of a card that does right: not with --act-out");
    if ((exit_status = cli_refuse_zero(&usage, "sample", cli.sample))) return exit_status;
    if ((exit_status = cli_refuse_zero(&usage, "mhz", cli.mhz))) return exit_status;
    return sim_kernel(&cli, n_words, argv);
}
