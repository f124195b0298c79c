/* fold.h: sums over a workgroup, always in the same order; and the end of a sum that several
 * workgroups shared. */
#ifndef RMCP_KERNEL_FOLD_H
#define RMCP_KERNEL_FOLD_H

#include "engine/kernels/fold_args.h"

/* Sums of many small terms keep their digits when blocks of them are summed first. */
#define FOLD_BLOCK 32
struct folder {
    float total, block;
    uint in_block;
};

INLINE void fold_in(struct folder *f, float value)
{
    f->block += value;
    if (++f->in_block == FOLD_BLOCK) {
        f->total += f->block;
        f->block = 0;
        f->in_block = 0;
    }
}

/* The sum over `width` neighbouring work-items, a power of two, for the first of them; `room` has a
 * place for each work-item. All of them come here. */
INLINE float fold_up(float value, __local float *room, uint width)
{
    room[LOCAL_ID] = value;
    for (uint half_width = width / 2; half_width > 0; half_width /= 2) {
        BARRIER();
        if (LOCAL_ID % width < half_width) room[LOCAL_ID] += room[LOCAL_ID + half_width];
    }
    BARRIER();
    return room[LOCAL_ID / width * width];
}

/* Output number GROUP_ID_X, by a workgroup of 256: element `at` of TYPE. */
INLINE void fold_end(__global const char *parts, __global char *out, const struct rmcp_fold_end *e,
                     __local float *room)
{
    struct folder f = { 0, 0, 0 };
    __global const float *part = (__global const float *)parts + (ulong)GROUP_ID_X * e->parts;
    for (uint i = LOCAL_ID; i < e->parts; i += 256) fold_in(&f, part[i]);
    const float sum = fold_up(f.total + f.block, room, 256) * e->scale;
    if (LOCAL_ID == 0) from_float((__global element *)out + GROUP_ID_X * e->step, sum);
}

#endif
