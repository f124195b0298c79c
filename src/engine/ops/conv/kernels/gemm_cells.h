/* gemm_cells.h: how gemm.cl stores sums whose columns are cells (cells.h). Part of gemm.cl.
 *
 * Half of the tile's rows at a time goes through local memory, so that neighbours store
 * neighbouring cells. Each work-item has one column. */
#ifndef RMCP_CONV_KERNELS_GEMM_CELLS_H
#define RMCP_CONV_KERNELS_GEMM_CELLS_H

#define HALF_ROWS (ROWS / 2)

/* Bring the sums of half of the tile's rows into local memory. y and x are where the work-item's
 * begin. */
INLINE void pass_sums(const float4 sum[8][2], __local float *tile, uint half_tile, uint y, uint x)
{
    UNROLL
    for (uint i = 0; i < KEEP; i++) {
        const uint row = row_of(i);
        if (row / HALF_ROWS != half_tile) continue;
        __local float *const line = tile + (y + row % HALF_ROWS) * COLUMNS + x;
        *(__local float4 *)line = sum[i][0];
        *(__local float4 *)(line + COLUMNS / 2) = sum[i][1];
    }
}

/* A row is a channel: its products, and the zeros around them unless these are parts of sums. */
INLINE void store_lone_rows(__local const float *sums, const struct rmcp_gemm *g,
                            const struct rmcp_cells *c, __global char *out, struct corner corner,
                            uint first_row, uint end)
{
    __global float *const parts = (__global float *)out + (ulong)GROUP_ID_Z * g->part;
    const struct inside at = { 0, { c->cell[0].phase, c->cell[1].phase, c->cell[2].phase } };
    const uint target = offset_of(g, c, &at);
    const bool has = exists(corner.bounds, &at);
    for (uint row = LOCAL_ID / COLUMNS; row < end; row += THREADS / COLUMNS) {
        const uint offset = GROUP_ID_Y * g->out_group + (first_row + row) * g->out_row;
        const float value = sums[row * COLUMNS];
        if (!g->partial)
            store_lone(out, c, corner, offset, value);
        else if (has)
            parts[corner.offset + offset + target] = value;
    }
}

/* What the sums are made of. */
struct factors {
    __global const char *a, *b;
    uint origin, length; /* of the reduction */
};

/* Two rows are neighbours in memory, unless the stride is odd. */
INLINE void store_row_pairs(__local const struct shared *s, const struct rmcp_gemm *g,
                            const struct rmcp_cells *c, const struct factors *f, __global char *out,
                            struct corner corner, uint column, uint first_row, uint end)
{
    __global float *const parts = (__global float *)out + (ulong)GROUP_ID_Z * g->part;
    const uint first = GROUP_ID_Y * g->out_group + corner.offset;
    for (uint row = LOCAL_ID / COLUMNS * 2; row < end; row += THREADS / COLUMNS * 2) {
        const struct inside one = inside_of(c, first_row + row),
                            two = inside_of(c, first_row + row + 1);
        const uint offset = first + offset_of(g, c, &one), next = first + offset_of(g, c, &two);
        const bool has_one = exists(corner.bounds, &one);
        const bool has_two = row + 1 < end && exists(corner.bounds, &two);
        float v = s->tile[row * COLUMNS + LOCAL_ID % COLUMNS];
        float w = s->tile[(row + 1) * COLUMNS + LOCAL_ID % COLUMNS];
        if (v != v)
            v = exact_sum(&s->geometry, g, f->a, f->b, first_row + row, column, f->origin,
                          f->length);
        if (w != w && has_two)
            w = exact_sum(&s->geometry, g, f->a, f->b, first_row + row + 1, column, f->origin,
                          f->length);
        if (g->partial) {
            if (has_one) parts[offset] = v;
            if (has_two) parts[next] = w;
        } else if (has_one && has_two && next == offset + 1) {
            store2(out, offset, v, w);
        } else {
            if (has_one) store(out, offset, v);
            if (has_two) store(out, next, w);
        }
    }
}

INLINE void store_cells(const float4 sum[8][2], __local struct shared *s, const struct rmcp_gemm *g,
                        const struct rmcp_cells *c, const struct factors *f, __global char *out,
                        uint first_row, uint first_column, uint y, uint x)
{
    const uint column = LOCAL_ID % COLUMNS;
    const bool exists = first_column + column < g->columns;
    const struct corner corner = corner_of(g, c, exists ? first_column + column : 0);
    UNROLL
    for (uint half_tile = 0; half_tile < 2; half_tile++) {
        const uint first = first_row + half_tile * HALF_ROWS;
        const uint end = exists && first < g->rows ? smaller(HALF_ROWS, g->rows - first) : 0;
        BARRIER();
        pass_sums(sum, s->tile, half_tile, y, x);
        BARRIER();
        if (c->lone)
            store_lone_rows(s->tile + column, g, c, out, corner, first, end);
        else
            store_row_pairs(s, g, c, f, out, corner, first_column + column, first, end);
    }
}

#endif
