/* verify.c: judges one algorithm on one case on one device against the reference. */
#include "verify/verify.h"

#include "base/convert.h"
#include "conv/reference.h"
#include "verify/random.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Bytes before and after each tensor; a multiple of what workspace must be aligned to. */
enum { GUARD = 512 };
static const unsigned char guard_byte = 0xa5;
static const double default_effort = 8e6;

/* A tensor between its guards, on the host and on the device. */
struct area {
    unsigned char *host; /* lead + bytes + GUARD */
    uint64_t lead, bytes;
    rmcp_memory buffer;
};

struct trial {
    rmcp_device *device;
    rmcp_plan *plan;
    struct rmcp_conv conv;
    struct area area[RMCP_N_SLOTS];
};

static uint64_t total(const struct area *a)
{
    return a->lead + a->bytes + GUARD;
}

/* ---- before ---- */

static rmcp_status make_area(struct trial *t, int slot, uint64_t bytes, uint64_t shift)
{
    struct area *a = &t->area[slot];
    a->lead = GUARD + shift;
    a->bytes = bytes;
    a->host = malloc(total(a));
    if (!a->host) return rmcp_fail_memory("verify: tensor", total(a));
    memset(a->host, guard_byte, total(a));
    return rmcp_buffer_create(t->device, total(a), &a->buffer);
}

static void fill_nan(const struct area *a)
{
    memset(a->host + a->lead, 0xff, a->bytes); /* a NaN in every type */
}

/* The largest integer that keeps every partial sum exact in f32. */
static int64_t largest_integer(const struct rmcp_conv *conv)
{
    double terms = rmcp_conv_reduction(conv) + 1;
    for (int64_t m = 4; m > 1; m--)
        if (terms * (double)(m * m) < 0x1p24) return m;
    return 1;
}

static void fill_input(const struct trial *t, int slot, enum rmcp_verify_data data, uint64_t seed)
{
    const struct area *a = &t->area[slot];
    const int64_t n = rmcp_conv_elements(&t->conv, (enum rmcp_slot)slot);
    const int64_t most = largest_integer(&t->conv);
    struct rmcp_random r = { seed + 0x1000193u * (uint64_t)(slot + 1) };
    for (int64_t i = 0; i < n; i++)
        rmcp_store(a->host + a->lead, t->conv.type, i,
                   data == RMCP_VERIFY_INTEGERS ? (float)rmcp_random_between(&r, -most, most)
                                                : rmcp_random_real(&r));
}

static rmcp_status prepare(struct trial *t, enum rmcp_verify_data data, uint64_t seed)
{
    const uint64_t element = rmcp_type_bytes(t->conv.type);
    const int out = (int)rmcp_conv_output_slot(&t->conv);
    struct rmcp_random r = { seed };
    for (int slot = 0; slot < RMCP_N_SLOTS; slot++) {
        bool scratch = slot == RMCP_SLOT_WORKSPACE;
        uint64_t bytes =
            scratch ? rmcp_plan_workspace(t->plan)
                    : (uint64_t)rmcp_conv_elements(&t->conv, (enum rmcp_slot)slot) * element;
        if (!bytes) continue;
        uint64_t shift = scratch ? 0 : element * (uint64_t)rmcp_random_below(&r, 8);
        rmcp_status status = make_area(t, slot, bytes, shift);
        if (status) return status;
        if (scratch || slot == out)
            fill_nan(&t->area[slot]);
        else
            fill_input(t, slot, data, seed);
        status = rmcp_copy_to_device(t->device, NULL, t->area[slot].buffer, t->area[slot].host,
                                     total(&t->area[slot]));
        if (status) return status;
    }
    return RMCP_OK;
}

static rmcp_status run(struct trial *t)
{
    rmcp_memory m[RMCP_N_SLOTS];
    for (int slot = 0; slot < RMCP_N_SLOTS; slot++) {
        m[slot] = t->area[slot].buffer;
        m[slot].offset += t->area[slot].lead;
    }
    const rmcp_tensors tensors = rmcp_tensors_of(m, t->area[RMCP_SLOT_WORKSPACE].bytes);
    rmcp_status status = rmcp_execute(t->plan, NULL, &tensors);
    return status ? status : rmcp_device_wait(t->device, NULL);
}

/* ---- after ---- */

static const char *const slot_names[] = { "x", "w", "y", "bias", "workspace" };

static bool guards_intact(const struct area *a, const unsigned char *now, const char *name,
                          char *why, size_t size)
{
    for (uint64_t i = 0; i < total(a); i++) {
        if (i == a->lead) i += a->bytes;
        if (now[i] == guard_byte) continue;
        if (i < a->lead)
            snprintf(why, size, "wrote %" PRIu64 " bytes before %s", a->lead - i, name);
        else
            snprintf(why, size, "wrote %" PRIu64 " bytes after the end of %s",
                     i - a->lead - a->bytes, name);
        return false;
    }
    return true;
}

/* Fetch a tensor and look at its guards; the host copy then holds what the device has. */
static rmcp_status fetch(struct trial *t, int slot, struct rmcp_verify_result *result)
{
    struct area *a = &t->area[slot];
    const bool input = slot < RMCP_SLOT_WORKSPACE && slot != (int)rmcp_conv_output_slot(&t->conv);
    unsigned char *now = input ? malloc(total(a)) : a->host;
    if (!now) return rmcp_fail_memory("verify: tensor", total(a));
    rmcp_status status = rmcp_copy_to_host(t->device, NULL, now, a->buffer, total(a));
    if (!status && result->passed) {
        result->passed = guards_intact(a, now, slot_names[slot], result->why, sizeof result->why);
        if (result->passed && input && memcmp(now, a->host, total(a))) {
            result->passed = false;
            snprintf(result->why, sizeof result->why, "changed its input %s", slot_names[slot]);
        }
    }
    if (input) free(now);
    return status;
}

double rmcp_verify_bound(const struct rmcp_conv *conv, double value, double magnitude)
{
    static const struct {
        double unit, smallest; /* relative and absolute limit of the final rounding */
    } rounding[] = {
        [RMCP_F32] = { 0x1p-24, 0x1p-149 },
        [RMCP_F16] = { 0x1p-11, 0x1p-24 },
        [RMCP_BF16] = { 0x1p-8, 0x1p-133 },
    };
    double slope = rmcp_conv_activation(conv) == RMCP_LEAKY_RELU
                       ? fmax(1, fabs((double)conv->problem.slope))
                       : 1;
    return 2 * 0x1p-24 * slope * magnitude * sqrt(rmcp_conv_reduction(conv) + 1) +
           rounding[conv->type].unit * fabs(value) + rounding[conv->type].smallest;
}

/* Error of one output as a share of what is allowed; exact results must agree in value. */
static double error_share(const struct rmcp_conv *conv, bool exact,
                          struct rmcp_reference_value expected, float got)
{
    union {
        float f32;
        uint16_t half;
    } rounded;
    rmcp_store(&rounded, conv->type, 0, (float)expected.value);
    const float value = rmcp_load(&rounded, conv->type, 0);
    if (got == value || (isnan(got) && isnan(value))) return 0;
    if (exact || !isfinite(got) || !isfinite(value)) return HUGE_VAL;
    return fabs((double)got - expected.value) /
           rmcp_verify_bound(conv, expected.value, expected.magnitude);
}

static bool all_written(const struct trial *t, struct rmcp_verify_result *result)
{
    const int out = (int)rmcp_conv_output_slot(&t->conv);
    const void *data = t->area[out].host + t->area[out].lead;
    for (int64_t i = 0; i < result->outputs; i++)
        if (isnan(rmcp_load(data, t->conv.type, i))) {
            snprintf(result->why, sizeof result->why,
                     "%s[%" PRId64 "] of %" PRId64 " is NaN or was never written", slot_names[out],
                     i, result->outputs);
            return false;
        }
    return true;
}

/* Which output the i-th comparison looks at: the ends, then anywhere. */
static int64_t sample(const struct rmcp_verify_result *result, int64_t i, uint64_t seed)
{
    if (result->checked == result->outputs) return i;
    if (i == 0) return 0;
    if (i == 1) return result->outputs - 1;
    struct rmcp_random r = { seed + (uint64_t)i };
    return rmcp_random_below(&r, result->outputs);
}

static void compare(const struct trial *t, bool exact, uint64_t seed, double effort,
                    struct rmcp_verify_result *result)
{
    const struct rmcp_conv *conv = &t->conv;
    const int out = (int)rmcp_conv_output_slot(conv);
    const struct area *a = t->area;
    const struct rmcp_reference reference = {
        .conv = conv,
        .x = a[RMCP_SLOT_X].host + a[RMCP_SLOT_X].lead,
        .w = a[RMCP_SLOT_W].host + a[RMCP_SLOT_W].lead,
        .y = a[RMCP_SLOT_Y].host + a[RMCP_SLOT_Y].lead,
        .bias = a[RMCP_SLOT_BIAS].host ? a[RMCP_SLOT_BIAS].host + a[RMCP_SLOT_BIAS].lead : NULL,
    };
    const void *got = a[out].host + a[out].lead;
    const double affordable = effort / rmcp_conv_reduction(conv);
    result->checked = affordable < 64 ? 64 : affordable < 1e15 ? (int64_t)affordable : INT64_MAX;
    if (result->checked > result->outputs) result->checked = result->outputs;

#pragma omp parallel for schedule(dynamic, 16)
    for (int64_t i = 0; i < result->checked; i++) {
        const int64_t at = sample(result, i, seed);
        const struct rmcp_reference_value expected = rmcp_reference_element(&reference, at);
        const float value = rmcp_load(got, conv->type, at);
        const double share = error_share(conv, exact, expected, value);
#pragma omp critical
        if (share > result->worst) {
            result->worst = share;
            if (share > 1) {
                result->passed = false;
                snprintf(result->why, sizeof result->why,
                         "%s[%" PRId64 "] is %.9g, expected %.9g; allowed error %.3g", slot_names[out],
                         at, (double)value, expected.value,
                         exact ? 0
                               : rmcp_verify_bound(conv, expected.value, expected.magnitude));
            }
        }
    }
}

rmcp_status rmcp_verify_case(rmcp_device *device, const rmcp_problem *problem, rmcp_pass pass,
                             const char *algorithm, enum rmcp_verify_data data, uint64_t seed,
                             double effort, struct rmcp_verify_result *result)
{
    memset(result, 0, sizeof *result);
    struct trial t = { .device = device };
    rmcp_plan_options options = { .struct_size = sizeof options, .algorithm = algorithm };
    rmcp_status status = rmcp_conv_init(&t.conv, problem, (int)pass);
    if (!status) status = rmcp_plan_create(device, problem, pass, &options, &t.plan);
    if (status) return status;

    snprintf(result->algorithm, sizeof result->algorithm, "%s", rmcp_plan_algorithm(t.plan));
    result->outputs = rmcp_conv_elements(&t.conv, rmcp_conv_output_slot(&t.conv));
    result->passed = true;
    status = prepare(&t, data, seed);
    if (!status) status = run(&t);
    for (int slot = 0; slot < RMCP_N_SLOTS && !status; slot++)
        if (t.area[slot].host) status = fetch(&t, slot, result);
    if (!status && result->passed) result->passed = all_written(&t, result);
    if (!status && result->passed)
        compare(&t, data == RMCP_VERIFY_INTEGERS && !t.plan->algo->inexact, seed,
                effort > 0 ? effort : default_effort, result);

    for (int slot = 0; slot < RMCP_N_SLOTS; slot++) {
        free(t.area[slot].host);
        rmcp_buffer_destroy(device, t.area[slot].buffer);
    }
    rmcp_plan_destroy(t.plan);
    return status;
}
