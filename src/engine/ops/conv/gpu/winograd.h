/* winograd.h: the host side of F(2x2, 3x3), winograd.cl and winograd_fused.cl: sizes, estimates and
 * launches. */
#ifndef RMCP_CONV_GPU_WINOGRAD_H
#define RMCP_CONV_GPU_WINOGRAD_H

#include "engine/ops/conv/conv.h"

/* A way to compute a request; it follows from the request's shape and the device's figures alone.
 */
struct rmcp_winograd_way {
    bool fused;          /* filters are transformed where they are used, not in a launch before */
    int64_t splits;      /* workgroups that share the sum over the channels                     */
    double seconds;      /* estimated                                                           */
    double work_seconds; /* by which launches are cut                                           */
};

/* Fill in the fastest way by estimate, a struct rmcp_winograd_way, or the refusal. */
rmcp_status rmcp_winograd_consider(const struct rmcp_request *request, bool fused,
                                   struct rmcp_way *way);

/* That with so many splits, of which none is without channels. False: there are not as many. */
enum { RMCP_WINOGRAD_MOST_SPLITS = 32 };
bool rmcp_winograd_way_of(const struct rmcp_request *request, bool fused, int64_t splits,
                          struct rmcp_winograd_way *way);

/* Bytes of workspace: transformed filters, and an f32 copy of the output for each split. */
uint64_t rmcp_winograd_workspace(const struct rmcp_convolution *conv,
                                 const struct rmcp_winograd_way *way);

rmcp_status rmcp_winograd_emit(const struct rmcp_request *request,
                               const struct rmcp_winograd_way *way, struct rmcp_launch_list *list);

#endif
