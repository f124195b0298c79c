/* repair.c: rmcp repair: GPU code of gfx1030 made code for gfx1010, and what became of it. */
#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <unistd.h>

#include "cli/cli.h"
#include "repair/repair.h"

enum { MOST_REASONS = 64, MOST_NAMES = 20 };

struct reason {
    const char *text;
    const char *name; /* the first one */
    size_t n;
};

static void progress(void *context, size_t done, size_t total, const char *path)
{
    const size_t length = strlen(path);
    (void)context;
    cli_progress(done, total, length > 48 ? path + length - 48 : path);
}

/* Reasons for which kernels, or else objects and files, are refused. */
static size_t count_reasons(const struct repair_report *report, bool kernels, struct reason *out)
{
    size_t n = 0;
    for (size_t i = 0; i < report->n_refusals; i++) {
        const struct repair_refusal *refusal = &report->refusals[i];
        if (refusal->is_kernel != kernels) continue;
        size_t k = 0;
        while (k < n && strcmp(out[k].text, refusal->reason)) k++;
        if (k == MOST_REASONS) continue;
        if (k == n) out[n++] = (struct reason){ refusal->reason, refusal->name, 0 };
        out[k].n++;
    }
    return n;
}

static void print_refused(const struct repair_report *report, int width)
{
    struct reason reasons[MOST_REASONS];
    size_t n = count_reasons(report, true, reasons);
    if (n) printf("\nkernels that are left out, by reason\n");
    for (size_t i = 0; i < n; i++) {
        printf("  %8zu  %s\n            such as ", reasons[i].n, reasons[i].text);
        cli_print_shortened(stdout, reasons[i].name, width ? width - 20 : 0);
        putchar('\n');
    }
    n = count_reasons(report, false, reasons);
    if (n) printf("\ncode objects and files that stay as they are, by reason\n");
    for (size_t i = 0; i < n; i++) {
        printf("  %8zu  ", reasons[i].n);
        cli_print_shortened(stdout, reasons[i].text, 0);
        printf("\n            such as ");
        cli_print_shortened(stdout, reasons[i].name, width ? width - 20 : 0);
        putchar('\n');
    }
}

static void print_text(const struct repair_report *r, const char *chip, const char *to)
{
    const int width = cli_width(STDOUT_FILENO);
    char before[32], after[32];
    printf("files          %zu: %zu changed, %zu the same, %zu of other chips left out\n",
           r->n_files + r->n_left_out_files, r->n_changed_files, r->n_copied_files,
           r->n_left_out_files);
    printf("code objects   %zu repaired, %zu refused, %zu repaired before, %zu made for %s, %zu "
           "of other chips\n",
           r->n_repaired, r->n_refused_objects, r->n_already, r->n_native, chip, r->n_other);
    printf("kernels        %zu: %zu repaired, %zu refused\n", r->n_kernels,
           r->n_kernels - r->n_refused, r->n_refused);
    printf("instructions   %zu that %s lacks were replaced\n", r->n_lowered, chip);
    printf("code           %s became %s\n", cli_bytes(r->old_bytes, before),
           cli_bytes(r->new_bytes, after));
    printf("\n  %-20s %10s %10s\n", "pattern of a bug", "found", "cures");
    for (unsigned i = 0; i < ISA_N_RULES; i++)
        if (r->n_found[i] || r->n_cures[i])
            printf("  %-20s %10zu %10zu\n", isa_rule_table[i].id, r->n_found[i], r->n_cures[i]);
    if (r->n_unreached)
        printf("  %zu are left in words that no path reaches: data, or dead code\n",
               r->n_unreached);
    if (r->n_wide)
        printf("\n%zu kernels have accesses of 8 bytes and more that may be of LDS and whose "
               "alignment is not\nproven: %zu of them run in CU mode now, where they are safe; "
               "%zu keep WGP mode, for FLAT\naccesses alone\n",
               r->n_wide, r->n_cu_mode, r->n_wide_flat);
    print_refused(r, width);
    if (!to)
        printf("\nNothing was written (--dry-run).\n");
    else if (r->n_changed_files)
        printf("\nWritten: %s. Checked by rules, never on silicon.\n", to);
}

static int print_json(const struct repair_report *r, const char *chip, bool dry_run)
{
    const struct {
        const char *name;
        double value;
    } numbers[] = {
        { "files", (double)r->n_files },
        { "files_changed", (double)r->n_changed_files },
        { "files_the_same", (double)r->n_copied_files },
        { "files_left_out", (double)r->n_left_out_files },
        { "objects_repaired", (double)r->n_repaired },
        { "objects_refused", (double)r->n_refused_objects },
        { "objects_repaired_before", (double)r->n_already },
        { "objects_native", (double)r->n_native },
        { "objects_of_other_chips", (double)r->n_other },
        { "kernels", (double)r->n_kernels },
        { "kernels_refused", (double)r->n_refused },
        { "functions", (double)r->n_functions },
        { "instructions_replaced", (double)r->n_lowered },
        { "patterns_unreached", (double)r->n_unreached },
        { "kernels_wide_lds", (double)r->n_wide },
        { "kernels_cu_mode", (double)r->n_cu_mode },
        { "kernels_wide_flat_in_wgp_mode", (double)r->n_wide_flat },
        { "code_bytes_before", (double)r->old_bytes },
        { "code_bytes_after", (double)r->new_bytes },
    };
    cJSON *object = cJSON_CreateObject();
    cJSON_AddStringToObject(object, "target", chip);
    cJSON_AddBoolToObject(object, "dry_run", dry_run);
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        cJSON_AddNumberToObject(object, numbers[i].name, numbers[i].value);
    cJSON *patterns = cJSON_AddObjectToObject(object, "patterns");
    for (unsigned i = 0; i < ISA_N_RULES; i++) {
        cJSON *rule = cJSON_AddObjectToObject(patterns, isa_rule_table[i].id);
        cJSON_AddNumberToObject(rule, "found", (double)r->n_found[i]);
        cJSON_AddNumberToObject(rule, "cures", (double)r->n_cures[i]);
    }
    cJSON *refused = cJSON_AddArrayToObject(object, "refused");
    for (size_t i = 0; i < r->n_refusals; i++) {
        cJSON *one = cJSON_CreateObject();
        cJSON_AddStringToObject(one, r->refusals[i].is_kernel ? "kernel" : "path",
                                r->refusals[i].name);
        cJSON_AddStringToObject(one, "reason", r->refusals[i].reason);
        cJSON_AddItemToArray(refused, one);
    }
    return cli_print_json(object, "rmcp.repair/1");
}

/* What is wrong with the input as a whole: a line, and true. */
static bool has_nothing(const struct repair_report *r, const char *path)
{
    if (r->n_repaired || r->n_already || r->n_native || r->n_refused_objects ||
        r->n_changed_files || r->n_refusals)
        return false;
    if (r->n_other)
        cli_complain("repair",
                     "%.400s: no code for gfx1030 in it, only for other chips (%zu code objects), "
                     "whose instructions are other ones",
                     path, r->n_other);
    else
        cli_complain("repair", "%.400s: no GPU code in it", path);
    return true;
}

int cli_repair(int argc, char **argv)
{
    const char *target = "gfx1010", *to = NULL;
    uint64_t jobs = 0;
    bool json = false;
    struct repair_options what = { .progress = progress };
    const struct cli_option options[] = {
        { "target", CLI_TEXT, &target, "CHIP", "gfx1010 (default), gfx1011 or gfx1012", NULL },
        { "out", CLI_TEXT, &to, "PATH", "where the repaired file or folder goes; not there yet",
          NULL },
        { "dry-run", CLI_FLAG, &what.dry_run, NULL, "everything but writing", NULL },
        { "json", CLI_FLAG, &json, NULL, "print JSON", NULL },
        { "jobs", CLI_NUMBER, &jobs, "N", "files at a time (default: one for each core)", NULL },
        { NULL, CLI_FLAG, NULL, NULL, NULL, NULL },
    };
    const struct cli_usage usage = {
        .command = "repair",
        .arguments = "FILE|FOLDER",
        .about = "Makes code for RDNA1 cards of code for gfx1030, in libraries, programs, .co and "
                 ".hsaco\n"
                 "files, MIOpen's .kdb files and folders of these (rocBLAS's, with its .dat "
                 "files): what\n"
                 "the chip lacks is replaced, patterns of its silicon bugs are cured, and every "
                 "object is\n"
                 "checked again. The input is never changed. A kernel that cannot be repaired is "
                 "left out,\n"
                 "so that its call fails instead of computing something wrong. Nothing of this was "
                 "tried on\n"
                 "a real card.\n"
                 "Exit status 0: every kernel was repaired; 1: something was refused, or there was "
                 "nothing.",
        .example = "  rmcp repair --dry-run /usr/lib/x86_64-linux-gnu/librocblas.so.4\n"
                   "  rmcp repair /usr/lib/x86_64-linux-gnu/rocblas/4.4.1/library --out "
                   "~/rocblas-gfx1010",
        .options = options,
    };
    int n_paths, exit_status;
    if (!cli_parse(&usage, argc, argv, &n_paths, &exit_status)) return exit_status;
    if (n_paths != 1)
        return cli_complain("repair", n_paths ? "one file or folder at a time"
                                              : "no file given; rmcp repair --help has examples");
    if (!to && !what.dry_run)
        return cli_complain("repair", "--out says where the result goes; --dry-run needs none");
    if (to && what.dry_run)
        return cli_complain("repair", "--dry-run writes nothing: no --out with it");
    if (to && !*to) return cli_complain("repair", "--out is empty");
    if ((exit_status = cli_refuse_zero(&usage, "jobs", jobs))) return exit_status;
    if (jobs > 256) return cli_complain("repair", "--jobs is %" PRIu64 "; at most 256", jobs);
    if (access(argv[0], R_OK))
        return cli_complain("repair", "%.400s: %s", argv[0], strerror(errno));
    if (repair_target_parse(target, &what.target))
        return cli_complain("repair", "--target: %s", rmcp_last_error());
    what.jobs = (uint32_t)jobs;

    struct repair_report report = { .n_files = 0 };
    rmcp_status status = repair_path(argv[0], to, &what, &report);
    cli_progress(0, 0, NULL);
    if (status) {
        repair_report_deinit(&report);
        return status == RMCP_E_ARG ? cli_complain("repair", "%s", rmcp_last_error())
                                    : cli_failed("repair", status);
    }
    const bool nothing = has_nothing(&report, argv[0]);
    exit_status = CLI_OK;
    if (json)
        exit_status = print_json(&report, target, what.dry_run);
    else if (!nothing)
        print_text(&report, target, to);
    if (!exit_status && (nothing || report.n_refusals)) exit_status = CLI_FINDINGS;
    repair_report_deinit(&report);
    return exit_status;
}
