/* matmul.cl: matrix products, tile by tile: c = activation(alpha a b + beta c + bias).
 *
 * A workgroup makes ROWS x COLUMNS sums, a work-item 8 x 8. Slices of a and b, SLICES deep, are fetched
 * into registers while those before are multiplied from local memory; four neighbours at a time where
 * memory is aligned for that and all of them exist, else one by one in a loop of its own, with zeros beyond
 * the end of the reduction. Rows and columns beyond the last repeat it: they are computed and not stored. In
 * small tiles SHARES work-items have the same sums: each multiplies its share of the slices, and at the end
 * they add up.
 *
 * -D: TYPE, ROWS, COLUMNS; SLICES, SHARES where not 16 and 1; A_ALONG_ROWS, B_ALONG_COLUMNS: 1 when
 * neighbours in that direction are neighbours in memory, 0 when those along the reduction are. */
#include "engine/ops/gemm/kernels/matmul.h"

#ifndef SLICES
#define SLICES 16
#endif
#ifndef SHARES
#define SHARES 1
#endif
#define OWN (SLICES / SHARES) /* slices that a work-item multiplies */
#define ITEMS (ROWS / 8 * COLUMNS / 8) /* work-items of one share */
#define THREADS (ITEMS * SHARES)
#define KEEP (8 / SHARES) /* rows that a work-item stores */
#define A_EACH (ROWS * SLICES / 4 / THREADS) /* float4 that a work-item fetches */
#define B_EACH (COLUMNS * SLICES / 4 / THREADS)
#define A_LINE (A_ALONG_ROWS ? ROWS : SLICES) /* elements of a tile's line in memory */
#define B_LINE (B_ALONG_COLUMNS ? COLUMNS : SLICES)
#define A_PITCH (ROWS + 4) /* against bank conflicts; a multiple of 4 keeps float4 aligned */
#define B_PITCH (COLUMNS + 4)
#define B_BEGIN (SLICES * A_PITCH)
#define BUFFER (B_BEGIN + SLICES * B_PITCH)
#define SHARE (SHARES > 1 ? LOCAL_ID / ITEMS : 0)

#include "engine/kernels/slices.h"

/* A factor as a workgroup sees it, from its first line and the first slice of its share on. */
struct factor {
    __global const char *base; /* of the next slices to be fetched                       */
    uint pitch, step;          /* elements between lines, and from slices to the next    */
    uint lines;                /* rows of a or columns of b that exist from the first on */
    bool whole;                /* four at a time, as long as the slices exist            */
};

/* The values on their way to local memory, and where they come from. */
struct fetch {
    float4 a[A_EACH], b[B_EACH];
    uint a_index[A_EACH], b_index[B_EACH];
};

INLINE struct factor factor_of(__global const char *base, ulong lead, uint pitch, uint lines,
                               uint size, bool along, uint first)
{
    struct factor f;
    f.base = base + (lead + (along ? (ulong)first * pitch : (ulong)first)) * sizeof(element);
    f.pitch = pitch;
    f.step = along ? SLICES * pitch : SLICES;
    f.lines = lines;
    f.whole = aligned4(f.base, pitch) && (!along || lines >= size || lines % 4 == 0);
    return f;
}

INLINE void index_four(uint *index, uint i, uint line_size, const struct factor *f, bool along)
{
    const uint2 at = across_lines(i, line_size);
    *index = along ? at.x * f->pitch + smaller(at.y, f->lines > 4 ? f->lines - 4 : 0)
                   : smaller(at.x, f->lines - 1) * f->pitch + at.y;
}

/* Four neighbours one by one, `left` slices before the end of the reduction. */
INLINE float4 load_each(const struct factor *f, uint2 at, uint left, bool along)
{
    float v[4];
    UNROLL
    for (uint j = 0; j < 4; j++) {
        const uint slice = along ? at.x : at.y + j;
        const uint line = smaller(along ? at.y + j : at.x, f->lines - 1);
        const bool exists = slice < left;
        const float value =
            load(f->base, !exists ? 0 : along ? slice * f->pitch + line : line * f->pitch + slice);
        v[j] = exists ? value : 0;
    }
    return (float4)(v[0], v[1], v[2], v[3]);
}

INLINE void step(struct factor *a, struct factor *b)
{
    a->base += (ulong)a->step * sizeof(element);
    b->base += (ulong)b->step * sizeof(element);
}

/* Start loading the next slices, all of which exist, of factors that are whole. */
INLINE void fetch_whole(struct fetch *f, struct factor *a, struct factor *b)
{
    UNROLL
    for (uint i = 0; i < A_EACH; i++) f->a[i] = load4(a->base, f->a_index[i]);
    UNROLL
    for (uint i = 0; i < B_EACH; i++) f->b[i] = load4(b->base, f->b_index[i]);
    step(a, b);
}

/* The same for any slices, of which `left` exist. */
INLINE void fetch_any(struct fetch *f, struct factor *a, struct factor *b, uint left)
{
    UNROLL
    for (uint i = 0; i < A_EACH; i++)
        f->a[i] = load_each(a, across_lines(i, A_LINE), left, A_ALONG_ROWS);
    UNROLL
    for (uint i = 0; i < B_EACH; i++)
        f->b[i] = load_each(b, across_lines(i, B_LINE), left, B_ALONG_COLUMNS);
    step(a, b);
}

INLINE void keep(const struct fetch *f, __local float *tile)
{
    UNROLL
    for (uint i = 0; i < A_EACH; i++)
        keep_four(tile, f->a[i], across_lines(i, A_LINE), A_PITCH, A_ALONG_ROWS);
    UNROLL
    for (uint i = 0; i < B_EACH; i++)
        keep_four(tile + B_BEGIN, f->b[i], across_lines(i, B_LINE), B_PITCH, B_ALONG_COLUMNS);
}

/* Slices that are in local memory, in little code. */
INLINE void multiply_kept(float4 sum[8][2], __local const float *a, __local const float *b)
{
    #pragma unroll 1
    for (uint i = 0; i < OWN; i++) {
        const struct slice now = read_slice(a + i * A_PITCH, b + i * B_PITCH);
        multiply(sum, &now);
    }
}

/* The inner loop, as long as the next slices are whole; returns how much of the reduction is done. Each slice
 * is read while the one before is multiplied: the first of the next slices, too, so that nobody waits for
 * local memory behind the barrier. */
INLINE uint accumulate_whole(float4 sum[8][2], struct fetch *f, struct factor *a, struct factor *b,
                             __local float *tile, uint own_a, uint own_b, uint length, uint *buffer)
{
    uint r = 0, at = 0;
    struct slice now = read_slice(tile + own_a, tile + own_b);
    #pragma unroll 1
    for (; r + 2 * SLICES <= length; r += SLICES) {
        fetch_whole(f, a, b);
        UNROLL
        for (uint i = 1; i < OWN; i++) {
            const struct slice ahead =
                read_slice(tile + at + own_a + i * A_PITCH, tile + at + own_b + i * B_PITCH);
            IN_ORDER();
            multiply(sum, &now);
            IN_ORDER();
            now = ahead;
        }
        at = BUFFER - at;
        keep(f, tile + at);
        BARRIER();
        const struct slice ahead = read_slice(tile + at + own_a, tile + at + own_b);
        IN_ORDER();
        multiply(sum, &now);
        IN_ORDER();
        now = ahead;
    }
    *buffer = at;
    return r;
}

/* Add up the shares: of the 8 rows that they have in common each keeps KEEP, its first in sum[0], and
 * gives the others away through local memory, half of the columns at a time. */
INLINE void add_shares(float4 sum[8][2], __local float *tile)
{
#if SHARES > 1
    const uint share = SHARE, item = LOCAL_ID % ITEMS;
    __local float4 *const passed = (__local float4 *)tile;
    UNROLL
    for (uint j = 0; j < 2; j++) {
        BARRIER();
        UNROLL
        for (uint i = 0; i < 8; i++) {
            const uint owner = i / KEEP, from = share < owner ? share : share - 1;
            if (share == owner) continue;
            passed[(from * 8 + i) * ITEMS + item] = j ? sum[i][1] : sum[i][0];
        }
        BARRIER();
        UNROLL
        for (uint i = 0; i < KEEP; i++) {
            float4 total = j ? sum[i][1] : sum[i][0];
            UNROLL
            for (uint owner = 1; owner < SHARES; owner++)
                total = share != owner ? total : j ? sum[owner * KEEP + i][1] : sum[owner * KEEP + i][0];
            UNROLL
            for (uint from = 0; from + 1 < SHARES; from++)
                total += passed[(from * 8 + share * KEEP + i) * ITEMS + item];
            if (j)
                sum[i][1] = total;
            else
                sum[i][0] = total;
        }
    }
#endif
}

/* The row of the tile, counted from the work-item's first, whose sums are in sum[i]. */
INLINE uint row_of(uint i)
{
    i += SHARE * KEEP;
    return i % 4 + i / 4 * (ROWS / 2);
}

/* Store four neighbours of c as far as they exist. */
INLINE void store_four(const struct rmcp_matmul_tile *p, __global char *c, __global const char *bias,
                       float4 v, uint row, uint column)
{
    const float sum[4] = { v.x, v.y, v.z, v.w };
    if (p->partial) {
        __global float *const part = (__global float *)c + (ulong)row * p->n + column;
        if (p->n % 4 == 0 && column < p->n) {
            *(__global float4 *)part = v;
            return;
        }
        UNROLL
        for (uint j = 0; j < 4; j++)
            if (column + j < p->n) part[j] = sum[j];
        return;
    }
    __global char *const place = c + ((ulong)row * p->c_pitch + column) * sizeof(element);
    if (column + 3 < p->n) {
        float value[4];
        UNROLL
        for (uint j = 0; j < 4; j++)
            value[j] =
                finish(&p->math, sum[j], place + j * sizeof(element), bias, row, column + j);
        store4(place, 0, (float4)(value[0], value[1], value[2], value[3]));
        return;
    }
    UNROLL
    for (uint j = 0; j < 4; j++)
        if (column + j < p->n)
            store(place, j,
                  finish(&p->math, sum[j], place + j * sizeof(element), bias, row, column + j));
}

__kernel WORKGROUP(THREADS) void matmul(INPUT(a), INPUT(b), OUTPUT(c), INPUT(bias),
                                        struct rmcp_matmul_tile p)
{
    __local float tile[2 * BUFFER] __attribute__((aligned(16)));
    const uint task = GROUP_ID_X + p.first_tile;
    const uint column_tile = divide(task, p.row_tiles);
    const uint first_column = column_tile * COLUMNS;
    const uint first_row = (task - column_tile * p.row_tiles.divisor) * ROWS;
    const uint first = GROUP_ID_Z * p.share;
    const uint length = first < p.k ? smaller(p.share, p.k - first) : 0;
    struct factor a = factor_of(
        ADDRESS(a), (ulong)GROUP_ID_Y * p.a_stride + (A_ALONG_ROWS ? (ulong)first_row : (ulong)first_row * p.a_pitch),
        p.a_pitch, p.m - first_row, ROWS, A_ALONG_ROWS, first);
    struct factor b = factor_of(
        ADDRESS(b),
        (ulong)GROUP_ID_Y * p.b_stride + (B_ALONG_COLUMNS ? (ulong)first_column : (ulong)first_column * p.b_pitch),
        p.b_pitch, p.n - first_column, COLUMNS, B_ALONG_COLUMNS, first);
    struct fetch f;
    UNROLL
    for (uint i = 0; i < A_EACH; i++) index_four(&f.a_index[i], i, A_LINE, &a, A_ALONG_ROWS);
    UNROLL
    for (uint i = 0; i < B_EACH; i++) index_four(&f.b_index[i], i, B_LINE, &b, B_ALONG_COLUMNS);

    /* 32 neighbours in a wave make a patch of 4 x 8 work-items. Those that differ in the first bit alone
     * read the same of b, in the second alone the same of a: then local memory serves 16 of them at
     * once. */
    const uint item = LOCAL_ID % ITEMS, patch = item / 32;
    const uint x = (item / 2 % 8 + patch % (COLUMNS / 64) * 8) * 4;
    const uint y = (item % 2 + item / 16 % 2 * 2 + patch / (COLUMNS / 64) * 4) * 4;
    const uint own_a = SHARE * OWN * A_PITCH + y, own_b = B_BEGIN + SHARE * OWN * B_PITCH + x;
    float4 sum[8][2] = { { 0 } };
    uint buffer = 0, r = 0;
    const bool whole = a.whole && b.whole && length >= SLICES;
    if (whole) fetch_whole(&f, &a, &b);
    if (length && !whole) fetch_any(&f, &a, &b, length);
    if (length) keep(&f, tile);
    BARRIER();
    if (whole) r = accumulate_whole(sum, &f, &a, &b, tile, own_a, own_b, length, &buffer);
    #pragma unroll 1
    for (; r < length; r += SLICES) {
        const bool more = r + SLICES < length;
        if (more) fetch_any(&f, &a, &b, length - r - SLICES);
        multiply_kept(sum, tile + buffer + own_a, tile + buffer + own_b);
        buffer = BUFFER - buffer;
        if (more) keep(&f, tile + buffer);
        BARRIER();
    }
    add_shares(sum, tile);

    __global char *const c =
        p.partial ? ADDRESS(c) + ((ulong)GROUP_ID_Z * p.part + (ulong)GROUP_ID_Y * p.m * p.n) * sizeof(float)
                  : ADDRESS(c) + (ulong)GROUP_ID_Y * p.c_stride * sizeof(element);
    UNROLL
    for (uint i = 0; i < KEEP; i++) {
        const uint row = first_row + y + row_of(i);
        if (row >= p.m) continue;
        store_four(&p, c, ADDRESS(bias), sum[i][0], row, first_column + x);
        store_four(&p, c, ADDRESS(bias), sum[i][1], row, first_column + x + COLUMNS / 2);
    }
}
