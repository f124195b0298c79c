/* case.c: calls of the engine by case string. */
#include "dropin/miopen/case.h"

#include "dropin/miopen/log.h"

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

void mi_case_memory_at(struct mi_case *c, enum mi_slot slot, rmcp_memory memory)
{
    if (c->n == MI_CASE_TENSORS) {
        if (c->status == miopenStatusSuccess)
            c->status = mi_fail(miopenStatusInternalError, "a call with more than %d tensors",
                                MI_CASE_TENSORS);
        return;
    }
    c->slot[c->n] = (uint8_t)slot;
    c->memory[c->n++] = memory;
}

void mi_case_memory(struct mi_case *c, enum mi_slot slot, const void *memory)
{
    mi_case_memory_at(c, slot, (rmcp_memory){ (void *)(uintptr_t)memory, 0 });
}

void mi_case_tensor_at(struct mi_case *c, enum mi_slot slot, const struct mi_tensor *tensor,
                       rmcp_memory memory)
{
    mi_case_memory_at(c, slot, memory);
    if (mi_tensor_is_packed(tensor, RMCP_NCHW)) return;
    mi_case_put(c, ":%s/", mi_slot_name(slot));
    put_sizes(c, tensor->stride, tensor->dims);
}

void mi_case_tensor(struct mi_case *c, enum mi_slot slot, const struct mi_tensor *tensor,
                    const void *memory)
{
    mi_case_tensor_at(c, slot, tensor, (rmcp_memory){ (void *)(uintptr_t)memory, 0 });
}

void mi_case_scalar(struct mi_case *c, enum mi_scalar scalar, double value)
{
    if (c->n_scalars == MI_CASE_SCALARS) {
        if (c->status == miopenStatusSuccess)
            c->status = mi_fail(miopenStatusInternalError, "a call with more than %d scalars",
                                MI_CASE_SCALARS);
        return;
    }
    c->scalar[c->n_scalars] = (uint8_t)scalar;
    c->value[c->n_scalars++] = value;
}

static miopenStatus_t find_plan(struct mi_handle *handle, const struct mi_case *c,
                                const struct mi_plans **out)
{
    if (c->status != miopenStatusSuccess) return c->status;
    struct mi_key key;
    memset(&key, 0, offsetof(struct mi_key, problem));
    key.operation = MI_OP_CASE;
    memcpy(key.problem.text, c->text, sizeof key.problem.text);
    return mi_plans_get(handle, &key, out);
}

/* The call's memory in the order of the plan's slots. */
static miopenStatus_t place(const struct mi_case *c, const struct mi_plans *plans,
                            rmcp_memory memory[static MI_PLAN_SLOTS], uint32_t *count)
{
    *count = 0;
    for (unsigned i = 0; i < c->n; i++) {
        const int slot = plans->slot[c->slot[i]];
        if (slot < 0)
            return mi_misfit("has no tensor '%s' in %s", mi_slot_name((enum mi_slot)c->slot[i]),
                             c->text);
        while ((uint32_t)slot >= *count) memory[(*count)++] = (rmcp_memory){ NULL, 0 };
        memory[slot] = c->memory[i];
    }
    return miopenStatusSuccess;
}

/* The call's scalars in the order of the plan's. */
static miopenStatus_t place_scalars(const struct mi_case *c, const struct mi_plans *plans,
                                    double scalars[static MI_PLAN_SCALARS], uint32_t *count)
{
    *count = 0;
    for (unsigned i = 0; i < c->n_scalars; i++) {
        const int number = plans->scalar[c->scalar[i]];
        if (number < 0)
            return mi_misfit("has no scalar '%s' in %s",
                             mi_scalar_name((enum mi_scalar)c->scalar[i]), c->text);
        for (; (uint32_t)number >= *count; (*count)++) scalars[*count] = plans->standard[*count];
        scalars[number] = c->value[i];
    }
    return miopenStatusSuccess;
}

miopenStatus_t mi_case_plan(struct mi_handle *handle, const struct mi_case *c)
{
    const struct mi_plans *plans;
    return find_plan(handle, c, &plans);
}

miopenStatus_t mi_case_run(struct mi_handle *handle, const struct mi_case *c)
{
    const struct mi_engine *e = handle->engine;
    const struct mi_plans *plans;
    miopenStatus_t status = find_plan(handle, c, &plans);
    if (status != miopenStatusSuccess) return status;
    const struct mi_choice *choice = &plans->choice[0];
    rmcp_memory memory[MI_PLAN_SLOTS];
    double scalars[MI_PLAN_SCALARS];
    rmcp_slots slots = { .struct_size = sizeof slots,
                         .memory = memory,
                         .scalars = scalars,
                         .workspace_bytes = choice->workspace };
    status = place(c, plans, memory, &slots.count);
    if (status == miopenStatusSuccess) status = place_scalars(c, plans, scalars, &slots.n_scalars);
    if (status != miopenStatusSuccess) return status;
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
