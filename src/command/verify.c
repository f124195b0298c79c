/* verify.c: rmcp verify: checks a device against the double-precision reference. */
#include "base/hash.h"
#include "base/random.h"
#include "command/cli.h"
#include "engine/core/judge.h"
#include "engine/core/trial_answer.h"

#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* An algorithm this much slower than the chosen one is left out on cases of this many operations.
 */
static const double heavy_flops = 2e8, too_slow = 4;

enum { MOST_OPERATIONS = 32, MOST_TRAITS = 6, MOST_WORDS = 16 };

/* Cases of one operation. */
struct tally {
    size_t n_cases;
    size_t by_algo[RMCP_MOST_ALGOS][RMCP_MOST_PASSES];
    size_t by_trait[MOST_TRAITS][MOST_WORDS];
};

struct session {
    rmcp_device *device;
    const char *algorithm; /* only this one; NULL: all that apply */
    uint64_t seed, repeat;
    bool fuzz; /* one kind of data per case, in turn */
    cJSON *failures;
    size_t n_cases, n_runs, n_failed, n_left_out;
    struct tally by_operation[MOST_OPERATIONS]; /* as in rmcp_operations */
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
    fflush(stdout); /* --limit may end it at any time */
}

static void run(struct session *s, const struct cli_case *one, const char *name, const char *text,
                enum rmcp_data data)
{
    struct rmcp_judgement judgement;
    rmcp_status status = rmcp_judge_problem(s->device, one->operation, one->problem.bytes, name,
                                            data, data_seed(s, text), 0, &judgement);
    if (!status && judgement.passed && s->repeat > 1 && data == RMCP_DATA_REALS) {
        const double worst = judgement.worst;
        status = rmcp_judge_repeats(s->device, one->operation, one->problem.bytes, name,
                                    data_seed(s, text), s->repeat, &judgement);
        judgement.worst = worst;
    }
    s->n_runs++;
    if (status) {
        fail(s, status != RMCP_E_NOMEM, text, name, data_names[data], rmcp_last_error());
    } else if (!judgement.passed) {
        fail(s, true, text, name, data_names[data], judgement.why);
    } else if (judgement.worst > s->worst) {
        s->worst = judgement.worst;
        snprintf(s->worst_case, sizeof s->worst_case, "%s", text);
    }
}

/* The counts of a case's operation. */
static struct tally *tally_of(struct session *s, const struct rmcp_operation *operation)
{
    size_t i = 0;
    while (rmcp_operations[i] != operation && i < MOST_OPERATIONS - 1) i++;
    return &s->by_operation[i];
}

static void count(struct tally *tally, const struct cli_case *one)
{
    tally->n_cases++;
    for (unsigned t = 0; t < MOST_TRAITS && one->operation->traits[t].name; t++) {
        const unsigned word = one->operation->trait(one->problem.bytes, t);
        if (word < MOST_WORDS) tally->by_trait[t][word]++;
    }
}

/* Whether algorithm `i` takes part in a case. */
static bool takes_part(struct session *s, const struct cli_case *one, size_t i,
                       const rmcp_candidate *list, size_t chosen)
{
    if (*list[i].refusal) return false;
    if (s->algorithm || i == chosen) return true;
    if (one->operation->algos[i]->judge) return false;
    if (one->operation->flops(one->problem.bytes) > heavy_flops &&
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

static void verify(struct session *s, const struct cli_case *one, const char *text)
{
    rmcp_candidate list[RMCP_MOST_ALGOS] = { { .struct_size = sizeof list[0] } };
    size_t n = RMCP_MOST_ALGOS, chosen = n;
    rmcp_plan_options options = { .struct_size = sizeof options, .algorithm = s->algorithm };
    rmcp_status status =
        rmcp_plan_ask(s->device, one->operation, one->problem.bytes, &options, list, &n);
    for (size_t i = 0; i < n && !status; i++)
        if (list[i].chosen) chosen = i;

    const size_t index = s->n_cases++;
    struct tally *tally = tally_of(s, one->operation);
    count(tally, one);
    if (status || chosen == RMCP_MOST_ALGOS) {
        fail(s, false, text, s->algorithm ? s->algorithm : "any", "no run",
             status ? rmcp_last_error() : refusal(s, list, n));
        return;
    }
    const unsigned pass = one->operation->trait(one->problem.bytes, 0);
    for (size_t i = 0; i < n; i++) {
        if (!takes_part(s, one, i, list, chosen)) continue;
        tally->by_algo[i][pass]++;
        for (size_t data = 0; data < RMCP_N_DATA; data++)
            if (!s->fuzz || index % RMCP_N_DATA == data)
                run(s, one, list[i].algorithm, text, (enum rmcp_data)data);
    }
}

/* ---- the result ---- */

static cJSON *counts_json(const char *const *words, const size_t *counts)
{
    cJSON *object = cJSON_CreateObject();
    for (size_t i = 0; words[i]; i++) cJSON_AddNumberToObject(object, words[i], (double)counts[i]);
    return object;
}

/* Cases by algorithm and pass, and by each trait. Convolution's stand in the object itself. */
static void add_tally(cJSON *object, const struct rmcp_operation *operation,
                      const struct tally *tally)
{
    cJSON *algorithms = cJSON_AddObjectToObject(object, "cases_by_algorithm");
    for (size_t i = 0; operation->algos[i]; i++)
        cJSON_AddItemToObject(algorithms, operation->algos[i]->name,
                              counts_json(operation->traits[0].words, tally->by_algo[i]));
    for (size_t t = 1; t < MOST_TRAITS && operation->traits[t].name; t++) {
        char name[64];
        snprintf(name, sizeof name, "cases_by_%s", operation->traits[t].name);
        cJSON_AddItemToObject(object, name,
                              counts_json(operation->traits[t].words, tally->by_trait[t]));
    }
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
    cJSON_AddBoolToObject(object, "complete", 1);
    cJSON_AddNumberToObject(object, "cases", (double)s->n_cases);
    cJSON_AddNumberToObject(object, "runs", (double)s->n_runs);
    cJSON_AddNumberToObject(object, "failed", (double)s->n_failed);
    cJSON_AddNumberToObject(object, "left_out", (double)s->n_left_out);
    cJSON_AddNumberToObject(object, "worst_error_share", s->worst);
    for (size_t o = 0; rmcp_operations[o]; o++) {
        const struct rmcp_operation *operation = rmcp_operations[o];
        cJSON *target =
            operation->nameless ? object : cJSON_AddObjectToObject(object, operation->name);
        add_tally(target, operation, tally_of(s, operation));
    }
    cJSON_AddItemToObject(object, "failures", s->failures);
    s->failures = NULL;
    return cli_print_json(object, "rmcp.verify/1");
}

static void print_tally(const struct session *s, const struct rmcp_operation *operation,
                        const struct tally *tally)
{
    printf("%-10s ", operation->name);
    for (size_t t = 0; t < MOST_TRAITS && operation->traits[t].name; t++)
        for (size_t i = 0; operation->traits[t].words[i]; i++)
            printf("%s%s %zu",
                   i   ? ", "
                   : t ? "; "
                       : "",
                   operation->traits[t].words[i], tally->by_trait[t][i]);
    printf("\n\n%-18s", "algorithm");
    for (size_t i = 0; operation->traits[0].words[i]; i++)
        printf(" %12s", operation->traits[0].words[i]);
    printf("  cases\n");
    for (size_t a = 0; operation->algos[a]; a++) {
        if (!(operation->algos[a]->kind & s->device->caps.kinds)) continue;
        printf("%-18s", operation->algos[a]->name);
        for (size_t i = 0; operation->traits[0].words[i]; i++)
            printf(" %12zu", tally->by_algo[a][i]);
        printf("\n");
    }
    printf("\n");
}

static void print_text(const struct session *s, const char *suite)
{
    printf("device     %s: %s (%s)\n", s->device->info.spec, s->device->info.name,
           s->device->info.driver);
    printf("suite      %s, %zu cases, seed %" PRIu64 "\n", suite, s->n_cases, s->seed);
    for (size_t o = 0; rmcp_operations[o]; o++)
        if (s->by_operation[o].n_cases) print_tally(s, rmcp_operations[o], &s->by_operation[o]);
    if (s->n_left_out)
        printf("left out   %zu runs of slow algorithms on large cases\n", s->n_left_out);
    if (s->worst > 0) printf("largest error %.3f of its bound, in %s", s->worst, s->worst_case);
    printf("\n%zu runs, %zu failures\n", s->n_runs, s->n_failed);
}

/* The cases of a run: from the command line, a suite, or drawn. Returns 0 or an exit status. */
static int collect(struct cli_cases *cases, const char *suite, const struct rmcp_operation *only,
                   uint64_t n_drawn, uint64_t seed, int n_texts, char **texts)
{
    if (n_texts) return cli_cases_read("verify", cases, n_texts, texts);
    rmcp_status status = RMCP_OK;
    size_t n_operations = 0;
    while (rmcp_operations[n_operations]) n_operations++;
    if (strcmp(suite, "fuzz")) {
        status = cli_cases_suite(cases, suite);
    } else {
        struct rmcp_random r = { seed };
        for (uint64_t i = 0; i < n_drawn && !status; i++) {
            struct cli_case one = { .operation = only ? only : rmcp_operations[i % n_operations],
                                    .count = 1 };
            rmcp_operation_draw(one.operation, rmcp_random_next(&r), one.problem.bytes);
            status = cli_case_add(cases, &one);
        }
    }
    return status ? cli_failed("verify", status) : CLI_OK;
}

/* --list: the cases, and no device. */
static int list_all(const struct cli_cases *cases, const char *suite, bool json)
{
    char text[RMCP_CASE_MAX];
    cJSON *object = json ? cJSON_CreateObject() : NULL, *rows = NULL;
    if (object) {
        cJSON_AddStringToObject(object, "suite", suite);
        rows = cJSON_AddArrayToObject(object, "cases");
    }
    for (size_t i = 0; i < cases->n; i++) {
        const struct cli_case *one = &cases->list[i];
        if (rmcp_case_print(one->operation, one->problem.bytes, text, sizeof text)) continue;
        if (json)
            cJSON_AddItemToArray(rows, cJSON_CreateString(text));
        else
            puts(text);
    }
    return json ? cli_print_json(object, "rmcp.verify.list/1") : CLI_OK;
}

/* All cases of the list. */
static void verify_all(struct session *s, const struct cli_cases *cases)
{
    char text[RMCP_CASE_MAX];
    for (size_t i = 0; i < cases->n; i++) {
        const struct cli_case *one = &cases->list[i];
        if (rmcp_case_print(one->operation, one->problem.bytes, text, sizeof text)) continue;
        cli_progress(s->n_cases, cases->n, text);
        verify(s, one, text);
    }
    cli_progress(0, 0, NULL);
}

/* ---- --limit ---- */

/* What is said when the time is over, made before: a signal's handler can only write. */
static char late_text[128], *late_json;

static void say_late(int number)
{
    (void)number;
    /* Whether it can be written or not, this is the end. */
    if (late_json && write(STDOUT_FILENO, late_json, strlen(late_json)) < 0) _exit(CLI_INTERNAL);
    if (write(STDERR_FILENO, late_text, strlen(late_text)) < 0) _exit(CLI_INTERNAL);
    _exit(CLI_FINDINGS);
}

/* End by itself after `limit` seconds, with a message; a trial ends by the signal, which its parent
 * knows to read. Returns 0 or an exit status. */
static int set_limit(uint64_t limit, const char *suite, bool json, bool trial)
{
    if (!limit) return CLI_OK;
    snprintf(late_text, sizeof late_text,
             "rmcp verify: not done after %" PRIu64
             " seconds (--limit); what was not reported is not known\n",
             limit);
    if (json) {
        cJSON *object = cJSON_CreateObject();
        cJSON_AddStringToObject(object, "schema", "rmcp.verify/1");
        cJSON_AddStringToObject(object, "suite", suite);
        cJSON_AddBoolToObject(object, "complete", 0);
        cJSON_AddNumberToObject(object, "limit_seconds", (double)limit);
        late_json = cJSON_PrintUnformatted(object);
        cJSON_Delete(object);
        if (!late_json) return CLI_INTERNAL;
    }
    const struct sigaction action = { .sa_handler = say_late };
    if (!trial && sigaction(SIGALRM, &action, NULL)) return CLI_INTERNAL;
    alarm((unsigned)limit);
    return CLI_OK;
}

/* ---- for the guard of first use: rmcp verify --trial (engine/core/trial_answer.h) ---- */

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
    const char *device = NULL, *suite = "quick", *operation = NULL;
    uint64_t n_drawn = 500, threads = 0, limit = 0;
    bool json = false, list_only = false, first_owner = false, trial = false;
    FILE *answer = NULL;
    struct cli_first_owner owner = { 0 };
    struct session s = { .seed = 1, .repeat = 1 };
    const struct cli_option options[] = {
        { "device", CLI_TEXT, &device, "SPEC", "device to check (default auto)", NULL },
        { "suite", CLI_TEXT, &suite, "NAME",
          "quick (default), full, check, or fuzz: random problems", NULL },
        { "cases", CLI_NUMBER, &n_drawn, "N", "how many fuzz draws (default 500)", NULL },
        { "operation", CLI_TEXT, &operation, "NAME",
          "fuzz: only of this one (default: all in turn)", NULL },
        { "seed", CLI_NUMBER, &s.seed, "S", "seed of problems and data (default 1)", NULL },
        { "algorithm", CLI_TEXT, &s.algorithm, "NAME", "only this one (default: all that apply)",
          NULL },
        { "repeat", CLI_NUMBER, &s.repeat, "N", "execute N times: the same bits each time", NULL },
        { "threads", CLI_NUMBER, &threads, "N", "threads of the cpu device", NULL },
        { "limit", CLI_NUMBER, &limit, "SECONDS", "give up after this time (default: none)", NULL },
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
            "Runs operations and compares them with plain loops in double precision: small\n"
            "integers must come out exactly, reals within a computed bound. Tensors lie between\n"
            "guard bands, at even or odd offsets; outputs start as NaN, inputs must stay as\n"
            "they were. Large cases compare a sample of their outputs. A failure prints the\n"
            "command that repeats it. A case may also be a line of MIOpen's\n"
            "MIOPEN_ENABLE_LOGGING_CMD.",
        .example = "  rmcp verify --device cpu --suite full\n"
                   "  rmcp verify --suite fuzz --cases 2000 --seed 7\n"
                   "  rmcp verify --first-owner --device hip:0\n"
                   "  rmcp verify n2c16h14w14k32r3s3p1u2:f16:nhwc:bwd_data\n"
                   "  rmcp verify './bin/MIOpenDriver conv -n 1 -c 3 -H 9 -W 9 -k 4 -y 3 -x 3'",
        .options = options,
    };
    int n_texts, exit_status;
    if (!cli_parse(&usage, argc, argv, &n_texts, &exit_status)) return exit_status;
    owner.device = device;
    if (first_owner) {
        exit_status = cli_refuse(
            &usage, "suite cases operation seed repeat algorithm threads limit list json trial",
            "has no meaning for --first-owner");
        if (!exit_status && n_texts)
            exit_status = cli_complain(
                "verify", "'%.60s' is too much: --first-owner has its own cases", argv[0]);
        return exit_status ? exit_status : cli_first_owner(&owner);
    }
    if ((exit_status = cli_refuse(&usage, "log yes skip step", "is only for --first-owner")))
        return exit_status;
    if (n_texts &&
        (exit_status = cli_refuse(&usage, "suite cases operation", "and a case: only one of them")))
        return exit_status;
    if (strcmp(suite, "fuzz") &&
        (exit_status = cli_refuse(&usage, "cases operation", "is only for --suite fuzz")))
        return exit_status;
    if (n_texts) suite = "command line";
    s.fuzz = !strcmp(suite, "fuzz");
    if (s.fuzz && (n_drawn < 1 || n_drawn > 100000000))
        return cli_complain("verify", "--cases is %" PRIu64 "; from 1 to 100000000", n_drawn);
    if (s.repeat < 1 || s.repeat > 1000000)
        return cli_complain("verify", "--repeat is %" PRIu64 "; from 1 to 1000000", s.repeat);
    if (limit > 86400 || (!limit && cli_given(&usage, "limit")))
        return cli_complain("verify", "--limit is %" PRIu64 "; from 1 to 86400 seconds", limit);
    if (list_only && (exit_status = cli_refuse(&usage, "algorithm threads repeat limit trial",
                                               "has no meaning for --list")))
        return exit_status;
    if ((exit_status = cli_refuse_zero(&usage, "threads", threads))) return exit_status;
    if (trial && json) return cli_complain("verify", "--trial and --json: only one of them");
    const struct rmcp_operation *only =
        operation ? rmcp_operation_find(operation, strlen(operation)) : NULL;
    if (operation && !only)
        return cli_complain("verify", "no operation '%.60s'; rmcp version lists them", operation);
    if ((exit_status = cli_check_algorithm("verify", s.algorithm))) return exit_status;
    if ((exit_status = set_limit(limit, suite, json, trial))) return exit_status;

    struct cli_cases cases = { 0 };
    exit_status = collect(&cases, suite, only, n_drawn, s.seed, n_texts, argv);
    if (!exit_status && trial && !(answer = begin_trial())) exit_status = CLI_INTERNAL;
    if (!exit_status && list_only) {
        exit_status = list_all(&cases, suite, json);
    } else if (!exit_status && !(exit_status = cli_open("verify", device, threads, &s.device))) {
        if (json) s.failures = cJSON_CreateArray();
        verify_all(&s, &cases);
        alarm(0); /* done in time */
        if (json)
            exit_status = print_json(&s, suite);
        else
            print_text(&s, suite);
        if (!exit_status && s.n_failed) exit_status = CLI_FINDINGS;
    }
    cJSON_Delete(s.failures);
    rmcp_device_close(s.device);
    cli_cases_deinit(&cases);
    if (answer) end_trial(answer, &s, exit_status);
    return exit_status;
}
