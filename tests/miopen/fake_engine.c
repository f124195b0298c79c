/* fake_engine.c: librmcp as another release might be, for check_engine.sh. What it does not define
 * is the real one's, which it depends on.
 *
 * FAKE_VERSION  what rmcp_version says
 * FAKE_SLOTS    "turned": tensors in the opposite order; "renamed": by other names
 *
 * fake_engine_plans counts the plans that were asked for by case string.
 *
 * With ALONE defined it has a version and nothing else. */
#define _GNU_SOURCE /* RTLD_NEXT */
#include "rmcp.h"

#include <dlfcn.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define TEXT_OF(x) #x
#define TEXT(x) TEXT_OF(x)
#define OWN_VERSION                                                                                \
    TEXT(RMCP_VERSION_MAJOR) "." TEXT(RMCP_VERSION_MINOR) "." TEXT(RMCP_VERSION_PATCH)

const char *rmcp_version(void)
{
    const char *version = getenv("FAKE_VERSION");
    return version ? version : OWN_VERSION;
}

#ifndef ALONE
enum { MOST = 32 };

/* Without a use of it the real one would not be loaded. */
const char *(*const fake_engine_real)(rmcp_status) = rmcp_status_name;

static bool is(const char *what)
{
    const char *text = getenv("FAKE_SLOTS");
    return text && !strcmp(text, what);
}

static void find(const char *name, void *function)
{
    void *real = dlsym(RTLD_NEXT, name);
    if (!real) abort();
    memcpy(function, &real, sizeof real);
}

static uint32_t slots_of(const rmcp_plan *plan)
{
    rmcp_status (*real)(const rmcp_plan *, uint32_t, rmcp_slot_info *);
    rmcp_slot_info info = { .struct_size = sizeof info };
    uint32_t n = 0;
    find("rmcp_plan_slot", &real);
    while (real(plan, n, &info) == RMCP_OK) n++;
    return n;
}

rmcp_status rmcp_plan_slot(const rmcp_plan *plan, uint32_t slot, rmcp_slot_info *info)
{
    rmcp_status (*real)(const rmcp_plan *, uint32_t, rmcp_slot_info *);
    find("rmcp_plan_slot", &real);
    const uint32_t n = slots_of(plan);
    const rmcp_status status = real(plan, is("turned") && slot < n ? n - 1 - slot : slot, info);
    if (status == RMCP_OK && is("renamed")) strcat(info->name, "_tensor");
    return status;
}

RMCP_API _Atomic int fake_engine_plans;

rmcp_status rmcp_case_plan(rmcp_device *device, const char *text, const rmcp_plan_options *options,
                           rmcp_plan **out)
{
    rmcp_status (*real)(rmcp_device *, const char *, const rmcp_plan_options *, rmcp_plan **);
    find("rmcp_case_plan", &real);
    fake_engine_plans++;
    return real(device, text, options, out);
}

rmcp_status rmcp_plan_run(const rmcp_plan *plan, void *stream, const rmcp_slots *slots)
{
    rmcp_status (*real)(const rmcp_plan *, void *, const rmcp_slots *);
    find("rmcp_plan_run", &real);
    if (!is("turned")) return real(plan, stream, slots);
    const uint32_t n = slots_of(plan);
    rmcp_memory memory[MOST] = { { NULL, 0 } };
    for (uint32_t i = 0; i < slots->count; i++) memory[n - 1 - i] = slots->memory[i];
    rmcp_slots turned = *slots;
    turned.count = n;
    turned.memory = memory;
    return real(plan, stream, &turned);
}
#endif
