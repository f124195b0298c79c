/* launch.h: launch records, what an algorithm emits and a device submits. */
#ifndef RMCP_CORE_LAUNCH_H
#define RMCP_CORE_LAUNCH_H

#include "engine/core/operation.h"

#include <string.h>

/* Two kinds, so that algorithms never call a driver:
 * KERNEL     a GPU kernel by name, its grid and its arguments;
 * HOST_CALL  a function of ours on host memory (the CPU device).
 * Records are made once, at plan time. Memory is named by slot and bound at each execution. */
enum rmcp_launch_kind { RMCP_LAUNCH_KERNEL = 1, RMCP_LAUNCH_HOST_CALL = 2 }; /* bits of a mask */

enum rmcp_arg_kind {
    RMCP_ARG_MEMORY, /* the memory of a slot, plus an offset within it              */
    RMCP_ARG_VALUE   /* bytes passed by value: an integer, a float or a plain struct */
};

enum { RMCP_ARG_VALUE_BYTES = 384, RMCP_MAX_ARGS = 14 };

/* What an execution is given. */
struct rmcp_given {
    const rmcp_memory *memory; /* one for each slot; {NULL, 0} where the pass does not use it */
    const double *scalars;     /* all of the operation's; NULL: as the problem has them       */
};

/* Set in `value`, a copy of what was emitted, all that depends on the scalars. Called from many
 * threads at once with the same problem. */
typedef void rmcp_value_function(const void *problem, const double *scalars, void *value);

struct rmcp_arg {
    enum rmcp_arg_kind kind;
    unsigned slot;
    uint64_t offset;
    uint32_t bytes;
    rmcp_value_function *make; /* of a value that depends on scalars; else NULL */
    const void *problem;       /* for it                                        */
    _Alignas(8) unsigned char value[RMCP_ARG_VALUE_BYTES];
};

struct rmcp_kernel_launch {
    const char *kernel; /* name in the table of kernels, static storage                   */
    void *handle;       /* the device's own, set by the planner through load_kernel       */
    uint32_t grid[3];   /* workgroups                                                     */
    uint32_t block[3];  /* work-items of one                                              */
    uint32_t n_args;
    struct rmcp_arg args[RMCP_MAX_ARGS];
};

/* `memory` has one entry per slot; slots that the pass does not use are {NULL, 0}. Called from many
 * threads at once with the same state. */
typedef rmcp_status rmcp_host_function(const void *state, const rmcp_memory *memory);

/* The same of an operation that has scalars. */
typedef rmcp_status rmcp_host_given_function(const void *state, const struct rmcp_given *given);

struct rmcp_host_call {
    rmcp_host_function *function; /* this one, or that below */
    rmcp_host_given_function *given_function;
    void *state;                  /* owned by the record           */
    void (*destroy)(void *state); /* may be NULL when state needs none */
};

struct rmcp_launch {
    enum rmcp_launch_kind kind;
    union {
        struct rmcp_kernel_launch kernel;
        struct rmcp_host_call host;
    };
};

struct rmcp_launch_list {
    struct rmcp_launch *records;
    size_t n_records, room;
    const char *names[RMCP_MOST_SLOTS]; /* of the tensors, for messages; NULL: not used */
};

/* Append an empty record of `kind`; NULL when memory ran out (the message is set). */
struct rmcp_launch *rmcp_launch_append(struct rmcp_launch_list *list, enum rmcp_launch_kind kind);

/* Append a host call with a copy of `bytes` bytes of state. */
rmcp_status rmcp_launch_host(struct rmcp_launch_list *list, rmcp_host_function *function,
                             const void *state, size_t bytes);

rmcp_status rmcp_launch_host_given(struct rmcp_launch_list *list,
                                   rmcp_host_given_function *function, const void *state,
                                   size_t bytes);

/* Free all records and the states of host calls. */
void rmcp_launch_list_deinit(struct rmcp_launch_list *list);

/* Append an argument to a kernel record. */
void rmcp_arg_memory(struct rmcp_kernel_launch *launch, unsigned slot, uint64_t offset);
void rmcp_arg_value(struct rmcp_kernel_launch *launch, const void *value, size_t bytes);

/* The same of a value that depends on scalars, at most one of a launch: `value` is that of the
 * problem's own. `problem` lives as long as the plan (rmcp_request.problem of emit does). */
void rmcp_arg_made(struct rmcp_kernel_launch *launch, const void *value, size_t bytes,
                   rmcp_value_function *make, const void *problem);

/* ---- for drivers ---- */

/* Room for the value that depends on scalars, for as long as the launch takes. */
struct rmcp_made {
    _Alignas(8) unsigned char value[RMCP_ARG_VALUE_BYTES];
};

/* The bytes of a value argument in this execution. */
static inline const void *rmcp_arg_bytes(const struct rmcp_arg *arg, const double *scalars,
                                         struct rmcp_made *room)
{
    if (!arg->make || !scalars) return arg->value;
    memcpy(room->value, arg->value, arg->bytes);
    arg->make(arg->problem, scalars, room->value);
    return room->value;
}

static inline rmcp_status rmcp_host_call_run(const struct rmcp_host_call *call,
                                             const struct rmcp_given *given)
{
    return call->given_function ? call->given_function(call->state, given)
                                : call->function(call->state, given->memory);
}

#endif
