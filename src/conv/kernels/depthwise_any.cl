/* depthwise_any.cl: forward, and one phase of backward data, with any filter, stride and dilation.
 *
 * A work-item makes ROWS outputs of one channel, far apart along h, so that neighbours are neighbours
 * in memory also when the host has put the only spatial dimension there. */
#include "conv/kernels/depthwise.h"

#define ROWS 4
#define MOST_TAPS 64 /* of filters in local memory */

/* Add one plane of the filter, from `taps` on, over one plane of the input. */
INLINE void add_plane(float sum[ROWS], const struct rmcp_depthwise *p, __global const char *weights,
                      __local const float *filters, uint taps, __global const char *data,
                      uint plane, int y, int x)
{
    const int apart = (int)p->blocks.divisor * p->window[1].step;
    for (uint r = 0; r < p->window[1].taps.divisor; r++) {
        struct place row[ROWS];
        UNROLL
        for (uint i = 0; i < ROWS; i++)
            row[i] = place_of(&p->window[1], y + (int)i * apart + (int)r * p->window[1].tap_step);
        for (uint s = 0; s < p->window[2].taps.divisor; s++) {
            const struct place column = place_of(&p->window[2], x + (int)s * p->window[2].tap_step);
            const uint at = taps + r * p->window[1].tap + s * p->window[2].tap;
            const float tap = p->staged ? filters[at] : load(weights, at);
            float value[ROWS];
            UNROLL
            for (uint i = 0; i < ROWS; i++) value[i] = load(data, plane + row[i].at + column.at);
            UNROLL
            for (uint i = 0; i < ROWS; i++)
                sum[i] = (row[i].inside & column.inside) ? sum[i] + tap * value[i] : sum[i];
        }
    }
}

__kernel WORKGROUP(THREADS) void depthwise_any(INPUT(w), INPUT(data), OUTPUT(out), INPUT(bias),
                                               struct rmcp_depthwise p)
{
    __local float filters[MOST_LANES * MOST_TAPS];
    stage(&p, ADDRESS(w), filters);
    struct spot spot;
    if (!find_spot(&p, &spot)) return;

    const int x = (int)spot.column * p.window[2].step + p.window[2].first;
    const int y = (int)spot.block * p.window[1].step + p.window[1].first;
    const int z = (int)spot.depth * p.window[0].step + p.window[0].first;
    float sum[ROWS] = { 0 };
    for (uint i = 0; i < p.sums; i++)
        for (uint t = 0; t < p.window[0].taps.divisor; t++) {
            const struct place depth = place_of(&p.window[0], z + (int)t * p.window[0].tap_step);
            if (!depth.inside) continue;
            uint level = LOCAL_ID;
            const uint row = p.staged ? take(&level, p.lanes) : spot.channel * p.sums + i;
            const uint taps = row * p.taps + p.linear_tap + t * p.window[0].tap;
            add_plane(sum, &p, ADDRESS(w), filters, taps, ADDRESS(data),
                      gathered(&p, &spot, i) + depth.at, y, x);
        }

    const float shift = p.epilogue.bias ? load(ADDRESS(bias), spot.channel) : 0;
    UNROLL
    for (uint i = 0; i < ROWS; i++) sum[i] += shift;
    if (p.epilogue.kind)
        UNROLL
        for (uint i = 0; i < ROWS; i++) sum[i] = activate(&p.epilogue, sum[i]);
    const uint first = linear(&p, &spot) + spot.column * p.window[2].position;
    UNROLL
    for (uint i = 0; i < ROWS; i++) {
        const uint row = spot.block + i * p.blocks.divisor;
        if (row < p.window[1].positions.divisor)
            store(ADDRESS(out), first + row * p.window[1].position, sum[i]);
    }
}
