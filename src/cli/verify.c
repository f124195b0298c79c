/* verify.c: rmcp verify: checks a device against the double-precision reference. */
#include "verify/verify.h"
#include "cli/cli.h"
#include "base/hash.h"
#include "core/trial_answer.h"
#include "verify/random.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* An algorithm this much slower than the chosen one is left out on cases of this many operations.
 */
static const double heavy_flops = 2e8, too_slow = 4;

struct session {
    rmcp_device *device;
    const char *algorithm; /* only this one; NULL: all that apply */
    uint64_t seed;
    bool fuzz; /* one kind of data per case, in turn */
    cJSON *failures;
    size_t n_cases, n_runs, n_failed, n_left_out;
    size_t by_algo[RMCP_MOST_ALGOS][RMCP_N_PASSES];
    size_t by_pass[RMCP_N_PASSES], by_type[3], by_layout[2], by_dims[RMCP_MAX_DIMS + 1];
    double worst;
    char worst_case[RMCP_CASE_MAX];
    struct rmcp_guard_finding
        trial; /* of --trial: the first failure, one of the algorithm before others */
};

static const char *const data_names[] = { "integers", "reals" };

/* Inputs follow from the seed and the case alone, so that a case repeats outside its suite. */
static uint64_t data_seed(const struct session *s, const char *text)
{
    return rmcp_hash_text(RMCP_HASH_START ^ s->seed, text);
}

/* A want of memory and a refusal say nothing about an algorithm: it has not run. */
static void note_for_trial(struct session *s, bool ran, const char *text, const char *algorithm,
                           const char *data, const char *why)
{
    if (s->trial.state == RMCP_GUARD_BAD || (*s->trial.reason && !ran)) return;
    s->trial.state = ran ? RMCP_GUARD_BAD : RMCP_GUARD_UNTRIED;
    snprintf(s->trial.reason, sizeof s->trial.reason, "%s %s, %s: %s", text, algorithm, data, why);
}

static void fail(struct session *s, bool ran, const char *text, const char *algorithm,
                 const char *data, const char *why)
{
    s->n_failed++;
    note_for_trial(s, ran, text, algorithm, data, why);
    cli_progress(0, 0, NULL);
    if (s->failures) {
        cJSON *row = cJSON_CreateObject();
        cJSON_AddStringToObject(row, "case", text);
        cJSON_AddStringToObject(row, "algorithm", algorithm);
        cJSON_AddStringToObject(row, "data", data);
        cJSON_AddStringToObject(row, "why", why);
        cJSON_AddItemToArray(s->failures, row);
        return;
    }
    printf("FAIL %s %s, %s: %s\n     repeat: rmcp verify --device %s --algorithm %s --seed %" PRIu64
           " %s\n",
           text, algorithm, data, why, s->device->info.spec, algorithm, s->seed, text);
}

static void run(struct session *s, const struct cli_case *one, rmcp_pass pass, size_t algo,
                const char *text, enum rmcp_verify_data data)
{
    struct rmcp_verify_result result;
    const char *name = rmcp_algos[algo]->name;
    rmcp_status status = rmcp_verify_case(s->device, &one->problem, pass, name, data,
                                          data_seed(s, text), 0, &result);
    s->n_runs++;
    if (status) {
        fail(s, status != RMCP_E_NOMEM, text, name, data_names[data], rmcp_last_error());
    } else if (!result.passed) {
        fail(s, true, text, name, data_names[data], result.why);
    } else if (result.worst > s->worst) {
        s->worst = result.worst;
        snprintf(s->worst_case, sizeof s->worst_case, "%s", text);
    }
}

/* Whether algorithm `i` takes part in a case. */
static bool takes_part(struct session *s, size_t i, const rmcp_candidate *list, size_t chosen,
                       double flops)
{
    if (*list[i].refusal) return false;
    if (s->algorithm || i == chosen) return true;
    if (rmcp_algos[i]->judge) return false;
    if (flops > heavy_flops &&
        list[i].estimated_seconds > too_slow * list[chosen].estimated_seconds) {
        s->n_left_out++;
        return false;
    }
    return true;
}

/* What the algorithm that was asked for says against the case. */
static const char *refusal(const struct session *s, const rmcp_candidate *list, size_t n)
{
    for (size_t i = 0; i < n && s->algorithm; i++)
        if (!strcmp(list[i].algorithm, s->algorithm)) return list[i].refusal;
    return "no algorithm can do this here";
}

static void verify(struct session *s, const struct cli_case *one, rmcp_pass pass)
{
    char text[RMCP_CASE_MAX] = "";
    rmcp_candidate list[RMCP_MOST_ALGOS] = { { .struct_size = sizeof list[0] } };
    size_t n = RMCP_MOST_ALGOS, chosen = n;
    rmcp_plan_options options = { .struct_size = sizeof options, .algorithm = s->algorithm };
    rmcp_shape shape = { .struct_size = sizeof shape };
    rmcp_status status = rmcp_problem_print(&one->problem, (int)pass, text, sizeof text);
    if (!status) status = rmcp_problem_shape(&one->problem, &shape);
    if (!status) status = rmcp_plan_candidates(s->device, &one->problem, pass, &options, list, &n);
    for (size_t i = 0; i < n && !status; i++)
        if (list[i].chosen) chosen = i;

    const size_t index = s->n_cases++;
    s->by_pass[pass]++;
    s->by_type[one->problem.type]++;
    s->by_layout[one->problem.layout]++;
    s->by_dims[one->problem.dims]++;
    if (status || chosen == RMCP_MOST_ALGOS) {
        fail(s, false, text, s->algorithm ? s->algorithm : "any", "no run",
             status ? rmcp_last_error() : refusal(s, list, n));
        return;
    }
    for (size_t i = 0; i < n; i++) {
        if (!takes_part(s, i, list, chosen, shape.flops)) continue;
        s->by_algo[i][pass]++;
        for (size_t data = 0; data < RMCP_VERIFY_N_DATA; data++)
            if (!s->fuzz || index % RMCP_VERIFY_N_DATA == data)
                run(s, one, pass, i, text, (enum rmcp_verify_data)data);
    }
}

/* ---- the result ---- */

static cJSON *counts_json(const char *const *names, const size_t *counts, size_t n)
{
    cJSON *object = cJSON_CreateObject();
    for (size_t i = 0; i < n; i++) cJSON_AddNumberToObject(object, names[i], (double)counts[i]);
    return object;
}

static int print_json(struct session *s, const char *suite)
{
    cJSON *object = cJSON_CreateObject();
    cJSON_AddStringToObject(object, "device", s->device->info.spec);
    cJSON_AddStringToObject(object, "suite", suite);
    cJSON_AddStringToObject(object, "driver", s->device->info.driver);
    char seed[32]; /* JSON numbers have 53 bits */
    snprintf(seed, sizeof seed, "%" PRIu64, s->seed);
    cJSON_AddStringToObject(object, "seed", seed);
    cJSON_AddNumberToObject(object, "cases", (double)s->n_cases);
    cJSON_AddNumberToObject(object, "runs", (double)s->n_runs);
    cJSON_AddNumberToObject(object, "failed", (double)s->n_failed);
    cJSON_AddNumberToObject(object, "left_out", (double)s->n_left_out);
    cJSON_AddNumberToObject(object, "worst_error_share", s->worst);
    cJSON *algorithms = cJSON_AddObjectToObject(object, "cases_by_algorithm");
    for (size_t i = 0; rmcp_algos[i]; i++)
        cJSON_AddItemToObject(algorithms, rmcp_algos[i]->name,
                              counts_json(cli_passes, s->by_algo[i], RMCP_N_PASSES));
    cJSON_AddItemToObject(object, "cases_by_type", counts_json(cli_types, s->by_type, 3));
    cJSON_AddItemToObject(object, "cases_by_layout", counts_json(cli_layouts, s->by_layout, 2));
    cJSON_AddItemToObject(object, "failures", s->failures);
    s->failures = NULL;
    return cli_print_json(object, "rmcp.verify/1");
}

static void print_text(const struct session *s, const char *suite)
{
    printf("device     %s: %s (%s)\n", s->device->info.spec, s->device->info.name,
           s->device->info.driver);
    printf("suite      %s, %zu cases, seed %" PRIu64 "\n", suite, s->n_cases, s->seed);
    printf("drawn      fwd %zu, bwd_data %zu, bwd_weights %zu; f32 %zu, f16 %zu, bf16 %zu; "
           "nchw %zu, nhwc %zu; 1-D %zu, 2-D %zu, 3-D %zu\n",
           s->by_pass[0], s->by_pass[1], s->by_pass[2], s->by_type[0], s->by_type[1], s->by_type[2],
           s->by_layout[0], s->by_layout[1], s->by_dims[1], s->by_dims[2], s->by_dims[3]);
    printf("\n%-18s %10s %10s %12s  cases\n", "algorithm", "fwd", "bwd_data", "bwd_weights");
    for (size_t i = 0; rmcp_algos[i]; i++)
        if (rmcp_algos[i]->kind & s->device->caps.kinds)
            printf("%-18s %10zu %10zu %12zu\n", rmcp_algos[i]->name, s->by_algo[i][0],
                   s->by_algo[i][1], s->by_algo[i][2]);
    if (s->n_left_out)
        printf("left out   %zu runs of slow algorithms on large cases\n", s->n_left_out);
    if (s->worst > 0) printf("\nlargest error %.3f of its bound, in %s", s->worst, s->worst_case);
    printf("\n%zu runs, %zu failures\n", s->n_runs, s->n_failed);
}

/* The cases of a run: from the command line, a suite, or drawn. Returns 0 or an exit status. */
static int collect(struct cli_cases *cases, const char *suite, uint64_t n_drawn, uint64_t seed,
                   int n_texts, char **texts)
{
    if (n_texts) return cli_cases_read("verify", cases, n_texts, texts);
    rmcp_status status = RMCP_OK;
    if (strcmp(suite, "fuzz")) {
        status = cli_cases_suite(cases, suite);
    } else {
        struct rmcp_random r = { seed };
        for (uint64_t i = 0; i < n_drawn && !status; i++) {
            struct cli_case one = { .count = 1 };
            rmcp_pass pass;
            rmcp_verify_draw(rmcp_random_next(&r), &one.problem, &pass);
            one.pass = (int)pass;
            status = cli_case_add(cases, &one);
        }
    }
    return status ? cli_failed("verify", status) : CLI_OK;
}

static size_t count_passes(const struct cli_cases *cases)
{
    size_t n = 0;
    for (size_t i = 0; i < cases->n; i++) n += cases->list[i].pass < 0 ? RMCP_N_PASSES : 1;
    return n;
}

/* All cases of the list, one pass after another. */
static void verify_all(struct session *s, const struct cli_cases *cases, bool list_only)
{
    const size_t total = count_passes(cases);
    char text[RMCP_CASE_MAX];
    for (size_t i = 0; i < cases->n; i++) {
        const struct cli_case *one = &cases->list[i];
        for (int pass = 0; pass < RMCP_N_PASSES; pass++) {
            if (one->pass >= 0 && one->pass != pass) continue;
            if (rmcp_problem_print(&one->problem, pass, text, sizeof text)) continue;
            if (list_only) {
                puts(text);
                continue;
            }
            cli_progress(s->n_cases, total, text);
            verify(s, one, (rmcp_pass)pass);
        }
    }
    cli_progress(0, 0, NULL);
}

/* ---- for the guard of first use: rmcp verify --trial (core/trial_answer.h) ---- */

/* The stream for the answer. Whatever drivers print goes to stderr from now on. NULL: no stream. */
static FILE *begin_trial(void)
{
    const int descriptor = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3);
    if (descriptor < 0 || dup2(STDERR_FILENO, STDOUT_FILENO) < 0) return NULL;
    FILE *answer = fdopen(descriptor, "w");
    if (answer) rmcp_trial_write_begin(answer);
    return answer;
}

/* Last, when the device is closed: a driver that ends the process there has failed. */
static void end_trial(FILE *answer, struct session *s, int exit_status)
{
    if (s->n_runs && !s->n_failed) s->trial.state = RMCP_GUARD_GOOD;
    if (!s->n_runs && exit_status && !*s->trial.reason) /* the device did not open */
        snprintf(s->trial.reason, sizeof s->trial.reason, "%.180s", rmcp_last_error());
    rmcp_trial_write_end(answer, &s->trial);
    fclose(answer);
}

int cli_verify(int argc, char **argv)
{
    const char *device = NULL, *suite = "quick";
    uint64_t n_drawn = 500, threads = 0, limit = 0;
    bool json = false, list_only = false, first_owner = false, trial = false;
    FILE *answer = NULL;
    struct cli_first_owner owner = { 0 };
    struct session s = { .seed = 1 };
    const struct cli_option options[] = {
        { "device", CLI_TEXT, &device, "SPEC", "device to check (default auto)", NULL },
        { "suite", CLI_TEXT, &suite, "NAME", "quick (default), full, or fuzz: random problems",
          NULL },
        { "cases", CLI_NUMBER, &n_drawn, "N", "how many fuzz draws (default 500)", NULL },
        { "seed", CLI_NUMBER, &s.seed, "S", "seed of problems and data (default 1)", NULL },
        { "algorithm", CLI_TEXT, &s.algorithm, "NAME", "only this one (default: all that apply)",
          NULL },
        { "threads", CLI_NUMBER, &threads, "N", "threads of the cpu device", NULL },
        { "limit", CLI_NUMBER, &limit, "SECONDS", "end by SIGALRM after this time (default: none)",
          NULL },
        { "list", CLI_FLAG, &list_only, NULL, "print the cases and do not run them", NULL },
        { "first-owner", CLI_FLAG, &first_owner, NULL,
          "step by step on a new card, with a log to send", NULL },
        { "log", CLI_TEXT, &owner.log, "FILE", "first-owner's log (default rmcp-first-owner.log)",
          NULL },
        { "yes", CLI_FLAG, &owner.yes, NULL, "first-owner: yes to every question", NULL },
        { "skip", CLI_TEXT, &owner.skip, "STAGES",
          "first-owner: leave out, e.g. large,times,patterns", NULL },
        { "step", CLI_TEXT, &owner.step, "NAME", "first-owner: this step alone, in this process",
          NULL },
        { "json", CLI_FLAG, &json, NULL, "print JSON", NULL },
        { "trial", CLI_FLAG, &trial, NULL, NULL, NULL },
        { NULL, CLI_FLAG, NULL, NULL, NULL, NULL },
    };
    const struct cli_usage usage = {
        .command = "verify",
        .arguments = "[CASE…]",
        .about =
            "Runs convolutions and compares them with plain loops in double precision: small\n"
            "integers must come out exactly, reals within a computed bound. Tensors lie between\n"
            "guard bands at odd offsets, outputs start as NaN, inputs must stay as they were.\n"
            "Large cases compare a sample of their outputs. A failure prints the command that\n"
            "repeats it.",
        .example = "  rmcp verify --device cpu --suite full\n"
                   "  rmcp verify --suite fuzz --cases 2000 --seed 7\n"
                   "  rmcp verify --first-owner --device hip:0\n"
                   "  rmcp verify n2c16h14w14k32r3s3p1u2:f16:nhwc:bwd_data",
        .options = options,
    };
    int n_texts, exit_status;
    if (!cli_parse(&usage, argc, argv, &n_texts, &exit_status)) return exit_status;
    owner.device = device;
    if (first_owner) return cli_first_owner(&owner);
    if (n_texts) suite = "command line";
    s.fuzz = !strcmp(suite, "fuzz");
    if (s.fuzz && (n_drawn < 1 || n_drawn > 100000000))
        return cli_complain("verify", "--cases is %" PRIu64 "; from 1 to 100000000", n_drawn);
    if (limit > 86400)
        return cli_complain("verify", "--limit is %" PRIu64 "; at most 86400 seconds", limit);
    if ((exit_status = cli_check_algorithm("verify", s.algorithm))) return exit_status;
    alarm((unsigned)limit);

    struct cli_cases cases = { 0 };
    exit_status = collect(&cases, suite, n_drawn, s.seed, n_texts, argv);
    if (!exit_status && trial && !(answer = begin_trial())) exit_status = CLI_INTERNAL;
    if (!exit_status && !list_only) exit_status = cli_open("verify", device, threads, &s.device);
    if (!exit_status) {
        if (json) s.failures = cJSON_CreateArray();
        verify_all(&s, &cases, list_only);
        if (!list_only) {
            if (json)
                exit_status = print_json(&s, suite);
            else
                print_text(&s, suite);
            if (!exit_status && s.n_failed) exit_status = CLI_FINDINGS;
        }
    }
    cJSON_Delete(s.failures);
    rmcp_device_close(s.device);
    cli_cases_deinit(&cases);
    if (answer) end_trial(answer, &s, exit_status);
    return exit_status;
}
