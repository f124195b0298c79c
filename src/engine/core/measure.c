/* measure.c: effort "measure": times the best few algorithms on the device itself. */
#include "engine/core/plan_cache.h"

#include <stdlib.h>
#include <string.h>

/* How many algorithms are timed, how often, and how many times slower than the best estimate one
 * may be estimated and still be worth it. */
enum { MOST_MEASURED = 8, REPEATS = 3, HOPELESS = 8 };

void rmcp_slot_bytes(const struct rmcp_operation *operation, const void *problem,
                     uint64_t workspace_bytes, uint64_t bytes[static RMCP_MOST_SLOTS])
{
    memset(bytes, 0, RMCP_MOST_SLOTS * sizeof *bytes);
    for (unsigned slot = 0; slot < operation->n_slots; slot++) {
        const struct rmcp_slot info = operation->slot(problem, slot);
        bytes[slot] = (uint64_t)info.elements * rmcp_type_bytes(info.type);
    }
    bytes[RMCP_SLOT_WORKSPACE] = workspace_bytes;
}

rmcp_status rmcp_buffer_filled(rmcp_device *device, uint64_t bytes, const void *pattern,
                               rmcp_memory *out)
{
    rmcp_status status = rmcp_buffer_create(device, bytes, out);
    for (uint64_t done = 0; done < bytes && !status; done += RMCP_PATTERN_BYTES) {
        const uint64_t left = bytes - done;
        rmcp_memory part = { out->base, out->offset + done };
        status = rmcp_copy_to_device(device, NULL, part, pattern,
                                     left < RMCP_PATTERN_BYTES ? left : RMCP_PATTERN_BYTES);
    }
    return status;
}

/* Fastest of a few runs after one to warm up. */
static rmcp_status time_choice(rmcp_device *device, const struct rmcp_request *request,
                               const struct rmcp_choice *choice,
                               const rmcp_memory memory[static RMCP_MOST_SLOTS],
                               uint64_t workspace_bytes, double *best)
{
    rmcp_plan *plan = NULL;
    rmcp_status status = rmcp_plan_build(device, request, choice, &plan);
    for (int i = 0; i <= REPEATS && !status; i++) {
        double seconds = 0;
        status = rmcp_plan_execute_unchecked(plan, NULL, memory, NULL, workspace_bytes, &seconds);
        if (!status && i > 0 && (i == 1 || seconds < *best)) *best = seconds;
    }
    rmcp_plan_destroy(plan);
    return status;
}

static void move_to_front(const struct rmcp_choice **choices, size_t index)
{
    const struct rmcp_choice *chosen = choices[index];
    memmove(choices + 1, choices, index * sizeof *choices);
    choices[0] = chosen;
}

/* Time each choice with buffers that serve them all; `*fastest` receives the index of the best. */
static rmcp_status time_all(rmcp_device *device, const struct rmcp_request *request,
                            const struct rmcp_choice *const *choices, size_t n, size_t *fastest,
                            double *seconds)
{
    uint64_t bytes[RMCP_MOST_SLOTS], workspace = 0;
    rmcp_memory memory[RMCP_MOST_SLOTS] = { { 0 } };
    for (size_t i = 0; i < n; i++)
        if (choices[i]->way.workspace_bytes > workspace)
            workspace = choices[i]->way.workspace_bytes;
    rmcp_slot_bytes(request->operation, request->problem, workspace, bytes);

    void *zeros = calloc(1, RMCP_PATTERN_BYTES);
    rmcp_status status = zeros ? RMCP_OK : rmcp_fail_memory("zeros", RMCP_PATTERN_BYTES);
    for (int slot = 0; slot < RMCP_MOST_SLOTS && !status; slot++)
        if (bytes[slot]) status = rmcp_buffer_filled(device, bytes[slot], zeros, &memory[slot]);
    free(zeros);
    if (!status) {
        *seconds = -1;
        for (size_t i = 0; i < n; i++) {
            double time = 0;
            status = time_choice(device, request, choices[i], memory, workspace, &time);
            if (!status && (*seconds < 0 || time < *seconds)) *seconds = time, *fastest = i;
        }
        if (*seconds >= 0) status = RMCP_OK; /* else that of the last attempt, with its message */
    }
    for (int slot = 0; slot < RMCP_MOST_SLOTS; slot++) rmcp_buffer_destroy(device, memory[slot]);
    return status;
}

/* Move choice `index` behind all others. */
static void move_to_end(const struct rmcp_choice **choices, size_t n_choices, size_t index)
{
    const struct rmcp_choice *aside = choices[index];
    memmove(choices + index, choices + index + 1, (n_choices - 1 - index) * sizeof *choices);
    choices[n_choices - 1] = aside;
}

/* How many of the first `n_choices` are worth measuring. */
static size_t promising(const struct rmcp_choice *const *choices, size_t n_choices)
{
    size_t n = 1;
    while (n < n_choices && n < MOST_MEASURED &&
           choices[n]->way.seconds < HOPELESS * choices[0]->way.seconds)
        n++;
    return n;
}

/* The choice with the largest workspace; n when none needs any. */
static size_t largest(const struct rmcp_choice *const *choices, size_t n)
{
    size_t best = 0;
    for (size_t i = 1; i < n; i++)
        if (choices[i]->way.workspace_bytes > choices[best]->way.workspace_bytes) best = i;
    return choices[best]->way.workspace_bytes ? best : n;
}

rmcp_status rmcp_plan_measure(rmcp_device *device, const struct rmcp_request *request,
                              uint64_t max_workspace, const struct rmcp_choice **choices,
                              size_t n_choices)
{
    char known[32];
    if (rmcp_plan_cache_find(device, request, max_workspace, known))
        for (size_t i = 0; i < n_choices; i++)
            if (!strcmp(choices[i]->algo->name, known)) {
                move_to_front(choices, i);
                return RMCP_OK;
            }
    size_t fastest = 0, left = n_choices;
    double seconds = 0;
    rmcp_status status = RMCP_E_UNSUPPORTED;
    while (status) {
        const size_t n = promising(choices, left);
        status = time_all(device, request, choices, n, &fastest, &seconds);
        const size_t large = status == RMCP_E_NOMEM ? largest(choices, n) : n;
        if (status == RMCP_E_UNSUPPORTED && n < left) { /* none passed its first use */
            for (size_t i = 0; i < n; i++) move_to_end(choices, n_choices, 0);
            left -= n;
        } else if (large < n && left > 1) { /* the others may do with what memory there is */
            move_to_end(choices, n_choices, large);
            left--;
        } else if (status) {
            return status;
        }
    }
    rmcp_plan_cache_add(device, request, max_workspace, choices[fastest]->algo->name, seconds);
    move_to_front(choices, fastest);
    return RMCP_OK;
}
