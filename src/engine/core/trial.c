/* trial.c: an operation's small problems, tried in this process. */
#include "engine/core/trial.h"

#include "engine/core/judge.h"

#include <stdio.h>
#include <string.h>

static struct rmcp_request request_of(const rmcp_device *device,
                                      const struct rmcp_operation *operation, const void *problem)
{
    return (struct rmcp_request){
        .operation = operation,
        .problem = problem,
        .caps = &device->caps,
        .deterministic = true,
    };
}

/* Add the passes of one text that the algorithm takes. */
static void add_cases(struct rmcp_trial *trial, const rmcp_device *device, const char *text)
{
    struct rmcp_any_problem problems[RMCP_MOST_PASSES];
    const struct rmcp_operation *operation = NULL;
    size_t count = 0;
    if (rmcp_case_parse(text, &operation, problems, &count)) return;
    for (size_t i = 0; i < count && trial->n_cases < RMCP_TRIAL_MOST; i++) {
        const struct rmcp_request request = request_of(device, operation, problems[i].bytes);
        struct rmcp_way way;
        if (!rmcp_algo_consider(trial->algo, &request, &way) && !way.refusal &&
            !rmcp_case_print(operation, problems[i].bytes, trial->cases[trial->n_cases],
                             RMCP_TRIAL_CASE))
            trial->n_cases++;
    }
}

struct rmcp_trial rmcp_trial_of(const rmcp_device *device, const struct rmcp_operation *operation,
                                const struct rmcp_algo *algo, rmcp_type type)
{
    struct rmcp_trial trial = { .operation = operation, .algo = algo };
    for (const char *const *pattern = operation->trials; *pattern; pattern++) {
        /* The name, what stands before "%s", the type, and what stands after. */
        char text[RMCP_CASE_MAX];
        const size_t head = strcspn(*pattern, "%");
        snprintf(text, sizeof text, "%s%s%.*s%s%s", operation->nameless ? "" : operation->name,
                 operation->nameless ? "" : ":", (int)head, *pattern, rmcp_type_names[type],
                 (*pattern)[head] ? *pattern + head + strlen("%s") : "");
        add_cases(&trial, device, text);
    }
    return trial;
}

/* One problem, with small integers: any order of summation gives the same result. */
static rmcp_status run(rmcp_device *device, void *stream, const struct rmcp_trial *trial,
                       const char *text, struct rmcp_judgement *judgement)
{
    struct rmcp_any_problem problems[RMCP_MOST_PASSES];
    const struct rmcp_operation *operation = NULL;
    size_t count = 0;
    rmcp_status status = rmcp_case_parse(text, &operation, problems, &count);
    if (status) return status;
    const struct rmcp_request request = request_of(device, operation, problems[0].bytes);
    struct rmcp_choice choice = { .algo = trial->algo };
    rmcp_plan *plan = NULL;
    status = rmcp_algo_consider(trial->algo, &request, &choice.way);
    if (!status) status = rmcp_plan_build_unguarded(device, &request, &choice, &plan);
    if (!status) status = rmcp_judge_plan(plan, stream, RMCP_DATA_INTEGERS, 1, 0, judgement);
    rmcp_plan_destroy(plan);
    return status;
}

struct rmcp_guard_finding rmcp_trial_here(rmcp_device *device, const struct rmcp_trial *trial,
                                          struct rmcp_wait *wait)
{
    struct rmcp_guard_finding finding = { .state = RMCP_GUARD_GOOD };
    struct rmcp_side side = { 0 };
    rmcp_status status =
        device->driver->side_begin ? device->driver->side_begin(device, &side) : RMCP_OK;
    const bool begun = !status;
    for (size_t i = 0; i < trial->n_cases && !status && finding.state == RMCP_GUARD_GOOD; i++) {
        struct rmcp_judgement judgement = { .passed = true };
        rmcp_wait_look(wait);
        status = run(device, side.stream, trial, trial->cases[i], &judgement);
        if (!status && !judgement.passed) {
            finding.state = RMCP_GUARD_BAD;
            snprintf(finding.reason, sizeof finding.reason, "wrong result in %s: %.90s",
                     trial->cases[i], judgement.why);
        }
    }
    if (status) {
        /* Neither is the algorithm's fault. */
        const bool tried = begun && status != RMCP_E_NOMEM;
        finding.state = tried ? RMCP_GUARD_BAD : RMCP_GUARD_UNTRIED;
        finding.status = status;
        snprintf(finding.reason, sizeof finding.reason, "%.180s", rmcp_last_error());
    }
    if (begun && device->driver->side_end) device->driver->side_end(device, &side);
    return finding;
}
