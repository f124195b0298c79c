/* winograd4.h: where tiles stand, for winograd4.cl; the transforms are in winograd4_lines.h. */
#ifndef RMCP_CONV_KERNELS_WINOGRAD4_H
#define RMCP_CONV_KERNELS_WINOGRAD4_H

#include "engine/kernels/common.h"
#include "engine/kernels/target.h"
#include "engine/ops/conv/kernels/winograd.h"
#include "engine/ops/conv/kernels/winograd4_lines.h"

/* A tile of one channel: where it begins and whether it exists. */
struct place {
    uint offset; /* of its image and channel */
    uint channel;
    int y, x;
    bool exists;
};

INLINE struct place place_of(const struct rmcp_tiles *g, uint index)
{
    const uint slow = divide(index, g->fast), fast = index - slow * g->fast.divisor;
    const uint channel = g->channels_last ? fast : slow;
    const uint tile = (g->channels_last ? slow : fast) + g->first_tile;
    const bool exists = channel < g->channels && tile < g->tiles;
    const uint at = exists ? tile : 0;
    const uint line = divide(at, g->across), image = divide(line, g->down);
    return (struct place){
        .offset = exists ? image * g->image + channel * g->channel : 0,
        .channel = exists ? channel : 0,
        .y = (int)(line - image * g->down.divisor) * 4 + g->first_y,
        .x = (int)(at - line * g->across.divisor) * 4 + g->first_x,
        .exists = exists,
    };
}

/* One pixel, zero outside of the tensor. */
INLINE float pixel_at(const struct rmcp_tiles *g, __global const char *in, const struct place *p,
                      int i, int j)
{
    const int y = p->y + i, x = p->x + j;
    const bool inside = p->exists && (uint)y < g->height && (uint)x < g->width;
    const float v = load(in, inside ? p->offset + (uint)y * g->y + (uint)x * g->x : 0);
    return inside ? v : 0;
}

/* One column of positions. */
INLINE void store_column(__global char *out, uint batch, uint index, const float column[SIZE],
                         uint j)
{
    __global float *const target = (__global float *)out + (ulong)j * batch + index;
    UNROLL
    for (uint i = 0; i < SIZE; i++) target[(ulong)(i * SIZE) * batch] = column[i];
}

#endif
