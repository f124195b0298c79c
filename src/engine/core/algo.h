/* algo.h: the contract of an algorithm of an operation. One file in its folder algo each
 * (docs/extending.md). */
#ifndef RMCP_CORE_ALGO_H
#define RMCP_CORE_ALGO_H

#include "engine/core/device.h"
#include "engine/core/launch.h"
#include "engine/core/operation.h"

/* What the planner asks of an algorithm. */
struct rmcp_request {
    const struct rmcp_operation *operation;
    const void *problem; /* in the operation's canonical form                              */
    const struct rmcp_caps *caps;
    bool strict;               /* NaN and Inf exactly as IEEE 754 says                     */
    bool deterministic;        /* same inputs, same bits                                   */
    double max_error;          /* error_factor of the algorithm at most; 0: no limit       */
    rmcp_memory fixed_weights; /* base NULL: all tensors come with each execution          */
};

/* Every algo/<stem>.c of an operation defines one of these, named rmcp_algo_<operation>_<stem>; the
 * build makes the tables from the file names. All functions are pure but for emit, and are called
 * from many threads. */
struct rmcp_algo {
    const char *name;           /* the file's stem; stored in plan caches                   */
    uint32_t version;           /* raise it on any change: cached measurements then die     */
    enum rmcp_launch_kind kind; /* of all its records                                       */
    bool judge; /* is the reference itself: verifying it against itself proves nothing       */
    double error_factor; /* how many times the reference's bound its errors may reach, e.g. of a
                            transform; 0 means 1. Above 1, integers need not come out exactly */

    /* NULL when it can do the request, else the reason. Static storage. */
    const char *(*refuse)(const struct rmcp_request *request);

    /* Estimated seconds of one execution on this device. */
    double (*cost)(const struct rmcp_request *request);

    /* Bytes of workspace that emit's records will use. NULL: they use none. */
    rmcp_status (*workspace)(const struct rmcp_request *request, uint64_t *bytes);

    /* Append the launch records. On error the list may hold some: the planner frees it. The problem
     * lives as long as the plan, at the address that the request has. */
    rmcp_status (*emit)(const struct rmcp_request *request, struct rmcp_launch_list *list);
};

#endif
