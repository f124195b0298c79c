/* product.cl: many matrix products of the same size, out = a b, on f32 matrices in the workspace.
 *
 * Sizes are multiples of the tile and pitches of 4, whatever the problem: whoever fills the matrices
 * pads them, with zeros where the reduction ends. So all loads and stores are of four neighbours and
 * nothing is tested. A workgroup makes ROWS x COLUMNS sums, a work-item 8 x 8; slices are fetched into
 * registers while those before are multiplied from local memory.
 *
 * -D: ROWS, COLUMNS; A_ALONG_ROWS, B_ALONG_COLUMNS: 1 when neighbours in that direction are neighbours
 * in memory, 0 when those along the reduction are. */
#define TYPE 0
#include "engine/kernels/target.h"
#include "engine/kernels/common.h"
#include "engine/ops/conv/kernels/winograd.h"

#define SLICES RMCP_PRODUCT_SLICES
#define THREADS (ROWS / 8 * COLUMNS / 8)
#define A_EACH (ROWS * SLICES / 4 / THREADS) /* float4 that a work-item fetches */
#define B_EACH (COLUMNS * SLICES / 4 / THREADS)
#define A_PITCH (ROWS + 4)
#define B_PITCH (COLUMNS + 4)
#define B_BEGIN (SLICES * A_PITCH)
#define BUFFER (B_BEGIN + SLICES * B_PITCH)

#include "engine/kernels/slices.h"

INLINE float4 load_four(__global const char *base, uint index)
{
#if defined(__AMDGCN__)
    return *(__global const float4 *)(base + index * 4);
#else
    return *(__global const float4 *)((__global const float *)base + index);
#endif
}

/* The values on their way to local memory. */
struct fetch {
    float4 a[A_EACH], b[B_EACH];
};

/* Start loading the slices from r on. */
INLINE void fetch(struct fetch *f, __global const char *a, __global const char *b, uint a_pitch,
                  uint b_pitch, uint r)
{
    __global const char *const a_slice = a + (ulong)(A_ALONG_ROWS ? r * a_pitch : r) * sizeof(float);
    __global const char *const b_slice = b + (ulong)(B_ALONG_COLUMNS ? r * b_pitch : r) * sizeof(float);
    UNROLL
    for (uint i = 0; i < A_EACH; i++) {
        const uint2 at = across_lines(i, A_ALONG_ROWS ? ROWS : SLICES);
        f->a[i] = load_four(a_slice, at.x * a_pitch + at.y);
    }
    UNROLL
    for (uint i = 0; i < B_EACH; i++) {
        const uint2 at = across_lines(i, B_ALONG_COLUMNS ? COLUMNS : SLICES);
        f->b[i] = load_four(b_slice, at.x * b_pitch + at.y);
    }
}

INLINE void keep(const struct fetch *f, __local float *tile)
{
    UNROLL
    for (uint i = 0; i < A_EACH; i++)
        keep_four(tile, f->a[i], across_lines(i, A_ALONG_ROWS ? ROWS : SLICES), A_PITCH, A_ALONG_ROWS);
    UNROLL
    for (uint i = 0; i < B_EACH; i++)
        keep_four(tile + B_BEGIN, f->b[i], across_lines(i, B_ALONG_COLUMNS ? COLUMNS : SLICES), B_PITCH,
                  B_ALONG_COLUMNS);
}

__kernel WORKGROUP(THREADS) void product(INPUT(a), INPUT(b), OUTPUT(out), struct rmcp_product p)
{
    __local float tile[2 * BUFFER] __attribute__((aligned(16)));
    const uint thread = LOCAL_ID, task = GROUP_ID_X + p.first_tile;
    const uint column_tile = divide(task, p.row_tiles);
    const uint first_column = column_tile * COLUMNS;
    const uint first_row = (task - column_tile * p.row_tiles.divisor) * ROWS;
    const uint first = GROUP_ID_Z * p.share;
    const uint end = smaller(first + p.share, p.reduction);
    __global const char *const a =
        ADDRESS(a) + ((ulong)GROUP_ID_Y * p.a_batch +
                      (A_ALONG_ROWS ? first_row : first_row * p.a_pitch)) * sizeof(float);
    __global const char *const b =
        ADDRESS(b) + ((ulong)GROUP_ID_Y * p.b_batch +
                      (B_ALONG_COLUMNS ? first_column : first_column * p.b_pitch)) * sizeof(float);

    /* 32 neighbours in a wave make a patch of 4 x 8 work-items. */
    const uint x = (thread % 8 + thread / 32 % (COLUMNS / 64) * 8) * 4;
    const uint y = (thread / 8 % 4 + thread / 32 / (COLUMNS / 64) * 4) * 4;
    float4 sum[8][2] = { { 0 } };
    struct fetch f;
    uint buffer = 0;
    fetch(&f, a, b, p.a_pitch, p.b_pitch, first);
    keep(&f, tile);
    BARRIER();
    #pragma unroll 1
    for (uint r = first; r < end; r += SLICES) {
        const bool more = r + SLICES < end;
        fetch(&f, a, b, p.a_pitch, p.b_pitch, more ? r + SLICES : r);
        __local const float *const at_a = tile + buffer + y, *const at_b = tile + buffer + B_BEGIN + x;
        struct slice now = read_slice(at_a, at_b);
        UNROLL
        for (uint i = 1; i <= SLICES; i++) {
            const uint next = i % SLICES; /* after the last the first is read again, for nobody */
            struct slice ahead = read_slice(at_a + next * A_PITCH, at_b + next * B_PITCH);
            IN_ORDER();
            multiply(sum, &now);
            IN_ORDER();
            now = ahead;
        }
        buffer = BUFFER - buffer;
        keep(&f, tile + buffer);
        BARRIER();
    }

    __global float *const target = (__global float *)ADDRESS(out) + (ulong)GROUP_ID_Z * p.part +
                                   (ulong)GROUP_ID_Y * p.out_batch;
    UNROLL
    for (uint i = 0; i < 8; i++) {
        const uint row = first_row + y + i % 4 + i / 4 * (ROWS / 2);
        UNROLL
        for (uint j = 0; j < 2; j++) {
            const uint index = row * p.out_pitch + first_column + x + j * (COLUMNS / 2);
            __global float4 *const place = (__global float4 *)(target + index);
            *place = p.add ? *place + sum[i][j] : sum[i][j];
        }
    }
}
