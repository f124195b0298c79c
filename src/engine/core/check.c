/* check.c: executes a plan between copies of the caller's tensors and compares them with the
 * reference.
 *
 * Everything happens in the order of the caller's stream. Outputs that nobody reads are filled with
 * a pattern before, so that an element which is never written shows; it then gets back what the
 * caller had there. */
#include "engine/core/check.h"

#include "base/convert.h"
#include "engine/core/compare.h"
#include "engine/core/scalars.h"

#include <math.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#ifdef _OPENMP
#include <omp.h>
#endif

/* Some processors take denormals for zeros, in sums of thousands of products, too. */
static const double underflow = 0x1p-100;

enum { MESSAGE = 512 };    /* as long as rmcp_last_error gets */
enum { UNWRITTEN = 0xff }; /* every byte: a NaN in all types, and one that no arithmetic makes */

/* A tensor of the caller's, in host memory. */
struct copy {
    struct rmcp_slot slot;
    uint64_t bytes; /* 0: not used */
    unsigned char *before, *after;
    bool marked; /* filled with UNWRITTEN before the execution */
};

struct check {
    const rmcp_plan *plan;
    void *stream;
    const struct rmcp_given *given;
    struct copy copies[RMCP_MOST_SLOTS];
};

/* ---- before ---- */

/* Also true for two places that may be one: buffers of OpenCL are no addresses. */
static bool overlaps(const struct check *check, unsigned slot, const uint64_t bytes[])
{
    const rmcp_memory *mine = &check->given->memory[slot];
    const uint64_t begin = (uint64_t)(uintptr_t)mine->base + mine->offset;
    for (unsigned i = 0; i < RMCP_MOST_SLOTS; i++) {
        const rmcp_memory *other = &check->given->memory[i];
        const uint64_t start = (uint64_t)(uintptr_t)other->base + other->offset;
        if (i != slot && bytes[i] && begin < start + bytes[i] && start < begin + bytes[slot])
            return true;
    }
    return false;
}

static rmcp_status read_before(struct check *check)
{
    const struct rmcp_operation *operation = check->plan->request.operation;
    uint64_t bytes[RMCP_MOST_SLOTS];
    rmcp_slot_bytes(operation, check->plan->problem, check->plan->workspace_bytes, bytes);
    for (unsigned slot = 0; slot < operation->n_slots; slot++) {
        struct copy *c = &check->copies[slot];
        if (!bytes[slot]) continue;
        c->slot = operation->slot(check->plan->problem, slot);
        c->bytes = bytes[slot];
        c->before = bytes[slot] <= SIZE_MAX ? malloc((size_t)bytes[slot]) : NULL;
        if (c->slot.written && c->before) c->after = malloc((size_t)bytes[slot]);
        if (!c->before || (c->slot.written && !c->after))
            return rmcp_fail_memory("check", (size_t)bytes[slot]);
        const rmcp_status status = rmcp_copy_to_host(check->plan->device, check->stream, c->before,
                                                     check->given->memory[slot], bytes[slot]);
        if (status) return status;
        c->marked = c->slot.written && !c->slot.read && !rmcp_type_is_integer(c->slot.type) &&
                    !overlaps(check, slot, bytes);
    }
    return RMCP_OK;
}

/* Give all marked outputs what they had before. */
static void unmark(const struct check *check)
{
    for (unsigned slot = 0; slot < RMCP_MOST_SLOTS; slot++) {
        const struct copy *c = &check->copies[slot];
        if (c->marked)
            rmcp_copy_to_device(check->plan->device, check->stream, check->given->memory[slot],
                                c->before, c->bytes);
    }
}

static rmcp_status mark(const struct check *check)
{
    rmcp_status status = RMCP_OK;
    for (unsigned slot = 0; slot < RMCP_MOST_SLOTS && !status; slot++) {
        const struct copy *c = &check->copies[slot];
        if (!c->marked) continue;
        memset(c->after, UNWRITTEN, (size_t)c->bytes);
        status = rmcp_copy_to_device(check->plan->device, check->stream, check->given->memory[slot],
                                     c->after, c->bytes);
    }
    return status;
}

/* ---- after ---- */

static rmcp_status read_after(const struct check *check)
{
    rmcp_status status = RMCP_OK;
    for (unsigned slot = 0; slot < RMCP_MOST_SLOTS && !status; slot++) {
        const struct copy *c = &check->copies[slot];
        if (c->after)
            status = rmcp_copy_to_host(check->plan->device, check->stream, c->after,
                                       check->given->memory[slot], c->bytes);
    }
    return status;
}

/* The judge's measure, for data that it does not choose. */
static double share_of(struct rmcp_expected expected, rmcp_type type, float got)
{
    static const double largest[] = {
        [RMCP_F32] = 0x1.fffffep127, [RMCP_F16] = 65504, [RMCP_BF16] = 0x1.fep127
    };
    const double share = rmcp_error_share(expected, type, got);
    if (share <= 1 || expected.open) return share <= 1 ? share : 1;
    if (fabs((double)got - expected.value) < underflow) return 1;
    /* An infinity, and an overflow of f32 to the other one. */
    if (isinf(expected.value) && isnan(got)) return 1;
    if (!isfinite(expected.value)) return share;
    if (rmcp_type_is_integer(type)) return share;
    if (fabs(expected.value) > largest[type]) return 1; /* the type has no such number */
    /* What may lie beyond the type's numbers on that side, as where large terms cancel. */
    const double side = got > 0 ? expected.value : -expected.value;
    return isinf(got) && side + expected.allowed > largest[type] ? 1 : share;
}

static bool is_mark(const unsigned char *element, size_t bytes)
{
    for (size_t i = 0; i < bytes; i++)
        if (element[i] != UNWRITTEN) return false;
    return true;
}

/* Whether an output has elements that were never written: those get back what they had. A copy of
 * NaNs may look the same, so the first few are asked for. */
static bool find_unwritten(const struct check *check, const struct rmcp_reference *reference,
                           unsigned slot, struct rmcp_check_difference *difference)
{
    enum { MOST_ASKED = 64 };
    const struct copy *c = &check->copies[slot];
    const size_t bytes = rmcp_type_bytes(c->slot.type);
    bool found = false;
    int asked = 0;
    for (int64_t i = 0; i < c->slot.elements && (found || asked < MOST_ASKED); i++) {
        unsigned char *element = c->after + (size_t)i * bytes;
        if (!is_mark(element, bytes)) continue;
        if (!found) {
            asked++;
            difference->expected =
                rmcp_expect_near(check->plan->request.operation, reference, slot, i);
            if (isnan(difference->expected.value) || difference->expected.open) continue;
            difference->element = i;
            difference->unwritten = found = true;
        }
        memcpy(element, c->before + (size_t)i * bytes, bytes);
    }
    if (found)
        rmcp_copy_to_device(check->plan->device, check->stream, check->given->memory[slot],
                            c->after, c->bytes);
    return found;
}

static bool find_difference(const struct check *check, const struct rmcp_reference *reference,
                            uint64_t seed, struct rmcp_check_difference *difference)
{
    const struct rmcp_operation *operation = check->plan->request.operation;
    bool found = false;
    for (unsigned slot = 0; slot < operation->n_slots; slot++) {
        const struct copy *c = &check->copies[slot];
        struct rmcp_check_difference here = { .tensor = c->slot.name };
        if (!c->after) continue;
        bool wrong = c->marked && find_unwritten(check, reference, slot, &here);
        if (!wrong && !found) {
            struct rmcp_comparison comparison = {
                .operation = operation,
                .reference = reference,
                .slot = slot,
                .values = c->after,
                .share = share_of,
                .near = true,
                .seed = seed,
                .effort = rmcp_check_is_full() ? (double)INFINITY : 0,
            };
            rmcp_compare(&comparison);
            wrong = comparison.worst > 1;
            here.element = comparison.element;
            here.got = comparison.got;
            here.expected = comparison.expected;
        }
        if (wrong && !found) *difference = here;
        found |= wrong;
    }
    return found;
}

/* The reference uses as many threads as the device: one in a forked process, where OpenMP's others
 * are gone. */
static int exchange_threads(int threads)
{
#ifdef _OPENMP
    const int before = omp_get_max_threads();
    if (threads > 0) omp_set_num_threads(threads);
    return before;
#else
    return threads;
#endif
}

static void compare(const struct check *check)
{
    static _Atomic uint64_t count; /* another sample each time */
    const rmcp_plan *plan = check->plan;
    const struct rmcp_operation *operation = plan->request.operation;
    const double factor = plan->algo->error_factor;
    struct rmcp_any_problem room;
    struct rmcp_reference reference = {
        .problem = rmcp_scalars_in(operation, plan->problem, check->given->scalars, &room),
        .data = RMCP_DATA_REALS,
        .strict = plan->request.strict,
        .error_factor = factor > 0 ? factor : 1,
    };
    for (unsigned slot = 0; slot < operation->n_slots; slot++)
        if (check->copies[slot].slot.read) reference.host[slot] = check->copies[slot].before;

    const int threads = exchange_threads((int)plan->device->caps.threads);
    struct rmcp_check_difference difference;
    if (operation->reference_begin && operation->reference_begin(&reference))
        rmcp_check_count_skipped();
    else if (find_difference(check, &reference, count++ << 32, &difference))
        rmcp_check_count_wrong(plan, reference.problem, &difference);
    else
        rmcp_check_count_good();
    if (operation->reference_end) operation->reference_end(&reference);
    exchange_threads(threads);
}

/* Give back what was marked, and keep the message of what has failed. */
static rmcp_status give_up(const struct check *check, rmcp_status status)
{
    char message[MESSAGE];
    snprintf(message, sizeof message, "%s", rmcp_last_error());
    unmark(check);
    return rmcp_fail(status, "%s", message);
}

static rmcp_status execute(struct check *check, double *seconds)
{
    rmcp_device *device = check->plan->device;
    bool captured = false;
    rmcp_status failed = device->driver->capturing
                             ? device->driver->capturing(device, check->stream, &captured)
                             : RMCP_OK;
    if (!failed) failed = captured ? RMCP_E_UNSUPPORTED : read_before(check);
    if (!failed) {
        failed = mark(check);
        if (failed) give_up(check, failed);
    }
    /* A device that is gone is the caller's matter, too; whatever else fails here is not. */
    if (failed == RMCP_E_LOST) return failed;
    const rmcp_status status =
        device->driver->submit(device, check->stream, &check->plan->list, check->given, seconds);
    if (status) return failed ? status : give_up(check, status);
    if (!failed) failed = read_after(check);
    if (failed)
        rmcp_check_count_skipped();
    else
        compare(check);
    return failed == RMCP_E_LOST ? failed : RMCP_OK;
}

rmcp_status rmcp_check_execute(const rmcp_plan *plan, void *stream, const struct rmcp_given *given,
                               double *seconds)
{
    struct check check = { .plan = plan, .stream = stream, .given = given };
    char before[MESSAGE];
    snprintf(before, sizeof before, "%s", rmcp_last_error());
    const rmcp_status status = execute(&check, seconds);
    for (unsigned slot = 0; slot < RMCP_MOST_SLOTS; slot++) {
        free(check.copies[slot].before);
        free(check.copies[slot].after);
    }
    /* What failed only here is no message for the caller. */
    return status ? status : rmcp_fail(RMCP_OK, "%s", before);
}
