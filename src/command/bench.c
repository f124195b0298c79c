/* bench.c: rmcp bench: times convolutions on one device. */
#include "base/random.h"
#include "command/bench_page.h"
#include "command/cli.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

struct bench_session {
    rmcp_device *device;
    rmcp_plan_options options;
    uint64_t repeats;
    double seconds_each;     /* stop repeating after this long */
    cJSON *rows;             /* with --json, else NULL */
    struct bench_page *page; /* with --html, else NULL */
    double total_seconds[RMCP_MOST_PASSES], total_flops[RMCP_MOST_PASSES];
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

static rmcp_status repeat(const struct bench_session *s, const rmcp_plan *plan,
                          const rmcp_memory memory[static RMCP_MOST_SLOTS], struct timing *timing)
{
    double *times = malloc((size_t)s->repeats * sizeof *times), spent = 0;
    if (!times) return rmcp_fail_memory("times", (size_t)s->repeats * sizeof *times);
    const uint64_t workspace = rmcp_plan_workspace(plan);
    rmcp_status status =
        rmcp_plan_execute_unchecked(plan, NULL, memory, NULL, workspace, &times[0]); /* warms up */
    uint64_t n = 0;
    while (n < s->repeats && !status && (n < 3 || spent < s->seconds_each)) {
        status = rmcp_plan_execute_unchecked(plan, NULL, memory, NULL, workspace, &times[n]);
        spent += times[n++];
    }
    if (!status) {
        qsort(times, (size_t)n, sizeof *times, by_value);
        *timing = (struct timing){ times[0], times[n / 2], n };
    }
    free(times);
    return status;
}

static rmcp_status time_plan(const struct bench_session *s, const struct cli_case *one,
                             const rmcp_plan *plan, struct timing *timing)
{
    uint64_t bytes[RMCP_MOST_SLOTS];
    rmcp_slot_bytes(one->operation, one->problem.bytes, rmcp_plan_workspace(plan), bytes);
    rmcp_memory memory[RMCP_MOST_SLOTS] = { { 0 } };
    void *pattern = random_pattern();
    rmcp_status status = pattern ? RMCP_OK : rmcp_fail_memory("random data", RMCP_PATTERN_BYTES);
    for (int slot = 0; slot < RMCP_MOST_SLOTS && !status; slot++)
        if (bytes[slot])
            status = rmcp_buffer_filled(s->device, bytes[slot], pattern, &memory[slot]);
    free(pattern);
    if (!status) status = repeat(s, plan, memory, timing);
    for (int slot = 0; slot < RMCP_MOST_SLOTS; slot++) rmcp_buffer_destroy(s->device, memory[slot]);
    return status;
}

static void report(struct bench_session *s, const struct cli_case *one, const char *text,
                   const char *algorithm, const struct timing *t)
{
    const double flops = one->operation->flops(one->problem.bytes);
    const double bytes = one->operation->bytes(one->problem.bytes);
    if (s->page && bench_add(s->page, one, algorithm, t->best, 0)) {
        s->n_failed++;
        cli_complain("bench", "%s: %s", text, rmcp_last_error());
    }
    if (!s->rows) {
        char time[32];
        printf("%-14s %12s %10.1f %8.1f  %-14s %s\n", one->label, cli_seconds(t->best, time),
               flops / t->best * 1e-9, bytes / t->best * 1e-9, algorithm, text);
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
    cJSON_AddNumberToObject(row, "flops", flops);
    cJSON_AddNumberToObject(row, "bytes", bytes);
    cJSON_AddItemToArray(s->rows, row);
}

static void bench(struct bench_session *s, const struct cli_case *one)
{
    char text[RMCP_CASE_MAX] = "";
    struct timing timing = { 0 };
    rmcp_plan *plan = NULL;
    rmcp_status status = rmcp_case_print(one->operation, one->problem.bytes, text, sizeof text);
    if (!status)
        status = rmcp_plan_make(s->device, one->operation, one->problem.bytes, &s->options, &plan);
    if (!status) status = time_plan(s, one, plan, &timing);
    cli_progress(0, 0, NULL);
    if (status) {
        s->n_failed++;
        cli_complain("bench", "%s: %s", text, rmcp_last_error());
    } else {
        const unsigned pass = one->operation->trait(one->problem.bytes, 0);
        s->total_seconds[pass] += timing.best * one->count;
        s->total_flops[pass] += one->operation->flops(one->problem.bytes) * one->count;
        report(s, one, text, rmcp_plan_algorithm(plan), &timing);
    }
    rmcp_plan_destroy(plan);
}

/* Of the layers of a network. */
static void print_totals(const struct bench_session *s)
{
    char time[32];
    for (int pass = 0; pass < RMCP_CONV_PASSES; pass++)
        if (s->total_seconds[pass] > 0)
            printf("%s%s, all layers: %s, %.1f GFLOP/s\n", pass ? "" : "\n", cli_passes[pass],
                   cli_seconds(s->total_seconds[pass], time),
                   s->total_flops[pass] / s->total_seconds[pass] * 1e-9);
}

static void bench_all(struct bench_session *s, const struct cli_cases *cases)
{
    for (size_t i = 0; i < cases->n; i++) {
        cli_progress(i, cases->n, cases->list[i].label);
        bench(s, &cases->list[i]);
    }
    cli_progress(0, 0, NULL);
}

/* What the command line asks for besides the session's own settings. */
struct wish {
    const char *device, *network;
    uint64_t batch, threads;
    int type, layout, pass, effort; /* -1: as the case says */
    bool json;
    const char *html, *against, *from, *title, *limit; /* of the page */
};

/* Leave out the cases of other passes than the wish's. */
static void keep_pass(struct cli_cases *cases, int pass)
{
    size_t kept = 0;
    for (size_t i = 0; i < cases->n; i++)
        if (pass < 0 ||
            cases->list[i].operation->trait(cases->list[i].problem.bytes, 0) == (unsigned)pass)
            cases->list[kept++] = cases->list[i];
    cases->n = kept;
}

/* The cases of a run: those on the command line, then those of a network. */
static int collect(const struct wish *wish, int n_texts, char **texts, struct cli_cases *cases)
{
    for (int i = 0; i < n_texts; i++) {
        /* --pass chooses among the passes that a text leaves open. */
        struct cli_cases open = { 0 };
        int exit_status = cli_cases_read("bench", &open, 1, &texts[i]);
        if (!exit_status && wish->pass >= 0 && open.list[0].operation != &rmcp_operation_conv)
            exit_status =
                cli_complain("bench", "--pass is for convolutions; '%.200s' is none", texts[i]);
        if (!exit_status) keep_pass(&open, wish->pass);
        if (!exit_status && !open.n)
            exit_status = cli_complain("bench", "--pass is %s, and '%.200s' is another one",
                                       cli_passes[wish->pass], texts[i]);
        for (size_t k = 0; k < open.n && !exit_status; k++)
            if (cli_case_add(cases, &open.list[k])) exit_status = CLI_INTERNAL;
        cli_cases_deinit(&open);
        if (exit_status) return exit_status;
    }
    if (!wish->network) return CLI_OK;
    const struct cli_network network = {
        .name = wish->network,
        .batch = (int64_t)wish->batch,
        .type = wish->type,
        .layout = wish->layout,
        .pass = wish->pass,
    };
    rmcp_status status = cli_cases_network(cases, &network);
    return status ? cli_failed("bench", status) : CLI_OK;
}

static int run(struct bench_session *s, const struct wish *wish, const struct cli_cases *cases)
{
    int exit_status = cli_open("bench", wish->device, wish->threads, &s->device);
    if (exit_status) return exit_status;
    const rmcp_device_info *info = &s->device->info;
    cJSON *object = wish->json ? cJSON_CreateObject() : NULL;
    if (s->page) {
        snprintf(s->page->device, sizeof s->page->device, "%s (%s)", info->name, info->spec);
        snprintf(s->page->driver, sizeof s->page->driver, "%s", info->driver);
        if (!info->is_cpu && !wish->limit) { /* a processor's figures are rough ones */
            s->page->flops_per_second = s->device->caps.flops_per_second;
            s->page->bytes_per_second = s->device->caps.bytes_per_second;
        }
    }
    if (object) {
        cJSON_AddStringToObject(object, "device", info->spec);
        cJSON_AddStringToObject(object, "driver", info->driver);
        s->rows = cJSON_AddArrayToObject(object, "results");
    } else {
        printf("device %s: %s (%s)\n%-14s %12s %10s %8s  %-14s %s\n", info->spec, info->name,
               info->driver, "layer", "best", "GFLOP/s", "GB/s", "algorithm", "case");
    }
    bench_all(s, cases);
    if (object)
        exit_status = cli_print_json(object, "rmcp.bench/1");
    else if (wish->network)
        print_totals(s);
    rmcp_device_close(s->device);
    return !exit_status && s->n_failed ? CLI_FINDINGS : exit_status;
}

/* The device's limit, as --limit says it: GFLOP/s and GB/s. */
static int read_limit(const char *text, struct bench_page *page)
{
    double flops, bytes;
    char more;
    if (!text) return CLI_OK;
    if (sscanf(text, "%lf,%lf%c", &flops, &bytes, &more) != 2 || !(flops > 0) || !(bytes > 0) ||
        !isfinite(flops) || !isfinite(bytes))
        return cli_complain("bench", "--limit is '%.40s'; GFLOP/s and GB/s, like 7188,288", text);
    page->flops_per_second = flops * 1e9;
    page->bytes_per_second = bytes * 1e9;
    return CLI_OK;
}

/* The page, of what was timed just now or (--from) before. */
static int write_page(struct bench_page *page, const struct wish *wish)
{
    rmcp_status status = wish->from ? bench_read_rows(page, wish->from) : RMCP_OK;
    if (!status && wish->against) status = bench_read_theirs(page, wish->against);
    if (status) return cli_failed("bench", status);
    if (wish->from) snprintf(page->device, sizeof page->device, "%s", wish->from);
    if (wish->title) snprintf(page->device, sizeof page->device, "%s", wish->title);
    const int exit_status = read_limit(wish->limit, page);
    if (exit_status) return exit_status;
    return bench_write_page(page, wish->html);
}

int cli_bench(int argc, char **argv)
{
    struct wish wish = { .type = -1, .layout = -1, .pass = -1 };
    struct bench_session s = { .options.struct_size = sizeof s.options,
                               .repeats = 20,
                               .seconds_each = 1 };
    const struct cli_option options[] = {
        { "device", CLI_TEXT, &wish.device, "SPEC", "device to time (default auto)", NULL },
        { "network", CLI_TEXT, &wish.network, "NAME", cli_networks(), NULL },
        { "batch", CLI_NUMBER, &wish.batch, "N", "images at once (default: 1, DeepBench: its own)",
          NULL },
        { "type", CLI_CHOICE, &wish.type, "T", "f32, f16 or bf16, for networks", rmcp_type_names },
        { "layout", CLI_CHOICE, &wish.layout, "L", "nchw or nhwc, for networks", cli_layouts },
        { "pass", CLI_CHOICE, &wish.pass, "P", "fwd, bwd_data or bwd_weights (default all)",
          cli_passes },
        { "repeats", CLI_NUMBER, &s.repeats, "N", "runs of each, within a second (default 20)",
          NULL },
        { "effort", CLI_CHOICE, &wish.effort, "E", "estimate (default) or measure", cli_efforts },
        { "algorithm", CLI_TEXT, &s.options.algorithm, "NAME", "this algorithm or none", NULL },
        { "threads", CLI_NUMBER, &wish.threads, "N", "threads of the cpu device", NULL },
        { "json", CLI_FLAG, &wish.json, NULL, "print JSON", NULL },
        { "html", CLI_TEXT, &wish.html, "FILE",
          "also write one page with tables and plots, which needs no other file", NULL },
        { "against", CLI_TEXT, &wish.against, "FILE",
          "times to compare with on that page: results.csv of bench/compare_cudnn.py,\n"
          "                         JSON of bench/compare_cpu.py or of another rmcp bench",
          NULL },
        { "from", CLI_TEXT, &wish.from, "FILE", "time nothing: the page of such a file's times",
          NULL },
        { "title", CLI_TEXT, &wish.title, "TEXT", "what the page is called (default the device)",
          NULL },
        { "limit", CLI_TEXT, &wish.limit, "G,B",
          "the device's GFLOP/s in f32 and GB/s, for the page (default: what it says)", NULL },
        { NULL, CLI_FLAG, NULL, NULL, NULL, NULL },
    };
    const struct cli_usage usage = {
        .command = "bench",
        .arguments = "[CASE…]",
        .about =
            "Times operations: the fastest of several runs; the rate, a convolution's counted as\n"
            "direct convolution (2 operations per multiplication); and the memory's, each\n"
            "tensor counted as often as it must be read or written. Totals weigh each layer\n"
            "by how often the network has it.",
        .example = "  rmcp bench --network resnet50 --batch 8 --pass fwd\n"
                   "  rmcp bench n8c64h56w56k64r3s3p1:f32:nchw:fwd\n"
                   "  rmcp bench --network resnet50 --html bench.html --against cudnn/results.csv",
        .options = options,
    };
    int n_texts, exit_status;
    if (!cli_parse(&usage, argc, argv, &n_texts, &exit_status)) return exit_status;
    if (s.repeats < 1 || s.repeats > 1000000)
        return cli_complain("bench", "--repeats is %" PRIu64 "; from 1 to 1000000", s.repeats);
    if (wish.batch > INT32_MAX)
        return cli_complain("bench", "--batch is %" PRIu64 ", too large", wish.batch);
    if ((exit_status = cli_refuse_zero(&usage, "batch", wish.batch)) ||
        (exit_status = cli_refuse_zero(&usage, "threads", wish.threads)))
        return exit_status;
    if (n_texts && (exit_status = cli_refuse(&usage, "batch type layout",
                                             "is for --network alone; a case says it itself, as in "
                                             "n8c64h56w56k64r3s3p1:f16:nhwc")))
        return exit_status;
    if (!wish.html && (exit_status = cli_refuse(&usage, "against from title limit",
                                                "is for a page: --html FILE")))
        return exit_status;
    if (wish.html && (exit_status = bench_check_page(wish.html))) return exit_status;
    struct bench_page page = { 0 };
    if (wish.from) {
        if (n_texts ||
            (exit_status = cli_refuse(&usage,
                                      "device network batch type layout pass repeats effort "
                                      "algorithm threads json",
                                      "is for timing, and --from times nothing")))
            return n_texts ? cli_complain("bench", "--from times nothing; no case is needed")
                           : exit_status;
        exit_status = write_page(&page, &wish);
        bench_deinit(&page);
        return exit_status;
    }
    if (!wish.network && !n_texts)
        return cli_complain("bench", "give cases or --network NAME: %s", cli_networks());
    if ((exit_status = cli_check_algorithm("bench", s.options.algorithm))) return exit_status;
    s.options.effort = (uint32_t)wish.effort;

    struct cli_cases cases = { 0 };
    if (wish.html) s.page = &page;
    exit_status = read_limit(wish.limit, &page);
    if (!exit_status) exit_status = collect(&wish, n_texts, argv, &cases);
    if (!exit_status) exit_status = run(&s, &wish, &cases);
    if (wish.html && page.n) {
        const int written = write_page(&page, &wish);
        if (written) exit_status = written;
    }
    cli_cases_deinit(&cases);
    bench_deinit(&page);
    return exit_status;
}
