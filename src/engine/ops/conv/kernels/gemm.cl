/* gemm.cl: convolution and both of its gradients as one implicit matrix product.
 *
 *   forward           out[k, pixel of y]  = sum over (c, tap)    of w[k, c, tap] * x[pixel, tap, c]
 *   backward data     out[c, pixel of dx] = sum over (k, tap)    of w[k, c, tap] * y[pixel, tap, k]
 *   backward weights  out[k, (c, tap)]    = sum over pixels of y of y[k, pixel] * x[pixel, tap, c]
 *
 * where y is its gradient in the backward passes. Each time one factor, b, is gathered at (pixel,
 * tap), zero in the padding, and the other, a, and the result are indexed plainly. So an index along
 * columns or reduction is decoded once into a place, and an element of b is found with one addition
 * and one test, whatever the pass, the layout, stride and dilation.
 *
 * A workgroup makes ROWS x COLUMNS outputs, a work-item 8 x 8 of them. Slices of a and b, SLICES
 * deep, are fetched into registers while the slices before are multiplied from local memory. In small
 * tiles SHARES work-items have the same outputs: each multiplies its share of the slices, and at the end
 * they add up.
 *
 * -D: TYPE, ROWS, COLUMNS; SLICES, SHARES where not 16 and 1; A_ALONG_ROWS, B_ALONG_COLUMNS: 1 when neighbours in that
 * direction are neighbours in memory, 0 when those along the reduction are; CELLS: columns are cells of the input of a
 * strided convolution (struct rmcp_cells). */
#include "engine/ops/conv/kernels/cells.h"

#ifndef SLICES
#define SLICES 16
#endif
#ifndef SHARES
#define SHARES 1
#endif
#define OWN (SLICES / SHARES) /* slices that a work-item multiplies */
#define STEP (OWN / 2)        /* of them in one turn of the inner loop */
#define ITEMS (ROWS / 8 * COLUMNS / 8) /* work-items of one share */
#define THREADS (ITEMS * SHARES)
#define KEEP (8 / SHARES) /* rows that a work-item stores */
#define A_EACH (ROWS * SLICES / THREADS) /* elements that a work-item fetches */
#define B_EACH (COLUMNS * SLICES / THREADS)
#define A_PITCH (ROWS + PAD)
#define B_PITCH (COLUMNS + PAD)
#define B_BEGIN (SLICES * A_PITCH)
#define BUFFER (B_BEGIN + SLICES * B_PITCH)
#define TABLE (2 * THREADS)
#define SHARE (SHARES > 1 ? LOCAL_ID / ITEMS : 0)
#define PATCH (COLUMNS / 8 < 8 ? COLUMNS / 8 : 8) /* work-items side by side in a wave */
#define PAD 4 /* against bank conflicts; a multiple of 4 keeps float4 aligned */

/* Which element of a slice work-item `thread` fetches as its i-th. */
#if A_ALONG_ROWS
#define A_ROW(i) (thread % ROWS)
#define A_SLICE(i) (thread / ROWS * A_EACH + (i))
#define A_APART A_PITCH /* distance of its elements in the tile */
#else
#define A_ROW(i) (thread / SLICES + (i) * (THREADS / SLICES))
#define A_SLICE(i) (thread % SLICES)
#define A_APART (THREADS / SLICES)
#endif
#if B_ALONG_COLUMNS
#define B_COLUMN(i) (thread % COLUMNS)
#define B_SLICE(i) (thread / COLUMNS * B_EACH + (i))
#define B_APART B_PITCH
#else
#define B_COLUMN(i) (thread / SLICES + (i) * (THREADS / SLICES))
#define B_SLICE(i) (thread % SLICES)
#define B_APART (THREADS / SLICES)
#endif

/* Local memory of a workgroup. */
struct shared {
    float tile[2 * BUFFER]; /* slices of a, then of b; one buffer is multiplied, one is filled */
    uint2 column_gather[COLUMNS]; /* gather and bits of a place */
    uint column_linear[COLUMNS];
    uint2 table_gather[TABLE]; /* the same for a stretch of the reduction, a ring */
    uint table_linear[TABLE];
    struct geometry geometry;
};

/* What a work-item fetches: where from, and the values on their way to local memory. */
struct fetch {
    uint row_offset[A_EACH], column_offset[B_EACH], column_bits[B_EACH];
    uint a_slot, b_slot; /* of the first value in the tile */
    float a[A_EACH], b[B_EACH];
    bool missing[B_EACH];
};

/* Columns beyond the last repeat it: they are computed and not stored. */
INLINE void fill_columns(__local struct shared *s, uint first_column, uint columns)
{
    const uint thread = LOCAL_ID;
    if (thread >= COLUMNS) return;
    const uint column = smaller(first_column + thread, columns - 1);
    const struct place place =
        s->geometry.steps.sum_pixels ? place_of_tap(&s->geometry, column)
                                     : place_of_pixel(&s->geometry, column);
    s->column_gather[thread] = (uint2)(place.gather, place.bits);
    s->column_linear[thread] = place.linear;
}

/* Decode the THREADS reduction indices from `first` on, which is also their place in the ring.
 * Beyond the end stand places that are safe to load from; nobody adds their products. */
INLINE void fill_table(__local struct shared *s, uint first, uint origin, uint length)
{
    const uint thread = LOCAL_ID, r = first + thread;
    struct place place = { 0, ~0u, 0 };
    if (r < length)
        place = s->geometry.steps.sum_pixels ? place_of_pixel(&s->geometry, origin + r)
                                             : place_of_tap(&s->geometry, origin + r);
    s->table_gather[r % TABLE] = (uint2)(place.gather, place.bits);
    s->table_linear[r % TABLE] = place.linear;
}

/* Start loading the slices from reduction index r on. */
INLINE void fetch(struct fetch *f, __local const struct shared *s, __global const char *a,
                  __global const char *b, uint r, bool padded)
{
    const uint thread = LOCAL_ID, at = r % TABLE;
    UNROLL
    for (uint i = 0; i < A_EACH; i++)
        f->a[i] = load(a, s->table_linear[at + A_SLICE(i)] + f->row_offset[i]);
    UNROLL
    for (uint i = 0; i < B_EACH; i++) {
        uint2 entry = s->table_gather[at + B_SLICE(i)];
        f->missing[i] = padded && (entry.y & f->column_bits[i]) != 0;
        f->b[i] = load(b, f->missing[i] ? 0 : entry.x + f->column_offset[i]);
    }
}

/* The value loaded last is stored first: one wait serves them all. */
INLINE void keep(const struct fetch *f, __local float *tile)
{
    UNROLL
    for (uint i = B_EACH; i-- > 0;)
        tile[f->b_slot + i * B_APART] = f->missing[i] ? 0 : f->b[i];
    UNROLL
    for (uint i = A_EACH; i-- > 0;) tile[f->a_slot + i * A_APART] = f->a[i];
}

#include "engine/kernels/slices.h"

/* The inner loop: the work-item's slices in local memory, STEP of them at a time. Each slice is read while the one
 * before is multiplied; after the last the first is read again, for nobody. */
INLINE void multiply_slices(float4 sum[8][2], __local const float *a, __local const float *b)
{
    struct slice now = read_slice(a, b);
    #pragma unroll 1
    for (uint first = 0; first < OWN; first += STEP) {
        const uint next = (first + STEP) % OWN;
        UNROLL
        for (uint i = 1; i <= STEP; i++) {
            const uint slice = i < STEP ? first + i : next;
            struct slice ahead = read_slice(a + slice * A_PITCH, b + slice * B_PITCH);
            IN_ORDER();
            multiply(sum, &now);
            IN_ORDER();
            now = ahead;
        }
    }
}

/* Add up the whole reduction, from `origin` on for `length`. y and x are where the work-item's rows
 * and columns begin in the tile. */
INLINE void accumulate(float4 sum[8][2], __local struct shared *s, struct fetch *f,
                       __global const char *a, __global const char *b, uint origin, uint length,
                       uint y, uint x, bool padded)
{
    const uint whole = length / SLICES * SLICES, share = SHARE;
    const uint own_a = share * OWN * A_PITCH + y, own_b = B_BEGIN + share * OWN * B_PITCH + x;
    uint r = 0, buffer = 0, other = BUFFER;
    fetch(f, s, a, b, 0, padded);
    keep(f, s->tile);
    BARRIER();
    while (r < whole) {
        const uint end = smaller(r + THREADS, whole);
        fill_table(s, r + THREADS, origin, length);
        for (; r < end; r += SLICES) {
            fetch(f, s, a, b, r + SLICES, padded);
            multiply_slices(sum, s->tile + buffer + own_a, s->tile + buffer + own_b);
            keep(f, s->tile + other);
            other = buffer, buffer = BUFFER - buffer;
            BARRIER();
        }
    }
    #pragma unroll 1
    for (uint slice = share; r + slice < length; slice += SHARES) {
        struct slice now = read_slice(s->tile + buffer + slice * A_PITCH + y,
                                      s->tile + buffer + B_BEGIN + slice * B_PITCH + x);
        multiply(sum, &now);
    }
}

/* Add up the shares: of the 8 rows that they have in common each keeps KEEP, its first in sum[0], and
 * gives the others away through local memory. */
INLINE void add_shares(float4 sum[8][2], __local struct shared *s)
{
#if SHARES > 1
    const uint share = SHARE, item = LOCAL_ID % ITEMS;
    __local float4 *const passed = (__local float4 *)s->tile;
    BARRIER();
    UNROLL
    for (uint i = 0; i < 8; i++) {
        const uint owner = i / KEEP, from = share < owner ? share : share - 1;
        if (share == owner) continue;
        UNROLL
        for (uint j = 0; j < 2; j++)
            passed[((from * 8 + i) * 2 + j) * ITEMS + item] = sum[i][j];
    }
    BARRIER();
    UNROLL
    for (uint i = 0; i < KEEP; i++)
        UNROLL
        for (uint j = 0; j < 2; j++) {
            float4 total = sum[i][j];
            UNROLL
            for (uint owner = 1; owner < SHARES; owner++)
                total = share == owner ? sum[owner * KEEP + i][j] : total;
            UNROLL
            for (uint from = 0; from + 1 < SHARES; from++)
                total += passed[((from * 8 + share * KEEP + i) * 2 + j) * ITEMS + item];
            sum[i][j] = total;
        }
#endif
}

/* The row of the tile, counted from the work-item's first, whose sums are in sum[i]. */
INLINE uint row_of(uint i)
{
    i += SHARE * KEEP;
    return i % 4 + i / 4 * (ROWS / 2);
}

#if CELLS
#include "engine/ops/conv/kernels/gemm_cells.h"
#define LAST_ARGUMENT struct rmcp_cells c
#else
#define LAST_ARGUMENT struct rmcp_phases p
#include "engine/ops/conv/kernels/gemm_sums.h"
#endif

__kernel WORKGROUP(THREADS) void gemm(INPUT(a), INPUT(b), OUTPUT(out), INPUT(bias),
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
    const uint column_tile = divide(turn.tile, g.row_tiles);
    const uint first_row = (turn.tile - column_tile * g.row_tiles.divisor) * ROWS;
    const uint first_column = column_tile * COLUMNS;
    const uint origin = GROUP_ID_Z * g.share;
    const uint length = origin < extent.reduction ? smaller(g.share, extent.reduction - origin) : 0;
    const bool idle = g.sparse && !length; /* nobody asks for this part */
    if (!CPU && (first_column >= extent.columns || idle)) return; /* this phase has less than others */

#if CELLS
    if (thread == 0) copy_windows(&s.geometry, &g);
#else
    if (thread == 0) copy_geometry(&s.geometry, &g, &p, turn.phase);
#endif
    BARRIER();
    fill_columns(&s, first_column, extent.columns);
    fill_table(&s, 0, origin, length);
    BARRIER();

    struct fetch f;
    f.a_slot = A_SLICE(0) * A_PITCH + A_ROW(0);
    f.b_slot = B_BEGIN + B_SLICE(0) * B_PITCH + B_COLUMN(0);
    UNROLL
    for (uint i = 0; i < A_EACH; i++)
        f.row_offset[i] = smaller(first_row + A_ROW(i), g.rows - 1) * g.a_row;
    UNROLL
    for (uint i = 0; i < B_EACH; i++) {
        f.column_offset[i] = s.column_gather[B_COLUMN(i)].x;
        f.column_bits[i] = s.column_gather[B_COLUMN(i)].y;
    }

    /* 32 neighbours in a wave make a patch of 4 x 8 work-items, so that they share most of what
     * they read from local memory; in a tile of 32 columns they make two of 4 x 4, half of the slices
     * apart. */
    const uint item = thread % ITEMS, patch = item / (4 * PATCH);
    const uint x = (item % PATCH + patch % (COLUMNS / 8 / PATCH) * PATCH) * 4;
    const uint y = (item / PATCH % 4 + patch / (COLUMNS / 8 / PATCH) * 4) * 4;
    float4 sum[8][2] = { { 0 } };
    __global const char *const a = ADDRESS(a) + (ulong)(group * g.a_group) * sizeof(element);
    __global const char *const b = ADDRESS(b) + (ulong)(group * g.b_group) * sizeof(element);
    if (g.padded || CPU)
        accumulate(sum, &s, &f, a, b, origin, length, y, x, true);
    else if (length) /* else no tap meets this phase */
        accumulate(sum, &s, &f, a, b, origin, length, y, x, false);
    add_shares(sum, &s);
#if CELLS
    const struct factors factors = { a, b, origin, length };
    store_cells(sum, &s, &g, &c, &factors, ADDRESS(out), first_row, idle ? g.columns : first_column, y, x);
#else
    if (idle) return;
    if (!g.partial) finish(sum, &g, ADDRESS(bias), first_row + y);
    store_sums(sum, &s, &g, ADDRESS(out), first_row + y, first_column, extent.columns,
               x);
#endif
}
