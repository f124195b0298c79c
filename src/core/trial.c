/* trial.c: small problems with known results, tried in this process. */
#include "core/trial.h"

#include "base/convert.h"
#include "core/plan.h"
#include "conv/reference.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const type_names[] = { "f32", "f16", "bf16" };
static const char *const pass_names[] = { "fwd", "bwd_data", "bwd_weights" };

/* Padding, strides, odd sizes, both layouts, long sums, one channel a group. */
static const char *const shapes[] = {
    "n1c8h9w7k24r3s3p1:%s:nchw:%s",
    "n2c20h6w6k40r3s3p1u2:%s:nhwc:%s",
    "n1c64h5w5k6r3s3p1:%s:nchw:%s",
    "n1c16h8w8k16r3s3p1g16:%s:nchw:%s",
};

static rmcp_status make_request(const rmcp_device *device, const char *text,
                                struct rmcp_request *request)
{
    rmcp_problem problem = { .struct_size = sizeof problem };
    int pass = 0;
    *request = (struct rmcp_request){ .caps = &device->caps, .deterministic = true };
    rmcp_status status = rmcp_problem_parse(text, &problem, &pass);
    return status ? status : rmcp_conv_init(&request->conv, &problem, pass);
}

struct rmcp_trial rmcp_trial_of(const rmcp_device *device, const struct rmcp_algo *algo,
                                rmcp_type type)
{
    struct rmcp_trial trial = { .algo = algo };
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++)
        for (int pass = 0; pass < RMCP_N_PASSES && trial.n_cases < RMCP_TRIAL_MOST; pass++) {
            struct rmcp_request request;
            char *text = trial.cases[trial.n_cases];
            snprintf(text, RMCP_TRIAL_CASE, shapes[i], type_names[type], pass_names[pass]);
            if (!make_request(device, text, &request) && !algo->refuse(&request)) trial.n_cases++;
        }
    return trial;
}

/* ---- one problem in this process ---- */

/* Small whole numbers: any order of summation gives the same result. */
static void fill(void *data, rmcp_type type, int64_t n, int64_t seed)
{
    for (int64_t i = 0; i < n; i++) rmcp_store(data, type, i, (float)((i * 7 + seed) % 5 - 2));
}

struct work {
    rmcp_device *device;
    void *stream;
    const struct rmcp_conv *conv;
    enum rmcp_slot output;
    void *host[RMCP_SLOT_BIAS]; /* x, w, y */
    rmcp_memory memory[RMCP_N_SLOTS];
    void *got;
};

static rmcp_status prepare(struct work *w, uint64_t workspace)
{
    const size_t element = rmcp_type_bytes(w->conv->type);
    rmcp_status status = RMCP_OK;
    for (int slot = 0; slot < RMCP_SLOT_BIAS && !status; slot++) {
        const int64_t n = rmcp_conv_elements(w->conv, (enum rmcp_slot)slot);
        const size_t bytes = (size_t)n * element;
        w->host[slot] = malloc(bytes);
        if (!w->host[slot]) return rmcp_fail_memory("trial", bytes);
        fill(w->host[slot], w->conv->type, n, slot);
        status = rmcp_buffer_create(w->device, bytes, &w->memory[slot]);
        if (!status)
            status =
                rmcp_copy_to_device(w->device, w->stream, w->memory[slot], w->host[slot], bytes);
    }
    if (!status && workspace)
        status = rmcp_buffer_create(w->device, workspace, &w->memory[RMCP_SLOT_WORKSPACE]);
    return status;
}

static void release(struct work *w)
{
    for (int slot = 0; slot < RMCP_N_SLOTS; slot++) rmcp_buffer_destroy(w->device, w->memory[slot]);
    for (int slot = 0; slot < RMCP_SLOT_BIAS; slot++) free(w->host[slot]);
    free(w->got);
}

/* Compare with the reference; `*wrong` receives the first element that differs, or -1. */
static rmcp_status judge(struct work *w, int64_t *wrong)
{
    const int64_t n = rmcp_conv_elements(w->conv, w->output);
    const size_t bytes = (size_t)n * rmcp_type_bytes(w->conv->type);
    w->got = malloc(bytes);
    if (!w->got) return rmcp_fail_memory("trial", bytes);
    rmcp_status status =
        rmcp_copy_to_host(w->device, w->stream, w->got, w->memory[w->output], bytes);
    if (status) return status;
    const struct rmcp_reference reference = { .conv = w->conv,
                                              .x = w->host[RMCP_SLOT_X],
                                              .w = w->host[RMCP_SLOT_W],
                                              .y = w->host[RMCP_SLOT_Y] };
    rmcp_reference_run(&reference, w->host[w->output], 1);
    for (*wrong = 0; *wrong < n; ++*wrong)
        if (rmcp_load(w->got, w->conv->type, *wrong) !=
            rmcp_load(w->host[w->output], w->conv->type, *wrong))
            return RMCP_OK;
    *wrong = -1;
    return RMCP_OK;
}

static rmcp_status run(rmcp_device *device, void *stream, const struct rmcp_algo *algo,
                       const char *text, int64_t *wrong)
{
    struct rmcp_request request;
    struct rmcp_choice choice = { .algo = algo };
    rmcp_plan *plan = NULL;
    rmcp_status status = make_request(device, text, &request);
    if (!status && algo->workspace) status = algo->workspace(&request, &choice.workspace_bytes);
    if (!status) status = rmcp_plan_build_unguarded(device, &request, &choice, &plan);
    if (status) return status;
    struct work work = { .device = device,
                         .stream = stream,
                         .conv = &request.conv,
                         .output = rmcp_conv_output_slot(&request.conv) };
    status = prepare(&work, choice.workspace_bytes);
    if (!status) {
        const rmcp_tensors tensors = rmcp_tensors_of(work.memory, choice.workspace_bytes);
        status = rmcp_execute(plan, stream, &tensors);
    }
    if (!status) status = rmcp_device_wait(device, stream);
    if (!status) status = judge(&work, wrong);
    release(&work);
    rmcp_plan_destroy(plan);
    return status;
}

struct rmcp_guard_finding rmcp_trial_here(rmcp_device *device, const struct rmcp_trial *trial)
{
    struct rmcp_guard_finding finding = { .state = RMCP_GUARD_GOOD };
    struct rmcp_side side = { 0 };
    rmcp_status status =
        device->driver->side_begin ? device->driver->side_begin(device, &side) : RMCP_OK;
    const bool begun = !status;
    for (size_t i = 0; i < trial->n_cases && !status && finding.state == RMCP_GUARD_GOOD; i++) {
        int64_t wrong = -1;
        status = run(device, side.stream, trial->algo, trial->cases[i], &wrong);
        if (!status && wrong >= 0) {
            finding.state = RMCP_GUARD_BAD;
            snprintf(finding.reason, sizeof finding.reason, "wrong result in %s at element %lld",
                     trial->cases[i], (long long)wrong);
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
