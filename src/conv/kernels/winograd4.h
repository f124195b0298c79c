/* winograd4.h: the transforms of F(4x4, 3x3) and F(3x3, 4x4), and where tiles stand; for winograd4.cl.
 *
 * The points are 0, +-5/8, +-3/2 and infinity: their matrices have short binary fractions but for
 * those of the filters, and errors are half of those with +-1 and +-2. Pixels become B' d B, filters
 * (in weight gradients: errors, 4 x 4 of them) G g G', and A' m A of the sums m are the outputs. */
#ifndef RMCP_CONV_KERNELS_WINOGRAD4_H
#define RMCP_CONV_KERNELS_WINOGRAD4_H

#include "kernels/target.h"
#include "kernels/common.h"
#include "conv/kernels/winograd.h"

#define SIZE 6 /* of a tile */

#define P 0.625f
#define Q 1.5f
#define PP (P * P)
#define QQ (Q * Q)

/* ---- one line of each transform ---- */

INLINE void transform_pixels(float t[SIZE], const float d[SIZE])
{
    const float e1 = d[4] - QQ * d[2], o1 = P * d[3] - P * QQ * d[1];
    const float e2 = d[4] - PP * d[2], o2 = Q * d[3] - Q * PP * d[1];
    t[0] = PP * QQ * d[0] - (PP + QQ) * d[2] + d[4];
    t[1] = e1 + o1;
    t[2] = e1 - o1;
    t[3] = e2 + o2;
    t[4] = e2 - o2;
    t[5] = PP * QQ * d[1] - (PP + QQ) * d[3] + d[5];
}

/* Three taps (four = 0) or four errors. */
INLINE void transform_taps(float u[SIZE], const float g[4], bool four)
{
    const float n0 = 1 / (PP * QQ), n1 = 1 / (2 * PP * (PP - QQ)), n2 = 1 / (2 * QQ * (QQ - PP));
    const float e1 = g[0] + PP * g[2], o1 = P * g[1] + (four ? P * PP * g[3] : 0);
    const float e2 = g[0] + QQ * g[2], o2 = Q * g[1] + (four ? Q * QQ * g[3] : 0);
    u[0] = n0 * g[0];
    u[1] = n1 * (e1 + o1);
    u[2] = n1 * (e1 - o1);
    u[3] = n2 * (e2 + o2);
    u[4] = n2 * (e2 - o2);
    u[5] = four ? g[3] : g[2];
}

/* Four outputs, or the three taps of a gradient. */
INLINE void transform_sums(float y[4], const float m[SIZE], bool four)
{
    const float s1 = m[1] + m[2], d1 = m[1] - m[2], s2 = m[3] + m[4], d2 = m[3] - m[4];
    y[0] = m[0] + s1 + s2;
    y[1] = P * d1 + Q * d2;
    y[2] = PP * s1 + QQ * s2 + (four ? 0 : m[5]);
    y[3] = P * PP * d1 + Q * QQ * d2 + m[5];
}

/* ---- places ---- */

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
INLINE float pixel_at(const struct rmcp_tiles *g, __global const char *in, const struct place *p, int i,
                      int j)
{
    const int y = p->y + i, x = p->x + j;
    const bool inside = p->exists && (uint)y < g->height && (uint)x < g->width;
    const float v = load(in, inside ? p->offset + (uint)y * g->y + (uint)x * g->x : 0);
    return inside ? v : 0;
}

INLINE void store_positions(__global char *out, uint batch, uint index, float t[SIZE][SIZE], uint i)
{
    __global float *const target = (__global float *)out + (ulong)(i * SIZE) * batch + index;
    UNROLL
    for (uint j = 0; j < SIZE; j++) target[(ulong)j * batch] = t[i][j];
}

#endif
