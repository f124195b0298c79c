/* doctor_print.c: rmcp doctor's findings and recommendation for people, and as JSON. */
#include "command/doctor.h"

#include <stdarg.h>
#include <string.h>
#include <unistd.h>

enum { WIDTH = 100, INDENT = 9, SHOWN_IN_FULL = 4, SHOWN_OPTIONS = 3 };

/* The terminal's, but no wider than is easily read. */
static int line_width(void)
{
    const int width = cli_width(STDOUT_FILENO);
    return width && width < WIDTH ? width : WIDTH;
}

static void print_wrapped(int indent, const char *label, const char *text)
{
    cli_print_wrapped(line_width(), indent, label, text);
}

/* Appends to a text of one line. */
static void append(char text[static 512], const char *format, ...)
    __attribute__((format(printf, 2, 3)));
static void append(char text[static 512], const char *format, ...)
{
    const size_t used = strlen(text);
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text + used, 512 - used, format, arguments);
    va_end(arguments);
}

static const char *colour(enum doctor_verdict verdict)
{
    static const char *const colours[] = { "\033[32m", "\033[36m", "\033[33m", "\033[31m" };
    return cli_takes_colours(STDOUT_FILENO) ? colours[verdict] : "";
}

static const char *plain(void)
{
    return cli_takes_colours(STDOUT_FILENO) ? "\033[0m" : "";
}

static void print_heading(const struct doctor_machine *m)
{
    const struct doctor_gpu *gpu = doctor_main_gpu(m);
    for (size_t i = 0; i < m->n_gpus && !gpu; i++)
        if (m->gpus[i].vendor == DOCTOR_NVIDIA) gpu = &m->gpus[i];
    char text[512] = "";
    append(text, "%s", gpu ? gpu->name : m->is_wsl ? "the chip cannot be seen in WSL" : "no GPU");
    if (gpu && gpu->vendor == DOCTOR_AMD)
        append(text, ", %s", *gpu->chip ? gpu->chip : "chip unknown");
    if (gpu && gpu->vram) append(text, ", %.1f GiB", (double)gpu->vram / (1u << 30));
    if (*m->kernel) append(text, "; Linux %s", m->kernel);
    if (*m->os_id) append(text, "; %s%s%s", m->os_id, *m->os_version ? " " : "", m->os_version);
    if (*m->container) append(text, "; in %s", m->container);
    if (m->is_recorded) append(text, " (recorded)");
    print_wrapped(0, "rmcp doctor: ", text);
    putchar('\n');
}

static void print_finding(const struct doctor_finding *finding, bool in_full, bool verbose)
{
    const struct doctor_rule *rule = finding->rule;
    char title[512] = "";
    append(title, "%s", rule->title);
    if (verbose) append(title, " [%s]", rule->id);
    printf("%s%-*s%s", colour(rule->verdict), INDENT, doctor_verdict_name(rule->verdict), plain());
    cli_print_words(line_width(), INDENT, title);
    print_wrapped(INDENT, "", finding->seen);
    if (!in_full) return;
    if (*finding->why) print_wrapped(INDENT, "why: ", finding->why);
    for (const char *line = finding->fix; *line;) { /* to be copied: not broken */
        const size_t length = strcspn(line, "\n");
        printf("%*s%s%.*s\n", INDENT, "", line == finding->fix ? "fix: " : "     ", (int)length,
               line);
        line += length + (line[length] == '\n');
    }
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
        printf("    $ ");
        fwrite(line, 1, length, stdout);
        printf("%s\n", more ? "  …" : "");
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
    char summary[512] = "";
    append(summary, "%zu problem%s, %zu warning%s, %zu note%s, %zu ok%s",
           report->n_verdict[DOCTOR_PROBLEM], report->n_verdict[DOCTOR_PROBLEM] == 1 ? "" : "s",
           report->n_verdict[DOCTOR_WARNING], report->n_verdict[DOCTOR_WARNING] == 1 ? "" : "s",
           report->n_verdict[DOCTOR_NOTE], report->n_verdict[DOCTOR_NOTE] == 1 ? "" : "s",
           report->n_verdict[DOCTOR_OK], hidden ? " (rmcp doctor -v shows all)" : "");
    if (report->n_findings > hidden) putchar('\n');
    print_wrapped(0, "", summary);
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
