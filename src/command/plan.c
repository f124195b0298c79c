/* plan.c: rmcp plan: which algorithm a case gets on a device, and why. */
#include "command/cli.h"

#include <inttypes.h>
#include <stdlib.h>

struct request {
    rmcp_device *device;
    rmcp_plan_options options;
    bool explain;
    cJSON *rows; /* with --json, else NULL */
};

static void print_candidates(const rmcp_candidate *list, size_t n)
{
    char time[32], bytes[32];
    printf("    %-16s %12s %12s  %s\n", "algorithm", "estimate", "workspace", "");
    for (size_t i = 0; i < n; i++)
        if (*list[i].refusal)
            printf("    %-16s %12s %12s  %s\n", list[i].algorithm, "-", "-", list[i].refusal);
        else
            printf("  %s %-16s %12s %12s  %s\n", list[i].chosen ? "*" : " ", list[i].algorithm,
                   cli_seconds(list[i].estimated_seconds, time),
                   cli_bytes(list[i].workspace_bytes, bytes), list[i].chosen ? "chosen" : "");
}

static cJSON *candidate_json(const rmcp_candidate *c)
{
    cJSON *row = cJSON_CreateObject();
    cJSON_AddStringToObject(row, "algorithm", c->algorithm);
    cJSON_AddBoolToObject(row, "chosen", (int)c->chosen);
    cJSON_AddNumberToObject(row, "error_factor", c->error_factor);
    if (*c->refusal) {
        cJSON_AddStringToObject(row, "refusal", c->refusal);
    } else {
        cJSON_AddNumberToObject(row, "estimated_seconds", c->estimated_seconds);
        cJSON_AddNumberToObject(row, "workspace_bytes", (double)c->workspace_bytes);
    }
    return row;
}

static void print_row(const struct request *r, const char *text, const rmcp_candidate *list,
                      size_t n, const rmcp_candidate *chosen)
{
    if (r->rows) {
        cJSON *row = cJSON_CreateObject();
        cJSON_AddStringToObject(row, "case", text);
        if (chosen)
            cJSON_AddStringToObject(row, "algorithm", chosen->algorithm);
        else
            cJSON_AddNullToObject(row, "algorithm");
        cJSON *candidates = cJSON_AddArrayToObject(row, "candidates");
        for (size_t i = 0; i < n; i++) cJSON_AddItemToArray(candidates, candidate_json(&list[i]));
        cJSON_AddItemToArray(r->rows, row);
        return;
    }
    char time[32], bytes[32];
    if (chosen)
        printf("%s\n  %s, about %s, workspace %s\n", text, chosen->algorithm,
               cli_seconds(chosen->estimated_seconds, time),
               cli_bytes(chosen->workspace_bytes, bytes));
    else
        printf("%s\n  no algorithm can do this here\n", text);
    if (r->explain || !chosen) print_candidates(list, n);
}

static int plan_case(const struct request *r, const struct cli_case *one)
{
    char text[RMCP_CASE_MAX];
    rmcp_candidate list[RMCP_MOST_ALGOS] = { { .struct_size = sizeof list[0] } };
    size_t n = RMCP_MOST_ALGOS;
    rmcp_status status = rmcp_case_print(one->operation, one->problem.bytes, text, sizeof text);
    if (!status)
        status =
            rmcp_plan_ask(r->device, one->operation, one->problem.bytes, &r->options, list, &n);
    if (status) return cli_failed("plan", status);

    const rmcp_candidate *chosen = NULL;
    for (size_t i = 0; i < n; i++)
        if (list[i].chosen) chosen = &list[i];
    print_row(r, text, list, n, chosen);
    return chosen ? CLI_OK : CLI_FINDINGS;
}

int cli_plan(int argc, char **argv)
{
    const char *device = NULL, *algorithm = NULL;
    uint64_t threads = 0, max_workspace = UINT64_MAX, max_error = 0;
    int effort = 0;
    bool json = false, strict = false;
    struct request r = { .options.struct_size = sizeof r.options };
    const struct cli_option options[] = {
        { "device", CLI_TEXT, &device, "SPEC", "device to plan for (default auto)", NULL },
        { "explain", CLI_FLAG, &r.explain, NULL, "every algorithm: its cost, or why it refused",
          NULL },
        { "effort", CLI_CHOICE, &effort, "E", "estimate (default) or measure", cli_efforts },
        { "algorithm", CLI_TEXT, &algorithm, "NAME", "this algorithm or none", NULL },
        { "max-workspace", CLI_NUMBER, &max_workspace, "BYTES", "limit of workspace", NULL },
        { "strict", CLI_FLAG, &strict, NULL, "NaN and Inf exactly as IEEE 754 says", NULL },
        { "max-error", CLI_NUMBER, &max_error, "N",
          "errors up to N times those of plain sums (1, 4, 8)", NULL },
        { "threads", CLI_NUMBER, &threads, "N", "threads of the cpu device", NULL },
        { "json", CLI_FLAG, &json, NULL, "print JSON", NULL },
        { NULL, CLI_FLAG, NULL, NULL, NULL, NULL },
    };
    const struct cli_usage usage = {
        .command = "plan",
        .arguments = "CASE…",
        .about = "Shows which algorithm each pass of a case gets, without running it. Times are\n"
                 "estimates of the cost model. A case string names its pass, or all are shown.",
        .example = "  rmcp plan --explain n8c64h56w56k64r3s3p1",
        .options = options,
    };
    int n_arguments, exit_status;
    if (!cli_parse(&usage, argc, argv, &n_arguments, &exit_status)) return exit_status;
    if (!n_arguments) return cli_complain("plan", "no case given; rmcp plan --help has an example");
    if ((exit_status = cli_refuse_zero(&usage, "threads", threads)) ||
        (exit_status = cli_refuse_zero(&usage, "max-error", max_error)))
        return exit_status;
    r.options.effort = (uint32_t)effort;
    r.options.algorithm = algorithm;
    r.options.accuracy = strict ? RMCP_STRICT : RMCP_ACCURATE;
    r.options.max_error = (double)max_error;
    if (max_workspace != UINT64_MAX)
        r.options.max_workspace = max_workspace ? max_workspace : RMCP_NO_WORKSPACE;

    struct cli_cases cases = { 0 };
    exit_status = cli_cases_read("plan", &cases, n_arguments, argv);
    if (!exit_status) exit_status = cli_open("plan", device, threads, &r.device);
    cJSON *object = json && !exit_status ? cJSON_CreateObject() : NULL;
    if (object) {
        cJSON_AddStringToObject(object, "device", r.device->info.spec);
        r.rows = cJSON_AddArrayToObject(object, "plans");
    }
    for (size_t i = 0; i < cases.n && r.device && exit_status < CLI_USAGE; i++) {
        const int result = plan_case(&r, &cases.list[i]);
        if (result > exit_status) exit_status = result;
    }
    if (object && exit_status < CLI_USAGE) {
        int written = cli_print_json(object, "rmcp.plan/1");
        if (written) exit_status = written;
    } else {
        cJSON_Delete(object);
    }
    rmcp_device_close(r.device);
    cli_cases_deinit(&cases);
    return exit_status;
}
