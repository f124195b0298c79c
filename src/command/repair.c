/* repair.c: rmcp repair: GPU code of gfx1030 made code for gfx1010, and what became of it. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "code/repair/repair.h"
#include "command/cli.h"

enum { MOST_REASONS = 64, MOST_OPERATORS = 512, SHOWN_OPERATORS = 20 };

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

struct touched {
    char name[REPAIR_OPERATOR];
    size_t n;
};

static int compare_operators(const void *left, const void *right)
{
    const struct touched *a = left, *b = right;
    if (a->n != b->n) return a->n < b->n ? 1 : -1;
    return strcmp(a->name, b->name);
}

/* What kernels that are left out belong to, the most frequent first. */
static void print_operators(const struct repair_report *report)
{
    struct touched *list = calloc(MOST_OPERATORS, sizeof *list);
    size_t n = 0, others = 0;
    for (size_t i = 0; list && i < report->n_refusals; i++) {
        char name[REPAIR_OPERATOR];
        if (!report->refusals[i].is_kernel) continue;
        repair_operator(report->refusals[i].name, name);
        size_t k = 0;
        while (k < n && strcmp(list[k].name, name)) k++;
        if (k == MOST_OPERATORS) {
            others++;
            continue;
        }
        if (k == n) memcpy(list[n++].name, name, sizeof name);
        list[k].n++;
    }
    if (n) {
        qsort(list, n, sizeof *list, compare_operators);
        printf("\noperators that these belong to, as far as names tell\n");
    }
    for (size_t k = 0; k < n; k++) {
        if (k < SHOWN_OPERATORS)
            printf("  %8zu  %s\n", list[k].n, list[k].name);
        else
            others += list[k].n;
    }
    if (others) printf("  %8zu  others (--json lists all)\n", others);
    free(list);
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
    print_operators(report);
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

static void print_changes(const struct repair_report *r, const char *chip)
{
    char before[32], after[32];
    printf("instructions   %zu that %s lacks were replaced\n", r->n_lowered, chip);
    printf("code           %s became %s\n", cli_bytes(r->old_bytes, before),
           cli_bytes(r->new_bytes, after));
    bool is_any = false;
    for (unsigned i = 0; i < ISA_N_RULES; i++) is_any |= r->n_found[i] || r->n_cures[i];
    if (is_any)
        printf("\n  %-20s %10s %10s\n", "pattern of a bug", "found", "cures");
    else
        printf("patterns       none of a known bug\n");
    for (unsigned i = 0; i < ISA_N_RULES; i++)
        if (r->n_found[i] || r->n_cures[i])
            printf("  %-20s %10zu %10zu\n", isa_rule_table[i].id, r->n_found[i], r->n_cures[i]);
    if (r->n_unreached)
        printf("  %zu are left in words that no path reaches: data, or dead code\n",
               r->n_unreached);
    if (!r->n_wide) return;
    printf(
        "\n%zu kernels have accesses of 8 bytes and more that are or may be of LDS, where gfx101x "
        "gets\nthose wrong that are not aligned:\n",
        r->n_wide);
    const struct {
        size_t n;
        const char *what;
    } ways[] = {
        { r->n_proven, "all are proven to be aligned" },
        { r->n_cu_mode, "now in CU mode, where they are safe" },
        { r->n_split, "taken apart" },
        { r->n_flat_elsewhere, "FLAT accesses, but no code that makes addresses of LDS for them" },
        { r->n_wide_flat, "FLAT accesses that may be of LDS and are not proven: they stay" },
    };
    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++)
        if (ways[i].n) printf("  %8zu  %s\n", ways[i].n, ways[i].what);
}

static void print_text(const struct repair_report *r, const char *chip)
{
    const int width = cli_width(STDOUT_FILENO);
    printf("files          %zu: %zu changed, %zu the same, %zu of other chips left out\n",
           r->n_files + r->n_left_out_files, r->n_changed_files, r->n_copied_files,
           r->n_left_out_files);
    printf("code objects   %zu repaired, %zu refused, %zu repaired before, %zu made for %s, %zu "
           "of other chips\n",
           r->n_repaired, r->n_refused_objects, r->n_already, r->n_native, chip, r->n_other);
    if (r->n_replaced)
        printf("               %zu made for %s were replaced (--replace)\n", r->n_replaced, chip);
    else if (r->n_native)
        printf("               those made for %s stay as they are (--replace changes that)\n",
               chip);
    printf("kernels        %zu: %zu repaired, %zu refused\n", r->n_kernels,
           r->n_kernels - r->n_refused, r->n_refused);
    if (r->n_host_places)
        printf(
            "               chosen by the chip's name: %zu; host code takes %s for gfx1030 there "
            "now (places: %zu)\n",
            r->n_by_name, chip, r->n_host_places);
    if (r->n_repaired) print_changes(r, chip);
    print_refused(r, width);
}

/* What became of it; `in` NULL: not in place. */
static void print_end(const struct repair_report *r, const char *to, const char *in,
                      const struct repair_installed *installed)
{
    if (!to && !in)
        printf("\nNothing was written (--dry-run).\n");
    else if (!in && r->n_changed_files)
        printf("\nWritten: %s. Checked by rules, never on silicon.\n", to);
    else if (!in && r->n_already && !r->n_refusals)
        printf("\nWritten: %s, unchanged: it was repaired before.\n", to);
    else if (!in && !access(to, F_OK))
        printf("\nWritten: %s, unchanged.\n", to);
    else if (!in)
        printf("\nNothing was written: nothing of it could be repaired.\n");
    else if (in && (installed->n_changed || installed->n_added))
        printf("\nRepaired in place: %zu files changed, %zu added. Checked by rules, never on "
               "silicon.\nUndo: rmcp repair --restore %s\n",
               installed->n_changed, installed->n_added, in);
    if (in && *installed->said) printf("\n%s: %s\n", in, installed->said);
}

static int restore(const char *folder, bool keep_changed, bool json)
{
    struct repair_installed undone;
    rmcp_status status = repair_restore(folder, keep_changed, &undone);
    if (status) return cli_failed("repair", status);
    if (json) {
        cJSON *object = cJSON_CreateObject();
        cJSON_AddStringToObject(object, "restored", folder);
        cJSON_AddNumberToObject(object, "files_restored", (double)undone.n_changed);
        cJSON_AddNumberToObject(object, "files_removed", (double)undone.n_added);
        cJSON_AddStringToObject(object, "said", undone.said);
        return cli_print_json(object, "rmcp.repair.restore/1");
    }
    if (undone.n_changed || undone.n_added)
        printf("%s: %zu files are as they were, %zu that were added are gone\n", folder,
               undone.n_changed, undone.n_added);
    if (*undone.said) printf("%s: %s\n", folder, undone.said);
    return CLI_OK;
}

static int print_json(const struct repair_report *r, const char *chip, bool dry_run,
                      const struct repair_installed *installed)
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
        { "objects_replaced", (double)r->n_replaced },
        { "objects_of_other_chips", (double)r->n_other },
        { "kernels", (double)r->n_kernels },
        { "kernels_refused", (double)r->n_refused },
        { "kernels_chosen_by_name", (double)r->n_by_name },
        { "host_places", (double)r->n_host_places },
        { "functions", (double)r->n_functions },
        { "instructions_replaced", (double)r->n_lowered },
        { "patterns_unreached", (double)r->n_unreached },
        { "kernels_wide_lds", (double)r->n_wide },
        { "kernels_lds_proven", (double)r->n_proven },
        { "kernels_cu_mode", (double)r->n_cu_mode },
        { "kernels_lds_split", (double)r->n_split },
        { "kernels_wide_flat_in_wgp_mode", (double)r->n_wide_flat },
        { "kernels_flat_never_lds", (double)r->n_flat_elsewhere },
        { "code_bytes_before", (double)r->old_bytes },
        { "code_bytes_after", (double)r->new_bytes },
    };
    cJSON *object = cJSON_CreateObject();
    cJSON_AddStringToObject(object, "target", chip);
    cJSON_AddBoolToObject(object, "dry_run", dry_run);
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        cJSON_AddNumberToObject(object, numbers[i].name, numbers[i].value);
    if (installed) {
        cJSON *place = cJSON_AddObjectToObject(object, "installed");
        cJSON_AddNumberToObject(place, "files_changed", (double)installed->n_changed);
        cJSON_AddNumberToObject(place, "files_added", (double)installed->n_added);
        cJSON_AddStringToObject(place, "said", installed->said);
    }
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
        if (r->refusals[i].is_kernel) {
            char name[REPAIR_OPERATOR];
            repair_operator(r->refusals[i].name, name);
            cJSON_AddStringToObject(one, "operator", name);
        }
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
                     "%.400s: no code for gfx1030 in it, from which code is taken, only for other "
                     "chips (%zu code objects)",
                     path, r->n_other);
    else
        cli_complain_no_code("repair", path);
    return true;
}

int cli_repair(int argc, char **argv)
{
    const char *target = "gfx1010", *to = NULL, *in = NULL, *back = NULL;
    uint64_t jobs = 0;
    bool json = false, keep_changed = false;
    struct repair_options what = { .progress = progress };
    const struct cli_option options[] = {
        { "target", CLI_TEXT, &target, "CHIP", "gfx1010 (default), gfx1011 or gfx1012", NULL },
        { "out", CLI_TEXT, &to, "PATH", "where the repaired file or folder goes; not there yet",
          NULL },
        { "install-into", CLI_TEXT, &in, "FOLDER",
          "repair a folder in place; what was there is kept in FOLDER/rmcp-repair", NULL },
        { "restore", CLI_TEXT, &back, "FOLDER", "undo --install-into", NULL },
        { "keep-changed", CLI_FLAG, &keep_changed, NULL,
          "with --restore: files that changed since stay as they are", NULL },
        { "replace", CLI_FLAG, &what.replace, NULL,
          "also where there is code for the chip already; else that stays", NULL },
        { "dry-run", CLI_FLAG, &what.dry_run, NULL, "everything but writing", NULL },
        { "json", CLI_FLAG, &json, NULL, "print JSON", NULL },
        { "jobs", CLI_NUMBER, &jobs, "N", "workers (default: one for each core)", NULL },
        { NULL, CLI_FLAG, NULL, NULL, NULL, NULL },
    };
    const struct cli_usage usage = {
        .command = "repair",
        .arguments = "FILE|WHEEL|FOLDER",
        .about = "Makes code for RDNA1 cards of code for gfx1030, in libraries, programs, .co and "
                 ".hsaco\n"
                 "files, MIOpen's .kdb files, wheels, and folders of these (rocBLAS's, with its "
                 ".dat files): what\n"
                 "the chip lacks is replaced, patterns of its silicon bugs are cured, and every "
                 "object is\n"
                 "checked again. The input is changed by --install-into alone, which keeps what "
                 "was there.\n"
                 "A kernel that cannot be repaired is left out,\n"
                 "so that its call fails instead of computing something wrong. Nothing of this was "
                 "tried on\n"
                 "a real card.\n"
                 "Exit status 0: every kernel was repaired; 1: something was refused, or there was "
                 "nothing.",
        .example = "  rmcp repair --dry-run /usr/lib/x86_64-linux-gnu/librocblas.so.4\n"
                   "  rmcp repair /usr/lib/x86_64-linux-gnu/rocblas/4.4.1/library --out "
                   "~/rocblas-gfx1010\n"
                   "  rmcp repair --install-into ~/torch/lib/python3.12/site-packages/torch/lib",
        .options = options,
    };
    int n_paths, exit_status;
    if (!cli_parse(&usage, argc, argv, &n_paths, &exit_status)) return exit_status;
    if (back) {
        if (n_paths || to || in || what.dry_run || what.replace)
            return cli_complain("repair", "--restore stands alone: rmcp repair --restore FOLDER");
        return *back ? restore(back, keep_changed, json)
                     : cli_complain("repair", "--restore is empty");
    }
    if (keep_changed) return cli_complain("repair", "--keep-changed is only for --restore");
    if (in && (n_paths || to))
        return cli_complain("repair",
                            "--install-into repairs that folder itself: no other path, no --out");
    if (in && !*in) return cli_complain("repair", "--install-into is empty");
    if (!in && n_paths != 1)
        return cli_complain("repair", n_paths ? "one file or folder at a time"
                                              : "no file given; rmcp repair --help has examples");
    if (!in && !to && !what.dry_run)
        return cli_complain("repair", "--out says where the result goes; --dry-run needs none");
    if (to && what.dry_run)
        return cli_complain("repair", "--dry-run writes nothing: no --out with it");
    if (to && !*to) return cli_complain("repair", "--out is empty");
    if ((exit_status = cli_refuse_zero(&usage, "jobs", jobs))) return exit_status;
    if (jobs > 256) return cli_complain("repair", "--jobs is %" PRIu64 "; at most 256", jobs);
    const char *path = in ? in : argv[0];
    if (access(path, R_OK)) return cli_complain("repair", "%.400s: %s", path, strerror(errno));
    if (repair_target_parse(target, &what.target))
        return cli_complain("repair", "--target: %s", rmcp_last_error());
    what.jobs = (uint32_t)jobs;

    struct repair_report report = { .n_files = 0 };
    struct repair_installed installed = { 0 };
    rmcp_status status =
        in ? repair_install(in, &what, &report, &installed) : repair_path(path, to, &what, &report);
    cli_progress(0, 0, NULL);
    if (status) {
        repair_report_deinit(&report);
        return status == RMCP_E_ARG ? cli_complain("repair", "%s", rmcp_last_error())
                                    : cli_failed("repair", status);
    }
    const bool nothing = has_nothing(&report, path);
    exit_status = CLI_OK;
    if (json) {
        exit_status = print_json(&report, target, what.dry_run, in ? &installed : NULL);
    } else if (!nothing) {
        print_text(&report, target);
        print_end(&report, to, what.dry_run ? NULL : in, &installed);
    }
    if (!exit_status && (nothing || report.n_refusals)) exit_status = CLI_FINDINGS;
    repair_report_deinit(&report);
    return exit_status;
}
