/* shares.cl: products of 1x1 filters whose workgroups add up all of a sum themselves, so that a long one needs neither
 * workspace nor a second launch.
 *
 * A workgroup makes ROWS x COLUMNS outputs. SHARES groups of work-items have the same outputs: each multiplies its
 * share of the slices, and at the end they add up in local memory, always in the same order. So one workgroup has waves
 * for a whole pair of compute units. Slices are fetched into registers while those before are multiplied.
 *
 * Forward and backward data have 49 columns, a work-item 8 x 7 outputs: planes of 7 x 7 pixels, and of such ones 2, 4,
 * 8 times as large, fill tiles of them, where a tile of 64 would have a quarter of nothing. Backward weights have as
 * many columns as rows, a work-item 8 x 8 outputs; both factors are read along the sum, the pixels of one image.
 *
 * -D: TYPE, ROWS, SHARES; OWN: slices of a share in one turn; WEIGHTS: 1 for backward weights; A_ALONG_ROWS: 1 when
 * neighbours along rows are neighbours in memory, 0 when those along the sum are. */
#include "engine/kernels/target.h"
#include "engine/kernels/common.h"
#include "engine/kernels/pairs.h"
#include "engine/ops/conv/kernels/shares_args.h"

#if WEIGHTS
#define COLUMNS ROWS
#define WIDE 8 /* columns of a work-item */
#define ACROSS (COLUMNS / 8) /* work-items side by side */
#define B_PITCH (SLOTS + 4)
#else
#define COLUMNS RMCP_SHARES_COLUMNS
#define WIDE 7
#define ACROSS 7
#define B_PITCH SLOTS
#endif
#define SLOTS (ACROSS * 8) /* of a slice of b in local memory: of 7 columns every second four has a hole */
#define ITEMS (ROWS / 8 * ACROSS) /* work-items of a share */
#define THREADS (ITEMS * SHARES)
#define SLICES (SHARES * OWN)
#define QUADS (ROWS * SLICES / 4) /* of elements of a, in a turn */
#define EACH ((QUADS + THREADS - 1) / THREADS) /* of them that a work-item fetches */
#define B_EACH (SLOTS * SLICES / THREADS)
#define APART (THREADS / SLOTS) /* slices, and rows of the result, from one to the next of a work-item */
#define A_PITCH (ROWS + 4)
#define B_BEGIN (SLICES * A_PITCH)
#define BUFFER (B_BEGIN + SLICES * B_PITCH)
#define COPY (ROWS * SLOTS) /* the sums of a share */
#define COPIES (2 * BUFFER / COPY < SHARES ? 2 * BUFFER / COPY : SHARES) /* that there is room for at once */
#define OUT_EACH (COPY / THREADS)

/* Four neighbours. AMD's chips take a wide load of floats at any float. */
INLINE float4 load4(__global const char *base, uint index)
{
#if defined(BARE) && defined(__AMDGCN__) && TYPE == 0
    typedef float four __attribute__((ext_vector_type(4), aligned(4)));
    return *(__global const four *)(base + index * (uint)sizeof(float));
#else
    return (float4)(load(base, index), load(base, index + 1), load(base, index + 2), load(base, index + 3));
#endif
}

/* Where both factors are read along the sum, eight work-items read a line of memory, and then store to other banks of
 * local memory than each other: rows of a slice are in another order in each four slices. */
#if WEIGHTS
#define NEAR 8
#else
#define NEAR 2
#endif
INLINE uint turned(uint slice)
{
    return WEIGHTS ? slice / 4 % 8 * 4 : 0;
}

/* Fours of a factor that a work-item fetches: where from, where to in local memory, and their slices. */
struct fours {
    uint at[EACH], slot[EACH], slice[EACH];
};

/* Rows beyond the last repeat it: they are computed and not stored. */
INLINE void find_fours(struct fours *f, uint first_row, uint rows, uint apart, uint inner, bool along_rows)
{
    UNROLL
    for (uint i = 0; i < EACH; i++) {
        const uint index = LOCAL_ID + i * THREADS;
        const uint row = along_rows ? index % (ROWS / 4) * 4 : index / NEAR % ROWS;
        const uint slice = along_rows ? index / (ROWS / 4) : (index % NEAR + index / (NEAR * ROWS) * NEAR) * 4;
        f->at[i] = smaller(first_row + row, rows - (along_rows ? 4 : 1)) * apart + slice * inner;
        f->slot[i] = slice * A_PITCH + (along_rows ? row : row ^ turned(slice));
        f->slice[i] = slice;
        if ((i + 1) * THREADS > QUADS && index >= QUADS) f->at[i] = 0, f->slot[i] = ROWS; /* to where nobody looks */
    }
}

/* Start loading. Offsets of 32 bits from an address that all work-items have in common are one addressing mode, as long
 * as the compiler does not make them 64 bits before the loop. Sums of weights may end within a turn: behind `left`
 * slices are zeros. */
INLINE void fetch_fours(float4 value[EACH], struct fours *f, __global const char *base, uint left)
{
    UNROLL
    for (uint i = 0; i < EACH; i++) {
        FORGET(f->at[i]);
        const bool exists = !WEIGHTS || f->slice[i] < left;
        value[i] = load4(base, exists ? f->at[i] : 0);
        if (!exists) value[i] = 0;
    }
}

INLINE void keep_fours(const float4 value[EACH], const struct fours *f, __local float *tile, bool along_rows)
{
    UNROLL
    for (uint i = EACH; i-- > 0;) {
        __local float *const to = tile + f->slot[i];
        if (along_rows) {
            *(__local float4 *)to = value[i];
        } else {
            to[0] = value[i].x;
            to[A_PITCH] = value[i].y;
            to[2 * A_PITCH] = value[i].z;
            to[3 * A_PITCH] = value[i].w;
        }
    }
}

#if WEIGHTS
/* What a work-item fetches of b: fours of it, too. */
struct source {
    struct fours fours;
};

struct fetched {
    float4 a[EACH], b[EACH];
};

INLINE uint column_of(uint slot)
{
    return slot;
}

INLINE void fetch_b(struct fetched *f, struct source *s, const struct rmcp_shares *g, __global const char *b, uint left)
{
    fetch_fours(f->b, &s->fours, b, left);
}

INLINE void keep_b(const struct fetched *f, const struct source *s, __local float *tile)
{
    keep_fours(f->b, &s->fours, tile + B_BEGIN, false);
}
#else
/* What a work-item fetches of b: one column of it. */
struct source {
    uint at, slot;
};

struct fetched {
    float4 a[EACH];
    float b[B_EACH];
};

/* Which column of the tile a slot has; a hole has that of its neighbour. */
INLINE uint column_of(uint slot)
{
    const uint behind = slot - 28, four = behind / 4;
    return slot < 28 ? slot : 28 + four * 3 + smaller(behind % 4, 2);
}

INLINE void fetch_b(struct fetched *f, struct source *s, const struct rmcp_shares *g, __global const char *b, uint left)
{
    FORGET(s->at);
    UNROLL
    for (uint i = 0; i < B_EACH; i++)
        f->b[i] = load(b + (ulong)(i * APART * g->b_inner) * sizeof(element), s->at);
}

INLINE void keep_b(const struct fetched *f, const struct source *s, __local float *tile)
{
    UNROLL
    for (uint i = B_EACH; i-- > 0;) tile[s->slot + i * APART * B_PITCH] = f->b[i];
}

/* Where a column is in b and in the result. */
struct place {
    uint b, out;
};

INLINE struct place place_of(const struct rmcp_shares *g, uint column)
{
    struct place place = { 0, 0 };
    uint rest = column;
    if (__builtin_expect(g->strided, 0)) {
        UNROLL
        for (uint i = 0; i < 2; i++) {
            const uint next = divide(rest, g->size[i]), digit = rest - next * g->size[i].divisor;
            place.b += digit * g->b_digit[i];
            place.out += digit * g->out_digit[i];
            rest = next;
        }
    }
    const uint image = divide(rest, g->size[2]), digit = rest - image * g->size[2].divisor;
    place.b += digit * g->b_digit[2] + image * g->b_digit[3];
    place.out += digit * g->out_digit[2] + image * g->out_digit[3];
    return place;
}
#endif

/* What a work-item multiplies in one slice. */
struct slice {
    float4 a[2], b[2];
};

/* Two rows of the products. */
INLINE void multiply_rows(float sum[8][WIDE], const struct slice *s, uint first)
{
    const float a[8] = { s->a[0].x, s->a[0].y, s->a[0].z, s->a[0].w,
                         s->a[1].x, s->a[1].y, s->a[1].z, s->a[1].w };
    const float b[8] = { s->b[0].x, s->b[0].y, s->b[0].z, s->b[0].w,
                         s->b[1].x, s->b[1].y, s->b[1].z, s->b[1].w };
    UNROLL
    for (uint i = first; i < first + 2; i++)
        UNROLL
        for (uint j = WIDE; j-- > 0;) sum[i][j] += a[i] * b[j]; /* the last of b was read last */
}

/* Where a work-item reads what it multiplies in a slice: its first four rows or columns, and the other four. */
struct lane {
    __local const float *first, *other;
};

INLINE struct lane lane_of(__local const float *tile, uint first, uint half_size, uint slice, uint pitch)
{
    const uint by = turned(slice);
    tile += slice * pitch;
    return (struct lane){ tile + (first ^ by), tile + ((first + half_size) ^ by) };
}

#define FOUR(pointer) (*(__local const float4 *)(pointer))

/* The slices of a share. Each is read while the one before is multiplied, a quarter at a time. */
INLINE void multiply_slices(float sum[8][WIDE], __local const float *tile, uint share, uint y, uint x)
{
    struct lane a = lane_of(tile, y, ROWS / 2, share * OWN, A_PITCH);
    struct lane b = lane_of(tile + B_BEGIN, x, SLOTS / 2, share * OWN, B_PITCH);
    struct slice now = { { FOUR(a.first), FOUR(a.other) }, { FOUR(b.first), FOUR(b.other) } };
    UNROLL
    for (uint i = 1; i <= OWN; i++) {
        const bool more = i < OWN;
        struct slice ahead = now;
        a = lane_of(tile, y, ROWS / 2, share * OWN + i, A_PITCH);
        b = lane_of(tile + B_BEGIN, x, SLOTS / 2, share * OWN + i, B_PITCH);
        IN_ORDER();
        if (more) ahead.a[0] = FOUR(a.first);
        multiply_rows(sum, &now, 0);
        IN_ORDER();
        if (more) ahead.a[1] = FOUR(a.other);
        multiply_rows(sum, &now, 2);
        IN_ORDER();
        if (more) ahead.b[0] = FOUR(b.first);
        multiply_rows(sum, &now, 4);
        IN_ORDER();
        if (more) ahead.b[1] = FOUR(b.other);
        multiply_rows(sum, &now, 6);
        IN_ORDER();
        now = ahead;
    }
}

/* The sums of all shares, for the column of each slot and every THREADS / SLOTS-th row. */
INLINE void add_shares(float total[OUT_EACH], const float sum[8][WIDE], __local float *room, uint share, uint x, uint y)
{
    UNROLL
    for (uint i = 0; i < OUT_EACH; i++) total[i] = 0;
    #pragma unroll 1
    for (uint first = 0; first < SHARES; first += COPIES) {
        if (share - first < COPIES) {
            __local float *const copy = room + (share - first) * COPY + x;
            UNROLL
            for (uint i = 0; i < 8; i++) {
                __local float *const at = copy + (y + i % 4 + i / 4 * (ROWS / 2)) * SLOTS;
                *(__local float4 *)at = (float4)(sum[i][0], sum[i][1], sum[i][2], sum[i][3]);
                *(__local float4 *)(at + SLOTS / 2) = (float4)(sum[i][4], sum[i][5], sum[i][6],
                                                                WIDE > 7 ? sum[i][WIDE - 1] : 0);
            }
        }
        BARRIER();
        #pragma unroll 1
        for (uint copy = 0; copy < COPIES && first + copy < SHARES; copy++)
            UNROLL
            for (uint i = 0; i < OUT_EACH; i++) total[i] += room[copy * COPY + i * THREADS + LOCAL_ID];
        BARRIER();
    }
}

/* Bias and activation; NaN fails every comparison and so stays NaN. */
INLINE void finish(float total[OUT_EACH], const struct rmcp_epilogue *e, __global const char *bias, uint first_row,
                   uint rows)
{
    if (__builtin_expect(!e->bias && !e->kind, 1)) return;
    if (e->bias)
        UNROLL
        for (uint i = 0; i < OUT_EACH; i++) total[i] += load(bias, smaller(first_row + i * APART, rows - 1));
    if (e->kind == 1)
        UNROLL
        for (uint i = 0; i < OUT_EACH; i++) total[i] = total[i] < 0 ? 0 : total[i];
    else if (e->kind == 2)
        UNROLL
        for (uint i = 0; i < OUT_EACH; i++) total[i] = total[i] < 0 ? total[i] * e->slope : total[i];
    else if (e->kind == 3)
        UNROLL
        for (uint i = 0; i < OUT_EACH; i++)
            total[i] = total[i] < e->low ? e->low : total[i] > e->high ? e->high : total[i];
}

__kernel WORKGROUP(THREADS) void shares(INPUT(a), INPUT(b), OUTPUT(out), INPUT(bias), struct rmcp_shares g)
{
    __local float room[2 * BUFFER] __attribute__((aligned(16)));
    const uint thread = LOCAL_ID, tile = GROUP_ID_X + g.first_tile;
    const uint column_tile = divide(tile, g.row_tiles);
    const uint first_row = (tile - column_tile * g.row_tiles.divisor) * ROWS;
    const uint slot = thread % SLOTS, column = column_tile * COLUMNS + column_of(slot);

    struct fours from_a;
    struct source from_b;
    find_fours(&from_a, first_row, g.rows, g.a_row, g.a_inner, A_ALONG_ROWS);
#if WEIGHTS
    const uint at_out = column * g.out_digit[2];
    find_fours(&from_b.fours, column_tile * COLUMNS, g.columns, g.b_digit[2], g.b_inner, false);
#else
    const struct place place = place_of(&g, smaller(column, g.columns - 1));
    const uint at_out = place.out, first_slice = thread / SLOTS;
    from_b.at = place.b + first_slice * g.b_inner;
    from_b.slot = B_BEGIN + first_slice * B_PITCH + slot;
#endif

    const uint share = thread / ITEMS, item = thread % ITEMS, x = item % ACROSS * 4, y = item / ACROSS * 4;
    float sum[8][WIDE];
    UNROLL
    for (uint i = 0; i < 8 * WIDE; i++) {
        sum[i / WIDE][i % WIDE] = 0;
#if defined(BARE) && defined(__AMDGCN__)
        FORGET(sum[i / WIDE][i % WIDE]); /* else it is made zero twice */
#endif
    }
    __global const char *a = ADDRESS(a), *b = ADDRESS(b);
    const ulong step_a = (ulong)(SLICES * g.a_inner) * sizeof(element);
    const ulong step_b = (ulong)(SLICES * g.b_inner) * sizeof(element);
    struct fetched f;
    fetch_fours(f.a, &from_a, a, g.inner);
    fetch_b(&f, &from_b, &g, b, g.inner);
    keep_b(&f, &from_b, room);
    keep_fours(f.a, &from_a, room, A_ALONG_ROWS);
    BARRIER();
    uint buffer = 0;
    #pragma unroll 1
    for (uint left = g.inner; left > SLICES; left -= SLICES) {
        a += step_a, b += step_b;
        fetch_fours(f.a, &from_a, a, left - SLICES);
        fetch_b(&f, &from_b, &g, b, left - SLICES);
        multiply_slices(sum, room + buffer, share, y, x);
        buffer = BUFFER - buffer;
        IN_ORDER();
        keep_b(&f, &from_b, room + buffer);
        keep_fours(f.a, &from_a, room + buffer, A_ALONG_ROWS);
        BARRIER();
    }
    multiply_slices(sum, room + buffer, share, y, x);
    BARRIER();

    float total[OUT_EACH];
    add_shares(total, sum, room, share, x, y);
    const uint own_row = first_row + thread / SLOTS;
    finish(total, &g.epilogue, ADDRESS(bias), own_row, g.rows);
    if ((!WEIGHTS && slot >= 28 && slot % 4 == 3) || column >= g.columns) return;
    UNROLL
    for (uint i = 0; i < OUT_EACH && own_row + i * APART < g.rows; i++) /* as store_columns of gemm_sums.h */
        store(ADDRESS(out), at_out + (own_row + i * APART) * g.out_row, total[i]);
}
