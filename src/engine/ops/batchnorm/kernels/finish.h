/* finish.h: how the workgroups that merge parts divide parameters and splits among work-items. */
#ifndef RMCP_OPS_BATCHNORM_KERNELS_FINISH_H
#define RMCP_OPS_BATCHNORM_KERNELS_FINISH_H

#include "engine/ops/batchnorm/kernels/norm.h"

struct post {
    uint thread, lane, lanes;
    ulong param;
    bool exists;
};

INLINE struct post post_of(const struct rmcp_norm_finish *a)
{
    struct post p;
    p.thread = LOCAL_ID;
    p.lanes = 1u << a->lane_bits;
    p.lane = p.thread & (p.lanes - 1);
    const uint several = THREADS >> a->lane_bits; /* parameters of a workgroup */
    const ulong param = (ulong)GROUP_ID_X * several + (p.thread >> a->lane_bits);
    p.exists = param < (ulong)a->params;
    p.param = p.exists ? param : 0;
    return p;
}

/* Where figure `which` of one split lies. */
INLINE ulong part_of(const struct rmcp_norm_finish *a, const struct post *p, uint which, uint split)
{
    return ((ulong)which * (ulong)a->params + p->param) * a->splits + split;
}

#endif
