/* plan.h: a plan's inside, shared by the planner's own files. */
#ifndef RMCP_CORE_PLAN_H
#define RMCP_CORE_PLAN_H

#include "core/algo.h"

struct rmcp_plan {
    rmcp_device *device;
    const struct rmcp_algo *algo;
    struct rmcp_request request;
    uint64_t workspace_bytes;
    struct rmcp_launch_list list;
};

/* A caller's struct from memory by slot. */
rmcp_tensors rmcp_tensors_of(const rmcp_memory memory[RMCP_N_SLOTS], uint64_t workspace_bytes);

/* A device buffer that holds `pattern`, of RMCP_PATTERN_BYTES, over and over. Memory that was never
 * written may hold denormals, which would skew a measurement. */
enum { RMCP_PATTERN_BYTES = 1 << 20 };
rmcp_status rmcp_buffer_filled(rmcp_device *device, uint64_t bytes, const void *pattern,
                               rmcp_memory *out);

/* An algorithm that can do the request within the limits. */
struct rmcp_choice {
    const struct rmcp_algo *algo;
    double seconds; /* by the cost model */
    uint64_t workspace_bytes;
};

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
                              uint64_t max_workspace, struct rmcp_choice *choices,
                              size_t n_choices);

#endif
