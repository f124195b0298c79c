/* bench.c: rmcp bench: times convolutions on one device. */
#include "cli/cli.h"
#include "verify/random.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

struct session {
    rmcp_device *device;
    rmcp_plan_options options;
    uint64_t repeats;
    double seconds_each; /* stop repeating after this long */
    cJSON *rows;         /* with --json, else NULL */
    double total_seconds[RMCP_N_PASSES], total_flops[RMCP_N_PASSES];
    size_t n_failed;
};

struct timing {
    double best, median;
    uint64_t runs;
};

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Small random numbers: zeros and denormals would flatter or hurt. NULL when memory is short. */
static void *random_pattern(void)
{
    uint32_t *data = malloc(RMCP_PATTERN_BYTES);
    struct rmcp_random r = { 1 };
    /* 0x3cxx in either half of a word: about 1 as f16, about 0.01 as f32 and bf16 */
    for (size_t i = 0; data && i < RMCP_PATTERN_BYTES / sizeof *data; i++)
        data[i] = 0x3c003c00u | ((uint32_t)rmcp_random_next(&r) & 0x80ff80ffu);
    return data;
}

static rmcp_status repeat(const struct session *s, const rmcp_plan *plan,
                          const rmcp_tensors *tensors, struct timing *timing)
{
    double *times = malloc((size_t)s->repeats * sizeof *times), spent = 0;
    if (!times) return rmcp_fail_memory("times", (size_t)s->repeats * sizeof *times);
    rmcp_status status = rmcp_execute_timed(plan, NULL, tensors, &times[0]); /* warms up */
    uint64_t n = 0;
    while (n < s->repeats && !status && (n < 3 || spent < s->seconds_each)) {
        status = rmcp_execute_timed(plan, NULL, tensors, &times[n]);
        spent += times[n++];
    }
    if (!status) {
        qsort(times, (size_t)n, sizeof *times, by_value);
        *timing = (struct timing){ times[0], times[n / 2], n };
    }
    free(times);
    return status;
}

static rmcp_status time_plan(const struct session *s, const rmcp_plan *plan, const rmcp_shape *shape,
                             struct timing *timing)
{
    const uint64_t bytes[] = { shape->x_bytes, shape->w_bytes, shape->y_bytes, shape->bias_bytes,
                               rmcp_plan_workspace(plan) };
    rmcp_memory memory[RMCP_N_SLOTS] = { { 0 } };
    void *pattern = random_pattern();
    rmcp_status status = pattern ? RMCP_OK : rmcp_fail_memory("random data", RMCP_PATTERN_BYTES);
    for (int slot = 0; slot < RMCP_N_SLOTS && !status; slot++)
        if (bytes[slot])
            status = rmcp_buffer_filled(s->device, bytes[slot], pattern, &memory[slot]);
    free(pattern);
    if (!status) {
        const rmcp_tensors tensors = rmcp_tensors_of(memory, bytes[RMCP_SLOT_WORKSPACE]);
        status = repeat(s, plan, &tensors, timing);
    }
    for (int slot = 0; slot < RMCP_N_SLOTS; slot++) rmcp_buffer_destroy(s->device, memory[slot]);
    return status;
}

static void report(struct session *s, const struct cli_case *one, const char *text,
                   const char *algorithm, const rmcp_shape *shape, const struct timing *t)
{
    if (!s->rows) {
        char time[32];
        printf("%-14s %12s %10.1f  %-14s %s\n", one->label, cli_seconds(t->best, time),
               shape->flops / t->best * 1e-9, algorithm, text);
        fflush(stdout);
        return;
    }
    cJSON *row = cJSON_CreateObject();
    cJSON_AddStringToObject(row, "case", text);
    cJSON_AddStringToObject(row, "layer", one->label);
    cJSON_AddNumberToObject(row, "count", one->count);
    cJSON_AddStringToObject(row, "algorithm", algorithm);
    cJSON_AddNumberToObject(row, "seconds_best", t->best);
    cJSON_AddNumberToObject(row, "seconds_median", t->median);
    cJSON_AddNumberToObject(row, "runs", (double)t->runs);
    cJSON_AddNumberToObject(row, "flops", shape->flops);
    cJSON_AddItemToArray(s->rows, row);
}

static void bench(struct session *s, const struct cli_case *one, rmcp_pass pass)
{
    char text[RMCP_CASE_MAX] = "";
    rmcp_shape shape = { .struct_size = sizeof shape };
    struct timing timing = { 0 };
    rmcp_plan *plan = NULL;
    rmcp_status status = rmcp_problem_print(&one->problem, (int)pass, text, sizeof text);
    if (!status) status = rmcp_problem_shape(&one->problem, &shape);
    if (!status) status = rmcp_plan_create(s->device, &one->problem, pass, &s->options, &plan);
    if (!status) status = time_plan(s, plan, &shape, &timing);
    if (status) {
        s->n_failed++;
        cli_progress(0, 0, NULL);
        cli_complain("bench", "%s: %s", text, rmcp_last_error());
    } else {
        s->total_seconds[pass] += timing.best * one->count;
        s->total_flops[pass] += shape.flops * one->count;
        cli_progress(0, 0, NULL);
        report(s, one, text, rmcp_plan_algorithm(plan), &shape, &timing);
    }
    rmcp_plan_destroy(plan);
}

static void print_totals(const struct session *s)
{
    char time[32];
    for (int pass = 0; pass < RMCP_N_PASSES; pass++)
        if (s->total_seconds[pass] > 0)
            printf("%s%s, all layers: %s, %.1f GFLOP/s\n", pass ? "" : "\n", cli_passes[pass],
                   cli_seconds(s->total_seconds[pass], time),
                   s->total_flops[pass] / s->total_seconds[pass] * 1e-9);
}

static void bench_all(struct session *s, const struct cli_cases *cases, int only_pass)
{
    size_t done = 0;
    for (size_t i = 0; i < cases->n; i++)
        for (int pass = 0; pass < RMCP_N_PASSES; pass++) {
            int wanted = cases->list[i].pass >= 0 ? cases->list[i].pass : only_pass;
            if (wanted >= 0 && wanted != pass) continue;
            cli_progress(done++, cases->n * (wanted < 0 ? RMCP_N_PASSES : 1), cases->list[i].label);
            bench(s, &cases->list[i], (rmcp_pass)pass);
        }
    cli_progress(0, 0, NULL);
}

int cli_bench(int argc, char **argv)
{
    const char *device = NULL, *network = NULL, *type = NULL, *layout = NULL, *pass = NULL,
               *effort = "estimate", *algorithm = NULL;
    uint64_t batch = 0, threads = 0;
    bool json = false;
    struct session s = { .options.struct_size = sizeof s.options, .repeats = 20, .seconds_each = 1 };
    const struct cli_option options[] = {
        { "device", CLI_TEXT, &device, "SPEC", "device to time (default auto)" },
        { "network", CLI_TEXT, &network, "NAME", cli_networks() },
        { "batch", CLI_NUMBER, &batch, "N", "images at once (default: 1, DeepBench: its own)" },
        { "type", CLI_TEXT, &type, "T", "f32, f16 or bf16, for networks" },
        { "layout", CLI_TEXT, &layout, "L", "nchw or nhwc, for networks" },
        { "pass", CLI_TEXT, &pass, "P", "fwd, bwd_data or bwd_weights (default all)" },
        { "repeats", CLI_NUMBER, &s.repeats, "N", "runs of each, within a second (default 20)" },
        { "effort", CLI_TEXT, &effort, "E", "estimate (default) or measure" },
        { "algorithm", CLI_TEXT, &algorithm, "NAME", "this algorithm or none" },
        { "threads", CLI_NUMBER, &threads, "N", "threads of the cpu device" },
        { "json", CLI_FLAG, &json, NULL, "print JSON" },
        { NULL, CLI_FLAG, NULL, NULL, NULL },
    };
    const struct cli_usage usage = {
        .command = "bench",
        .arguments = "[CASE…]",
        .about = "Times convolutions: the fastest of several runs, and the rate counted as direct\n"
                 "convolution (2 operations per multiplication). Totals weigh each layer by how\n"
                 "often the network has it.",
        .example = "  rmcp bench --network resnet50 --batch 8 --pass fwd\n"
                   "  rmcp bench n8c64h56w56k64r3s3p1:f32:nchw:fwd",
        .options = options,
    };
    int n_texts, exit_status;
    if (!cli_parse(&usage, argc, argv, &n_texts, &exit_status)) return exit_status;
    static const char *const efforts[] = { "estimate", "measure" };
    const int type_index = type ? cli_find(type, cli_types, 3) : -1;
    const int layout_index = layout ? cli_find(layout, cli_layouts, 2) : -1;
    const int pass_index = pass ? cli_find(pass, cli_passes, RMCP_N_PASSES) : -1;
    const int effort_index = cli_find(effort, efforts, 2);
    if (type && type_index < 0)
        return cli_complain("bench", "--type is '%.40s'; known are f32, f16 and bf16", type);
    if (layout && layout_index < 0)
        return cli_complain("bench", "--layout is '%.40s'; known are nchw and nhwc", layout);
    if (pass && pass_index < 0)
        return cli_complain("bench", "--pass is '%.40s'; known are fwd, bwd_data, bwd_weights", pass);
    if (effort_index < 0)
        return cli_complain("bench", "--effort is '%.40s'; known are estimate and measure", effort);
    if (s.repeats < 1 || s.repeats > 1000000)
        return cli_complain("bench", "--repeats is %" PRIu64 "; from 1 to 1000000", s.repeats);
    if (batch > INT32_MAX) return cli_complain("bench", "--batch is %" PRIu64 ", too large", batch);
    if (!network && !n_texts)
        return cli_complain("bench", "give cases or --network NAME: %s", cli_networks());
    if ((exit_status = cli_check_algorithm("bench", algorithm))) return exit_status;
    s.options.effort = (uint32_t)effort_index;
    s.options.algorithm = algorithm;

    struct cli_cases cases = { 0 };
    exit_status = cli_cases_read("bench", &cases, n_texts, argv);
    if (!exit_status && network) {
        const size_t first = cases.n;
        rmcp_status status = cli_cases_network(&cases, network, (int64_t)batch);
        if (status) exit_status = cli_failed("bench", status);
        for (size_t i = first; i < cases.n; i++) {
            if (type) cases.list[i].problem.type = (uint32_t)type_index;
            if (layout) cases.list[i].problem.layout = (uint32_t)layout_index;
        }
    }
    if (!exit_status) exit_status = cli_open("bench", device, threads, &s.device);
    if (!exit_status) {
        cJSON *object = json ? cJSON_CreateObject() : NULL;
        if (object) {
            cJSON_AddStringToObject(object, "device", s.device->info.spec);
            cJSON_AddStringToObject(object, "driver", s.device->info.driver);
            s.rows = cJSON_AddArrayToObject(object, "results");
        } else {
            printf("device %s: %s (%s)\n%-14s %12s %10s  %-14s %s\n", s.device->info.spec,
                   s.device->info.name, s.device->info.driver, "layer", "best", "GFLOP/s",
                   "algorithm", "case");
        }
        bench_all(&s, &cases, pass_index);
        if (object)
            exit_status = cli_print_json(object, "rmcp.bench/1");
        else if (cases.n > 1)
            print_totals(&s);
        if (!exit_status && s.n_failed) exit_status = CLI_FINDINGS;
    }
    rmcp_device_close(s.device);
    cli_cases_deinit(&cases);
    return exit_status;
}
