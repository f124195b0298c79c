/* launches.c: every launch that a plan makes, printed by the NVIDIA driver without a GPU
 * (null_cuda.c). usage: launches <LIST
 *
 * LIST has lines "CASE<tab>ALGORITHM". RMCP_CUDA_LIBRARY names that driver. Tensor number I lies at
 * address (I + 1) << 44, the workspace at 99 << 44. */
#include "null_cuda.h"

#include <rmcp.h>

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_SLOTS = 64, WORKSPACE = 99 };

static void *address(unsigned slot)
{
    return (void *)((uintptr_t)slot << 44);
}

/* All launches of an execution. */
static rmcp_status run(const rmcp_plan *plan)
{
    rmcp_memory memory[MOST_SLOTS] = { { NULL, 0 } };
    rmcp_slots slots = { .struct_size = sizeof slots, .memory = memory };
    for (; slots.count < MOST_SLOTS; slots.count++) {
        rmcp_slot_info info = { .struct_size = sizeof info };
        if (rmcp_plan_slot(plan, slots.count, &info)) break;
        if (info.bytes) memory[slots.count].base = address(slots.count + 1);
    }
    slots.workspace_bytes = rmcp_plan_workspace(plan);
    if (slots.workspace_bytes) slots.workspace.base = address(WORKSPACE);
    return rmcp_plan_run(plan, NULL, &slots);
}

static rmcp_status record(rmcp_device *device, const char *text, const char *algorithm,
                          struct null_cuda *null)
{
    rmcp_plan_options options = { .struct_size = sizeof options, .algorithm = algorithm };
    rmcp_plan *plan = NULL;
    null->launches = 0;
    rmcp_status status = rmcp_case_plan(device, text, &options, &plan);
    if (!status) status = run(plan);
    if (status)
        printf("%s\t-\tfailed: %s\t\t\t\n", null->label, rmcp_last_error());
    else
        printf("%s\t-\t%ld launches\t\t\tworkspace %llu\n", null->label, null->launches,
               (unsigned long long)rmcp_plan_workspace(plan));
    rmcp_plan_destroy(plan);
    return status;
}

int main(void)
{
    const char *library = getenv("RMCP_CUDA_LIBRARY");
    void *handle = library ? dlopen(library, RTLD_NOW) : NULL;
    struct null_cuda *null = handle ? dlsym(handle, "null_cuda") : NULL;
    rmcp_device *device = NULL;
    char line[2048], label[2048];
    if (!null || rmcp_device_open("cuda", NULL, &device)) {
        fprintf(stderr, "launches: %s\n",
                null ? rmcp_last_error() : "RMCP_CUDA_LIBRARY is not null_cuda");
        return 2;
    }
    null->label = label;
    while (fgets(line, sizeof line, stdin)) {
        line[strcspn(line, "\n")] = 0;
        snprintf(label, sizeof label, "%s", line);
        char *tab = strchr(line, '\t');
        if (!tab) continue;
        *tab = 0;
        record(device, line, tab + 1, null);
    }
    rmcp_device_close(device);
    return 0;
}
