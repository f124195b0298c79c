/* judge.c: judges a plan's results against the operation's reference. */
#include "engine/core/judge.h"

#include "base/convert.h"
#include "base/random.h"
#include "engine/core/scalars.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Bytes before and after each tensor; a multiple of what workspace must be aligned to. */
enum { GUARD = 512, EVEN = 16 /* bytes that kernels load at once */ };
static const unsigned char guard_byte = 0xa5;

/* A tensor between its guards, on the host and on the device. */
struct area {
    struct rmcp_slot slot;
    uint64_t lead, bytes;
    unsigned char *host; /* lead + bytes + GUARD: what it was before */
    unsigned char *now;  /* the same afterwards                      */
    rmcp_memory buffer;
};

struct hearing {
    const rmcp_plan *plan;
    const struct rmcp_operation *operation;
    void *stream;
    double scalars[RMCP_MOST_SCALARS];
    const double *given; /* these, or NULL: the problem's own */
    struct area area[RMCP_MOST_SLOTS];
};

static uint64_t total(const struct area *a)
{
    return a->lead + a->bytes + GUARD;
}

/* ---- before ---- */

static rmcp_status make_area(const struct hearing *h, struct area *a, uint64_t shift)
{
    a->lead = GUARD + shift;
    a->host = malloc(total(a));
    a->now = malloc(total(a));
    if (!a->host || !a->now) return rmcp_fail_memory("verify: tensor", total(a));
    memset(a->host, guard_byte, total(a));
    return rmcp_buffer_create(h->plan->device, total(a), &a->buffer);
}

static rmcp_status prepare(struct hearing *h, enum rmcp_data data, uint64_t seed)
{
    struct rmcp_random r = { seed + data };
    /* All tensors or none: a kernel's loop for tensors that lie well would hardly ever run. */
    const bool even = rmcp_random_below(&r, 2) != 0;
    uint64_t bytes[RMCP_MOST_SLOTS];
    /* Integers are judged with what the case says, reals with other scalars. */
    if (data == RMCP_DATA_REALS && h->plan->n_scalars) {
        rmcp_scalars_draw(h->operation, h->plan->problem, seed, h->scalars);
        h->given = h->scalars;
    }
    rmcp_slot_bytes(h->operation, h->plan->problem, h->plan->workspace_bytes, bytes);
    for (unsigned slot = 0; slot < RMCP_MOST_SLOTS; slot++) {
        struct area *a = &h->area[slot];
        const bool scratch = slot == RMCP_SLOT_WORKSPACE;
        if (!bytes[slot]) continue;
        a->slot = scratch ? (struct rmcp_slot){ .name = "workspace" }
                          : h->operation->slot(h->plan->problem, slot);
        a->bytes = bytes[slot];
        const uint64_t element = rmcp_type_bytes(a->slot.type);
        const uint64_t step = even ? EVEN : element;
        rmcp_status status =
            make_area(h, a, scratch ? 0 : step * (uint64_t)rmcp_random_below(&r, 8));
        if (status) return status;
        memset(a->host + a->lead, 0xff, a->bytes); /* a NaN in every type */
        if (a->slot.read) h->operation->fill(h->plan->problem, slot, data, seed, a->host + a->lead);
        status = rmcp_copy_to_device(h->plan->device, h->stream, a->buffer, a->host, total(a));
        if (status) return status;
    }
    return RMCP_OK;
}

static rmcp_status run(struct hearing *h)
{
    rmcp_memory memory[RMCP_MOST_SLOTS];
    for (int slot = 0; slot < RMCP_MOST_SLOTS; slot++) {
        memory[slot] = h->area[slot].buffer;
        memory[slot].offset += h->area[slot].lead;
    }
    rmcp_status status = rmcp_plan_execute_unchecked(h->plan, h->stream, memory, h->given,
                                                     h->plan->workspace_bytes, NULL);
    return status ? status : rmcp_device_wait(h->plan->device, h->stream);
}

/* ---- after ---- */

static bool guards_intact(const struct area *a, char *why, size_t size)
{
    for (uint64_t i = 0; i < total(a); i++) {
        if (i == a->lead) i += a->bytes;
        if (a->now[i] == guard_byte) continue;
        if (i < a->lead)
            snprintf(why, size, "wrote %" PRIu64 " bytes before %s", a->lead - i, a->slot.name);
        else
            snprintf(why, size, "wrote %" PRIu64 " bytes after the end of %s",
                     i - a->lead - a->bytes, a->slot.name);
        return false;
    }
    return true;
}

/* Fetch a tensor and look at its guards and, if it is an input alone, at its values. */
static rmcp_status fetch(struct hearing *h, struct area *a, struct rmcp_judgement *j)
{
    rmcp_status status = rmcp_copy_to_host(h->plan->device, h->stream, a->now, a->buffer, total(a));
    if (status || !j->passed) return status;
    j->passed = guards_intact(a, j->why, sizeof j->why);
    if (j->passed && a->slot.read && !a->slot.written && memcmp(a->now, a->host, total(a))) {
        j->passed = false;
        snprintf(j->why, sizeof j->why, "changed its input %s", a->slot.name);
    }
    return RMCP_OK;
}

/* Whether an element is as it was before: a NaN that no arithmetic makes. */
static bool is_unwritten(const struct area *a, int64_t i)
{
    static const unsigned char mark[8] = { 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff };
    const uint64_t bytes = rmcp_type_bytes(a->slot.type);
    return !memcmp(a->now + a->lead + (uint64_t)i * bytes, mark, bytes);
}

/* Every element is written, and a NaN only where the reference has one. */
static bool all_written(const struct hearing *h, const struct rmcp_reference *reference,
                        unsigned slot, struct rmcp_judgement *j)
{
    const struct area *a = &h->area[slot];
    if (rmcp_type_is_integer(a->slot.type))
        return true; /* no value is a mark: comparing finds them */
    for (int64_t i = 0; i < a->slot.elements; i++) {
        if (!isnan(rmcp_load(a->now + a->lead, a->slot.type, i))) continue;
        if (!is_unwritten(a, i)) {
            struct rmcp_expected expected = h->operation->expect(reference, slot, i);
            if (isnan(expected.value)) continue;
        }
        snprintf(j->why, sizeof j->why,
                 "%s[%" PRId64 "] of %" PRId64 " is NaN or was never written", a->slot.name, i,
                 a->slot.elements);
        return false;
    }
    return true;
}

static void compare(const struct hearing *h, const struct rmcp_reference *reference, unsigned slot,
                    uint64_t seed, double effort, struct rmcp_judgement *j)
{
    const struct area *a = &h->area[slot];
    struct rmcp_comparison c = { .operation = h->operation,
                                 .reference = reference,
                                 .slot = slot,
                                 .values = a->now + a->lead,
                                 .share = rmcp_error_share,
                                 .seed = seed,
                                 .effort = effort };
    rmcp_compare(&c);
    j->checked += c.checked;
    if (c.worst > j->worst) j->worst = c.worst;
    if (!(c.worst > 1)) return;
    j->passed = false;
    snprintf(j->why, sizeof j->why, "%s[%" PRId64 "] is %.9g, expected %.9g; allowed error %.3g",
             a->slot.name, c.element, (double)c.got, c.expected.value, c.expected.allowed);
}

/* Every output against the reference. */
static rmcp_status compare_all(const struct hearing *h, enum rmcp_data data, uint64_t seed,
                               double effort, struct rmcp_judgement *j)
{
    const double factor = h->plan->algo->error_factor;
    struct rmcp_any_problem room;
    struct rmcp_reference reference = {
        .problem = rmcp_scalars_in(h->operation, h->plan->problem, h->given, &room),
        .data = data,
        .strict = h->plan->request.strict,
        .error_factor = factor > 0 ? factor : 1,
    };
    for (unsigned slot = 0; slot < h->operation->n_slots; slot++) {
        const struct area *a = &h->area[slot];
        if (a->host && a->slot.read) reference.host[slot] = a->host + a->lead;
    }
    rmcp_status status =
        h->operation->reference_begin ? h->operation->reference_begin(&reference) : RMCP_OK;
    for (unsigned slot = 0; slot < h->operation->n_slots && !status && j->passed; slot++)
        if (h->area[slot].host && h->area[slot].slot.written)
            j->passed = all_written(h, &reference, slot, j);
    for (unsigned slot = 0; slot < h->operation->n_slots && !status && j->passed; slot++)
        if (h->area[slot].host && h->area[slot].slot.written)
            compare(h, &reference, slot, seed, effort, j);
    if (h->operation->reference_end) h->operation->reference_end(&reference);
    return status;
}

static void end(struct hearing *h)
{
    for (int slot = 0; slot < RMCP_MOST_SLOTS; slot++) {
        free(h->area[slot].host);
        free(h->area[slot].now);
        rmcp_buffer_destroy(h->plan->device, h->area[slot].buffer);
    }
}

rmcp_status rmcp_judge_plan(const rmcp_plan *plan, void *stream, enum rmcp_data data, uint64_t seed,
                            double effort, struct rmcp_judgement *j)
{
    struct hearing h = { .plan = plan, .operation = plan->request.operation, .stream = stream };
    *j = (struct rmcp_judgement){ .passed = true };
    snprintf(j->algorithm, sizeof j->algorithm, "%s", plan->algo->name);
    rmcp_status status = prepare(&h, data, seed);
    if (!status) status = run(&h);
    for (int slot = 0; slot < RMCP_MOST_SLOTS && !status; slot++) {
        struct area *a = &h.area[slot];
        if (!a->host) continue;
        if (a->slot.written) j->outputs += a->slot.elements;
        status = fetch(&h, a, j);
    }
    if (!status && j->passed) status = compare_all(&h, data, seed, effort, j);
    end(&h);
    return status;
}

/* Outputs as they were before the first execution. */
static rmcp_status restore(const struct hearing *h)
{
    rmcp_status status = RMCP_OK;
    for (int slot = 0; slot < RMCP_MOST_SLOTS && !status; slot++) {
        const struct area *a = &h->area[slot];
        if (a->host && (a->slot.written || slot == RMCP_SLOT_WORKSPACE))
            status = rmcp_copy_to_device(h->plan->device, h->stream, a->buffer, a->host, total(a));
    }
    return status;
}

/* Outputs of this execution against those of the first, which are in `first`. */
static rmcp_status compare_bits(const struct hearing *h, unsigned char *const first[],
                                uint64_t time, struct rmcp_judgement *j)
{
    rmcp_status status = RMCP_OK;
    for (int slot = 0; slot < RMCP_MOST_SLOTS && !status && j->passed; slot++) {
        const struct area *a = &h->area[slot];
        if (!first[slot]) continue;
        status = rmcp_copy_to_host(h->plan->device, h->stream, a->now, a->buffer, total(a));
        if (status || !memcmp(a->now, first[slot], total(a))) continue;
        j->passed = false;
        snprintf(j->why, sizeof j->why,
                 "%s has other bits in execution %" PRIu64 " than in the first", a->slot.name,
                 time);
    }
    return status;
}

static rmcp_status repeat(const rmcp_plan *plan, void *stream, uint64_t seed, uint64_t times,
                          struct rmcp_judgement *j)
{
    struct hearing h = { .plan = plan, .operation = plan->request.operation, .stream = stream };
    unsigned char *first[RMCP_MOST_SLOTS] = { NULL };
    *j = (struct rmcp_judgement){ .passed = true };
    snprintf(j->algorithm, sizeof j->algorithm, "%s", plan->algo->name);
    rmcp_status status = prepare(&h, RMCP_DATA_REALS, seed);
    if (!status) status = run(&h);
    for (int slot = 0; slot < RMCP_MOST_SLOTS && !status; slot++) {
        const struct area *a = &h.area[slot];
        if (!a->host || !a->slot.written) continue;
        first[slot] = malloc(total(a));
        status = first[slot]
                     ? rmcp_copy_to_host(plan->device, stream, first[slot], a->buffer, total(a))
                     : rmcp_fail_memory("verify: tensor", total(a));
    }
    for (uint64_t i = 2; i <= times && !status && j->passed; i++) {
        status = restore(&h);
        if (!status) status = run(&h);
        if (!status) status = compare_bits(&h, first, i, j);
    }
    for (int slot = 0; slot < RMCP_MOST_SLOTS; slot++) free(first[slot]);
    end(&h);
    return status;
}

rmcp_status rmcp_judge_problem(rmcp_device *device, const struct rmcp_operation *operation,
                               const void *problem, const char *algorithm, enum rmcp_data data,
                               uint64_t seed, double effort, struct rmcp_judgement *j)
{
    *j = (struct rmcp_judgement){ 0 };
    rmcp_plan *plan = NULL;
    rmcp_plan_options options = { .struct_size = sizeof options, .algorithm = algorithm };
    rmcp_status status = rmcp_plan_make(device, operation, problem, &options, &plan);
    if (!status) status = rmcp_judge_plan(plan, NULL, data, seed, effort, j);
    rmcp_plan_destroy(plan);
    return status;
}

rmcp_status rmcp_judge_repeats(rmcp_device *device, const struct rmcp_operation *operation,
                               const void *problem, const char *algorithm, uint64_t seed,
                               uint64_t times, struct rmcp_judgement *j)
{
    *j = (struct rmcp_judgement){ 0 };
    rmcp_plan *plan = NULL;
    rmcp_plan_options options = { .struct_size = sizeof options, .algorithm = algorithm };
    rmcp_status status = rmcp_plan_make(device, operation, problem, &options, &plan);
    if (!status) status = repeat(plan, NULL, seed, times, j);
    rmcp_plan_destroy(plan);
    return status;
}
