/* thin.cl: products of few rows, at most ROWS, whose tiles would be mostly empty: forward with few filters
 * in a group, data gradients of few channels, such as a first layer's.
 *
 * A work-item has all rows of PIXELS columns and fetches the gathered factor by itself, each element for
 * ROWS multiplications; the other factor comes from local memory. Neighbours read neighbouring pixels.
 *
 * -D: TYPE, ROWS, PIXELS; CELLS: columns are cells of the input of a strided convolution (struct
 * rmcp_cells), and rows are the inputs of a cell. */
#include "engine/ops/conv/kernels/cells.h"

#define THREADS 128
#define CHUNK 64 /* of the reduction, at once in local memory */
#define AHEAD (PIXELS == 1 ? 8 : 4) /* of them whose loads are under way */

struct shared {
    float a[CHUNK * ROWS];
    uint2 gather[CHUNK]; /* gather and bits of a place */
    uint linear[CHUNK];
    struct geometry geometry;
};

/* Bring the part of the reduction from `first` on into local memory. */
INLINE void fill(__local struct shared *s, const struct rmcp_gemm *g, __global const char *a, uint first,
                 uint count)
{
    const uint thread = LOCAL_ID;
    BARRIER();
    if (thread < count) {
        const struct place place = place_of_tap(&s->geometry, first + thread);
        s->gather[thread] = (uint2)(place.gather, place.bits);
        s->linear[thread] = place.linear;
    }
    BARRIER();
    for (uint i = thread; i < CHUNK * ROWS; i += THREADS) {
        const uint r = i % CHUNK, row = i / CHUNK;
        if (r < count)
            s->a[r * ROWS + row] = row < g->rows ? load(a, s->linear[r] + row * g->a_row) : 0;
    }
    BARRIER();
}

/* Load the work-item's pixels at place r of the reduction. */
INLINE void fetch(float b[PIXELS], __local const struct shared *s, __global const char *data,
                  const struct place pixel[PIXELS], uint r, bool padded)
{
    const uint2 tap = s->gather[r];
    UNROLL
    for (uint i = 0; i < PIXELS; i++) {
        const bool missing = padded && (tap.y & pixel[i].bits) != 0;
        const float value = load(data, missing ? 0 : tap.x + pixel[i].gather);
        b[i] = missing ? 0 : value;
    }
}

INLINE void multiply(float sum[ROWS][PIXELS], __local const float *a, const float b[PIXELS])
{
    UNROLL
    for (uint row = 0; row < ROWS; row += 4) {
        const float4 v = *(__local const float4 *)(a + row);
        UNROLL
        for (uint i = 0; i < PIXELS; i++) {
            sum[row][i] += v.x * b[i];
            sum[row + 1][i] += v.y * b[i];
            sum[row + 2][i] += v.z * b[i];
            sum[row + 3][i] += v.w * b[i];
        }
    }
}

INLINE void accumulate(float sum[ROWS][PIXELS], __local struct shared *s, const struct rmcp_gemm *g,
                       __global const char *a, __global const char *data,
                       const struct place pixel[PIXELS], uint reduction, bool padded)
{
    for (uint first = 0; first < reduction; first += CHUNK) {
        const uint count = smaller(CHUNK, reduction - first), whole = count / AHEAD * AHEAD;
        fill(s, g, a, first, count);
        #pragma unroll 1
        for (uint r = 0; r < whole; r += AHEAD) {
            float b[AHEAD][PIXELS];
            UNROLL
            for (uint i = 0; i < AHEAD; i++) fetch(b[i], s, data, pixel, r + i, padded);
            UNROLL
            for (uint i = 0; i < AHEAD; i++) multiply(sum, s->a + (r + i) * ROWS, b[i]);
        }
        #pragma unroll 1
        for (uint r = whole; r < count; r++) {
            float b[PIXELS];
            fetch(b, s, data, pixel, r, padded);
            multiply(sum, s->a + r * ROWS, b);
        }
    }
}

#if CELLS
#define LAST_ARGUMENT struct rmcp_cells c

/* Two rows are neighbours in memory, unless the stride is odd. */
INLINE void store_two_rows(__global char *out, const struct rmcp_gemm *g, const struct rmcp_cells *c,
                           struct corner corner, uint row, float v, float w)
{
    const struct inside one = inside_of(c, row), two = inside_of(c, row + 1);
    const uint first = GROUP_ID_Y * g->out_group + corner.offset;
    const uint offset = first + offset_of(g, c, &one), next = first + offset_of(g, c, &two);
    const bool has_one = exists(corner.bounds, &one);
    const bool has_two = row + 1 < g->rows && exists(corner.bounds, &two);
    if (has_one && has_two && next == offset + 1) {
        store2(out, offset, v, w);
        return;
    }
    if (has_one) store(out, offset, v);
    if (has_two) store(out, next, w);
}
#else
#define LAST_ARGUMENT struct rmcp_phases p
#endif

__kernel WORKGROUP(THREADS) void thin(INPUT(a), INPUT(b), OUTPUT(out), INPUT(bias),
                                      struct rmcp_gemm g, LAST_ARGUMENT)
{
    __local struct shared s __attribute__((aligned(16)));
    const uint thread = LOCAL_ID, group = GROUP_ID_Y;
#if CELLS
    const struct turn turn = { 0, GROUP_ID_X + g.first_tile };
    const struct extent extent = { g.columns, g.reduction };
#else
    const struct turn turn = turn_of(GROUP_ID_X + g.first_tile, &p);
    const struct extent extent = extent_of(&g, &p, turn.phase);
#endif
    const uint first_column = turn.tile * (THREADS * PIXELS);
    if (!CPU && first_column >= extent.columns) return; /* this phase has fewer than others */

#if CELLS
    if (thread == 0) copy_windows(&s.geometry, &g);
#else
    if (thread == 0) copy_geometry(&s.geometry, &g, &p, turn.phase);
#endif
    BARRIER();
    struct place pixel[PIXELS]; /* beyond the last is the last again, computed and not stored */
    UNROLL
    for (uint i = 0; i < PIXELS; i++)
        pixel[i] = place_of_pixel(&s.geometry,
                                  smaller(first_column + i * THREADS + thread, extent.columns - 1));

    float sum[ROWS][PIXELS];
    UNROLL
    for (uint row = 0; row < ROWS; row++)
        UNROLL
        for (uint i = 0; i < PIXELS; i++) sum[row][i] = 0;
    __global const char *const a = ADDRESS(a) + (ulong)(group * g.a_group) * sizeof(element);
    __global const char *const data = ADDRESS(b) + (ulong)(group * g.b_group) * sizeof(element);
    if (g.padded || CPU)
        accumulate(sum, &s, &g, a, data, pixel, extent.reduction, true);
    else
        accumulate(sum, &s, &g, a, data, pixel, extent.reduction, false);

#if CELLS
    uint doubtful = 0; /* bits of pixels */
    UNROLL
    for (uint i = 0; i < PIXELS; i++) {
        const uint column = first_column + i * THREADS + thread;
        if (column >= extent.columns) continue;
        const struct corner corner = corner_of(&g, &c, column);
        UNROLL
        for (uint row = 0; row < ROWS; row += 2)
            if (row < g.rows)
                store_two_rows(ADDRESS(out), &g, &c, corner, row, sum[row][i], sum[row + 1][i]);
        float probe = 0; /* NaN when some sum is Inf or NaN */
        UNROLL
        for (uint row = 0; row < ROWS; row++) probe += sum[row][i] * 0;
        doubtful |= (uint)(probe != probe) << i;
    }
    #pragma unroll 1
    for (uint i = 0; i < PIXELS; i++) {
        const uint column = first_column + i * THREADS + thread;
        if ((doubtful >> i & 1) == 0) continue;
        const struct corner corner = corner_of(&g, &c, column);
        #pragma unroll 1
        for (uint row = 0; row < g.rows; row++) {
            const struct inside inside = inside_of(&c, row);
            const float v = exact_sum(&s.geometry, &g, a, data, row, column, 0, g.reduction);
            if (exists(corner.bounds, &inside))
                store(ADDRESS(out), group * g.out_group + corner.offset + offset_of(&g, &c, &inside), v);
        }
    }
#else
    if (g.epilogue.bias || g.epilogue.kind)
        UNROLL
        for (uint row = 0; row < ROWS; row++) {
            const uint at = group * g.bias_group + smaller(row, g.rows - 1);
            const float shift = g.epilogue.bias ? load(ADDRESS(bias), at) : 0;
            UNROLL
            for (uint i = 0; i < PIXELS; i++)
                sum[row][i] = activate(&g.epilogue, sum[row][i] + shift);
        }
    /* Beyond the last the one before is stored once more: winograd.cl says why. */
    if (first_column + thread >= extent.columns) return;
    uint at = 0;
    UNROLL
    for (uint i = 0; i < PIXELS; i++) {
        const bool exists = first_column + i * THREADS + thread < extent.columns;
        at = exists ? group * g.out_group + pixel[i].linear : at;
        UNROLL
        for (uint row = 0; row < ROWS; row++) {
            if (i > 0 && !exists) sum[row][i] = sum[row][i - 1];
            if (row > 0 && row >= g.rows) sum[row][i] = sum[row - 1][i];
            store(ADDRESS(out), at + smaller(row, g.rows - 1) * g.out_row, sum[row][i]);
        }
    }
#endif
}
