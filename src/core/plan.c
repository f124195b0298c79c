/* plan.c: the planner: which algorithms can do a request, which one shall, and its execution. */
#include "core/plan.h"

#include "core/guard.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static rmcp_status read_options(const rmcp_plan_options *options, rmcp_plan_options *ours)
{
    *ours = (rmcp_plan_options){ .struct_size = sizeof *ours };
    if (!options) return RMCP_OK;
    rmcp_status status =
        rmcp_struct_read(options, ours, sizeof *ours, sizeof *ours, "rmcp_plan_options");
    if (status) return status;
    if (ours->effort > RMCP_MEASURE)
        return rmcp_fail(RMCP_E_ARG, "effort is %u; known are estimate (0) and measure (1)",
                         (unsigned)ours->effort);
    if (ours->accuracy > RMCP_STRICT)
        return rmcp_fail(RMCP_E_ARG, "accuracy is %u; known are accurate (0) and strict (1)",
                         (unsigned)ours->accuracy);
    if (ours->nondeterministic > 1)
        return rmcp_fail(RMCP_E_ARG, "nondeterministic is %u; it must be 0 or 1",
                         (unsigned)ours->nondeterministic);
    return RMCP_OK;
}

static rmcp_status make_request(const rmcp_device *device, const rmcp_problem *problem, int pass,
                                const rmcp_plan_options *options, struct rmcp_request *request)
{
    if (!device) return rmcp_fail(RMCP_E_ARG, "device is NULL");
    *request = (struct rmcp_request){
        .caps = &device->caps,
        .strict = options->accuracy == RMCP_STRICT,
        .deterministic = !options->nondeterministic,
        .fixed_weights = options->fixed_weights,
    };
    rmcp_status status = rmcp_conv_init(&request->conv, problem, pass);
    if (status) return status;
    if (pass == RMCP_BACKWARD_WEIGHTS && options->fixed_weights.base)
        return rmcp_fail(RMCP_E_ARG, "fixed_weights is set, but backward weights writes them");
    if (options->algorithm) {
        for (size_t i = 0; rmcp_algos[i]; i++)
            if (!strcmp(rmcp_algos[i]->name, options->algorithm)) return RMCP_OK;
        return rmcp_fail(RMCP_E_ARG, "no algorithm '%.60s'; rmcp plan --explain lists them",
                         options->algorithm);
    }
    return RMCP_OK;
}

/* Whether its first use on this device has failed. */
static bool failed_before(const rmcp_device *device, const struct rmcp_algo *algo, rmcp_type type,
                          char *why, size_t why_size)
{
    if (!rmcp_guard_applies(device->driver)) return false;
    const struct rmcp_guard_finding finding = rmcp_guard_look(&device->info, algo, type);
    if (finding.state != RMCP_GUARD_BAD && finding.state != RMCP_GUARD_CRASHED) return false;
    snprintf(why, why_size, "%.110s; rmcp devices --forget to try again", finding.reason);
    return true;
}

/* Ask one algorithm; the reason goes to `why`, "" when it can. */
static rmcp_status ask(const rmcp_device *device, const struct rmcp_algo *algo,
                       const struct rmcp_request *request, const rmcp_plan_options *options,
                       struct rmcp_choice *choice, char *why, size_t why_size)
{
    *choice = (struct rmcp_choice){ .algo = algo };
    const char *reason = NULL;
    if (options->algorithm && strcmp(options->algorithm, algo->name))
        reason = "another one was asked for by name";
    else if (!(algo->kind & request->caps->kinds))
        reason = algo->kind == RMCP_LAUNCH_KERNEL ? "is a GPU kernel, and this device is the host"
                                                  : "runs on the host, and this device does not";
    else
        reason = algo->refuse(request);
    snprintf(why, why_size, "%s", reason ? reason : "");
    if (reason || failed_before(device, algo, request->conv.type, why, why_size)) return RMCP_OK;

    rmcp_status status =
        algo->workspace ? algo->workspace(request, &choice->workspace_bytes) : RMCP_OK;
    if (status == RMCP_E_NOMEM || status == RMCP_E_LOST) return status;
    if (status) { /* it finds out only now; another one may do */
        snprintf(why, why_size, "%s", rmcp_last_error());
        return RMCP_OK;
    }
    uint64_t most = options->max_workspace == RMCP_NO_WORKSPACE ? 0
                    : options->max_workspace                    ? options->max_workspace
                                                                : UINT64_MAX;
    if (choice->workspace_bytes > most)
        snprintf(why, why_size, "needs %" PRIu64 " bytes of workspace, the limit is %" PRIu64,
                 choice->workspace_bytes, most);
    else
        choice->seconds = algo->cost(request);
    return RMCP_OK;
}

/* Fill `choices` with the algorithms that apply, best first. */
static rmcp_status choose(rmcp_device *device, const struct rmcp_request *request,
                          const rmcp_plan_options *options, struct rmcp_choice *choices,
                          size_t *n_choices)
{
    char why[160], reasons[400] = "";
    size_t n = 0;
    for (size_t i = 0; rmcp_algos[i] && n < RMCP_MOST_ALGOS; i++) {
        struct rmcp_choice choice;
        rmcp_status status = ask(device, rmcp_algos[i], request, options, &choice, why, sizeof why);
        if (status) return status;
        if (*why) {
            size_t used = strlen(reasons);
            if (!options->algorithm || !strcmp(options->algorithm, rmcp_algos[i]->name))
                snprintf(reasons + used, sizeof reasons - used, "%s%s: %s", used ? "; " : "",
                         rmcp_algos[i]->name, why);
            continue;
        }
        size_t at = n++;
        for (; at > 0 && choices[at - 1].seconds > choice.seconds; at--)
            choices[at] = choices[at - 1];
        choices[at] = choice;
    }
    *n_choices = n;
    if (n == 0)
        return rmcp_fail(RMCP_E_UNSUPPORTED, "no algorithm can do this on %s: %s",
                         device->info.spec, reasons);
    if (options->effort == RMCP_MEASURE && n > 1)
        return rmcp_plan_measure(device, request, options->max_workspace, choices, n);
    return RMCP_OK;
}

rmcp_status rmcp_plan_build(rmcp_device *device, const struct rmcp_request *request,
                            const struct rmcp_choice *choice, rmcp_plan **out)
{
    /* Loading first: a device that is lost, or code that does not load, is no finding. */
    rmcp_status status = rmcp_plan_build_unguarded(device, request, choice, out);
    if (!status) status = rmcp_guard_admit(device, choice->algo, request->conv.type);
    if (!status || !*out) return status;
    rmcp_plan_destroy(*out);
    *out = NULL;
    return status;
}

rmcp_status rmcp_plan_build_unguarded(rmcp_device *device, const struct rmcp_request *request,
                                      const struct rmcp_choice *choice, rmcp_plan **out)
{
    *out = NULL;
    rmcp_plan *plan = calloc(1, sizeof *plan);
    if (!plan) return rmcp_fail_memory("plan", sizeof *plan);
    plan->device = device;
    plan->algo = choice->algo;
    plan->request = *request;
    plan->workspace_bytes = choice->workspace_bytes;

    rmcp_status status = choice->algo->emit(request, &plan->list);
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

rmcp_status rmcp_plan_create(rmcp_device *device, const rmcp_problem *problem, rmcp_pass pass,
                             const rmcp_plan_options *options, rmcp_plan **out)
{
    if (!out) return rmcp_fail(RMCP_E_ARG, "out is NULL");
    *out = NULL;
    rmcp_plan_options ours;
    struct rmcp_request request;
    struct rmcp_choice choices[RMCP_MOST_ALGOS];
    size_t n_choices = 0;
    rmcp_status status = read_options(options, &ours);
    if (!status) status = make_request(device, problem, (int)pass, &ours, &request);
    if (!status) status = choose(device, &request, &ours, choices, &n_choices);
    if (status) return status;
    /* One whose first use fails leaves the work to the next. */
    for (size_t i = 0; i < n_choices; i++) {
        status = rmcp_plan_build(device, &request, &choices[i], out);
        if (status != RMCP_E_UNSUPPORTED) break;
    }
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

rmcp_status rmcp_plan_candidates(rmcp_device *device, const rmcp_problem *problem, rmcp_pass pass,
                                 const rmcp_plan_options *options, rmcp_candidate *list,
                                 size_t *count)
{
    if (!count) return rmcp_fail(RMCP_E_ARG, "count is NULL");
    rmcp_plan_options ours;
    struct rmcp_request request;
    rmcp_status status = read_options(options, &ours);
    if (!status) status = make_request(device, problem, (int)pass, &ours, &request);
    if (status) return status;

    struct rmcp_choice choices[RMCP_MOST_ALGOS];
    size_t n_choices = 0;
    status = choose(device, &request, &ours, choices, &n_choices);
    if (status && status != RMCP_E_UNSUPPORTED) return status;
    const struct rmcp_algo *chosen = status ? NULL : choices[0].algo;

    const size_t room = list ? *count : 0, step = room ? list->struct_size : 0;
    size_t n = 0;
    for (; rmcp_algos[n]; n++) {
        if (n >= room) continue;
        rmcp_candidate candidate = { .struct_size = sizeof candidate };
        struct rmcp_choice choice;
        status = ask(device, rmcp_algos[n], &request, &ours, &choice, candidate.refusal,
                     sizeof candidate.refusal);
        if (status) return status;
        snprintf(candidate.algorithm, sizeof candidate.algorithm, "%s", rmcp_algos[n]->name);
        candidate.chosen = rmcp_algos[n] == chosen;
        candidate.estimated_seconds = choice.seconds;
        candidate.workspace_bytes = choice.workspace_bytes;
        void *target = (char *)list + n * step;
        memcpy(target, &(uint32_t){ (uint32_t)step }, sizeof(uint32_t));
        status = rmcp_struct_write(&candidate, sizeof candidate, target, sizeof candidate,
                                   "rmcp_candidate");
        if (status) return status;
    }
    *count = n;
    return RMCP_OK;
}

/* ---- execution ---- */

static rmcp_status bind(const rmcp_plan *plan, const rmcp_tensors *tensors,
                        rmcp_memory memory[RMCP_N_SLOTS])
{
    rmcp_tensors t;
    rmcp_status status = rmcp_struct_read(tensors, &t, sizeof t, sizeof t, "rmcp_tensors");
    if (status) return status;
    const bool fixed = plan->request.fixed_weights.base != NULL;
    memory[RMCP_SLOT_X] = t.x;
    memory[RMCP_SLOT_W] = fixed ? plan->request.fixed_weights : t.w;
    memory[RMCP_SLOT_Y] = t.y;
    memory[RMCP_SLOT_BIAS] = rmcp_conv_has_bias(&plan->request.conv) ? t.bias : (rmcp_memory){ 0 };
    memory[RMCP_SLOT_WORKSPACE] = plan->workspace_bytes ? t.workspace : (rmcp_memory){ 0 };

    static const char *const names[] = { "x", "w", "y", "bias", "workspace" };
    const uint64_t element = rmcp_type_bytes(plan->request.conv.type);
    for (int slot = 0; slot < RMCP_N_SLOTS; slot++) {
        bool needed = slot == RMCP_SLOT_WORKSPACE
                          ? plan->workspace_bytes > 0
                          : rmcp_conv_elements(&plan->request.conv, (enum rmcp_slot)slot) > 0;
        uint64_t alignment = slot == RMCP_SLOT_WORKSPACE ? 256 : element;
        if (!needed) continue;
        if (!memory[slot].base) return rmcp_fail(RMCP_E_ARG, "tensors.%s is NULL", names[slot]);
        if (memory[slot].offset % alignment)
            return rmcp_fail(RMCP_E_ARG,
                             "the offset of tensors.%s is %" PRIu64 ", no multiple of %" PRIu64,
                             names[slot], memory[slot].offset, alignment);
    }
    if (t.workspace_bytes < plan->workspace_bytes)
        return rmcp_fail(RMCP_E_ARG, "the workspace has %" PRIu64 " bytes; the plan needs %" PRIu64,
                         t.workspace_bytes, plan->workspace_bytes);
    return RMCP_OK;
}

static rmcp_status execute(const rmcp_plan *plan, void *stream, const rmcp_tensors *tensors,
                           double *seconds)
{
    if (!plan) return rmcp_fail(RMCP_E_ARG, "plan is NULL");
    rmcp_memory memory[RMCP_N_SLOTS];
    rmcp_status status = bind(plan, tensors, memory);
    if (status) return status;
    return plan->device->driver->submit(plan->device, stream, &plan->list, memory, seconds);
}

rmcp_status rmcp_execute(const rmcp_plan *plan, void *stream, const rmcp_tensors *tensors)
{
    return execute(plan, stream, tensors, NULL);
}

rmcp_status rmcp_execute_timed(const rmcp_plan *plan, void *stream, const rmcp_tensors *tensors,
                               double *seconds)
{
    if (!seconds) return rmcp_fail(RMCP_E_ARG, "seconds is NULL");
    return execute(plan, stream, tensors, seconds);
}
