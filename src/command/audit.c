/* audit.c: rmcp audit: what GPU libraries on disk would mean to a chip. */
#include "command/audit.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <unistd.h>

void audit_complain(void *context, const char *path, const char *message)
{
    ++*(uint64_t *)context;
    cli_progress(0, 0, NULL);
    cli_complain("audit", "%.400s: %.400s", path, message);
}

static void progress(void *context, uint64_t done, uint64_t found, const char *path)
{
    const size_t length = strlen(path);
    (void)context;
    cli_progress((size_t)done, (size_t)found, length > 48 ? path + length - 48 : path);
}

/* Returns 0 or an exit status. */
static int read_target(const char *text, unsigned *chip)
{
    if (!strcmp(text, "auto")) {
        rmcp_status status = audit_chip_detect(chip);
        return status ? cli_failed("audit", status) : CLI_OK;
    }
    int found = audit_chip_parse(text);
    if (found < 0) {
        char known[128];
        return cli_complain("audit", "--target is '%.40s'; known are %s and auto", text,
                            cli_join(isa_chip_names, ", ", known, sizeof known));
    }
    *chip = (unsigned)found;
    return CLI_OK;
}

/* Names the files that have no GPU code; false when there was one. */
static bool all_have_code(const struct audit_report *report, int n_paths, char **paths)
{
    bool all = true;
    for (int i = 0; i < n_paths; i++) {
        bool found = false;
        const size_t length = strlen(paths[i]);
        for (size_t j = 0; j < report->n_libraries && !found; j++) {
            /* It, what is below it, or a member of it: not its namesake with more behind. */
            const char *name = report->libraries[j].name;
            found =
                !strncmp(name, paths[i], length) && (!name[length] || strchr("/:", name[length]) ||
                                                     (length && paths[i][length - 1] == '/'));
        }
        if (!found) cli_complain_no_code("audit", paths[i]);
        all = all && found;
    }
    return all;
}

static bool has_findings(const struct audit_report *report)
{
    for (size_t i = 0; i < report->n_libraries; i++)
        if (!audit_has_native(&report->libraries[i])) return true;
    for (size_t i = 0; i < report->n_totals; i++)
        if (report->totals[i].lacking.instructions || report->totals[i].any.instructions)
            return true;
    return false;
}

/* How to print. */
struct audit_form {
    bool json, csv, full;
};

static int audit_all(struct audit_options *options, int n_paths, char **paths,
                     const struct audit_form *form)
{
    struct audit_report *report;
    uint64_t n_troubles = 0;
    options->trouble = audit_complain;
    options->progress = progress;
    options->context = &n_troubles;
    rmcp_status status = audit_paths((const char *const *)paths, (size_t)n_paths, options, &report);
    cli_progress(0, 0, NULL);
    if (status) return cli_failed("audit", status);

    bool complete = all_have_code(report, n_paths, paths) && !n_troubles, any = false;
    int exit_status = CLI_OK;
    for (size_t i = 0; i < report->n_libraries; i++) any |= audit_has_code(&report->libraries[i]);
    if (form->json) /* programs read it: also when there is nothing to tell */
        exit_status = audit_print_json(report);
    else if (form->csv)
        audit_print_csv(report);
    else if (any)
        audit_print_text(report, form->full);
    if (!exit_status && (!complete || has_findings(report))) exit_status = CLI_FINDINGS;
    audit_report_destroy(report);
    return exit_status;
}

int cli_audit(int argc, char **argv)
{
    const char *target = "gfx1010", *kernel = NULL;
    uint64_t threads = 0, n_worst = 10;
    struct audit_form form = { .json = false };
    const struct cli_option options[] = {
        { "target", CLI_TEXT, &target, "CHIP",
          "gfx1010 (default) and its like, or auto: this machine's", NULL },
        { "kernel", CLI_TEXT, &kernel, "NAME", "print the code of this kernel, findings marked",
          NULL },
        { "worst", CLI_NUMBER, &n_worst, "N", "how many of the worst kernels to name (default 10)",
          NULL },
        { "threads", CLI_NUMBER, &threads, "N", "threads (default: one for each core)", NULL },
        { "full", CLI_FLAG, &form.full, NULL, "names of kernels whole, however long", NULL },
        { "json", CLI_FLAG, &form.json, NULL, "print JSON", NULL },
        { "csv", CLI_FLAG, &form.csv, NULL, "print a line for each library and target", NULL },
        { NULL, CLI_FLAG, NULL, NULL, NULL, NULL },
    };
    const struct cli_usage usage = {
        .command = "audit",
        .arguments = "FILE…",
        .about = "Reads the GPU code in libraries, programs, .hsaco and .co files, wheels, "
                 "MIOpen's .kdb\n"
                 "files and folders of these. Tells whether there is code for the chip; and of "
                 "code for\n"
                 "other gfx10 chips, which HSA_OVERRIDE_GFX_VERSION makes the chip run, which "
                 "kernels use\n"
                 "instructions that it lacks or have a pattern that LLVM keeps out of code for it "
                 "because\n"
                 "of a silicon bug. A pattern is no proof of a failure, and nothing is run.\n"
                 "Exit status 0: every library has code for the chip and nothing was found.",
        .example =
            "  rmcp audit /usr/lib/x86_64-linux-gnu/librocblas.so.4\n"
            "  rmcp audit --target auto --json torch-2.4.0+rocm6.1-cp311-cp311-linux_x86_64.whl\n"
            "  rmcp audit --kernel my_kernel build/kernels.hsaco",
        .options = options,
    };
    int n_paths, exit_status;
    struct audit_options what = { 0 };
    if (!cli_parse(&usage, argc, argv, &n_paths, &exit_status)) return exit_status;
    if (!n_paths) return cli_complain("audit", "no file given; rmcp audit --help has examples");
    if (form.json + form.csv + !!kernel > 1)
        return cli_complain("audit", "--json, --csv and --kernel exclude each other");
    if (kernel &&
        (exit_status = cli_refuse(&usage, "worst threads full", "has no meaning for --kernel")))
        return exit_status;
    if ((form.json || form.csv) &&
        (exit_status = cli_refuse(&usage, "full", "is for text: JSON and CSV are whole")))
        return exit_status;
    if (form.csv && (exit_status = cli_refuse(&usage, "worst", "has no meaning for --csv")))
        return exit_status;
    if ((exit_status = cli_refuse_zero(&usage, "threads", threads))) return exit_status;
    if (threads > 1024)
        return cli_complain("audit", "--threads is %" PRIu64 "; at most 1024", threads);
    if (n_worst > 100000)
        return cli_complain("audit", "--worst is %" PRIu64 "; at most 100000", n_worst);
    if ((exit_status = read_target(target, &what.chip))) return exit_status;
    for (int i = 0; i < n_paths; i++)
        if (access(argv[i], R_OK))
            return cli_complain("audit", "%.400s: %s", argv[i], strerror(errno));
    if (kernel) return audit_print_kernel(kernel, what.chip, n_paths, argv);
    what.threads = (uint32_t)threads;
    what.n_worst = (size_t)n_worst;
    return audit_all(&what, n_paths, argv, &form);
}
