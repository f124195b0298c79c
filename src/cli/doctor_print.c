/* doctor_print.c: rmcp doctor's findings and recommendation for people, and as JSON. */
#include "cli/doctor.h"

#include <string.h>
#include <unistd.h>

enum { WIDTH = 100, INDENT = 9, SHOWN_IN_FULL = 4, SHOWN_OPTIONS = 3 };

/* Text in lines of at most WIDTH columns, each after `indent` blanks; UTF-8 counts by character. */
static void print_wrapped(int indent, const char *label, const char *text)
{
    printf("%*s%s", indent, "", label);
    const int hang = indent + (int)strlen(label);
    int column = hang;
    while (*(text += strspn(text, " \n"))) {
        const size_t bytes = strcspn(text, " \n");
        int wide = 0;
        for (size_t i = 0; i < bytes; i++) wide += (text[i] & 0xc0) != 0x80;
        if (column > hang && column + 1 + wide > WIDTH) {
            printf("\n%*s", hang, "");
            column = hang;
        }
        printf("%s%.*s", column > hang ? " " : "", (int)bytes, text);
        column += wide + (column > hang);
        text += bytes;
    }
    putchar('\n');
}

static const char *colour(enum doctor_verdict verdict)
{
    static const char *const colours[] = { "\033[32m", "\033[36m", "\033[33m", "\033[31m" };
    return isatty(STDOUT_FILENO) ? colours[verdict] : "";
}

static const char *plain(void)
{
    return isatty(STDOUT_FILENO) ? "\033[0m" : "";
}

static void print_heading(const struct doctor_machine *m)
{
    const struct doctor_gpu *gpu = doctor_main_gpu(m);
    for (size_t i = 0; i < m->n_gpus && !gpu; i++)
        if (m->gpus[i].vendor == DOCTOR_NVIDIA) gpu = &m->gpus[i];
    printf("rmcp doctor: %s", gpu         ? gpu->name
                              : m->is_wsl ? "the chip cannot be seen in WSL"
                                          : "no GPU");
    if (gpu && gpu->vendor == DOCTOR_AMD) printf(", %s", *gpu->chip ? gpu->chip : "chip unknown");
    if (gpu && gpu->vram) printf(", %.1f GiB", (double)gpu->vram / (1u << 30));
    if (*m->kernel) printf("; Linux %s", m->kernel);
    if (*m->os_id) printf("; %s%s%s", m->os_id, *m->os_version ? " " : "", m->os_version);
    if (*m->container) printf("; in %s", m->container);
    printf("%s\n\n", m->is_recorded ? " (recorded)" : "");
}

static void print_finding(const struct doctor_finding *finding, bool in_full, bool verbose)
{
    const struct doctor_rule *rule = finding->rule;
    printf("%s%-*s%s%s%s%s%s\n", colour(rule->verdict), INDENT, doctor_verdict_name(rule->verdict),
           plain(), rule->title, verbose ? "  [" : "", verbose ? rule->id : "", verbose ? "]" : "");
    print_wrapped(INDENT, "", finding->seen);
    if (!in_full) return;
    if (*finding->why) print_wrapped(INDENT, "why: ", finding->why);
    if (*finding->fix)
        printf("%*sfix: %s\n", INDENT, "", finding->fix); /* to be copied: one line */
}

static void print_option(const struct doctor_advice *advice, size_t rank, bool in_full)
{
    const struct doctor_option *option = advice->option;
    char label[32];
    snprintf(label, sizeof label, "%2zu. ", rank);
    print_wrapped(0, label, option->title);
    if (in_full) {
        if (strcmp(option->cost, "free")) print_wrapped(4, "cost:   ", option->cost);
        print_wrapped(4, "effort: ", option->effort);
        print_wrapped(4, "result: ", option->result);
        if (strcmp(option->risk, "none")) print_wrapped(4, "risk:   ", option->risk);
        if (*option->evidence) print_wrapped(4, "known:  ", option->evidence);
    }
    for (const char *line = advice->command; *line;) { /* of the others only the first */
        const size_t length = strcspn(line, "\n");
        const bool more = line[length] && !in_full;
        printf("    $ %.*s%s\n", (int)length, line, more ? "  …" : "");
        line += more ? strlen(line) : length + (line[length] == '\n');
    }
}

static void print_rest(const struct doctor_report *report, size_t shown)
{
    char text[512] = "";
    for (size_t i = shown; i < report->n_advice; i++) {
        const size_t used = strlen(text);
        snprintf(text + used, sizeof text - used, "%s%s", used ? ", " : "",
                 report->advice[i].option->id);
    }
    if (*text) print_wrapped(0, " further: ", text);
}

void doctor_print_text(const struct doctor_report *report, bool verbose)
{
    size_t hidden = 0, full = 0;
    print_heading(report->machine);
    for (size_t i = 0; i < report->n_findings; i++) {
        const struct doctor_finding *finding = &report->findings[i];
        const bool serious = finding->rule->verdict >= DOCTOR_WARNING;
        if (!serious && !verbose) {
            hidden++;
            continue;
        }
        print_finding(finding, verbose || full < SHOWN_IN_FULL, verbose);
        full += serious;
    }
    printf("%s%zu problem%s, %zu warning%s, %zu note%s, %zu ok%s\n",
           report->n_findings > hidden ? "\n" : "", report->n_verdict[DOCTOR_PROBLEM],
           report->n_verdict[DOCTOR_PROBLEM] == 1 ? "" : "s", report->n_verdict[DOCTOR_WARNING],
           report->n_verdict[DOCTOR_WARNING] == 1 ? "" : "s", report->n_verdict[DOCTOR_NOTE],
           report->n_verdict[DOCTOR_NOTE] == 1 ? "" : "s", report->n_verdict[DOCTOR_OK],
           hidden ? " (rmcp doctor -v shows all)" : "");
    if (!report->n_advice) return;
    printf("\nRecommended, best first:\n");
    size_t shown = verbose || report->n_advice < SHOWN_OPTIONS ? report->n_advice : SHOWN_OPTIONS;
    for (size_t i = 0; i < shown; i++) print_option(&report->advice[i], i + 1, verbose || !i);
    print_rest(report, shown);
}

/* ---- JSON ---- */

static void add_gpus(cJSON *machine, const struct doctor_machine *m)
{
    static const char *const answers[] = { "unknown", "no", "yes" };
    cJSON *gpus = cJSON_AddArrayToObject(machine, "gpus");
    for (size_t i = 0; i < m->n_gpus; i++) {
        const struct doctor_gpu *gpu = &m->gpus[i];
        cJSON *one = cJSON_CreateObject();
        cJSON_AddStringToObject(one, "name", gpu->name);
        cJSON_AddStringToObject(one, "chip", gpu->chip);
        cJSON_AddStringToObject(one, "chip_source",
                                !*gpu->chip          ? "none"
                                : gpu->chip_from_kfd ? "kfd"
                                                     : "pci");
        cJSON_AddStringToObject(one, "pci", gpu->pci);
        cJSON_AddNumberToObject(one, "vendor", gpu->vendor);
        cJSON_AddNumberToObject(one, "device", gpu->device);
        cJSON_AddStringToObject(one, "driver", gpu->driver);
        cJSON_AddBoolToObject(one, "integrated", gpu->is_integrated);
        cJSON_AddBoolToObject(one, "in_kfd", gpu->in_kfd);
        cJSON_AddNumberToObject(one, "compute_units", gpu->compute_units);
        cJSON_AddNumberToObject(one, "vram_bytes", (double)gpu->vram);
        cJSON_AddNumberToObject(one, "mec_firmware", gpu->mec_firmware);
        cJSON_AddStringToObject(one, "pcie_atomics", answers[gpu->atomics]);
        cJSON_AddItemToArray(gpus, one);
    }
}

static void add_libraries(cJSON *machine, const char *name, const struct doctor_library *list,
                          size_t n)
{
    static const char *const kinds[] = { "hip", "hsa", "miopen", "rocblas", "torch" };
    cJSON *libraries = cJSON_AddArrayToObject(machine, name);
    for (size_t i = 0; i < n; i++) {
        cJSON *one = cJSON_CreateObject();
        cJSON_AddStringToObject(one, "kind", kinds[list[i].kind]);
        cJSON_AddStringToObject(one, "path", list[i].path);
        cJSON_AddStringToObject(one, "soname", list[i].soname);
        cJSON_AddNumberToObject(one, "bytes", (double)list[i].size);
        cJSON_AddStringToObject(one, "targets", list[i].targets);
        cJSON_AddBoolToObject(one, "targets_complete", list[i].has_targets);
        cJSON_AddStringToObject(one, "trouble", list[i].trouble);
        cJSON_AddItemToArray(libraries, one);
    }
}

static void add_software(cJSON *machine, const struct doctor_machine *m)
{
    cJSON *rocms = cJSON_AddArrayToObject(machine, "rocm");
    for (size_t i = 0; i < m->n_rocms; i++) {
        cJSON *one = cJSON_CreateObject();
        cJSON_AddStringToObject(one, "prefix", m->rocms[i].prefix);
        cJSON_AddStringToObject(one, "version", m->rocms[i].version);
        cJSON_AddNumberToObject(one, "clang", m->rocms[i].clang);
        cJSON_AddItemToArray(rocms, one);
    }
    cJSON_AddStringToObject(machine, "loader_hip", m->loader_hip);
    cJSON_AddStringToObject(machine, "loader_miopen", m->loader_miopen);
    cJSON *pythons = cJSON_AddArrayToObject(machine, "pytorch");
    for (size_t i = 0; i < m->n_pythons; i++) {
        cJSON *one = cJSON_CreateObject();
        cJSON_AddStringToObject(one, "site", m->pythons[i].site);
        cJSON_AddStringToObject(one, "version", m->pythons[i].version);
        cJSON_AddStringToObject(one, "hip", m->pythons[i].hip);
        cJSON_AddStringToObject(one, "cuda", m->pythons[i].cuda);
        cJSON_AddBoolToObject(one, "brings_rocm", m->pythons[i].bundles_rocm);
        cJSON_AddBoolToObject(one, "rmcp", m->pythons[i].has_rmcp);
        cJSON_AddBoolToObject(one, "rmcp_hook", m->pythons[i].has_hook);
        cJSON_AddItemToArray(pythons, one);
    }
    add_libraries(machine, "system_libraries", m->system_libraries, m->n_system_libraries);
    add_libraries(machine, "pytorch_libraries", m->python_libraries, m->n_python_libraries);
}

static cJSON *machine_json(const struct doctor_machine *m)
{
    cJSON *machine = cJSON_CreateObject();
    cJSON_AddBoolToObject(machine, "recorded", m->is_recorded);
    cJSON_AddStringToObject(machine, "kernel", m->kernel);
    cJSON_AddStringToObject(machine, "os", m->os_id);
    cJSON_AddStringToObject(machine, "os_version", m->os_version);
    cJSON_AddStringToObject(machine, "container", m->container);
    cJSON_AddBoolToObject(machine, "wsl", m->is_wsl);
    cJSON_AddStringToObject(machine, "driver_version", m->amdgpu_version);
    cJSON_AddStringToObject(machine, "command_line", m->command_line);
    cJSON_AddStringToObject(machine, "driver_parameters", m->parameters);
    cJSON_AddNumberToObject(machine, "ram_bytes", (double)m->ram);
    cJSON_AddNumberToObject(machine, "swap_bytes", (double)m->swap);
    cJSON_AddNumberToObject(machine, "disk_free_bytes", (double)m->disk);
    cJSON_AddBoolToObject(machine, "kfd", m->kfd.exists);
    add_gpus(machine, m);
    add_software(machine, m);
    cJSON *variables = cJSON_AddObjectToObject(machine, "environment");
    for (size_t i = 0; i < m->n_variables; i++)
        cJSON_AddStringToObject(variables, m->variables[i].name, m->variables[i].value);
    return machine;
}

int doctor_print_json(const struct doctor_report *report)
{
    cJSON *all = cJSON_CreateObject();
    cJSON_AddItemToObject(all, "machine", machine_json(report->machine));
    cJSON *findings = cJSON_AddArrayToObject(all, "findings");
    for (size_t i = 0; i < report->n_findings; i++) {
        const struct doctor_finding *finding = &report->findings[i];
        cJSON *one = cJSON_CreateObject();
        cJSON_AddStringToObject(one, "id", finding->rule->id);
        cJSON_AddStringToObject(one, "topic", finding->rule->topic);
        cJSON_AddStringToObject(one, "verdict", doctor_verdict_name(finding->rule->verdict));
        cJSON_AddStringToObject(one, "title", finding->rule->title);
        cJSON_AddStringToObject(one, "seen", finding->seen);
        cJSON_AddStringToObject(one, "why", finding->why);
        cJSON_AddStringToObject(one, "fix", finding->fix);
        cJSON_AddItemToArray(findings, one);
    }
    cJSON *options = cJSON_AddArrayToObject(all, "options");
    for (size_t i = 0; i < report->n_advice; i++) {
        const struct doctor_option *option = report->advice[i].option;
        cJSON *one = cJSON_CreateObject();
        cJSON_AddNumberToObject(one, "rank", (double)i + 1);
        cJSON_AddStringToObject(one, "id", option->id);
        cJSON_AddStringToObject(one, "title", option->title);
        cJSON_AddStringToObject(one, "cost", option->cost);
        cJSON_AddStringToObject(one, "effort", option->effort);
        cJSON_AddStringToObject(one, "result", option->result);
        cJSON_AddStringToObject(one, "risk", option->risk);
        cJSON_AddStringToObject(one, "evidence", option->evidence);
        cJSON_AddStringToObject(one, "command", report->advice[i].command);
        cJSON_AddItemToArray(options, one);
    }
    return cli_print_json(all, "rmcp.doctor/1");
}
