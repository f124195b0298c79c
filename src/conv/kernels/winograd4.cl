/* winograd4.cl: the transforms of the minimal filtering F(4x4, 3x3), 36 multiplications for 16 outputs
 * instead of 144, and of F(3x3, 4x4) for weight gradients. product.cl multiplies in between.
 *
 * The points are 0, +-5/8, +-3/2 and infinity: their matrices have short binary fractions but for
 * those of the filters, and errors are half of those with +-1 and +-2. Pixels become B' d B, filters
 * (in weight gradients: errors, 4 x 4 of them) G g G', and A' m A of the sums m are the outputs.
 *
 * Matrices in the workspace are f32, [position][slow][fast]: fast is the tile with channels first, the
 * channel with channels last, so that neighbours here are neighbours in the tensor.
 *
 * -D: TYPE */
#include "kernels/target.h"
#include "kernels/common.h"
#include "conv/kernels/winograd.h"

#define THREADS 128
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

/* ---- kernels: one tile or filter a work-item ---- */

__kernel WORKGROUP(THREADS) void winograd4_pixels(INPUT(in), OUTPUT(out), struct rmcp_tiles g)
{
    const uint index = GROUP_ID_X * THREADS + LOCAL_ID;
    if (index >= g.count) return;
    const struct place p = place_of(&g, index);
    float t[SIZE][SIZE], v[SIZE][SIZE];
    UNROLL
    for (int i = 0; i < SIZE; i++) { /* lines first: their pixels are neighbours */
        float d[SIZE];
        UNROLL
        for (int j = 0; j < SIZE; j++) d[j] = pixel_at(&g, ADDRESS(in), &p, i, j);
        transform_pixels(t[i], d);
    }
    UNROLL
    for (int j = 0; j < SIZE; j++) {
        const float d[SIZE] = { t[0][j], t[1][j], t[2][j], t[3][j], t[4][j], t[5][j] };
        float u[SIZE];
        transform_pixels(u, d);
        UNROLL
        for (int i = 0; i < SIZE; i++) v[i][j] = u[i];
    }
    UNROLL
    for (uint i = 0; i < SIZE; i++) store_positions(ADDRESS(out), g.batch, index, v, i);
}

__kernel WORKGROUP(THREADS) void winograd4_errors(INPUT(in), OUTPUT(out), struct rmcp_tiles g)
{
    const uint index = GROUP_ID_X * THREADS + LOCAL_ID;
    if (index >= g.count) return;
    const struct place p = place_of(&g, index);
    float t[4][SIZE], v[SIZE][SIZE];
    UNROLL
    for (int i = 0; i < 4; i++) {
        float d[4];
        UNROLL
        for (int j = 0; j < 4; j++) d[j] = pixel_at(&g, ADDRESS(in), &p, i, j);
        transform_taps(t[i], d, true);
    }
    UNROLL
    for (int j = 0; j < SIZE; j++) {
        const float d[4] = { t[0][j], t[1][j], t[2][j], t[3][j] };
        float u[SIZE];
        transform_taps(u, d, true);
        UNROLL
        for (int i = 0; i < SIZE; i++) v[i][j] = u[i];
    }
    UNROLL
    for (uint i = 0; i < SIZE; i++) store_positions(ADDRESS(out), g.batch, index, v, i);
}

/* Filters become [position][channel][row]. */
__kernel WORKGROUP(THREADS) void winograd4_filter(INPUT(w), OUTPUT(out), struct rmcp_taps f)
{
    const uint index = GROUP_ID_X * THREADS + LOCAL_ID;
    if (index >= f.count) return;
    const uint channel = divide(index, f.fast), row = index - channel * f.fast.divisor;
    const bool exists = row < f.rows && channel < f.channels;
    const uint at = exists ? f.first + row * f.row + channel * f.channel : 0;
    const uint y = exists ? f.y : 0, x = exists ? f.x : 0;
    float t[3][SIZE], u[SIZE][SIZE];
    UNROLL
    for (uint i = 0; i < 3; i++) {
        float g[4] = { 0 };
        UNROLL
        for (uint j = 0; j < 3; j++) {
            const float tap = load(ADDRESS(w), at + i * y + j * x);
            g[j] = exists ? tap : 0;
        }
        transform_taps(t[i], g, false);
    }
    UNROLL
    for (uint j = 0; j < SIZE; j++) {
        const float g[4] = { t[0][j], t[1][j], t[2][j], 0 };
        float line[SIZE];
        transform_taps(line, g, false);
        UNROLL
        for (uint i = 0; i < SIZE; i++) u[i][j] = line[i];
    }
    UNROLL
    for (uint i = 0; i < SIZE; i++) store_positions(ADDRESS(out), f.batch, index, u, i);
}

__kernel WORKGROUP(THREADS) void winograd4_outputs(INPUT(sums), OUTPUT(out), INPUT(bias),
                                                   struct rmcp_tiles g)
{
    const uint index = GROUP_ID_X * THREADS + LOCAL_ID;
    if (index >= g.count) return;
    const struct place p = place_of(&g, index);
    if (!p.exists) return;
    __global const float *const sums = (__global const float *)ADDRESS(sums) + index;
    float t[4][SIZE];
    UNROLL
    for (uint j = 0; j < SIZE; j++) {
        float m[SIZE], y[4];
        UNROLL
        for (uint i = 0; i < SIZE; i++) m[i] = sums[(ulong)(i * SIZE + j) * g.batch];
        transform_sums(y, m, true);
        UNROLL
        for (uint i = 0; i < 4; i++) t[i][j] = y[i];
    }
    const float shift = g.epilogue.bias ? load(ADDRESS(bias), p.channel) : 0;
    UNROLL
    for (uint i = 0; i < 4; i++) {
        const uint line = (uint)p.y + i;
        if (line >= g.height) continue;
        const uint at = p.offset + line * g.y + (uint)p.x * g.x;
        float y[4];
        transform_sums(y, t[i], true);
        UNROLL
        for (uint j = 0; j < 4; j++) y[j] = activate(&g.epilogue, y[j] + shift);
        if (g.x == 1 && (uint)p.x + 3 < g.width) {
            store4(ADDRESS(out), at, (float4)(y[0], y[1], y[2], y[3]));
            continue;
        }
        UNROLL
        for (uint j = 0; j < 4; j++)
            if ((uint)p.x + j < g.width) store(ADDRESS(out), at + j * g.x, y[j]);
    }
}

/* Sums are [part][position][row][channel] here: the splits' parts are added up in their order. */
__kernel WORKGROUP(THREADS) void winograd4_gradient(INPUT(sums), OUTPUT(out), struct rmcp_taps f)
{
    const uint index = GROUP_ID_X * THREADS + LOCAL_ID;
    if (index >= f.count) return;
    const uint row = divide(index, f.fast), channel = index - row * f.fast.divisor;
    if (row >= f.rows || channel >= f.channels) return;
    __global const float *const sums = (__global const float *)ADDRESS(sums) + index;
    float t[3][SIZE];
    UNROLL
    for (uint j = 0; j < SIZE; j++) {
        float m[SIZE] = { 0 }, y[4];
        for (uint part = 0; part < f.parts; part++) {
            UNROLL
            for (uint i = 0; i < SIZE; i++)
                m[i] += sums[(ulong)part * f.part + (ulong)(i * SIZE + j) * f.batch];
        }
        transform_sums(y, m, false);
        UNROLL
        for (uint i = 0; i < 3; i++) t[i][j] = y[i];
    }
    const uint at = row * f.row + channel * f.channel;
    UNROLL
    for (uint i = 0; i < 3; i++) {
        float y[4];
        transform_sums(y, t[i], false);
        UNROLL
        for (uint j = 0; j < 3; j++) store(ADDRESS(out), at + i * f.y + j * f.x, y[j]);
    }
}
