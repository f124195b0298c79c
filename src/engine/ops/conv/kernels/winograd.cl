/* winograd.cl: 3x3 convolution with stride 1 by the minimal filtering F(2x2, 3x3): 16 multiplications
 * for four outputs instead of 36.
 *
 * A filter g becomes G g G' once (winograd_filter.cl), a tile d of 4 x 4 pixels becomes B' d B; products
 * of the two are added up over the channels, apart for each of their 16 positions, and A' m A of the
 * sums m are 2 x 2 outputs. Backward data is the same with the filter turned around.
 *
 * A workgroup makes ROWS channels of TILES tiles, so that each position is a matrix product of ROWS x
 * TILES; 32 neighbours share two positions, each of them with 8 x 8 sums of both. Nobody shares the
 * filters of a position with other waves: they come straight from global memory, two channels ahead.
 * Tiles are transformed by all work-items, each one tile of one channel, and meet in local memory.
 *
 * -D: TYPE */
#include "engine/kernels/target.h"
#include "engine/kernels/common.h"
#include "engine/ops/conv/kernels/winograd.h"
#include "engine/ops/conv/kernels/winograd_outputs.h"

#define DEPTH RMCP_WINOGRAD_DEPTH
#define AHEAD 2 /* channels that filters are loaded ahead */

/* Local memory in floats. The pitch keeps neighbours out of each other's banks when tiles are stored
 * channel by channel. */
#define TILE_PITCH (POSITIONS * TILES + 4)
#define BUFFER (DEPTH * TILE_PITCH)
#define SHARED (EXCHANGE > 2 * BUFFER ? EXCHANGE : 2 * BUFFER)

/* ---- tiles ---- */

/* The tile whose pixels a work-item fetches. Those that do not exist are loaded from the nearest
 * line and place that do. */
struct source {
    uint line[4], place[4]; /* offsets in bytes; in channel 0 the two add up */
    uint mask;              /* bits of the pixels that exist                 */
    float pixel[POSITIONS];
};

INLINE struct source source_of(const struct rmcp_winograd *g, uint tile)
{
    struct source s;
    const bool exists = tile < g->tiles;
    tile = exists ? tile : 0;
    const uint line = divide(tile, g->across), image = divide(line, g->down);
    const int x = (int)(tile - line * g->across.divisor) * 2 + g->first_x;
    const int y = (int)(line - image * g->down.divisor) * 2 + g->first_y;
    uint lines = 0, places = 0;
    UNROLL
    for (int i = 0; i < 4; i++) {
        lines |= (uint)((uint)(y + i) < g->height) << i * 4;
        places |= (uint)((uint)(x + i) < g->width) << i;
        const int last_y = (int)g->height - 1, last_x = (int)g->width - 1;
        const int at_y = y + i < 0 ? 0 : y + i > last_y ? last_y : y + i;
        const int at_x = x + i < 0 ? 0 : x + i > last_x ? last_x : x + i;
        s.line[i] = (image * g->in_image + (uint)at_y * g->in_y) * (uint)sizeof(element);
        s.place[i] = (uint)at_x * g->in_x * (uint)sizeof(element);
    }
    s.mask = exists ? lines * places : 0;
    return s;
}

/* Start loading the pixels of a channel. */
INLINE void fetch(struct source *s, const struct rmcp_winograd *g, __global const char *in,
                  uint channel)
{
    const uint plane = channel * g->in_channel * (uint)sizeof(element);
    UNROLL
    for (uint i = 0; i < 4; i++) {
        UNROLL
        for (uint j = 0; j < 4; j++)
            s->pixel[i * 4 + j] =
                to_float((__global const element *)(in + (plane + s->line[i] + s->place[j])));
    }
}

/* B' d B, each position to its place. */
INLINE void keep(const struct source *s, __local float *tile)
{
    float t[4][4];
    UNROLL
    for (uint j = 0; j < 4; j++) {
        float d[4];
        UNROLL
        for (uint i = 0; i < 4; i++) d[i] = s->mask >> (i * 4 + j) & 1 ? s->pixel[i * 4 + j] : 0;
        t[0][j] = d[0] - d[2];
        t[1][j] = d[1] + d[2];
        t[2][j] = d[2] - d[1];
        t[3][j] = d[1] - d[3];
    }
    UNROLL
    for (uint i = 0; i < 4; i++) {
        tile[(i * 4 + 0) * TILES] = t[i][0] - t[i][2];
        tile[(i * 4 + 1) * TILES] = t[i][1] + t[i][2];
        tile[(i * 4 + 2) * TILES] = t[i][2] - t[i][1];
        tile[(i * 4 + 3) * TILES] = t[i][1] - t[i][3];
    }
}

/* ---- products ---- */

/* Filters of one channel: 8 rows of two positions. */
struct filters {
    float4 u[2][2];
};

INLINE float4 load_filters(__global const char *base, uint index)
{
#if defined(__AMDGCN__)
    return *(__global const float4 *)(base + index * 4);
#else
    return *(__global const float4 *)((__global const float *)base + index);
#endif
}

INLINE struct filters filters_of(__global const char *channel, uint place)
{
    return (struct filters){ {
        { load_filters(channel, place), load_filters(channel, place + ROWS / 2) },
        { load_filters(channel, place + ROWS), load_filters(channel, place + ROWS + ROWS / 2) },
    } };
}

/* Add up the products of `length` channels from `first` on. `in` and `filters` begin at channel 0;
 * `fetched` is the channel that this work-item fetches first, `slot` where its tile stands in a
 * buffer; `place` and `v` are where its filters and tiles begin. */
INLINE void accumulate(float4 sum[2][8][2], __local float *shared, const struct rmcp_winograd *g,
                       struct source *s, __global const char *in, __global const char *filters,
                       uint first, uint length, uint fetched, uint slot, uint place, uint v)
{
    const ulong pitch = (ulong)g->filter_channel * sizeof(float);
    __global const char *ahead = filters + first * pitch;
    struct filters now[AHEAD];
    uint buffer = 0;
    fetch(s, g, in, smaller(first + fetched, g->channels - 1));
    UNROLL
    for (uint i = 0; i < AHEAD; i++, ahead += pitch) now[i] = filters_of(ahead, place);
    keep(s, shared + slot);
    BARRIER();
    #pragma unroll 1
    for (uint c = 0; c < length; c += DEPTH) {
        const uint next = first + c + DEPTH;
        fetch(s, g, in, smaller(next + fetched, g->channels - 1));
        UNROLL
        for (uint i = 0; i < DEPTH; i++) {
            __local const float *const tiles = shared + buffer + i * TILE_PITCH + v;
            UNROLL
            for (uint j = 0; j < 2; j++) {
                __local const float *const t = tiles + j * TILES;
                multiply(sum[j], now[i % AHEAD].u[j], *(__local const float4 *)t,
                         *(__local const float4 *)(t + TILES / 2));
            }
            now[i % AHEAD] = filters_of(ahead, place);
            ahead += pitch;
            IN_ORDER();
        }
        buffer = BUFFER - buffer;
        keep(s, shared + buffer + slot);
        BARRIER();
    }
}

__kernel WORKGROUP(THREADS) void winograd(INPUT(filters), INPUT(in), OUTPUT(out), INPUT(bias),
                                          struct rmcp_winograd g)
{
    __local float shared[SHARED] __attribute__((aligned(16)));
    const uint thread = LOCAL_ID, lane = thread % 32, wave = thread / 32, group = GROUP_ID_Y;
    const uint task = GROUP_ID_X + g.first_task;
    const uint column = divide(task, g.blocks), block = task - column * g.blocks.divisor;
    const uint first_tile = column * TILES, first_row = block * ROWS;
    const uint first = GROUP_ID_Z * g.share;
    const uint length = smaller(g.share, g.filter_channels - first);

    /* Neighbours fetch neighbours in memory. */
    const uint tile = g.channels_last ? thread / DEPTH : lane;
    const uint channel = g.channels_last ? thread % DEPTH : wave;
    struct source s = source_of(&g, first_tile + tile);

    const uint tiles = lane % 4 * 4, rows = lane / 4 * 4;
    float4 sum[2][8][2] = { { { 0 } } };
    __global const char *const filters =
        ADDRESS(filters) + ((ulong)group * g.filter_group + (ulong)block * (POSITIONS * ROWS)) *
                               sizeof(float);
    __global const char *const in = ADDRESS(in) + (ulong)(group * g.in_group) * sizeof(element);
    accumulate(sum, shared, &g, &s, in, filters, first, length, channel, channel * TILE_PITCH + tile,
               wave * 2 * ROWS + rows, wave * 2 * TILES + tiles);

    store_sums(&g, ADDRESS(out), ADDRESS(bias), shared, sum, first_tile, first_row, tiles);
}
