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

/* How an algorithm would compute a request: what `consider` found out, and all that `emit` goes by.
 * Owns nothing. */
enum { RMCP_WAY_BYTES = 2048 };
struct rmcp_way {
    const char *refusal;      /* why it cannot; NULL: it can. Static storage, or `text`          */
    double seconds;           /* estimated, of one execution on this device                      */
    uint64_t workspace_bytes; /* that the records of emit use                                    */
    char text[160];           /* room for a refusal with numbers                                 */
    _Alignas(16) unsigned char details[RMCP_WAY_BYTES]; /* the algorithm's own: tiles, splits …  */
};

/* The algorithm's own part of a way, as a struct of `type`. */
#define RMCP_WAY_DETAILS(way, type)                                                                \
    ((void)sizeof(char[sizeof(type) <= RMCP_WAY_BYTES ? 1 : -1]), (type *)(way)->details)
#define RMCP_WAY_DETAILS_CONST(way, type)                                                          \
    ((void)sizeof(char[sizeof(type) <= RMCP_WAY_BYTES ? 1 : -1]), (const type *)(way)->details)

/* The last words of a `consider` that cannot: `return rmcp_refuse(way, "groups > 1");` */
static inline rmcp_status rmcp_refuse(struct rmcp_way *way, const char *reason)
{
    way->refusal = reason;
    return RMCP_OK;
}

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

    /* Find out how it would compute the request: fill in `way`, whose first fields are zero and
     * whose details are not set, or set its refusal. An error is one of memory or of a lost device,
     * or says in its message why this algorithm cannot after all. */
    rmcp_status (*consider)(const struct rmcp_request *request, struct rmcp_way *way);

    /* Append the launch records of a way that `consider` filled in for the same request and did not
     * refuse. On error the list may hold some: the planner frees it. The problem lives as long as
     * the plan, at the address that the request has. */
    rmcp_status (*emit)(const struct rmcp_request *request, const struct rmcp_way *way,
                        struct rmcp_launch_list *list);
};

/* Ask algo->consider, with the first fields zeroed. */
static inline rmcp_status rmcp_algo_consider(const struct rmcp_algo *algo,
                                             const struct rmcp_request *request,
                                             struct rmcp_way *way)
{
    way->refusal = NULL;
    way->seconds = 0;
    way->workspace_bytes = 0;
    way->text[0] = 0;
    return algo->consider(request, way);
}

#endif
