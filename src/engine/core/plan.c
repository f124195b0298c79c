/* plan.c: the planner: which algorithms can do a request, which one shall, and its execution. */
#include "engine/core/plan.h"

#include "engine/core/check.h"
#include "engine/core/guard.h"
#include "engine/core/scalars.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static rmcp_status read_options(const rmcp_plan_options *options, rmcp_plan_options *ours)
{
    *ours = (rmcp_plan_options){ .struct_size = sizeof *ours };
    if (!options) return RMCP_OK;
    rmcp_status status =
        rmcp_struct_read(options, ours, sizeof *ours, RMCP_FIRST_PLAN_OPTIONS, "rmcp_plan_options");
    if (status) return status;
    if (ours->effort > RMCP_MEASURE)
        return rmcp_fail(RMCP_E_ARG, "effort is %u; known are estimate (0) and measure (1)",
                         (unsigned)ours->effort);
    if (ours->accuracy > RMCP_STRICT)
        return rmcp_fail(RMCP_E_ARG, "accuracy is %u; known are accurate (0) and strict (1)",
                         (unsigned)ours->accuracy);
    if (!(ours->max_error == 0 || ours->max_error >= 1))
        return rmcp_fail(RMCP_E_ARG, "max_error is %g; it must be 0 or at least 1",
                         ours->max_error);
    if (ours->nondeterministic > 1)
        return rmcp_fail(RMCP_E_ARG, "nondeterministic is %u; it must be 0 or 1",
                         (unsigned)ours->nondeterministic);
    return RMCP_OK;
}

static rmcp_status make_request(const rmcp_device *device, const struct rmcp_operation *operation,
                                const void *problem, const rmcp_plan_options *options,
                                struct rmcp_request *request)
{
    if (!device) return rmcp_fail(RMCP_E_ARG, "device is NULL");
    *request = (struct rmcp_request){
        .operation = operation,
        .problem = problem,
        .caps = &device->caps,
        .strict = options->accuracy == RMCP_STRICT,
        .deterministic = !options->nondeterministic,
        .max_error = options->max_error,
        .fixed_weights = options->fixed_weights,
    };
    rmcp_status status = RMCP_OK;
    if (operation->check_options)
        status = operation->check_options(problem, options);
    else if (options->fixed_weights.base)
        status = rmcp_fail(RMCP_E_ARG, "fixed_weights is set, but %s has none", operation->name);
    if (status) return status;
    if (options->algorithm) {
        for (size_t i = 0; operation->algos[i]; i++)
            if (!strcmp(operation->algos[i]->name, options->algorithm)) return RMCP_OK;
        return rmcp_fail(RMCP_E_ARG, "no algorithm '%.60s'; rmcp plan --explain lists them",
                         options->algorithm);
    }
    return RMCP_OK;
}

/* Whether its first use on this device has failed. */
static bool failed_before(const rmcp_device *device, const struct rmcp_algo *algo,
                          const struct rmcp_request *request, char *why, size_t why_size)
{
    if (!rmcp_guard_applies(device->driver)) return false;
    const struct rmcp_guard_finding finding = rmcp_guard_look(
        &device->info, request->operation, algo, request->operation->type(request->problem));
    if (finding.state != RMCP_GUARD_BAD && finding.state != RMCP_GUARD_CRASHED) return false;
    snprintf(why, why_size, "%.110s; rmcp devices --forget to try again", finding.reason);
    return true;
}

static double error_factor(const struct rmcp_algo *algo)
{
    return algo->error_factor > 0 ? algo->error_factor : 1;
}

/* Ask one algorithm: choice->way says how, or why not. */
static rmcp_status ask(const struct rmcp_algo *algo, const struct rmcp_request *request,
                       const rmcp_plan_options *options, struct rmcp_choice *choice)
{
    struct rmcp_way *way = &choice->way;
    choice->algo = algo;
    way->seconds = 0;
    way->workspace_bytes = 0;
    if (options->algorithm && strcmp(options->algorithm, algo->name))
        return rmcp_refuse(way, "another one was asked for by name");
    if (!(algo->kind & request->caps->kinds))
        return rmcp_refuse(way, algo->kind == RMCP_LAUNCH_KERNEL
                                    ? "is a GPU kernel, and this device is the host"
                                    : "runs on the host, and this device does not");

    const rmcp_status status = rmcp_algo_consider(algo, request, way);
    if (status == RMCP_E_NOMEM || status == RMCP_E_LOST) return status;
    if (way->refusal) return RMCP_OK;
    if (request->max_error > 0 && error_factor(algo) > request->max_error) {
        snprintf(way->text, sizeof way->text,
                 "its errors may be %g times those of plain sums, the limit is %g",
                 error_factor(algo), request->max_error);
        way->workspace_bytes = 0;
        return rmcp_refuse(way, way->text);
    }
    if (status) { /* it finds out only now; another one may do */
        snprintf(way->text, sizeof way->text, "%s", rmcp_last_error());
        return rmcp_refuse(way, way->text);
    }
    const uint64_t most = options->max_workspace == RMCP_NO_WORKSPACE ? 0
                          : options->max_workspace                    ? options->max_workspace
                                                                      : UINT64_MAX;
    if (way->workspace_bytes > most) {
        snprintf(way->text, sizeof way->text,
                 "needs %" PRIu64 " bytes of workspace, the limit is %" PRIu64,
                 way->workspace_bytes, most);
        return rmcp_refuse(way, way->text);
    }
    return RMCP_OK;
}

/* Why no algorithm will do, one after the other. */
struct reasons {
    const char *asked_for; /* by name; those of others go without saying */
    char text[400];
};

static void add_reason(struct reasons *reasons, const struct rmcp_algo *algo, const char *why)
{
    const size_t used = strlen(reasons->text);
    if (!reasons->asked_for || !strcmp(reasons->asked_for, algo->name))
        snprintf(reasons->text + used, sizeof reasons->text - used, "%s%s: %s", used ? "; " : "",
                 algo->name, why);
}

/* Drop those whose first use has failed: from the front up to one that may be taken, or all. The
 * record of first use is a file, so an estimate looks no further than it must. */
static size_t drop_failed(const rmcp_device *device, const struct rmcp_request *request,
                          const struct rmcp_choice **choices, size_t n, bool all,
                          struct reasons *reasons)
{
    char why[160];
    size_t kept = 0;
    for (size_t i = 0; i < n; i++) {
        const bool asked = all || !kept;
        if (asked && failed_before(device, choices[i]->algo, request, why, sizeof why))
            add_reason(reasons, choices[i]->algo, why);
        else
            choices[kept++] = choices[i];
    }
    return kept;
}

/* What all algorithms of the request's operation say, in the operation's order. */
struct answers {
    struct rmcp_choice *each; /* to be freed */
    size_t n;
};

static rmcp_status ask_all(const struct rmcp_request *request, const rmcp_plan_options *options,
                           struct answers *answers)
{
    const struct rmcp_algo *const *algos = request->operation->algos;
    *answers = (struct answers){ .n = 0 };
    while (algos[answers->n]) answers->n++;
    const size_t bytes = (answers->n + 1) * sizeof *answers->each;
    answers->each = malloc(bytes);
    rmcp_status status = answers->each ? RMCP_OK : rmcp_fail_memory("choices", bytes);
    for (size_t i = 0; i < answers->n && !status; i++)
        status = ask(algos[i], request, options, &answers->each[i]);
    if (!status) return RMCP_OK;
    free(answers->each);
    answers->each = NULL;
    return status;
}

/* Nothing is left: say why. */
static rmcp_status fail_all(const rmcp_device *device, const struct answers *answers,
                            struct reasons *reasons)
{
    for (size_t i = 0; i < answers->n; i++)
        if (answers->each[i].way.refusal)
            add_reason(reasons, answers->each[i].algo, answers->each[i].way.refusal);
    return rmcp_fail(RMCP_E_UNSUPPORTED, "no algorithm can do this on %s: %s", device->info.spec,
                     reasons->text);
}

/* The answers of the algorithms that apply, best first, to be freed; on error NULL. */
static rmcp_status choose(rmcp_device *device, const struct rmcp_request *request,
                          const rmcp_plan_options *options, const struct answers *answers,
                          const struct rmcp_choice ***out, size_t *n_choices)
{
    struct reasons reasons = { .asked_for = options->algorithm };
    const bool measure = options->effort == RMCP_MEASURE;
    const size_t bytes = (answers->n + 1) * sizeof **out;
    size_t n = 0;
    *out = NULL;
    *n_choices = 0;
    const struct rmcp_choice **choices = malloc(bytes);
    if (!choices) return rmcp_fail_memory("choices", bytes);
    for (size_t i = 0; i < answers->n; i++) {
        const struct rmcp_choice *choice = &answers->each[i];
        if (choice->way.refusal) continue;
        size_t at = n++;
        while (at > 0 && choices[at - 1]->way.seconds > choice->way.seconds) at--;
        memmove(choices + at + 1, choices + at, (n - 1 - at) * sizeof *choices);
        choices[at] = choice;
    }
    n = drop_failed(device, request, choices, n, measure, &reasons);
    rmcp_status status = n ? RMCP_OK : fail_all(device, answers, &reasons);
    if (measure && n > 1)
        status = rmcp_plan_measure(device, request, options->max_workspace, choices, n);
    if (status) {
        free(choices);
        return status;
    }
    *out = choices;
    *n_choices = n;
    return RMCP_OK;
}

rmcp_status rmcp_plan_build(rmcp_device *device, const struct rmcp_request *request,
                            const struct rmcp_choice *choice, rmcp_plan **out)
{
    /* Loading first: a device that is lost, or code that does not load, is no finding. */
    rmcp_status status = rmcp_plan_build_unguarded(device, request, choice, out);
    if (!status)
        status = rmcp_guard_admit(device, request->operation, choice->algo,
                                  request->operation->type(request->problem));
    if (!status || !*out) return status;
    rmcp_plan_destroy(*out);
    *out = NULL;
    return status;
}

/* Which slots an execution must bring. */
static void list_needed(rmcp_plan *plan)
{
    const struct rmcp_operation *operation = plan->request.operation;
    for (unsigned slot = 0; slot < operation->n_slots; slot++) {
        const struct rmcp_slot info = operation->slot(plan->problem, slot);
        if (info.elements <= 0) continue;
        plan->list.names[slot] = info.name;
        plan->needed[plan->n_needed++] =
            (struct rmcp_need){ slot, (unsigned)rmcp_type_bytes(info.type) };
    }
    plan->list.names[RMCP_SLOT_WORKSPACE] = "workspace";
}

rmcp_status rmcp_plan_build_unguarded(rmcp_device *device, const struct rmcp_request *request,
                                      const struct rmcp_choice *choice, rmcp_plan **out)
{
    *out = NULL;
    const size_t problem_bytes = request->operation->problem_bytes;
    rmcp_plan *plan = calloc(1, sizeof *plan + problem_bytes);
    if (!plan) return rmcp_fail_memory("plan", sizeof *plan + problem_bytes);
    plan->device = device;
    plan->algo = choice->algo;
    plan->request = *request;
    memcpy(plan->problem, request->problem, problem_bytes);
    plan->request.problem = plan->problem;
    plan->workspace_bytes = choice->way.workspace_bytes;
    plan->n_scalars = rmcp_scalars_count(plan->request.operation, plan->problem);
    list_needed(plan);

    rmcp_status status = choice->algo->emit(&plan->request, &choice->way, &plan->list);
    for (size_t i = 0; i < plan->list.n_records && !status; i++) {
        struct rmcp_launch *record = &plan->list.records[i];
        if (record->kind == RMCP_LAUNCH_KERNEL)
            status =
                device->driver->load_kernel(device, record->kernel.kernel, &record->kernel.handle);
    }
    if (status) {
        rmcp_plan_destroy(plan);
        return status;
    }
    *out = plan;
    return RMCP_OK;
}

rmcp_status rmcp_plan_make(rmcp_device *device, const struct rmcp_operation *operation,
                           const void *problem, const rmcp_plan_options *options, rmcp_plan **out)
{
    *out = NULL;
    rmcp_plan_options ours;
    struct rmcp_request request;
    struct answers answers = { .n = 0 };
    const struct rmcp_choice **choices = NULL;
    size_t n_choices = 0;
    rmcp_status status = read_options(options, &ours);
    if (!status) status = make_request(device, operation, problem, &ours, &request);
    if (!status) status = ask_all(&request, &ours, &answers);
    if (!status) status = choose(device, &request, &ours, &answers, &choices, &n_choices);
    /* One whose first use fails leaves the work to the next. */
    for (size_t i = 0; i < n_choices && (!i || status == RMCP_E_UNSUPPORTED); i++)
        status = rmcp_plan_build(device, &request, choices[i], out);
    free(choices);
    free(answers.each);
    return status;
}

void rmcp_plan_destroy(rmcp_plan *plan)
{
    if (!plan) return;
    rmcp_launch_list_deinit(&plan->list);
    free(plan);
}

uint64_t rmcp_plan_workspace(const rmcp_plan *plan)
{
    return plan ? plan->workspace_bytes : 0;
}

const char *rmcp_plan_algorithm(const rmcp_plan *plan)
{
    return plan ? plan->algo->name : "";
}

/* What is said of an answer to those who ask. */
static void describe(const rmcp_device *device, const struct rmcp_request *request,
                     struct rmcp_choice *choice, rmcp_candidate *candidate)
{
    struct rmcp_way *way = &choice->way;
    if (!way->refusal &&
        failed_before(device, choice->algo, request, way->text, sizeof way->text)) {
        way->refusal = way->text;
        way->workspace_bytes = 0;
    }
    *candidate = (rmcp_candidate){ .struct_size = sizeof *candidate };
    snprintf(candidate->refusal, sizeof candidate->refusal, "%s", way->refusal ? way->refusal : "");
    snprintf(candidate->algorithm, sizeof candidate->algorithm, "%s", choice->algo->name);
    candidate->estimated_seconds = way->refusal ? 0 : way->seconds;
    candidate->workspace_bytes = way->workspace_bytes;
    candidate->error_factor = error_factor(choice->algo);
}

rmcp_status rmcp_plan_ask(rmcp_device *device, const struct rmcp_operation *operation,
                          const void *problem, const rmcp_plan_options *options,
                          rmcp_candidate *list, size_t *count)
{
    if (!count) return rmcp_fail(RMCP_E_ARG, "count is NULL");
    rmcp_plan_options ours;
    struct rmcp_request request;
    struct answers answers = { .n = 0 };
    rmcp_status status = read_options(options, &ours);
    if (!status) status = make_request(device, operation, problem, &ours, &request);
    if (!status) status = ask_all(&request, &ours, &answers);
    if (status) return status;

    const struct rmcp_choice **choices = NULL;
    size_t n_choices = 0;
    status = choose(device, &request, &ours, &answers, &choices, &n_choices);
    const struct rmcp_algo *chosen = status ? NULL : choices[0]->algo;
    free(choices);
    if (status == RMCP_E_UNSUPPORTED) status = RMCP_OK;

    const size_t room = list ? *count : 0, step = room ? list->struct_size : 0;
    for (size_t i = 0; i < answers.n && i < room && !status; i++) {
        rmcp_candidate candidate;
        describe(device, &request, &answers.each[i], &candidate);
        candidate.chosen = answers.each[i].algo == chosen;
        void *target = (char *)list + i * step;
        memcpy(target, &(uint32_t){ (uint32_t)step }, sizeof(uint32_t));
        status = rmcp_struct_write(&candidate, sizeof candidate, target, RMCP_FIRST_CANDIDATE,
                                   "rmcp_candidate");
    }
    free(answers.each);
    if (!status) *count = answers.n;
    return status;
}

/* ---- execution ---- */

const void *rmcp_plan_problem(const rmcp_plan *plan, const struct rmcp_operation *operation)
{
    if (!plan) {
        rmcp_fail(RMCP_E_ARG, "plan is NULL");
        return NULL;
    }
    if (plan->request.operation == operation) return plan->problem;
    rmcp_fail(RMCP_E_ARG, "the plan is one of %s, not of %s", plan->request.operation->name,
              operation->name);
    return NULL;
}

static rmcp_status check_memory(rmcp_memory memory, const char *name, uint64_t alignment)
{
    if (!memory.base) return rmcp_fail(RMCP_E_ARG, "tensors.%s is NULL", name);
    if (memory.offset % alignment)
        return rmcp_fail(RMCP_E_ARG,
                         "the offset of tensors.%s is %" PRIu64 ", no multiple of %" PRIu64, name,
                         memory.offset, alignment);
    return RMCP_OK;
}

/* The memory that the records use, checked; the rest is {NULL, 0}. */
static rmcp_status bind(const rmcp_plan *plan, const rmcp_memory memory[static RMCP_MOST_SLOTS],
                        uint64_t workspace_bytes, rmcp_memory bound[static RMCP_MOST_SLOTS])
{
    rmcp_status status = RMCP_OK;
    memset(bound, 0, RMCP_MOST_SLOTS * sizeof *bound);
    for (unsigned i = 0; i < plan->n_needed && !status; i++) {
        const struct rmcp_need *need = &plan->needed[i];
        bound[need->slot] = memory[need->slot];
        status = check_memory(memory[need->slot], plan->list.names[need->slot], need->alignment);
    }
    if (plan->workspace_bytes && !status) {
        bound[RMCP_SLOT_WORKSPACE] = memory[RMCP_SLOT_WORKSPACE];
        status = check_memory(memory[RMCP_SLOT_WORKSPACE], "workspace", 256);
    }
    if (!status && workspace_bytes < plan->workspace_bytes)
        status =
            rmcp_fail(RMCP_E_ARG, "the workspace has %" PRIu64 " bytes; the plan needs %" PRIu64,
                      workspace_bytes, plan->workspace_bytes);
    return status;
}

rmcp_status rmcp_plan_execute_unchecked(const rmcp_plan *plan, void *stream,
                                        const rmcp_memory memory[static RMCP_MOST_SLOTS],
                                        const double *scalars, uint64_t workspace_bytes,
                                        double *seconds)
{
    rmcp_memory bound[RMCP_MOST_SLOTS];
    const struct rmcp_given given = { bound, scalars };
    const rmcp_status status = bind(plan, memory, workspace_bytes, bound);
    if (status) return status;
    return plan->device->driver->submit(plan->device, stream, &plan->list, &given, seconds);
}

rmcp_status rmcp_plan_execute_given(const rmcp_plan *plan, void *stream,
                                    const rmcp_memory memory[static RMCP_MOST_SLOTS],
                                    const double *scalars, uint64_t workspace_bytes,
                                    double *seconds)
{
    rmcp_memory bound[RMCP_MOST_SLOTS];
    const struct rmcp_given given = { bound, scalars };
    const rmcp_status status = bind(plan, memory, workspace_bytes, bound);
    if (status) return status;
    if (rmcp_check_is_on()) return rmcp_check_execute(plan, stream, &given, seconds);
    return plan->device->driver->submit(plan->device, stream, &plan->list, &given, seconds);
}

rmcp_status rmcp_plan_execute(const rmcp_plan *plan, void *stream,
                              const rmcp_memory memory[static RMCP_MOST_SLOTS],
                              uint64_t workspace_bytes, double *seconds)
{
    return rmcp_plan_execute_given(plan, stream, memory, NULL, workspace_bytes, seconds);
}
