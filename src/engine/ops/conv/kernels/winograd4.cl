/* winograd4.cl: the transforms of the minimal filtering F(4x4, 3x3), 36 multiplications for 16 outputs
 * instead of 144, or F(4x4, 5x5), 64 instead of 400; and of F(3x3, 4x4) and F(5x5, 4x4) for weight gradients.
 * product.cl multiplies in between.
 *
 * Matrices in the workspace are f32, [position][slow][fast]: fast is the tile with channels first, the
 * channel with channels last, so that neighbours here are neighbours in the tensor.
 *
 * -D: TYPE; TAPS: 3 or 5; KERNEL: the one of the kernels below that is compiled, since each is loaded by itself */
#include "engine/ops/conv/kernels/winograd4.h"

#define PIXELS 0
#define ERRORS 1
#define FILTER 2
#define OUTPUTS 3
#define GRADIENT 4

#define THREADS 128

/* One tile or filter a work-item. */

#if KERNEL == PIXELS
__kernel WORKGROUP(THREADS) void winograd4_pixels(INPUT(in), OUTPUT(out), struct rmcp_tiles g)
{
    const uint index = GROUP_ID_X * THREADS + LOCAL_ID;
    if (index >= g.count) return;
    const struct place p = place_of(&g, index);
    float t[SIZE][SIZE];
    UNROLL
    for (int i = 0; i < SIZE; i++) { /* lines first: their pixels are neighbours */
        float d[SIZE];
        UNROLL
        for (int j = 0; j < SIZE; j++) d[j] = pixel_at(&g, ADDRESS(in), &p, i, j);
        transform_pixels(t[i], d);
    }
    UNROLL
    for (int j = 0; j < SIZE; j++) {
        float d[SIZE], u[SIZE];
        UNROLL
        for (int i = 0; i < SIZE; i++) d[i] = t[i][j];
        transform_pixels(u, d);
        store_column(ADDRESS(out), g.batch, index, u, (uint)j);
    }
}
#endif

#if KERNEL == ERRORS
__kernel WORKGROUP(THREADS) void winograd4_errors(INPUT(in), OUTPUT(out), struct rmcp_tiles g)
{
    const uint index = GROUP_ID_X * THREADS + LOCAL_ID;
    if (index >= g.count) return;
    const struct place p = place_of(&g, index);
    float t[4][SIZE];
    UNROLL
    for (int i = 0; i < 4; i++) {
        float d[MOST];
        UNROLL
        for (int j = 0; j < 4; j++) d[j] = pixel_at(&g, ADDRESS(in), &p, i, j);
        transform_taps(t[i], d, 4);
    }
    UNROLL
    for (int j = 0; j < SIZE; j++) {
        float d[MOST], u[SIZE];
        UNROLL
        for (int i = 0; i < 4; i++) d[i] = t[i][j];
        transform_taps(u, d, 4);
        store_column(ADDRESS(out), g.batch, index, u, (uint)j);
    }
}
#endif

#if KERNEL == FILTER
/* Filters become [position][channel][row]. */
__kernel WORKGROUP(THREADS) void winograd4_filter(INPUT(w), OUTPUT(out), struct rmcp_taps f)
{
    const uint index = GROUP_ID_X * THREADS + LOCAL_ID;
    if (index >= f.count) return;
    const uint channel = divide(index, f.fast), row = index - channel * f.fast.divisor;
    const bool exists = row < f.rows && channel < f.channels;
    const uint at = exists ? f.first + row * f.row + channel * f.channel : 0;
    const uint y = exists ? f.y : 0, x = exists ? f.x : 0;
    float t[TAPS][SIZE];
    UNROLL
    for (uint i = 0; i < TAPS; i++) {
        float g[MOST];
        UNROLL
        for (uint j = 0; j < TAPS; j++) {
            const float tap = load(ADDRESS(w), at + i * y + j * x);
            g[j] = exists ? tap : 0;
        }
        transform_taps(t[i], g, TAPS);
    }
    UNROLL
    for (uint j = 0; j < SIZE; j++) {
        float g[MOST], u[SIZE];
        UNROLL
        for (uint i = 0; i < TAPS; i++) g[i] = t[i][j];
        transform_taps(u, g, TAPS);
        store_column(ADDRESS(out), f.batch, index, u, j);
    }
}
#endif

#if KERNEL == OUTPUTS
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
        float m[SIZE], y[MOST];
        UNROLL
        for (uint i = 0; i < SIZE; i++) m[i] = sums[(ulong)(i * SIZE + j) * g.batch];
        transform_sums(y, m, 4);
        UNROLL
        for (uint i = 0; i < 4; i++) t[i][j] = y[i];
    }
    const float shift = g.epilogue.bias ? load(ADDRESS(bias), p.channel) : 0;
    UNROLL
    for (uint i = 0; i < 4; i++) {
        const uint line = (uint)p.y + i;
        if (line >= g.height) continue;
        const uint at = p.offset + line * g.y + (uint)p.x * g.x;
        float y[MOST];
        transform_sums(y, t[i], 4);
        UNROLL
        for (uint j = 0; j < 4; j++) y[j] += shift;
        if (g.epilogue.kind)
            UNROLL
            for (uint j = 0; j < 4; j++) y[j] = activate(&g.epilogue, y[j]);
        if (g.x == 1 && (uint)p.x + 3 < g.width) {
            store4(ADDRESS(out), at, (float4)(y[0], y[1], y[2], y[3]));
            continue;
        }
        UNROLL
        for (uint j = 0; j < 4; j++)
            if ((uint)p.x + j < g.width) store(ADDRESS(out), at + j * g.x, y[j]);
    }
}
#endif

#if KERNEL == GRADIENT
/* Sums are [part][position][row][channel] here: the splits' parts are added up in their order. */
__kernel WORKGROUP(THREADS) void winograd4_gradient(INPUT(sums), OUTPUT(out), struct rmcp_taps f)
{
    const uint index = GROUP_ID_X * THREADS + LOCAL_ID;
    if (index >= f.count) return;
    const uint row = divide(index, f.fast), channel = index - row * f.fast.divisor;
    if (row >= f.rows || channel >= f.channels) return;
    __global const float *const sums = (__global const float *)ADDRESS(sums) + index;
    float t[TAPS][SIZE];
    UNROLL
    for (uint j = 0; j < SIZE; j++) {
        float m[SIZE] = { 0 }, y[MOST];
        for (uint part = 0; part < f.parts; part++) {
            UNROLL
            for (uint i = 0; i < SIZE; i++)
                m[i] += sums[(ulong)part * f.part + (ulong)(i * SIZE + j) * f.batch];
        }
        transform_sums(y, m, TAPS);
        UNROLL
        for (uint i = 0; i < TAPS; i++) t[i][j] = y[i];
    }
    const uint at = row * f.row + channel * f.channel;
    UNROLL
    for (uint i = 0; i < TAPS; i++) {
        float y[MOST];
        transform_sums(y, t[i], TAPS);
        UNROLL
        for (uint j = 0; j < TAPS; j++) store(ADDRESS(out), at + i * f.y + j * f.x, y[j]);
    }
}
#endif
