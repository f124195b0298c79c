/* winograd_fused.cl: F(2x2, 3x3) as in winograd.cl, with the filters transformed here as well, so
 * that nothing is written before: filters are read as they are, 9 numbers in place of 16, by each
 * workgroup that needs them. For few tiles of many channels, where the way through memory takes
 * longer than the products.
 *
 * Filters and tiles meet in local memory, DEPTH channels at a time in one of two buffers: a
 * work-item transforms one filter and two lines of one tile, and they are exactly as many as there
 * are. A data gradient's filters are turned around: that only swaps the first and the last line and
 * place of a transformed one, so they are stored as they are and read where they would be.
 *
 * Which lanes of a wave have neighbours in memory depends on the layout: either different channels
 * or different rows or tiles. So that both store without conflicts of banks, a channel's filters
 * are shifted by an exclusive or with its number, those of odd ones by half of the banks; a turn
 * has its channels unrolled, so reading costs a second address and no more.
 *
 * -D: TYPE */
#include "engine/kernels/target.h"
#include "engine/kernels/common.h"
#include "engine/ops/conv/kernels/winograd.h"
#include "engine/ops/conv/kernels/winograd_outputs.h"

#define DEPTH RMCP_WINOGRAD_FUSED_DEPTH
#define TAPS 9
#define LINES 3  /* of a tile that a work-item reads, for two lines of the transformed one */
#define PLACES 4 /* in a line of a tile */

/* Local memory in floats: [buffer][channel][position][row or tile]. */
#define FILTERS (DEPTH * POSITIONS * ROWS)
#define PIXELS (DEPTH * POSITIONS * TILES)
#define BUFFER (FILTERS + PIXELS)

/* The slot of a row: winograd_filter.cl has the other way. */
INLINE uint slot_of_row(uint row)
{
    return row / 32 * 32 + row % 16 / 2 * 4 + row / 16 % 2 * 2 + row % 2;
}

/* Where a channel's slots and tiles are in local memory. */
INLINE uint row_place(uint slot, uint channel)
{
    return slot ^ (channel & 1) * 16 ^ (channel >> 1) * 2;
}

INLINE uint tile_place(uint tile, uint channel)
{
    return tile ^ channel * 8;
}

/* ---- what a work-item fetches and transforms ---- */

/* An element as it was loaded: converted at once, loads would wait for each other. */
#if DRIVER_HALF
typedef float raw;
#else
typedef element raw;
#endif

INLINE raw raw_at(__global const char *base, uint offset)
{
#if DRIVER_HALF
    return to_float((__global const element *)(base + offset));
#else
    return *(__global const element *)(base + offset);
#endif
}

INLINE float value_of(raw r)
{
#if TYPE == 2
    return as_float((uint)r << 16);
#else
    return (float)r;
#endif
}

/* Offsets are in bytes from channel 0 of the group. */
struct source {
    uint pixel[LINES * PLACES], filter;
    uint exists;                 /* bits of the pixels that do */
    uint channel;                /* of those of a turn */
    bool last;                   /* the last two lines of a tile, else the first */
    uint tile_slot, filter_slot; /* in local memory */
};

struct fetched {
    raw pixel[LINES * PLACES], filter[TAPS];
    bool counts; /* a channel that no turn had before */
};

INLINE void find_pixels(struct source *s, const struct rmcp_winograd *g, uint tile)
{
    const bool exists = tile < g->tiles;
    tile = exists ? tile : 0;
    const uint line = divide(tile, g->across), image = divide(line, g->down);
    const int x = (int)(tile - line * g->across.divisor) * 2 + g->first_x;
    const int y = (int)(line - image * g->down.divisor) * 2 + g->first_y + (int)s->last;
    const int last_y = (int)g->height - 1, last_x = (int)g->width - 1;
    const uint first = image * g->in_image + s->channel * g->in_channel;
    uint bits = 0;
    UNROLL
    for (int i = 0; i < LINES; i++) {
        UNROLL
        for (int j = 0; j < PLACES; j++) {
            const int at_y = y + i < 0 ? 0 : y + i > last_y ? last_y : y + i;
            const int at_x = x + j < 0 ? 0 : x + j > last_x ? last_x : x + j;
            s->pixel[i * PLACES + j] =
                (first + (uint)at_y * g->in_y + (uint)at_x * g->in_x) * (uint)sizeof(element);
            bits |= (uint)(exists && at_y == y + i && at_x == x + j) << (i * PLACES + j);
        }
    }
    s->exists = bits;
}

/* Keeps the compiler from making an address of two registers, once for all turns, of a base that is
 * the same for all lanes and an offset of 32 bits: an instruction takes both as they are, but for
 * gfx8's. */
#if defined(BARE) && defined(__AMDGCN__) && !defined(__GFX8__)
#define ANEW(base, offset)                                                                         \
    do {                                                                                           \
        __asm__ volatile("" : "+s"(base));                                                         \
        __asm__ volatile("" : "+v"(offset));                                                       \
    } while (0)
#else
#define ANEW(base, offset)
#endif

/* The taps of a filter that are next to each other. On AMD wide loads need no more alignment than
 * their elements. */
INLINE void load_taps(raw taps[TAPS], __global const char *base, uint offset)
{
    ANEW(base, offset);
#if defined(BARE) && defined(__AMDGCN__)
    typedef element4 __attribute__((aligned(sizeof(element)))) loose4;
    UNROLL
    for (uint i = 0; i < 2; i++) {
        const element4 four = *(__global const loose4 *)(base + offset + i * sizeof(element4));
        taps[i * 4] = four.x;
        taps[i * 4 + 1] = four.y;
        taps[i * 4 + 2] = four.z;
        taps[i * 4 + 3] = four.w;
    }
    taps[8] = *(__global const element *)(base + offset + 2 * sizeof(element4));
#else
    UNROLL
    for (uint i = 0; i < TAPS; i++) taps[i] = raw_at(base, offset + i * (uint)sizeof(element));
#endif
}

/* Start loading DEPTH channels from `channel` on: the last ones where there are not as many any
 * more. */
INLINE struct fetched fetch(struct source *s, const struct rmcp_winograd *g,
                            const struct rmcp_winograd_fused *f, __global const char *in,
                            __global const char *filters, uint channel)
{
    struct fetched d;
    const uint first = smaller(channel, g->channels - DEPTH);
    d.counts = first + s->channel >= channel;
    in += (ulong)first * g->in_channel * sizeof(element);
    filters += (ulong)first * f->channel * sizeof(element);
    if (f->together) {
        load_taps(d.filter, filters, s->filter);
    } else {
        UNROLL
        for (uint i = 0; i < TAPS; i++)
            d.filter[i] =
                raw_at(filters, s->filter + (i / 3 * f->y + i % 3 * f->x) * (uint)sizeof(element));
    }
    UNROLL
    for (uint i = 0; i < LINES * PLACES; i++) {
        ANEW(in, s->pixel[i]);
        d.pixel[i] = raw_at(in, s->pixel[i]);
    }
    return d;
}

INLINE void transform_filter_line(float t[4], float a, float b, float c)
{
    const float outer = 0.5f * (a + c);
    t[0] = a;
    t[1] = outer + 0.5f * b;
    t[2] = outer - 0.5f * b;
    t[3] = c;
}

/* G g G' and two lines of B' d B, each position to its place. */
INLINE void keep(const struct source *s, const struct fetched *d, __local float *buffer)
{
    float t[3][4];
    __local float *const filter = buffer + s->filter_slot;
    UNROLL
    for (uint j = 0; j < 3; j++)
        transform_filter_line(t[j], value_of(d->filter[j]), value_of(d->filter[3 + j]),
                              value_of(d->filter[6 + j]));
    UNROLL
    for (uint i = 0; i < 4; i++) {
        float u[4];
        transform_filter_line(u, t[0][i], t[1][i], t[2][i]);
        UNROLL
        for (uint j = 0; j < 4; j++) filter[(i * 4 + j) * ROWS] = u[j];
    }

    /* Lines 0 and 1 are d0 - d2 and d1 + d2; 3 and 2 are d1 - d3 and d2 - d1. */
    float outer[4], inner[4];
    UNROLL
    for (uint j = 0; j < 4; j++) {
        float e[LINES];
        UNROLL
        for (uint i = 0; i < LINES; i++)
            e[i] = s->exists >> (i * PLACES + j) & 1 && d->counts
                       ? value_of(d->pixel[i * PLACES + j])
                       : 0;
        outer[j] = e[0] - e[2];
        inner[j] = e[1] + (s->last ? -e[0] : e[2]);
    }
    __local float *const tile = buffer + s->tile_slot;
    __local float *const outer_line = tile + (s->last ? 12 : 0) * TILES;
    __local float *const inner_line = tile + (s->last ? 8 : 4) * TILES;
    outer_line[0] = outer[0] - outer[2];
    outer_line[TILES] = outer[1] + outer[2];
    outer_line[2 * TILES] = outer[2] - outer[1];
    outer_line[3 * TILES] = outer[1] - outer[3];
    inner_line[0] = inner[0] - inner[2];
    inner_line[TILES] = inner[1] + inner[2];
    inner_line[2 * TILES] = inner[2] - inner[1];
    inner_line[3 * TILES] = inner[1] - inner[3];
}

/* ---- products ---- */

/* Where a work-item reads: filters by position and by whether the channel is odd, tiles by the
 * latter. */
struct places {
    uint filter[2][2], tile[2];
};

/* A data gradient reads line and place 3 for 0, and 0 for 3. */
INLINE uint turned(uint at, bool turn)
{
    return turn && (at == 0 || at == 3) ? 3 - at : at;
}

INLINE struct places places_of(const struct rmcp_winograd_fused *f, uint wave, uint lane)
{
    struct places p;
    UNROLL
    for (uint odd = 0; odd < 2; odd++) {
        UNROLL
        for (uint i = 0; i < 2; i++) {
            const uint position = wave * 2 + i;
            const uint from = turned(position / 4, f->turned) * 4 + turned(position % 4, f->turned);
            p.filter[i][odd] = from * ROWS + row_place(lane / 4 * 4, odd);
        }
        p.tile[odd] = FILTERS + wave * 2 * TILES + tile_place(lane % 4 * 4, odd);
    }
    return p;
}

/* The products of one channel of a turn. */
INLINE void add_channel(float4 sum[2][8][2], __local const float *buffer, const struct places *p,
                        uint channel)
{
    const uint odd = channel & 1;
    const bool high = channel >> 1;
    UNROLL
    for (uint i = 0; i < 2; i++) {
        __local const float *const filter = buffer + p->filter[i][odd] + channel * POSITIONS * ROWS;
        __local const float *const tile = buffer + p->tile[odd] + (channel * POSITIONS + i) * TILES;
        float4 u[2] = { *(__local const float4 *)filter,
                        *(__local const float4 *)(filter + ROWS / 2) };
        if (high) {
            u[0] = u[0].zwxy;
            u[1] = u[1].zwxy;
        }
        multiply(sum[i], u, *(__local const float4 *)(tile + (high ? TILES / 2 : 0)),
                 *(__local const float4 *)(tile + (high ? 0 : TILES / 2)));
    }
}

__kernel WORKGROUP(THREADS) void winograd_fused(INPUT(w), INPUT(in), OUTPUT(out), INPUT(bias),
                                                struct rmcp_winograd g,
                                                struct rmcp_winograd_fused f)
{
    __local float shared[2 * BUFFER] __attribute__((aligned(16)));
    const uint thread = LOCAL_ID, lane = thread % 32, wave = thread / 32, group = GROUP_ID_Y;
    const uint task = GROUP_ID_X + g.first_task;
    const uint column = divide(task, g.blocks), block = task - column * g.blocks.divisor;
    const uint first_tile = column * TILES, first_row = block * ROWS;
    const uint first = GROUP_ID_Z * g.share;
    const uint end = smaller(first + g.share, g.channels);

    /* Neighbours fetch neighbours in memory. */
    const uint by_channel = thread % DEPTH, by_place = thread / ROWS;
    struct source s;
    s.last = thread >= THREADS / 2;
    s.channel = g.channels_last ? by_channel : thread / TILES % DEPTH;
    const uint tile = g.channels_last ? thread / DEPTH % TILES : thread % TILES;
    find_pixels(&s, &g, first_tile + tile);
    s.tile_slot = FILTERS + s.channel * POSITIONS * TILES + tile_place(tile, s.channel);
    const uint channel = f.by_rows ? by_place : by_channel;
    const uint row = f.by_rows ? thread % ROWS : thread / DEPTH;
    s.filter = (smaller(first_row + row, g.rows - 1) * f.row + channel * f.channel) *
               (uint)sizeof(element);
    s.filter_slot = channel * POSITIONS * ROWS + row_place(slot_of_row(row), channel);

    const struct places places = places_of(&f, wave, lane);
    float4 sum[2][8][2] = { { { 0 } } };
    __global const char *const filters = ADDRESS(w) + (ulong)(group * f.group) * sizeof(element);
    __global const char *const in = ADDRESS(in) + (ulong)(group * g.in_group) * sizeof(element);
    uint buffer = 0; /* what is multiplied; the other one is filled */
#pragma unroll 1
    for (uint c = first; c < end + DEPTH; c += DEPTH) {
        struct fetched d = fetch(&s, &g, &f, in, filters, c);
        if (c != first) {
            UNROLL
            for (uint i = 0; i < DEPTH; i++) add_channel(sum, shared + buffer, &places, i);
        }
        buffer = BUFFER - buffer;
        keep(&s, &d, shared + buffer);
        BARRIER();
    }
    store_sums(&g, ADDRESS(out), ADDRESS(bias), shared, sum, first_tile, first_row, lane % 4 * 4);
}
