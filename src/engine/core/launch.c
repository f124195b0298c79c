/* launch.c: lists of launch records. */
#include "engine/core/launch.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

/* An hour at the 50 ms that a launch may take; a problem beyond that is a mistake. */
enum { MOST_RECORDS = 65536 };

struct rmcp_launch *rmcp_launch_append(struct rmcp_launch_list *list, enum rmcp_launch_kind kind)
{
    if (list->n_records == list->room) {
        size_t room = list->room ? 2 * list->room : 1;
        if (room > MOST_RECORDS) {
            rmcp_fail(RMCP_E_UNSUPPORTED, "more than %d launches", MOST_RECORDS);
            return NULL;
        }
        struct rmcp_launch *grown = realloc(list->records, room * sizeof *grown);
        if (!grown) {
            rmcp_fail_memory("launch records", room * sizeof *grown);
            return NULL;
        }
        list->records = grown;
        list->room = room;
    }
    struct rmcp_launch *record = &list->records[list->n_records++];
    memset(record, 0, sizeof *record);
    record->kind = kind;
    return record;
}

static rmcp_status add_call(struct rmcp_launch_list *list, struct rmcp_host_call call,
                            const void *state, size_t bytes)
{
    void *copy = malloc(bytes);
    if (!copy) return rmcp_fail_memory("host call", bytes);
    struct rmcp_launch *record = rmcp_launch_append(list, RMCP_LAUNCH_HOST_CALL);
    if (!record) {
        free(copy);
        return RMCP_E_NOMEM;
    }
    memcpy(copy, state, bytes);
    call.state = copy;
    call.destroy = free;
    record->host = call;
    return RMCP_OK;
}

rmcp_status rmcp_launch_host(struct rmcp_launch_list *list, rmcp_host_function *function,
                             const void *state, size_t bytes)
{
    return add_call(list, (struct rmcp_host_call){ .function = function }, state, bytes);
}

rmcp_status rmcp_launch_host_given(struct rmcp_launch_list *list,
                                   rmcp_host_given_function *function, const void *state,
                                   size_t bytes)
{
    return add_call(list, (struct rmcp_host_call){ .given_function = function }, state, bytes);
}

void rmcp_launch_list_deinit(struct rmcp_launch_list *list)
{
    for (size_t i = 0; i < list->n_records; i++) {
        struct rmcp_launch *record = &list->records[i];
        if (record->kind == RMCP_LAUNCH_HOST_CALL && record->host.destroy)
            record->host.destroy(record->host.state);
    }
    free(list->records);
    *list = (struct rmcp_launch_list){ 0 };
}

void rmcp_arg_memory(struct rmcp_kernel_launch *launch, unsigned slot, uint64_t offset)
{
    assert(launch->n_args < RMCP_MAX_ARGS);
    struct rmcp_arg *arg = &launch->args[launch->n_args++];
    arg->kind = RMCP_ARG_MEMORY;
    arg->slot = slot;
    arg->offset = offset;
}

void rmcp_arg_value(struct rmcp_kernel_launch *launch, const void *value, size_t bytes)
{
    assert(launch->n_args < RMCP_MAX_ARGS && bytes <= RMCP_ARG_VALUE_BYTES);
    struct rmcp_arg *arg = &launch->args[launch->n_args++];
    arg->kind = RMCP_ARG_VALUE;
    arg->bytes = (uint32_t)bytes;
    memcpy(arg->value, value, bytes);
}

void rmcp_arg_made(struct rmcp_kernel_launch *launch, const void *value, size_t bytes,
                   rmcp_value_function *make, const void *problem)
{
    for (uint32_t i = 0; i < launch->n_args; i++) assert(!launch->args[i].make);
    rmcp_arg_value(launch, value, bytes);
    launch->args[launch->n_args - 1].make = make;
    launch->args[launch->n_args - 1].problem = problem;
}
