/* kernels.c: our kernels on the executor against the reference.
 * usage: sim_kernels [OPTION…] FOLDER CHIP FILE…
 * FOLDER has the code objects, CHIP executes them, FILE is a list of cases like
 * data/verify-full.txt.
 *   --most N      leave out cases of more than N million operations (default: none)
 *   --share I/N   only every N-th case, from the I-th (0 …) on
 *   --once        one kind of data a case in turn, instead of integers and reals
 *   --units N     compute units the cost models are told of (default: 40)
 *   --threads N   of the executor (default: one for each core)
 *   --act RULE    act out a silicon-bug pattern that has a documented effect, or "all"; may be
 * repeated
 *   --keep-going  reports are counted and not a failure
 *   --cover       every kernel of the table must have run
 *   --quiet       do not print each report and failure
 * Exit status: 0 when every result is right, nothing was reported, and all kernels ran if asked. */
#include "engine/gpu/kernels.h"
#include "base/hash.h"
#include "engine/core/judge.h"
#include "sim/device/device.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

struct session {
    rmcp_device *device;
    double most_flops;
    unsigned long share, shares;
    bool once, quiet;
    double flops; /* of all runs */
    uint64_t n_cases, n_runs, n_wrong, n_stopped, n_left_out;
    time_t told; /* when the last sign of life was given */
};

/* A line on stderr every minute: the whole suite takes long. */
static void tell(struct session *s)
{
    const time_t now = time(NULL);
    if (!s->told) s->told = now;
    if (now - s->told < 60) return;
    s->told = now;
    fprintf(stderr, "%" PRIu64 " cases, %" PRIu64 " runs, %" PRIu64 " failures so far\n",
            s->n_cases, s->n_runs, s->n_wrong + s->n_stopped);
}

/* An algorithm this much slower than the chosen one is left out on cases of this many operations.
 */
static const double heavy_flops = 2e8, too_slow = 4;

static void run(struct session *s, const struct rmcp_operation *operation, const void *problem,
                const char *algorithm, const char *text, enum rmcp_data data)
{
    struct rmcp_judgement result;
    const rmcp_status status =
        rmcp_judge_problem(s->device, operation, problem, algorithm, data,
                           rmcp_hash_text(RMCP_HASH_START ^ 1, text), 0, &result);
    s->n_runs++;
    if (!status && result.passed) return;
    if (status)
        s->n_stopped++;
    else
        s->n_wrong++;
    if (!s->quiet)
        printf("FAIL %s %s, %s: %s\n", text, algorithm,
               data == RMCP_DATA_INTEGERS ? "integers" : "reals",
               status ? rmcp_last_error() : result.why);
}

static void verify(struct session *s, const struct rmcp_operation *operation, const void *problem)
{
    char text[RMCP_CASE_MAX] = "";
    rmcp_candidate list[RMCP_MOST_ALGOS] = { { .struct_size = sizeof list[0] } };
    size_t n = RMCP_MOST_ALGOS, chosen = 0;
    const double flops = operation->flops(problem);
    rmcp_status status = rmcp_case_print(operation, problem, text, sizeof text);
    if (!status) status = rmcp_plan_ask(s->device, operation, problem, NULL, list, &n);
    if (status) {
        printf("FAIL %s: %s\n", text, rmcp_last_error());
        s->n_stopped++;
        return;
    }
    const uint64_t index = s->n_cases++;
    tell(s);
    if (flops > s->most_flops || index % s->shares != s->share) {
        s->n_left_out++;
        return;
    }
    while (chosen < n && !list[chosen].chosen) chosen++;
    for (size_t i = 0; i < n; i++) {
        if (*list[i].refusal) continue;
        if (flops > heavy_flops && chosen < n &&
            list[i].estimated_seconds > too_slow * list[chosen].estimated_seconds)
            continue;
        for (size_t data = 0; data < RMCP_N_DATA; data++)
            if (!s->once || (index + i) % RMCP_N_DATA == data) {
                s->flops += flops;
                run(s, operation, problem, list[i].algorithm, text, (enum rmcp_data)data);
            }
    }
}

/* All cases of a file; false when it cannot be read. */
static bool verify_file(struct session *s, const char *path)
{
    FILE *file = fopen(path, "r");
    if (!file) return false;
    char line[RMCP_CASE_MAX];
    while (fgets(line, sizeof line, file)) {
        line[strcspn(line, "\n")] = 0;
        if (!*line || *line == '#') continue;
        const struct rmcp_operation *operation = NULL;
        struct rmcp_any_problem problems[RMCP_MOST_PASSES];
        size_t n = 0;
        if (rmcp_case_parse(line, &operation, problems, &n)) {
            printf("FAIL %s: %s\n", line, rmcp_last_error());
            s->n_stopped++;
            continue;
        }
        for (size_t i = 0; i < n; i++) verify(s, operation, &problems[i]);
    }
    fclose(file);
    return true;
}

static void print_counts(const struct session *s, const char *folder, const char *chip)
{
    const struct sim_device_counts *c = sim_device_counts(s->device);
    uint64_t instructions = 0;
    for (int i = 0; i < SIM_N_CLASSES; i++) instructions += c->stats.instructions[i];
    printf("folder %s\nchip %s\ncases %" PRIu64 "\nleft-out %" PRIu64 "\nruns %" PRIu64
           "\nwrong %" PRIu64 "\nstopped %" PRIu64 "\nlaunches %" PRIu64 "\ninstructions %" PRIu64
           "\nfma %" PRIu64 "\nabsent %" PRIu64 "\nreports %" PRIu64
           "\nmillion-operations %.0f\nseconds %.1f\n",
           folder, chip, s->n_cases, s->n_left_out, s->n_runs, s->n_wrong, s->n_stopped,
           c->launches, instructions,
           c->stats.lanes[SIM_CLASS_FMA] + 2 * c->stats.lanes[SIM_CLASS_PKFMA], c->absent,
           c->reports, 1e-6 * s->flops, c->seconds);
    for (int i = 0; i < SIM_N_KINDS; i++)
        if (c->happened[i]) printf("kind:%s %" PRIu64 "\n", sim_kind_name(i), c->happened[i]);
    for (int i = 0; i < ISA_N_RULES; i++)
        if (c->patterns[i])
            printf("pattern:%s %" PRIu64 "\n", isa_rule_table[i].id, c->patterns[i]);
}

/* How many kernels of the table never ran to their end. */
static int count_missing(const rmcp_device *device, bool complain)
{
    int missing = 0;
    for (const struct rmcp_kernel *k = rmcp_kernels; k->name; k++)
        if (!sim_device_launches(device, k->name)) {
            missing++;
            if (complain) printf("FAIL %s never ran\n", k->name);
        }
    return missing;
}

/* The rules with an effect that a name means; 0 when there are none. */
static uint32_t rules_of(const char *name)
{
    uint32_t rules = 0;
    for (int i = 0; i < ISA_N_RULES; i++)
        if (!strcmp(name, isa_rule_table[i].id) || !strcmp(name, "all")) rules |= 1u << i;
    return rules & SIM_ACT_OUT;
}

static int usage(void)
{
    fputs("usage: sim_kernels [OPTION…] FOLDER CHIP FILE… (options: see tests/sim/kernels.c)\n",
          stderr);
    return 2;
}

int main(int argc, char **argv)
{
    struct session s = { .most_flops = 1e300, .shares = 1 };
    struct sim_device_options options = { .sim = { .checks = SIM_CHECK_ALL } };
    bool keep_going = false, cover = false;
    int at = 1;
    for (; at < argc && !strncmp(argv[at], "--", 2); at++) {
        const char *name = argv[at] + 2, *value = at + 1 < argc ? argv[at + 1] : "";
        if (!strcmp(name, "most"))
            s.most_flops = 1e6 * atof(value), at++;
        else if (!strcmp(name, "share") && sscanf(value, "%lu/%lu", &s.share, &s.shares) == 2)
            at++;
        else if (!strcmp(name, "units"))
            options.compute_units = (uint32_t)atoi(value), at++;
        else if (!strcmp(name, "threads"))
            options.sim.threads = (unsigned)atoi(value), at++;
        else if (!strcmp(name, "once"))
            s.once = true;
        else if (!strcmp(name, "act") && rules_of(value))
            options.sim.act_out |= rules_of(value), at++;
        else if (!strcmp(name, "keep-going"))
            keep_going = true;
        else if (!strcmp(name, "cover"))
            cover = true;
        else if (!strcmp(name, "quiet"))
            s.quiet = options.quiet = true;
        else
            return usage();
    }
    if (argc - at < 3 || s.shares == 0) return usage();
    const int chip = sim_device_chip(argv[at + 1]);
    if (chip < 0) return usage();
    setvbuf(stdout, NULL, _IOLBF, 0);
    options.folder = argv[at];
    options.sim.chip = (enum isa_chip)chip;
    if (sim_device_open(&options, &s.device)) {
        fprintf(stderr, "sim_kernels: %s\n", rmcp_last_error());
        return 2;
    }
    bool good = true;
    for (int i = at + 2; i < argc; i++)
        if (!verify_file(&s, argv[i])) {
            fprintf(stderr, "sim_kernels: %s cannot be read\n", argv[i]);
            good = false;
        }
    print_counts(&s, argv[at], argv[at + 1]);
    printf("kernels-not-run %d\n", count_missing(s.device, cover));
    good &= !s.n_wrong && !s.n_stopped && s.n_runs > 0;
    if (!keep_going) good &= sim_device_counts(s.device)->reports == 0;
    if (cover) good &= count_missing(s.device, false) == 0;
    rmcp_device_close(s.device);
    return good ? 0 : 1;
}
