/* algo.h: the contract of a convolution algorithm. One file in src/conv/algo each (docs/extending.md). */
#ifndef RMCP_CORE_ALGO_H
#define RMCP_CORE_ALGO_H

#include "core/device.h"
#include "core/launch.h"

/* What the planner asks of an algorithm. */
struct rmcp_request {
    struct rmcp_conv conv;
    const struct rmcp_caps *caps;
    bool strict;               /* NaN and Inf exactly as IEEE 754 says                     */
    bool deterministic;        /* same inputs, same bits                                   */
    rmcp_memory fixed_weights; /* base NULL: weights come with each execution              */
};

/* every src/conv/algo/<stem>.c defines one of these, named rmcp_algo_<stem>; the build makes the table
 * from the file names. All functions are pure but for emit, and are called from many threads. */
struct rmcp_algo {
    const char *name;           /* the file's stem; stored in plan caches                   */
    uint32_t version;           /* raise it on any change: cached measurements then die     */
    enum rmcp_launch_kind kind; /* of all its records                                       */
    bool judge;   /* is the reference itself: verifying it against itself proves nothing     */
    bool inexact; /* sums of exactly representable values may be off (transforms, Winograd) */

    /* NULL when it can do the request, else the reason. Static storage. */
    const char *(*refuse)(const struct rmcp_request *request);

    /* Estimated seconds of one execution on this device. */
    double (*cost)(const struct rmcp_request *request);

    /* Bytes of workspace that emit's records will use. NULL: they use none. */
    rmcp_status (*workspace)(const struct rmcp_request *request, uint64_t *bytes);

    /* Append the launch records. On error the list may hold some: the planner frees it. */
    rmcp_status (*emit)(const struct rmcp_request *request, struct rmcp_launch_list *list);
};

extern const struct rmcp_algo *const rmcp_algos[]; /* ends with NULL */

#endif
