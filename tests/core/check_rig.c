/* check_rig.c: a plan with its tensors, and what is said of it. */
#include "check_rig.h"

#include "base/convert.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void must(rmcp_status status)
{
    if (status) fail_msg("%s", rmcp_last_error());
}

bool rig_make(struct rig *rig, rmcp_device *device, const struct rmcp_operation *operation,
              const void *problem, const rmcp_plan_options *options, uint64_t seed)
{
    *rig = (struct rig){ .plan = NULL };
    memcpy(rig->problem.bytes, problem, operation->problem_bytes);
    const rmcp_status status = rmcp_plan_make(device, operation, problem, options, &rig->plan);
    if (status == RMCP_E_UNSUPPORTED) return false;
    must(status);
    rmcp_slot_bytes(operation, problem, rig->plan->workspace_bytes, rig->bytes);
    for (unsigned slot = 0; slot < RMCP_MOST_SLOTS; slot++) {
        if (!rig->bytes[slot]) continue;
        void *host = malloc(rig->bytes[slot]);
        assert_non_null(host);
        memset(host, 0x42, rig->bytes[slot]);
        if (slot < operation->n_slots && operation->slot(problem, slot).read)
            operation->fill(problem, slot, RMCP_DATA_REALS, seed, host);
        must(rmcp_buffer_create(device, rig->bytes[slot], &rig->memory[slot]));
        must(rmcp_copy_to_device(device, NULL, rig->memory[slot], host, rig->bytes[slot]));
        free(host);
    }
    return true;
}

void rig_make_case(struct rig *rig, rmcp_device *device, const char *text, const char *algorithm)
{
    struct rmcp_any_problem problems[RMCP_MOST_PASSES];
    const struct rmcp_operation *operation = NULL;
    size_t count = 0;
    const rmcp_plan_options options = { .struct_size = sizeof options, .algorithm = algorithm };
    must(rmcp_case_parse(text, &operation, problems, &count));
    assert_int_equal(count, 1);
    if (!rig_make(rig, device, operation, problems[0].bytes, &options, 1))
        fail_msg("%s: %s", text, rmcp_last_error());
}

void rig_destroy(struct rig *rig)
{
    for (unsigned slot = 0; slot < RMCP_MOST_SLOTS; slot++)
        rmcp_buffer_destroy(rig->plan->device, rig->memory[slot]);
    rmcp_plan_destroy(rig->plan);
}

struct rmcp_slot rig_slot(const struct rig *rig, unsigned slot)
{
    return rig->plan->request.operation->slot(rig->problem.bytes, slot);
}

unsigned rig_find(const struct rig *rig, const char *name)
{
    for (unsigned slot = 0; slot < rig->plan->request.operation->n_slots; slot++)
        if (rig->bytes[slot] && !strcmp(rig_slot(rig, slot).name, name)) return slot;
    fail_msg("no tensor %s", name);
    return 0;
}

static rmcp_memory place(const struct rig *rig, unsigned slot, int64_t element)
{
    const struct rmcp_slot info = rig_slot(rig, slot);
    assert_in_range(element, 0, info.elements - 1);
    rmcp_memory memory = rig->memory[slot];
    memory.offset += (uint64_t)element * rmcp_type_bytes(info.type);
    return memory;
}

float rig_load(const struct rig *rig, unsigned slot, int64_t element)
{
    const rmcp_type type = rig_slot(rig, slot).type;
    float room = 0;
    must(rmcp_copy_to_host(rig->plan->device, NULL, &room, place(rig, slot, element),
                           rmcp_type_bytes(type)));
    return rmcp_load(&room, type, 0);
}

void rig_store(const struct rig *rig, unsigned slot, int64_t element, float value)
{
    const rmcp_type type = rig_slot(rig, slot).type;
    float room = 0;
    rmcp_store(&room, type, 0, value);
    must(rmcp_copy_to_device(rig->plan->device, NULL, place(rig, slot, element), &room,
                             rmcp_type_bytes(type)));
}

void rig_read(const struct rig *rig, unsigned slot, void *host)
{
    must(rmcp_copy_to_host(rig->plan->device, NULL, host, rig->memory[slot], rig->bytes[slot]));
}

void rig_write(const struct rig *rig, unsigned slot, const void *host)
{
    must(rmcp_copy_to_device(rig->plan->device, NULL, rig->memory[slot], host, rig->bytes[slot]));
}

rmcp_status rig_execute(const struct rig *rig, char said[RIG_SAID])
{
    FILE *file = said ? tmpfile() : NULL;
    const int kept = said ? dup(2) : -1;
    if (said) {
        assert_non_null(file);
        fflush(stderr);
        assert_true(dup2(fileno(file), 2) >= 0);
    }
    rmcp_status status =
        rmcp_plan_execute(rig->plan, NULL, rig->memory, rig->plan->workspace_bytes, NULL);
    if (!status) status = rmcp_device_wait(rig->plan->device, NULL);
    if (said) {
        fflush(stderr);
        dup2(kept, 2);
        close(kept);
        rewind(file);
        said[fread(said, 1, RIG_SAID - 1, file)] = '\0';
        fclose(file);
    }
    return status;
}

rmcp_check_info rig_counts(void)
{
    rmcp_check_info info = { .struct_size = sizeof info };
    must(rmcp_check_describe(&info));
    return info;
}
