/* plan.h: plans of any operation; a plan's inside is shared by the planner's own files. */
#ifndef RMCP_CORE_PLAN_H
#define RMCP_CORE_PLAN_H

#include "engine/core/algo.h"

struct rmcp_plan {
    rmcp_device *device;
    const struct rmcp_algo *algo;
    struct rmcp_request request; /* of the problem below */
    uint64_t workspace_bytes;
    unsigned n_scalars;
    struct rmcp_launch_list list;
    unsigned n_needed; /* slots that an execution must bring, the workspace not counted */
    struct rmcp_need {
        unsigned slot, alignment;
    } needed[RMCP_MOST_SLOTS];
    _Alignas(16) unsigned char problem[];
};

/* ---- for the public functions of operations ---- */

/* Make a plan for a problem in canonical form, which is copied. `options` as in rmcp.h. */
rmcp_status rmcp_plan_make(rmcp_device *device, const struct rmcp_operation *operation,
                           const void *problem, const rmcp_plan_options *options, rmcp_plan **out);

/* What each algorithm says to it, as in rmcp.h. */
rmcp_status rmcp_plan_ask(rmcp_device *device, const struct rmcp_operation *operation,
                          const void *problem, const rmcp_plan_options *options,
                          rmcp_candidate *list, size_t *count);

/* The problem of a plan, which must be one of `operation`; else NULL with the message. */
const void *rmcp_plan_problem(const rmcp_plan *plan, const struct rmcp_operation *operation);

/* Check the memory of an execution and submit it; with `seconds`, wait and set the time. Slots that
 * the problem does not use may hold anything. With RMCP_CHECK the results are looked at as well
 * (engine/core/check.h). */
rmcp_status rmcp_plan_execute(const rmcp_plan *plan, void *stream,
                              const rmcp_memory memory[static RMCP_MOST_SLOTS],
                              uint64_t workspace_bytes, double *seconds);

/* The same with scalars (rmcp_scalars_read), or NULL. */
rmcp_status rmcp_plan_execute_given(const rmcp_plan *plan, void *stream,
                                    const rmcp_memory memory[static RMCP_MOST_SLOTS],
                                    const double *scalars, uint64_t workspace_bytes,
                                    double *seconds);

/* ---- for measuring and judging ---- */

/* rmcp_plan_execute_given of those who look at the results themselves, or at the time alone. */
rmcp_status rmcp_plan_execute_unchecked(const rmcp_plan *plan, void *stream,
                                        const rmcp_memory memory[static RMCP_MOST_SLOTS],
                                        const double *scalars, uint64_t workspace_bytes,
                                        double *seconds);

/* A device buffer that holds `pattern`, of RMCP_PATTERN_BYTES, over and over. Memory that was never
 * written may hold denormals, which would skew a measurement. */
enum { RMCP_PATTERN_BYTES = 1 << 20 };
rmcp_status rmcp_buffer_filled(rmcp_device *device, uint64_t bytes, const void *pattern,
                               rmcp_memory *out);

/* Bytes of each slot, and of the workspace. */
void rmcp_slot_bytes(const struct rmcp_operation *operation, const void *problem,
                     uint64_t workspace_bytes, uint64_t bytes[static RMCP_MOST_SLOTS]);

/* An algorithm that can do the request within the limits. */
struct rmcp_choice {
    const struct rmcp_algo *algo;
    struct rmcp_way way;
};

/* Room for the candidates of any operation. */
enum { RMCP_MOST_ALGOS = 64 };

/* Make the records of one algorithm for a request: a plan of its own, free it after use.
 * RMCP_E_UNSUPPORTED when the algorithm's first use on this device failed, now or earlier. */
rmcp_status rmcp_plan_build(rmcp_device *device, const struct rmcp_request *request,
                            const struct rmcp_choice *choice, rmcp_plan **out);

/* The same without looking whether the algorithm was ever tried. */
rmcp_status rmcp_plan_build_unguarded(rmcp_device *device, const struct rmcp_request *request,
                                      const struct rmcp_choice *choice, rmcp_plan **out);

/* Move the algorithm that is fastest on the device to the front of `choices` (sorted by cost):
 * remembered, or measured now and remembered. */
rmcp_status rmcp_plan_measure(rmcp_device *device, const struct rmcp_request *request,
                              uint64_t max_workspace, const struct rmcp_choice **choices,
                              size_t n_choices);

#endif
