/* case.c: calls of the engine by case string. */
#include "dropin/miopen/case.h"

#include "dropin/miopen/log.h"
#include "dropin/miopen/plans.h"

#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

void mi_case_put(struct mi_case *c, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    const size_t room = sizeof c->text - c->used;
    const int n = vsnprintf(c->text + c->used, room, format, arguments);
    va_end(arguments);
    if (n < 0 || (size_t)n >= room) {
        c->text[c->used] = '\0';
        if (c->status == miopenStatusSuccess)
            c->status = mi_fail(miopenStatusUnknownError, "a problem too long to write down");
    } else {
        c->used += (size_t)n;
    }
}

static void put_sizes(struct mi_case *c, const int64_t *values, int n)
{
    for (int i = 0; i < n; i++) mi_case_put(c, "%s%" PRId64, i ? "x" : "", values[i]);
}

void mi_case_begin_sizes(struct mi_case *c, const char *name, const int64_t *size, int dims,
                         miopenDataType_t type)
{
    static const char *const words[] = { "f32", "f16", "bf16" };
    uint32_t ours;
    memset(c, 0, sizeof *c);
    mi_case_put(c, "%s:", name);
    put_sizes(c, size, dims);
    if (mi_type(type, &ours) && ours <= RMCP_BF16)
        mi_case_put(c, ":%s", words[ours]);
    else if (c->status == miopenStatusSuccess)
        c->status = mi_fail(miopenStatusNotImplemented, "data type %d in %s", (int)type, name);
}

void mi_case_begin(struct mi_case *c, const char *name, const struct mi_tensor *whole)
{
    mi_case_begin_sizes(c, name, whole->size, whole->dims, whole->type);
}

void mi_case_number(struct mi_case *c, const char *name, double value)
{
    char digits[40];
    snprintf(digits, sizeof digits, (double)(float)value == value ? "%.9g" : "%.17g", value);
    /* Whatever the locale has for a point. */
    for (char *d = digits; isfinite(value) && *d; d++)
        if (!strchr("+-0123456789e", *d)) *d = '.';
    mi_case_put(c, ":%s%s", name, isnan(value) ? "nan" : digits);
}

void mi_case_list(struct mi_case *c, const char *name, const int64_t *values, int n)
{
    if (!n) return;
    mi_case_put(c, ":%s", name);
    put_sizes(c, values, n);
}

void mi_case_memory(struct mi_case *c, unsigned slot, const void *memory)
{
    c->memory[slot] = (rmcp_memory){ (void *)(uintptr_t)memory, 0 };
    if (slot >= c->n) c->n = slot + 1;
}

void mi_case_tensor(struct mi_case *c, unsigned slot, const char *name,
                    const struct mi_tensor *tensor, const void *memory)
{
    mi_case_memory(c, slot, memory);
    if (mi_tensor_is_packed(tensor, RMCP_NCHW)) return;
    mi_case_put(c, ":%s/", name);
    put_sizes(c, tensor->stride, tensor->dims);
}

static miopenStatus_t find_plan(struct mi_handle *handle, const struct mi_case *c,
                                const struct mi_choice **out)
{
    if (c->status != miopenStatusSuccess) return c->status;
    struct mi_key key;
    memset(&key, 0, offsetof(struct mi_key, problem));
    key.operation = MI_OP_CASE;
    memcpy(key.problem.text, c->text, sizeof key.problem.text);
    const struct mi_plans *plans;
    miopenStatus_t status = mi_plans_get(handle, &key, &plans);
    if (status == miopenStatusSuccess) *out = &plans->choice[0];
    return status;
}

miopenStatus_t mi_case_plan(struct mi_handle *handle, const struct mi_case *c)
{
    const struct mi_choice *choice;
    return find_plan(handle, c, &choice);
}

miopenStatus_t mi_case_run(struct mi_handle *handle, const struct mi_case *c)
{
    const struct mi_engine *e = handle->engine;
    const struct mi_choice *choice;
    miopenStatus_t status = find_plan(handle, c, &choice);
    if (status != miopenStatusSuccess) return status;
    rmcp_slots slots = { .struct_size = sizeof slots,
                         .count = c->n,
                         .memory = c->memory,
                         .workspace_bytes = choice->workspace };
    status = mi_handle_scratch(handle, slots.workspace_bytes, &slots.workspace);
    if (status != miopenStatusSuccess) return status;
    double seconds = 0;
    rmcp_status done = handle->profiling
                           ? e->rmcp_plan_run_timed(choice->plan, handle->stream, &slots, &seconds)
                           : e->rmcp_plan_run(choice->plan, handle->stream, &slots);
    handle->kernel_ms += (float)(seconds * 1e3);
    return mi_status(done, c->text);
}

miopenStatus_t mi_case_call(miopenHandle_t name, const struct mi_case *c)
{
    struct mi_handle *handle = mi_handle_enter(name);
    if (!handle) return miopenStatusBadParm;
    handle->kernel_ms = 0;
    miopenStatus_t status = mi_case_run(handle, c);
    mi_handle_leave(handle);
    return status;
}
