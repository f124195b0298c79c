/* check_engine.c: rmcp check without PyTorch: the suite "check" on a device, each convolution
 * judged.
 *
 * In a process of its own: what a card or its driver does to that is part of the answer. */
#include "command/check.h"

#include "base/child.h"
#include "base/error.h"
#include "command/probe.h"
#include "engine/core/judge.h"
#include "sim/driver/protocol.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_ANSWER = 1 << 20, SEED = 1 };

struct engine_job {
    const struct check_request *request;
    const struct cli_cases *cases;
};

/* ---- the process that works: lines "device …", "try CASE", "bad CASE: why", "good CASE", "end"
 * ---- */

static void judge_case(FILE *out, rmcp_device *device, const struct cli_case *one)
{
    char text[RMCP_CASE_MAX];
    struct rmcp_judgement judgement = { .passed = true };
    rmcp_status status = rmcp_case_print(one->operation, one->problem.bytes, text, sizeof text);
    fprintf(out, "try %s\n", text);
    fflush(out);
    for (int data = 0; data < RMCP_N_DATA && !status && judgement.passed; data++)
        status = rmcp_judge_problem(device, one->operation, one->problem.bytes, NULL,
                                    (enum rmcp_data)data, SEED, 0, &judgement);
    if (status)
        fprintf(out, "refused %s: %s\n", text, rmcp_last_error());
    else if (!judgement.passed)
        fprintf(out, "bad %s, %s: %s\n", text, judgement.algorithm, judgement.why);
    else
        fprintf(out, "good %s\n", text);
    fflush(out);
}

static void work(void *context, int descriptor)
{
    const struct engine_job *job = context;
    rmcp_device *device = NULL;
    FILE *out = fdopen(descriptor, "w");
    if (!out) return;
    const char *spec = job->request->device;
    if (spec && !strcmp(spec, "auto")) spec = NULL;
    const rmcp_status status = rmcp_device_open(spec, NULL, &device);
    if (status) {
        fprintf(out, "%s %s\n", status == RMCP_E_ARG ? "usage" : "closed", rmcp_last_error());
    } else {
        fprintf(out, "device %s\nname %s\ndriver %s\ncpu %u\n", device->info.spec,
                device->info.name, device->info.driver, (unsigned)device->info.is_cpu);
        fflush(out);
        for (size_t i = 0; i < job->cases->n; i++) judge_case(out, device, &job->cases->list[i]);
        fprintf(out, "close\n");
        fflush(out);
        rmcp_device_close(device);
    }
    fprintf(out, "end\n");
    fflush(out);
}

/* ---- what it said ---- */

struct engine_answer {
    const char *device, *name, *driver, *closed, *usage, *trying;
    size_t n_good, n_bad, n_refused;
    bool is_cpu, ended;
};

static const char *after(const char *line, const char *word)
{
    const size_t n = strlen(word);
    return !strncmp(line, word, n) && line[n] == ' ' ? line + n + 1 : NULL;
}

static void read_line(char *line, struct engine_answer *a, cJSON *report)
{
    const char *rest;
    if ((rest = after(line, "device"))) a->device = rest;
    if ((rest = after(line, "name"))) a->name = rest;
    if ((rest = after(line, "driver"))) a->driver = rest;
    if ((rest = after(line, "cpu"))) a->is_cpu = *rest == '1';
    if ((rest = after(line, "closed"))) a->closed = rest;
    if ((rest = after(line, "usage"))) a->usage = rest;
    if ((rest = after(line, "try"))) a->trying = rest;
    if (!strcmp(line, "close")) a->trying = "closing the device";
    if (!strcmp(line, "end")) a->ended = true;
    if (after(line, "good")) a->n_good++;
    if ((rest = after(line, "bad")) && !a->n_bad++)
        check_add(report, "wrong",
                  "rmcp verify tries every algorithm of the device on many cases; please report it",
                  "wrong result: %.700s", rest);
    if ((rest = after(line, "refused")) && !a->n_refused++)
        check_add(
            report, "refused",
            "rmcp devices shows what first use has found; rmcp plan --explain CASE all reasons",
            "refused: %.700s", rest);
}

static void add_end(const struct rmcp_child *child, const struct engine_answer *a, uint64_t limit,
                    cJSON *report)
{
    static const char cure[] =
        "sudo dmesg | rmcp explain - says what the driver reports; rmcp doctor looks for "
        "causes in the machine";
    const char *at = a->trying ? a->trying : "opening the device";
    if (child->end == RMCP_CHILD_KILLED)
        check_add(report, "crashed", cure, "the process was ended by signal %d (%s) at: %.600s",
                  child->code, strsignal(child->code), at);
    else if (child->end == RMCP_CHILD_LATE || child->end == RMCP_CHILD_STUCK)
        check_add(report, "hung", cure, "no end after %" PRIu64 " seconds (--limit) at: %.600s",
                  limit, at);
    else
        check_add(report, "crashed", cure,
                  "the process ended by itself, with exit status %d, at: %.600s", child->code, at);
}

/* Why no GPU was taken, driver by driver. */
static void note_unusable(cJSON *report)
{
    struct cli_device_list list = { 0 };
    if (!cli_probe_devices(&list))
        for (size_t i = 0; i < list.n; i++)
            if (!list.entries[i].usable)
                check_note(report, "%s: not usable: %s", list.entries[i].spec, list.entries[i].why);
    free(list.entries);
}

static void conclude(const struct engine_answer *a, size_t n_cases, cJSON *report)
{
    const char *simulated =
        getenv(SIM_ENV_ROOT) && a->device && !strncmp(a->device, "hip", 3) ? " (simulated)" : "";
    char says[1024];
    const bool right = a->ended && a->n_good == n_cases;
    const char *verdict = right ? "right" : a->n_bad ? "wrong" : "in the way";
    if (!a->device)
        snprintf(says, sizeof says, "RMCP itself opens no device");
    else
        snprintf(says, sizeof says,
                 "RMCP itself on %s, %s%s: %zu of %zu convolutions, compared with the CPU, %s",
                 a->device, a->name ? a->name : "", simulated, a->n_good, n_cases,
                 right      ? "right"
                 : a->n_bad ? "others WRONG"
                            : "others did not run");
    cJSON_ReplaceItemInObject(report, "verdict", cJSON_CreateString(verdict));
    cJSON_ReplaceItemInObject(report, "says", cJSON_CreateString(says));
    cJSON_ReplaceItemInObject(report, "convolutions", cJSON_CreateNumber((double)a->n_good));
    cJSON_AddNumberToObject(report, "expected", (double)n_cases);
    cJSON_AddStringToObject(report, "device", a->device ? a->device : "");
    cJSON *engine = cJSON_AddObjectToObject(report, "engine");
    cJSON_AddStringToObject(engine, "name", a->name ? a->name : "");
    cJSON_AddStringToObject(engine, "driver", a->driver ? a->driver : "");
    cJSON_AddBoolToObject(engine, "simulated", *simulated != '\0');
    cJSON_AddBoolToObject(engine, "is_cpu", a->is_cpu);
    cJSON_AddNumberToObject(engine, "right", (double)a->n_good);
    cJSON_AddNumberToObject(engine, "wrong", (double)a->n_bad);
    cJSON_AddNumberToObject(engine, "refused", (double)a->n_refused);
}

static int read_answer(char *text, const struct check_request *request,
                       const struct rmcp_child *child, size_t n_cases, cJSON *report)
{
    struct engine_answer a = { 0 };
    char *rest = text, *line;
    while ((line = strtok_r(rest, "\n", &rest))) read_line(line, &a, report);
    if (a.usage) return cli_complain("check", "%s", a.usage);
    if (a.closed)
        check_add(
            report, "device",
            "rmcp devices lists the devices, and why one is not usable; rmcp doctor what helps",
            "no device could be opened: %.700s", a.closed);
    if (!a.ended) add_end(child, &a, request->limit, report);
    conclude(&a, n_cases, report);
    if (a.is_cpu && (!request->device || !strcmp(request->device, "auto"))) {
        check_note(report, "no GPU was used: this is about the CPU");
        note_unusable(report);
    }
    return CLI_OK;
}

int check_engine(const struct check_request *request, cJSON *report)
{
    struct cli_cases cases = { 0 };
    rmcp_status status = cli_cases_suite(&cases, "check");
    char *text = malloc(MOST_ANSWER);
    if (!text && !status) status = rmcp_fail_memory("an answer", MOST_ANSWER);
    int exit_status = CLI_OK;
    if (!status) {
        struct engine_job job = { request, &cases };
        struct rmcp_child_output out = { .data = text, .size = MOST_ANSWER };
        const struct rmcp_child_request child_request = {
            .function = work, .context = &job, .out = &out, .limit_seconds = (double)request->limit
        };
        struct rmcp_child child;
        status = rmcp_child_run(&child_request, &child);
        if (!status) exit_status = read_answer(text, request, &child, cases.n, report);
    }
    if (status) exit_status = cli_failed("check", status);
    free(text);
    cli_cases_deinit(&cases);
    return exit_status;
}
