/* sim_summary.c: what happened on the simulated card while a program ran: lines on stderr, or JSON.
 */
#include "command/sim_card.h"
#include "sim/driver/protocol.h"

#include <inttypes.h>
#include <limits.h>
#include <string.h>

enum { MAX_REPORTS_SHOWN = 20, MAX_REPORTS_JSON = 10000 };

struct sums {
    uint64_t processes, kernels, instructions, findings, happened, acted_out[16];
};
_Static_assert(sizeof(struct sums) == sizeof(struct sim_summary), "the same counters");

static void path_of(const char *root, const char *name, char path[static PATH_MAX + 32])
{
    snprintf(path, PATH_MAX + 32, "%s/%s", root, name);
}

static struct sums read_sums(const char *root)
{
    char path[PATH_MAX + 32];
    struct sums sum = { 0 };
    path_of(root, SIM_FILE_SUMMARY, path);
    FILE *file = fopen(path, "r");
    if (!file) return sum;
    if (fread(&sum, sizeof sum, 1, file) != 1) memset(&sum, 0, sizeof sum);
    fclose(file);
    return sum;
}

/* Whether a line tells of what ended a kernel. */
static bool is_fatal(const char *line)
{
    for (unsigned kind = 0; kind < SIM_N_FATAL; kind++) {
        const char *name = sim_kind_name((enum sim_kind)kind);
        const size_t n = strlen(name);
        if (!strncmp(line, name, n) && line[n] == ':') return true;
    }
    return false;
}

/* Each report to `list`, or the first ones to stderr; what ended a kernel comes before all others.
 */
static void tell_reports(const char *root, cJSON *list)
{
    char path[PATH_MAX + 32], line[2048];
    path_of(root, SIM_FILE_REPORTS, path);
    FILE *file = fopen(path, "r");
    if (!file) return;
    unsigned n = 0;
    for (int fatal = 1; fatal >= 0; fatal--, rewind(file))
        while (fgets(line, sizeof line, file)) {
            if (is_fatal(line) != fatal) continue;
            n++;
            line[strcspn(line, "\n")] = '\0';
            if (list && n <= MAX_REPORTS_JSON)
                cJSON_AddItemToArray(list, cJSON_CreateString(line));
            else if (!list && n <= MAX_REPORTS_SHOWN)
                fprintf(stderr, "rmcp sim: %s\n", line);
        }
    if (!list && n > MAX_REPORTS_SHOWN)
        fprintf(stderr, "rmcp sim: and %u more\n", n - MAX_REPORTS_SHOWN);
    fclose(file);
}

static void print_summary(const struct sim_machine *machine, const struct sums *sum)
{
    fprintf(stderr, "rmcp sim: simulated");
    for (unsigned i = 0; i < machine->n; i++)
        fprintf(stderr, "%s %s", i ? " and" : "", machine->cards[i].card);
    fprintf(stderr, ": %" PRIu64 " kernels, %" PRIu64 " instructions, %" PRIu64 " reports\n",
            sum->kernels, sum->instructions, sum->findings);
}

static int print_json(const struct sim_machine *machine, const struct sim_request *request,
                      const struct sim_options *act, const char *root, const struct sums *sum,
                      int program_status)
{
    char path[PATH_MAX + 32];
    cJSON *object = cJSON_CreateObject();
    cJSON *cards = cJSON_AddArrayToObject(object, "simulated");
    for (unsigned i = 0; i < machine->n; i++)
        cJSON_AddItemToArray(cards, cJSON_CreateString(machine->cards[i].card));
    cJSON *command = cJSON_AddArrayToObject(object, "command");
    for (char **word = request->command; *word; word++)
        cJSON_AddItemToArray(command, cJSON_CreateString(*word));
    cJSON_AddNumberToObject(object, "program_status", program_status);
    cJSON_AddNumberToObject(object, "processes", (double)sum->processes);
    cJSON_AddNumberToObject(object, "kernels", (double)sum->kernels);
    cJSON_AddNumberToObject(object, "instructions", (double)sum->instructions);
    cJSON_AddNumberToObject(object, "findings", (double)sum->findings);
    cJSON *acted = act->act_out ? cJSON_AddObjectToObject(object, "acted_out") : NULL;
    for (unsigned i = 0; i < ISA_N_RULES && acted; i++)
        if (act->act_out >> i & 1)
            cJSON_AddNumberToObject(acted, isa_rule_table[i].id, (double)sum->acted_out[i]);
    tell_reports(root, cJSON_AddArrayToObject(object, "reports"));
    path_of(root, SIM_FILE_STATS, path);
    if (request->stats) cJSON_AddItemToObject(object, "stats", sim_table_json(path));
    path_of(root, SIM_FILE_TIMING, path);
    if (request->timing) cJSON_AddItemToObject(object, "modelled", sim_times_json(path));
    return cli_print_json(object, "rmcp.sim.program/1");
}

int sim_summary_tell(const struct sim_machine *machine, const struct sim_request *request,
                     const struct sim_options *act, const char *root, int *status)
{
    char path[PATH_MAX + 32];
    const struct sums sum = read_sums(root);
    const int program_status = *status;
    if (!*status && sum.findings && !request->allow_reports) *status = CLI_FINDINGS;
    if (request->json) return print_json(machine, request, act, root, &sum, program_status);
    tell_reports(root, NULL);
    path_of(root, SIM_FILE_STATS, path);
    if (request->stats) sim_table_print(path);
    path_of(root, SIM_FILE_TIMING, path);
    if (request->timing) sim_times_print(path);
    sim_print_acted_out(stderr, "rmcp sim: ", act->act_out, sum.acted_out);
    print_summary(machine, &sum);
    return CLI_OK;
}
