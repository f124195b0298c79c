/* winograd_outputs.h: what winograd.cl and winograd_fused.cl share: products of filters and tiles,
 * and how sums become outputs. */
#ifndef RMCP_CONV_KERNELS_WINOGRAD_OUTPUTS_H
#define RMCP_CONV_KERNELS_WINOGRAD_OUTPUTS_H

#define THREADS 256
#define ROWS RMCP_WINOGRAD_ROWS
#define TILES RMCP_WINOGRAD_TILES
#define POSITIONS RMCP_WINOGRAD_POSITIONS
#define CHUNK RMCP_WINOGRAD_CHUNK

/* Local memory in floats. The pitch keeps neighbours out of each other's banks when 2 x 4
 * work-items store float4. */
#define SUM_PITCH (TILES + 8)
#define EXCHANGE (POSITIONS * CHUNK * SUM_PITCH)

/* 8 rows of 8 tiles: filters u and the two halves of the tiles. */
INLINE void multiply(float4 sum[8][2], const float4 u[2], float4 first, float4 second)
{
    const float rows[8] = { u[0].x, u[0].y, u[0].z, u[0].w, u[1].x, u[1].y, u[1].z, u[1].w };
    UNROLL
    for (uint i = 0; i < 8; i++) {
        sum[i][0] += rows[i] * first;
        sum[i][1] += rows[i] * second;
    }
}

/* A' m A of one tile and row, with bias and activation; or as a part of a sum. Outputs beyond an
 * edge are stored where the last one is, with its value: on gfx1010 a branch between local memory
 * and a store makes it wait for all stores before (a hazard of the chip that the compiler keeps
 * away from). */
INLINE void store_outputs(const struct rmcp_winograd *g, __global char *out,
                          __global const char *bias, __local const float *m, uint tile, uint row)
{
    float t[2][4], sums[2][2];
    UNROLL
    for (uint j = 0; j < 4; j++) {
        const float m0 = m[j * CHUNK * SUM_PITCH], m1 = m[(4 + j) * CHUNK * SUM_PITCH];
        const float m2 = m[(8 + j) * CHUNK * SUM_PITCH], m3 = m[(12 + j) * CHUNK * SUM_PITCH];
        t[0][j] = m0 + m1 + m2;
        t[1][j] = m1 - m2 - m3;
    }
    const uint line = divide(tile, g->across), image = divide(line, g->down);
    const uint x = (tile - line * g->across.divisor) * 2, y = (line - image * g->down.divisor) * 2;
    const uint at = image * g->out_image + (GROUP_ID_Y * g->rows + row) * g->out_channel +
                    y * g->out_y + x * g->out_x;
    const bool wide = x + 1 < g->out_width, high = y + 1 < g->out_height;
    const uint next_x = wide ? g->out_x : 0, next_y = high ? g->out_y : 0;
    const float shift = g->epilogue.bias ? load(bias, GROUP_ID_Y * g->rows + row) : 0;
    UNROLL
    for (uint i = 0; i < 2; i++) {
        sums[i][0] = t[i][0] + t[i][1] + t[i][2] + shift;
        sums[i][1] = wide ? t[i][1] - t[i][2] - t[i][3] + shift : sums[i][0];
    }
    if (g->epilogue.kind) UNROLL
    for (uint i = 0; i < 4; i++) sums[i / 2][i % 2] = activate(&g->epilogue, sums[i / 2][i % 2]);
    UNROLL
    for (uint i = 0; i < 4; i++) {
        const uint index = at + (i / 2 ? next_y : 0) + (i % 2 ? next_x : 0);
        const float v = high ? sums[i / 2][i % 2] : sums[0][i % 2];
        if (TYPE == 0 || !g->partial)
            store(out, index, v);
        else
            ((__global float *)out)[index] = v;
    }
}

/* The code of a chunk is most of a kernel's. Where its instructions come from memory, one after the
 * other, it is there once, and the sums move up. */
#if defined(__AMDGCN__)
#define CHUNKS _Pragma("unroll 1")
#else
#define CHUNKS UNROLL
#endif

/* The sums of a chunk: two positions, two rows, two times four tiles. */
INLINE void keep_sums(__local float *shared, const float4 sum[2][8][2], uint chunk, uint line,
                      uint tiles)
{
    UNROLL
    for (uint i = 0; i < 8; i++) {
        const uint position = i / 4, odd = i / 2 % 2, half_tile = i % 2;
        __local float *const m = shared + (line + position * CHUNK + odd) * SUM_PITCH + tiles;
        *(__local float4 *)(m + half_tile * (TILES / 2)) =
            sum[position][chunk * 2 + odd][half_tile];
    }
}

/* The outputs of a workgroup: `tiles` is where a work-item's tiles begin. */
INLINE void store_sums(const struct rmcp_winograd *g, __global char *target,
                       __global const char *bias, __local float *shared, const float4 sum[2][8][2],
                       uint first_tile, uint first_row, uint tiles)
{
    const uint thread = LOCAL_ID, lane = thread % 32, wave = thread / 32;
    __global float *const parts = (__global float *)target + (ulong)GROUP_ID_Z * g->part;
    __global char *const out = g->partial ? (__global char *)parts : target;
    const uint left = g->rows - first_row;
    CHUNKS
    for (uint chunk = 0; chunk < ROWS / CHUNK && chunk * CHUNK < left; chunk++) {
        UNROLL
        for (uint i = 0; i < ROWS / CHUNK; i++)
            if (i == chunk) keep_sums(shared, sum, i, wave * 2 * CHUNK + lane / 4 * 2, tiles);
        BARRIER();
        UNROLL
        for (uint i = 0; i < CHUNK * TILES / THREADS; i++) {
            const uint index = thread + i * THREADS;
            const uint t = smaller(g->channels_last ? index / CHUNK : index % TILES,
                                   g->tiles - 1 - first_tile);
            const uint row =
                smaller(g->channels_last ? index % CHUNK : index / TILES, left - 1 - chunk * CHUNK);
            store_outputs(g, out, bias, shared + row * SUM_PITCH + t, first_tile + t,
                          first_row + chunk * CHUNK + row);
        }
        BARRIER();
    }
}

#endif
